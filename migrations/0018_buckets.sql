-- 0018: several buckets.

-- Buckets beside the default one, by the names that the configuration gives them: a row when the first space uses one, and
-- then for good. By n: where a segment lies. By name: choosing one.
create table buckets (
  n integer primary key autoincrement,
  name text not null unique
) strict;

-- Where it lies; null: the default bucket. Of segments a byte each, in the default one.
alter table segments add column bucket integer;            -- buckets.n
-- Where an upload's segments go, whatever becomes of its space.
alter table ingests add column bucket integer;             -- buckets.n
-- Where new segments of the space go.
alter table spaces add column bucket integer;              -- buckets.n
-- In which bucket the object is that no row knows.
alter table orphans add column bucket integer;             -- buckets.n

create trigger backup_buckets_made after insert on buckets
  when exists (select 1 from backups where state = 'running')
begin
  insert into backup_undo (backup, of_table, key, was)
  select n, 'buckets', new.n, null
    from backups where state = 'running' on conflict do nothing;
END;

create trigger backup_buckets_changed after update on buckets
  when exists (select 1 from backups where state = 'running')
begin
  insert into backup_undo (backup, of_table, key, was)
  select n, 'buckets', old.n, json_array(old.n, old.name)
    from backups where state = 'running' on conflict do nothing;
END;

create trigger backup_buckets_gone after delete on buckets
  when exists (select 1 from backups where state = 'running')
begin
  insert into backup_undo (backup, of_table, key, was)
  select n, 'buckets', old.n, json_array(old.n, old.name)
    from backups where state = 'running' on conflict do nothing;
END;

-- A dump has which bucket a space and a segment belong to.
drop trigger backup_spaces_changed;
create trigger backup_spaces_changed after update on spaces
  when exists (select 1 from backups where state = 'running')
begin
  insert into backup_undo (backup, of_table, key, was)
  select n, 'spaces', old.n, json_array(
      old.n, old.id, old.name, old.root_id, old.quota_bytes, old.used_bytes, old.change_seq, old.created_at,
      old.changes_gone_seq, old.versions_kept, old.versions_days, old.trash_days, old.reserved_bytes,
      old.append_window_secs, old.bucket)
    from backups where state = 'running' on conflict do nothing;
END;

drop trigger backup_spaces_gone;
create trigger backup_spaces_gone after delete on spaces
  when exists (select 1 from backups where state = 'running')
begin
  insert into backup_undo (backup, of_table, key, was)
  select n, 'spaces', old.n, json_array(
      old.n, old.id, old.name, old.root_id, old.quota_bytes, old.used_bytes, old.change_seq, old.created_at,
      old.changes_gone_seq, old.versions_kept, old.versions_days, old.trash_days, old.reserved_bytes,
      old.append_window_secs, old.bucket)
    from backups where state = 'running' on conflict do nothing;
END;

drop trigger backup_segments_gone;
create trigger backup_segments_gone after delete on segments
  when exists (select 1 from backups where state = 'running')
begin
  insert into backup_undo (backup, of_table, key, was)
  select n, 'segments', old.id, json_array(old.id, old.key, old.size_bytes, old.bucket)
    from backups where state = 'running' on conflict do nothing;
END;

insert into schema_version (version) values (18);
