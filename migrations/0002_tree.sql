-- 0002: moving, copying, deleting and restoring nodes.

-- Where the top node of something deleted was: restoring without another place. The node itself hangs under
-- 'trash/{space}', the space's hidden trash root, which has no row: no walk from or to a living root meets it.
-- Deeper nodes keep their parent, so deleting and restoring a tree of any size changes one row.
alter table nodes add column trashed_from text;

-- A space's trash, newest first, in pages.
create index nodes_trash on nodes (space_id, trashed_at, id) where trashed_at is not null;

-- Blobs that lose versions while a node is purged: those that have none left go in the same batch. Always empty
-- between batches. By id: the purge itself.
create table loose_blobs (
  id text primary key
) strict, without rowid;

-- The guard of 0001, which is always empty, with the reasons that the tree's operations have.
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
  constraint unknown_reason check (why in (
    'access_gone', 'parent_gone', 'target_changed', 'quota_exceeded', 'ingest_gone', 'segments_gone',
    'tree_changed', 'too_deep', 'too_many_nodes'
  ))
) strict;

insert into schema_version (version) values (2);
