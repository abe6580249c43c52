-- 0010: jobs that can be watched, cancelled, handed from worker to worker, and taken over.

-- The table of 0001, made anew: SQLite can't loosen a constraint. New columns have defaults, so that code which doesn't
-- know them can go on writing.
create table jobs_anew (
  id text primary key,
  lane text not null,
  input text not null,                          -- JSON: the kind of work and what it is about
  state text not null default 'pending' check (state in (
    'pending', 'retry', 'processing', 'done', 'dead', 'cancelled'
  )),
  attempts integer not null default 0,          -- how often it was begun since it last made a step
  error text,                                   -- why the last attempt failed
  account_id text,                              -- whose it is; null: the system's own
  created_at integer not null,
  updated_at integer not null,
  space_id text,                                -- the space that it is about
  token text,                                   -- tokens.hash of who asked: it may watch the job, whatever its limits
  unique_key text,                              -- one unfinished job a key
  lease integer not null default 0,             -- raised by each claim: writes of an earlier worker are refused by it
  due_at integer not null default 0,            -- when it may begin; of one that is processed: when its lease ends
  cancel_requested integer not null default 0,
  checkpoint text,                              -- JSON: where the next step goes on
  items_done integer not null default 0,
  items_total integer,                          -- null: not known
  bytes_done integer not null default 0,
  bytes_total integer,                          -- null: not known
  result text,                                  -- JSON: what came of it
  finished_at integer,                          -- null: it is not over
  forget_at integer                             -- when the row goes; null: it is not over
) strict;

insert into jobs_anew
  (id, lane, input, state, attempts, error, account_id, created_at, updated_at, finished_at, forget_at)
select id, lane, input, state, attempts, error, account_id, created_at, updated_at,
       case when state in ('done', 'dead') then updated_at end,
       case when state in ('done', 'dead') then updated_at + 2592000000 end
  from jobs;

drop table jobs;
alter table jobs_anew rename to jobs;

-- An account's newest jobs.
create index jobs_account on jobs (account_id, created_at);
-- The same, of one state: all but the finished ones are few.
create index jobs_account_state on jobs (account_id, state, created_at) where state <> 'done';
-- What nobody was woken for, and leases that have run out: the tick.
create index jobs_due on jobs (due_at) where finished_at is null;
-- What an administrator watches: how many there are of each state, and the oldest.
create index jobs_lane on jobs (lane, state, created_at) where state not in ('done', 'cancelled');
-- Those that are over for long enough: the tick.
create index jobs_forget on jobs (forget_at) where forget_at is not null;
-- One unfinished job a key.
create unique index jobs_unique on jobs (unique_key) where unique_key is not null and finished_at is null;

-- When periodic jobs are made next. By key: the tick.
create table schedules (
  key text primary key,                         -- jobs.unique_key
  due_at integer not null
) strict, without rowid;

-- The guard of 0005, which is always empty, with the reasons that jobs, uploads and edits of content have.
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
  constraint lease_lost check (why <> 'lease_lost'),
  constraint pages_changed check (why <> 'pages_changed'),
  constraint upload_gone check (why <> 'upload_gone'),
  constraint upload_changed check (why <> 'upload_changed'),
  constraint chunks_missing check (why <> 'chunks_missing'),
  constraint unknown_reason check (why in (
    'access_gone', 'parent_gone', 'target_changed', 'quota_exceeded', 'ingest_gone', 'segments_gone',
    'tree_changed', 'too_deep', 'too_many_nodes', 'locked', 'lock_conflict', 'too_many_locks', 'if_failed',
    'lease_lost', 'pages_changed', 'upload_gone', 'upload_changed', 'chunks_missing'
  ))
) strict;

insert into schema_version (version) values (10);
