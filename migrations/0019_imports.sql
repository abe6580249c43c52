-- 0019: objects that others have stored, as files.

-- The entity tag with which somebody else's object was listed: it must be read as that, and is never removed. Null: the
-- drive's own. Read with the key.
alter table segments add column source_etag text;

-- Those of others. By id: whoever looks at each.
create index segments_imported on segments (id) where source_etag is not null;

-- What an import has come to. By id, which is its job's: who has asked for it. Kept with the space.
create table imports (
  id text primary key,
  space_id text not null,
  bucket integer,                               -- buckets.n; null: the default one
  prefix text not null,
  folder text not null,                         -- where it went: names between slashes
  created_at integer not null,
  files integer not null default 0,             -- made
  folders integer not null default 0,           -- made
  bytes integer not null default 0,             -- of the files that were made
  unchanged integer not null default 0,         -- objects that files refer to already
  own integer not null default 0,               -- objects of a drive, which were left out
  refused integer not null default 0            -- rows of import_refusals
) strict;

-- Objects that didn't become files. By (import, n): the report, in the order of the keys.
create table import_refusals (
  import text not null,                         -- imports.id
  n integer not null,
  key text not null,
  code text not null,                           -- what the reason is called
  reason text not null,                         -- for people
  primary key (import, n)
) strict, without rowid;

-- Imported content whose CRC-32 and digest somebody waits for. By blob: nobody waits twice. By job: what is to be done.
create table wanted_hashes (
  blob text primary key,                        -- blobs.id
  job text not null                             -- jobs.id
) strict, without rowid;

create index wanted_hashes_job on wanted_hashes (job, blob);

-- Wrangler finds the end of a trigger by END in capitals.
create trigger wanted_hash_gone after delete on blobs begin
  delete from wanted_hashes where blob = old.id;
END;

-- Nobody waits for a job that is over.
create trigger wanted_hashes_over after update of finished_at on jobs
when new.finished_at is not null and json_extract(new.input, '$.kind') = 'hash'
begin
  delete from wanted_hashes where job = new.id;
END;

-- Whether a space has chosen it some time: only there may the drive remove what no row knows. Where objects were only
-- imported from, nothing is its own. Read with the name.
alter table buckets add column stores integer not null default 1;

-- A dump has what a segment was listed as, and where the drive stores.
drop trigger backup_buckets_changed;
create trigger backup_buckets_changed after update on buckets
  when exists (select 1 from backups where state = 'running')
begin
  insert into backup_undo (backup, of_table, key, was)
  select n, 'buckets', old.n, json_array(old.n, old.name, old.stores)
    from backups where state = 'running' on conflict do nothing;
END;

drop trigger backup_buckets_gone;
create trigger backup_buckets_gone after delete on buckets
  when exists (select 1 from backups where state = 'running')
begin
  insert into backup_undo (backup, of_table, key, was)
  select n, 'buckets', old.n, json_array(old.n, old.name, old.stores)
    from backups where state = 'running' on conflict do nothing;
END;

drop trigger backup_segments_gone;
create trigger backup_segments_gone after delete on segments
  when exists (select 1 from backups where state = 'running')
begin
  insert into backup_undo (backup, of_table, key, was)
  select n, 'segments', old.id, json_array(old.id, old.key, old.size_bytes, old.bucket, old.source_etag)
    from backups where state = 'running' on conflict do nothing;
END;

insert into schema_version (version) values (19);
