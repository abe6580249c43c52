-- 0016: dumps of the metadata into the bucket.
--
-- A dump takes many batches, and shows one moment all the same: that at which it began. While one runs, the triggers
-- below keep what each row was before its first change, and the dump lays that over what it finds.

-- Dumps. By n: what belongs to them refers to it; the newest first: the list and the policy.
create table backups (
  n integer primary key autoincrement,
  id text not null unique,                      -- its objects are ledge/meta/{id}/…
  state text not null check (state in ('running', 'done', 'failed')),
  schema_version integer not null,
  begun_at integer not null,                    -- the moment that it shows
  finished_at integer,
  cursor text not null,                         -- JSON: what comes next; compared by each step's commit
  rows_dumped integer not null default 0,
  size_bytes integer not null default 0,        -- of its objects, compressed
  error text
) strict;

-- The one that runs, if one does: asked by every trigger below, so it has no other row.
create unique index backups_running on backups (state) where state = 'running';

-- The parts that are stored, until the index lists them. By (backup, part): the index.
create table backup_parts (
  backup integer not null,                      -- backups.n
  part integer not null,
  key text not null,
  sha256 text not null,
  size_bytes integer not null,                  -- compressed
  rows_dumped integer not null,
  primary key (backup, part)
) strict, without rowid;

-- What rows were when the dump began, of those that have changed since. By (backup, of_table, key): the dump.
create table backup_undo (
  backup integer not null,                      -- backups.n
  of_table text not null,
  key any not null,                             -- the row's primary key; of several columns, a JSON array
  was text,                                     -- the columns in the order of core/src/backup/tables.rs; null: no such row
  primary key (backup, of_table, key)
) strict, without rowid;

-- Wrangler finds the end of a trigger by END in capitals. Of segments, only what goes is kept: the dump may hold those
-- that came later. Of chunks nothing is kept: a restore takes those whose segments it has.
create trigger backup_accounts_made after insert on accounts
  when exists (select 1 from backups where state = 'running')
begin
  insert into backup_undo (backup, of_table, key, was)
  select n, 'accounts', new.id, null
    from backups where state = 'running' on conflict do nothing;
END;

create trigger backup_accounts_changed after update on accounts
  when exists (select 1 from backups where state = 'running')
begin
  insert into backup_undo (backup, of_table, key, was)
  select n, 'accounts', old.id, json_array(old.id, old.name, old.role, old.created_at)
    from backups where state = 'running' on conflict do nothing;
END;

create trigger backup_accounts_gone after delete on accounts
  when exists (select 1 from backups where state = 'running')
begin
  insert into backup_undo (backup, of_table, key, was)
  select n, 'accounts', old.id, json_array(old.id, old.name, old.role, old.created_at)
    from backups where state = 'running' on conflict do nothing;
END;

create trigger backup_spaces_made after insert on spaces
  when exists (select 1 from backups where state = 'running')
begin
  insert into backup_undo (backup, of_table, key, was)
  select n, 'spaces', new.n, null
    from backups where state = 'running' on conflict do nothing;
END;

create trigger backup_spaces_changed after update on spaces
  when exists (select 1 from backups where state = 'running')
begin
  insert into backup_undo (backup, of_table, key, was)
  select n, 'spaces', old.n, json_array(
      old.n, old.id, old.name, old.root_id, old.quota_bytes, old.used_bytes, old.change_seq, old.created_at,
      old.changes_gone_seq, old.versions_kept, old.versions_days, old.trash_days, old.reserved_bytes,
      old.append_window_secs)
    from backups where state = 'running' on conflict do nothing;
END;

create trigger backup_spaces_gone after delete on spaces
  when exists (select 1 from backups where state = 'running')
begin
  insert into backup_undo (backup, of_table, key, was)
  select n, 'spaces', old.n, json_array(
      old.n, old.id, old.name, old.root_id, old.quota_bytes, old.used_bytes, old.change_seq, old.created_at,
      old.changes_gone_seq, old.versions_kept, old.versions_days, old.trash_days, old.reserved_bytes,
      old.append_window_secs)
    from backups where state = 'running' on conflict do nothing;
