-- 0001: accounts, spaces, the tree, content, tokens, jobs.
--
-- Conventions: times are milliseconds since 1970 (UTC); sizes are bytes; ids that a client sees are UUIDv7 text;
-- hashes are text. Every table and index says which query it serves. docs/STORAGE.md explains the content tables.

-- Which migrations have run. Read by the runner of the local host; D1 keeps its own list beside it.
create table schema_version (
  version integer primary key,
  applied_at text not null default (strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))
) strict;

-- People and programs that sign in. By id: tokens and members refer to it.
create table accounts (
  id text primary key,
  name text not null unique,
  role text not null check (role in ('admin', 'user')),
  created_at integer not null
) strict;

-- Drives. By n: chunks, which repeat by the million, refer to it. By id: every request names it.
create table spaces (
  n integer primary key,
  id text not null unique,
  name text not null,
  root_id text not null,
  quota_bytes integer,                          -- null: no limit
  used_bytes integer not null default 0,        -- logical bytes of every kept version
  change_seq integer not null default 0,        -- raised by each commit
  created_at integer not null
) strict;

-- Who may do what in a space. By (account, space): authorisation, in every request.
create table members (
  account_id text not null references accounts (id),
  space_id text not null references spaces (id),
  role text not null check (role in ('reader', 'writer', 'owner')),
  primary key (account_id, space_id)
) strict, without rowid;

-- API keys and app passwords. By hash: authentication, in every request.
create table tokens (
  id text primary key,
  hash text not null unique,                    -- SHA-256 of the secret, hex
  account_id text not null references accounts (id),
  name text not null,
  created_at integer not null,
  expires_at integer                            -- null: never
) strict;

-- Files and folders. By n: full-text search needs an integer key. By id: references from outside.
create table nodes (
  n integer primary key,
  id text not null unique,
  space_id text not null references spaces (id),
  parent_id text not null,                      -- '' for a root: unique admits many nulls
  name text not null,                           -- the bytes as sent
  name_nfc text not null,                       -- how it is found
  kind text not null check (kind in ('folder', 'file')),
  version_id text,                              -- the current version of a file
  created_at integer not null,
  modified_at integer not null,                 -- of a folder: of its list of children
  trashed_at integer,                           -- only on the top node of what was deleted
  check ((kind = 'file') = (version_id is not null))
) strict;

-- Path resolution and listings by name; one living node a name.
create unique index nodes_child on nodes (parent_id, name_nfc) where trashed_at is null;

-- Saved states of files. By id: nodes refer to the current one; a lost answer is resolved by it.
create table versions (
  id text primary key,
  node_id text not null references nodes (id),
  blob_id text not null references blobs (id),
  author_id text not null,
  created_at integer not null,
  modified_at integer not null                  -- as the client gave it, else created_at
) strict;

-- The history of a file, newest first.
create index versions_node on versions (node_id, created_at);
-- Whether a blob is still needed.
create index versions_blob on versions (blob_id);

-- Immutable content. Inline (at most 4 KiB, base64) or by pages: [[start, page, crc32], …]. A rowid table: long
-- rows overflow early in one without. By id: versions refer to it.
create table blobs (
  id text primary key,
  size_bytes integer not null,
  etag text not null,                           -- hex, without quotes
  media_type text not null,
  crc32 integer not null,
  inline text,
  pages text,
  digests text,                                 -- verified digests of the whole, JSON: {"sha-256": "<base64>"}
  check ((inline is null) <> (pages is null))
) strict;

-- Runs of extents, shared between blobs: [[segment, offset, length, crc32], …], at most 256. By id: blobs.pages.
create table pages (
  id integer primary key,
  extents text not null
) strict;

-- Which pages refer to a segment: whether its bytes are needed.
create table page_segments (
  segment integer not null,
  page integer not null,
  primary key (segment, page)
) strict, without rowid;

-- Objects in the bucket. By id: pages and chunks refer to it.
create table segments (
  id integer primary key,
  key text not null,
  size_bytes integer not null,
  state text not null default 'live' check (state in ('live', 'doomed', 'deleting')),
  state_at integer not null
) strict;

-- The sweep looks for segments on their way out.
create index segments_state on segments (state, state_at) where state <> 'live';

-- Known chunks of a space: deduplication. By (space, hash): the look-up.
create table chunks (
  space integer not null,                       -- spaces.n
  hash text not null,                           -- SHA-256, base64url: a quarter smaller than hex
  segment integer not null,
  offset integer not null,
  length integer not null,
  crc32 integer not null,
  chunker integer not null,                     -- the parameters that cut it, see docs/STORAGE.md
  seen_at integer not null,                     -- the last look-up that found it
  primary key (space, hash)
) strict, without rowid;

-- The chunks of a segment: forgotten before the segment goes.
create index chunks_segment on chunks (segment);

-- Uploads under way. The row exists before the first segment is put and is deleted by the commit; ids are never
-- used again, since segments' and pages' ids are made from them.
create table ingests (
  id integer primary key autoincrement,
  key text not null,                            -- random; its segments are ledge/seg/{key}/{n}
  space_id text not null,
  expires_at integer not null
) strict;

-- What crashes left behind.
create index ingests_expiry on ingests (expires_at);

-- Background work: the row is the truth, the queue only wakes a worker. By id: messages name it.
create table jobs (
  id text primary key,
  lane text not null,
  input text not null,                          -- JSON: the kind of work and what it is about
  state text not null default 'pending' check (state in ('pending', 'processing', 'done', 'dead')),
  attempts integer not null default 0,
  error text,
  account_id text not null,
  created_at integer not null,
  updated_at integer not null
) strict;

-- An account's newest jobs.
create index jobs_account on jobs (account_id, created_at);

-- A row is refused by the constraint that has its name, and takes the whole batch with it: how a commit checks
-- what was read before. Always empty.
create table guard (
  why text not null,
  constraint access_gone check (why <> 'access_gone'),
  constraint parent_gone check (why <> 'parent_gone'),
  constraint target_changed check (why <> 'target_changed'),
  constraint quota_exceeded check (why <> 'quota_exceeded'),
  constraint ingest_gone check (why <> 'ingest_gone'),
  constraint segments_gone check (why <> 'segments_gone'),
  constraint unknown_reason check (why in (
    'access_gone', 'parent_gone', 'target_changed', 'quota_exceeded', 'ingest_gone', 'segments_gone'
  ))
) strict;

insert into schema_version (version) values (1);
