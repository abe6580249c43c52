-- 0005: locks.

-- WebDAV's write locks, on living nodes. By id: the token names it. Those that have expired count as
-- gone, and go with later ones.
create table locks (
  id text primary key,
  space_id text not null,
  node_id text not null,
  scope text not null check (scope in ('exclusive', 'shared')),
  depth text not null check (depth in ('0', 'infinity')),
  owner text,                                   -- XML, as the client describes itself
  account_id text not null,
  token_id text not null,                       -- tokens.id
  created_at integer not null,
  expires_at integer not null
) strict;

-- The locks on a node and on those above it: what every commit asks about what it changes.
create index locks_node on locks (node_id);
-- Whether a space has any, which every commit asks first; a space's list; and the expired ones, oldest first.
create index locks_space on locks (space_id, expires_at);

-- The guard of 0002, which is always empty, with the reasons that locks have.
drop table guard;
create table guard (
  why text not null,
  constraint access_gone check (why <> 'access_gone'),
  constraint parent_gone check (why <> 'parent_gone'),
  constraint target_changed check (why <> 'target_changed'),
  constraint quota_exceeded check (why <> 'quota_exceeded'),
  constraint ingest_gone check (why <> 'ingest_gone'),
  constraint segments_gone check (why <> 'segments_gone'),
  constraint tree_changed check (why <> 'tree_changed'),
  constraint too_deep check (why <> 'too_deep'),
  constraint too_many_nodes check (why <> 'too_many_nodes'),
  constraint locked check (why <> 'locked'),
  constraint lock_conflict check (why <> 'lock_conflict'),
  constraint too_many_locks check (why <> 'too_many_locks'),
  constraint if_failed check (why <> 'if_failed'),
  constraint unknown_reason check (why in (
    'access_gone', 'parent_gone', 'target_changed', 'quota_exceeded', 'ingest_gone', 'segments_gone',
    'tree_changed', 'too_deep', 'too_many_nodes', 'locked', 'lock_conflict', 'too_many_locks', 'if_failed'
  ))
) strict;

insert into schema_version (version) values (5);