END;

create trigger backup_members_made after insert on members
  when exists (select 1 from backups where state = 'running')
begin
  insert into backup_undo (backup, of_table, key, was)
  select n, 'members', json_array(new.account_id, new.space_id), null
    from backups where state = 'running' on conflict do nothing;
END;

create trigger backup_members_changed after update on members
  when exists (select 1 from backups where state = 'running')
begin
  insert into backup_undo (backup, of_table, key, was)
  select n, 'members', json_array(old.account_id, old.space_id), json_array(old.account_id, old.space_id, old.role)
    from backups where state = 'running' on conflict do nothing;
END;

create trigger backup_members_gone after delete on members
  when exists (select 1 from backups where state = 'running')
begin
  insert into backup_undo (backup, of_table, key, was)
  select n, 'members', json_array(old.account_id, old.space_id), json_array(old.account_id, old.space_id, old.role)
    from backups where state = 'running' on conflict do nothing;
END;

create trigger backup_tokens_made after insert on tokens
  when exists (select 1 from backups where state = 'running')
begin
  insert into backup_undo (backup, of_table, key, was)
  select n, 'tokens', new.id, null
    from backups where state = 'running' on conflict do nothing;
END;

create trigger backup_tokens_changed after update on tokens
  when exists (select 1 from backups where state = 'running')
begin
  insert into backup_undo (backup, of_table, key, was)
  select n, 'tokens', old.id, json_array(
      old.id, old.hash, old.account_id, old.name, old.created_at, old.expires_at, old.space_id, old.folder_id,
      old.rights, old.protocols)
    from backups where state = 'running' on conflict do nothing;
END;

create trigger backup_tokens_gone after delete on tokens
  when exists (select 1 from backups where state = 'running')
begin
  insert into backup_undo (backup, of_table, key, was)
  select n, 'tokens', old.id, json_array(
      old.id, old.hash, old.account_id, old.name, old.created_at, old.expires_at, old.space_id, old.folder_id,
      old.rights, old.protocols)
    from backups where state = 'running' on conflict do nothing;
END;

create trigger backup_nodes_made after insert on nodes
  when exists (select 1 from backups where state = 'running')
begin
  insert into backup_undo (backup, of_table, key, was)
  select n, 'nodes', new.n, null
    from backups where state = 'running' on conflict do nothing;
END;

create trigger backup_nodes_changed after update on nodes
  when exists (select 1 from backups where state = 'running')
begin
  insert into backup_undo (backup, of_table, key, was)
  select n, 'nodes', old.n, json_array(
      old.n, old.id, old.space_id, old.parent_id, old.name, old.name_nfc, old.kind, old.version_id, old.created_at,
      old.modified_at, old.trashed_at, old.trashed_from, old.changed_seq)
    from backups where state = 'running' on conflict do nothing;
END;

create trigger backup_nodes_gone after delete on nodes
  when exists (select 1 from backups where state = 'running')
begin
  insert into backup_undo (backup, of_table, key, was)
  select n, 'nodes', old.n, json_array(
      old.n, old.id, old.space_id, old.parent_id, old.name, old.name_nfc, old.kind, old.version_id, old.created_at,
      old.modified_at, old.trashed_at, old.trashed_from, old.changed_seq)
    from backups where state = 'running' on conflict do nothing;
END;

create trigger backup_blobs_made after insert on blobs
  when exists (select 1 from backups where state = 'running')
begin
  insert into backup_undo (backup, of_table, key, was)
  select n, 'blobs', new.id, null
    from backups where state = 'running' on conflict do nothing;
END;

create trigger backup_blobs_changed after update on blobs
  when exists (select 1 from backups where state = 'running')
begin
  insert into backup_undo (backup, of_table, key, was)
  select n, 'blobs', old.id, json_array(
      old.id, old.size_bytes, old.etag, old.media_type, old.crc32, old.inline, old.pages, old.digests, old.tail_bytes,
      old.tail)
    from backups where state = 'running' on conflict do nothing;
