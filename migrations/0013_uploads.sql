-- 0013: uploads in parts.

-- What open uploads may still become. Kept by the triggers below, whoever writes uploads. Counts against the quota as
-- used_bytes does. Read with the space.
alter table spaces add column reserved_bytes integer not null default 0;

-- Uploads in parts, until they are finished and a while after, so that a client whose answer was lost can still learn of
-- it. By (account, name): whoever sends a part. By id: its parts.
create table uploads (
  id text primary key,
  account_id text not null,
  name text not null,                           -- the id, or what a WebDAV client calls it
  token_id text not null,                       -- tokens.id: a token with limits goes on with its own uploads only
  space_id text not null,
  -- a file; a part of one that is joined later; a folder of parts that a WebDAV client joins
  kind text not null check (kind in ('file', 'part', 'folder')),
  target text,                                  -- JSON: where to, and on which conditions; null until it is known
  metadata text not null default '',            -- as the client sent it
  length_bytes integer,                         -- null: not known yet
  received_bytes integer not null default 0,
  reserved_bytes integer not null default 0,    -- of the quota
  parts integer not null default 0,             -- in a folder: how many
  blob_id text,                                 -- what has arrived: a blob that no version has; null: nothing yet
  tail text,                                    -- what has arrived behind that, base64: too little for a segment
  stamp text not null,                          -- random, another one with each commit: of two writers at once one wins
  finished text,                                -- JSON: what it became; null: it is open
  created_at integer not null,
  expires_at integer not null
) strict;

create unique index uploads_name on uploads (account_id, name);
-- How many an account has open.
create index uploads_open on uploads (account_id) where finished is null;
-- Those that are abandoned, and those that were finished long enough ago.
create index uploads_expiry on uploads (expires_at);

-- The parts in a folder, each a blob that no version has. By (upload, place): joining them; by name: replacing one.
create table upload_parts (
  upload text not null,
  name text not null,
  place text not null,                          -- their order: the name, its numbers padded
  blob_id text not null,
  size_bytes integer not null,
  stored_at integer not null,
  primary key (upload, place, name)
) strict, without rowid;

create trigger upload_reserves after insert on uploads when new.reserved_bytes <> 0 begin
  update spaces set reserved_bytes = reserved_bytes + new.reserved_bytes where id = new.space_id;
END;

create trigger upload_reserves_otherwise after update of reserved_bytes on uploads begin
  update spaces set reserved_bytes = reserved_bytes + new.reserved_bytes - old.reserved_bytes where id = new.space_id;
END;

-- What an upload had goes with it; what has become a version stays. The pages go in the same batch.
create trigger upload_gone after delete on uploads begin
  update spaces set reserved_bytes = reserved_bytes - old.reserved_bytes where id = old.space_id;
  delete from upload_parts where upload = old.id;
  delete from blobs where id = old.blob_id and not exists (select 1 from versions where blob_id = old.blob_id);
END;

create trigger upload_drops_blob after update of blob_id on uploads
when old.blob_id is not null and old.blob_id is not new.blob_id begin
  delete from blobs where id = old.blob_id and not exists (select 1 from versions where blob_id = old.blob_id);
END;

-- A folder has received, and reserves, what its parts are.
create trigger upload_part_put after insert on upload_parts begin
  update uploads set parts = parts + 1, received_bytes = received_bytes + new.size_bytes,
                     reserved_bytes = reserved_bytes + new.size_bytes where id = new.upload;
END;

create trigger upload_part_put_again after update of size_bytes on upload_parts begin
  update uploads set received_bytes = received_bytes + new.size_bytes - old.size_bytes,
                     reserved_bytes = reserved_bytes + new.size_bytes - old.size_bytes where id = new.upload;
END;

create trigger upload_part_gone after delete on upload_parts begin
  update uploads set parts = parts - 1, received_bytes = received_bytes - old.size_bytes,
                     reserved_bytes = reserved_bytes - old.size_bytes where id = old.upload;
  delete from blobs where id = old.blob_id and not exists (select 1 from versions where blob_id = old.blob_id);
END;

create trigger upload_part_drops_blob after update of blob_id on upload_parts when old.blob_id <> new.blob_id begin
  delete from blobs where id = old.blob_id and not exists (select 1 from versions where blob_id = old.blob_id);
END;

insert into schema_version (version) values (13);
