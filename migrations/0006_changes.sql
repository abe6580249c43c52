-- 0006: what changed: entity tags of folders, and the feed of a space's changes.

-- Of a folder: spaces.change_seq of the last commit that changed it or anything below it. With its id it is the folder's
-- entity tag. Read with the node.
alter table nodes add column changed_seq integer not null default 0;

-- The last commit some of whose changes aren't kept any more: a cursor before it has missed them. Read with each page
-- of the feed.
alter table spaces add column changes_gone_seq integer not null default 0;

-- Commits from before this table have left no rows.
update spaces set changes_gone_seq = change_seq;

-- What commits changed, a row for the top of each tree. By (space, seq, place): the feed, in the order of the commits,
-- and its oldest rows, which the commits remove.
create table changes (
  space integer not null,                       -- spaces.n
  seq integer not null,                         -- spaces.change_seq after the commit
  place integer not null,                       -- in the commit, from 0
  node_id text not null,
  what text not null check (what in ('created', 'updated', 'moved', 'deleted', 'restored', 'purged')),
  is_folder integer not null,
  subtree integer not null,                     -- whether all below the node is meant too
  from_id text,                                 -- the folder that it was in: of what was moved or deleted
  at integer not null,
  primary key (space, seq, place)
) strict, without rowid;

insert into schema_version (version) values (6);