END;

create trigger backup_blobs_gone after delete on blobs
  when exists (select 1 from backups where state = 'running')
begin
  insert into backup_undo (backup, of_table, key, was)
  select n, 'blobs', old.id, json_array(
      old.id, old.size_bytes, old.etag, old.media_type, old.crc32, old.inline, old.pages, old.digests, old.tail_bytes,
      old.tail)
    from backups where state = 'running' on conflict do nothing;
END;

create trigger backup_versions_made after insert on versions
  when exists (select 1 from backups where state = 'running')
begin
  insert into backup_undo (backup, of_table, key, was)
  select n, 'versions', new.id, null
    from backups where state = 'running' on conflict do nothing;
END;

create trigger backup_versions_changed after update on versions
  when exists (select 1 from backups where state = 'running')
begin
  insert into backup_undo (backup, of_table, key, was)
  select n, 'versions', old.id, json_array(
      old.id, old.node_id, old.blob_id, old.author_id, old.created_at, old.modified_at, old.label, old.appended_since)
    from backups where state = 'running' on conflict do nothing;
END;

create trigger backup_versions_gone after delete on versions
  when exists (select 1 from backups where state = 'running')
begin
  insert into backup_undo (backup, of_table, key, was)
  select n, 'versions', old.id, json_array(
      old.id, old.node_id, old.blob_id, old.author_id, old.created_at, old.modified_at, old.label, old.appended_since)
    from backups where state = 'running' on conflict do nothing;
END;

create trigger backup_properties_made after insert on properties
  when exists (select 1 from backups where state = 'running')
begin
  insert into backup_undo (backup, of_table, key, was)
  select n, 'properties', json_array(new.node, new.namespace, new.name), null
    from backups where state = 'running' on conflict do nothing;
END;

create trigger backup_properties_changed after update on properties
  when exists (select 1 from backups where state = 'running')
begin
  insert into backup_undo (backup, of_table, key, was)
  select n, 'properties', json_array(old.node, old.namespace, old.name), json_array(old.node, old.namespace, old.name, old.xml)
    from backups where state = 'running' on conflict do nothing;
END;

create trigger backup_properties_gone after delete on properties
  when exists (select 1 from backups where state = 'running')
begin
  insert into backup_undo (backup, of_table, key, was)
  select n, 'properties', json_array(old.node, old.namespace, old.name), json_array(old.node, old.namespace, old.name, old.xml)
    from backups where state = 'running' on conflict do nothing;
END;

create trigger backup_pages_made after insert on pages
  when exists (select 1 from backups where state = 'running')
begin
  insert into backup_undo (backup, of_table, key, was)
  select n, 'pages', new.id, null
    from backups where state = 'running' on conflict do nothing;
END;

create trigger backup_pages_changed after update on pages
  when exists (select 1 from backups where state = 'running')
begin
  insert into backup_undo (backup, of_table, key, was)
  select n, 'pages', old.id, json_array(old.id, old.extents)
    from backups where state = 'running' on conflict do nothing;
END;

create trigger backup_pages_gone after delete on pages
  when exists (select 1 from backups where state = 'running')
begin
  insert into backup_undo (backup, of_table, key, was)
  select n, 'pages', old.id, json_array(old.id, old.extents)
    from backups where state = 'running' on conflict do nothing;
END;

create trigger backup_segments_gone after delete on segments
  when exists (select 1 from backups where state = 'running')
begin
  insert into backup_undo (backup, of_table, key, was)
  select n, 'segments', old.id, json_array(old.id, old.key, old.size_bytes)
    from backups where state = 'running' on conflict do nothing;
END;


-- A dump whose job is over without it is given up: from then on, no change is kept for it.
create trigger backup_ended after update of finished_at on jobs
  when new.finished_at is not null and new.state in ('dead', 'cancelled')
begin
  update backups set state = 'failed', finished_at = new.finished_at, error = coalesce(new.error, 'cancelled')
   where id = new.id and state = 'running';
END;

insert into schema_version (version) values (16);
