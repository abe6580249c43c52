-- 0012: trees of any size, by job.
--
-- Nodes that a job takes apart hang under `purge/{job}/{n}`, those that it puts together under `copy/{job}`: hidden roots
-- without a row, like a trash's.

-- Folders whose members a job is still to copy. By (job, folder): the next ones of a job.
create table copy_folders (
  job text not null,                            -- jobs.id
  folder integer not null,                      -- nodes.n of the source
  depth integer not null,                       -- below the source's top, from 0
  after text not null default '',               -- the NFC name of the last member that was copied
  primary key (job, folder)
) strict, without rowid;

-- What a copy has built when its job is cancelled or given up: a job of its own removes it, whoever ended the other. Its id
-- is made of the other's and the node's key. Wrangler finds the end of a trigger by END in capitals.
create trigger copy_ended after update of finished_at on jobs
when new.finished_at is not null and new.state in ('dead', 'cancelled') and json_extract(new.input, '$.kind') = 'copy'
begin
  insert into jobs (id, lane, input, created_at, updated_at, due_at, account_id, space_id)
    select substr(new.id, 1, 24) || printf('%012x', n.n), new.lane, '{"kind":"purge","rest":null}',
           new.finished_at, new.finished_at, new.finished_at, new.account_id, new.space_id
      from nodes n where n.parent_id = 'copy/' || new.id and n.trashed_at is null;
  delete from copy_folders where job = new.id;
  update nodes set parent_id = 'purge/' || substr(new.id, 1, 24) || printf('%012x', n) || '/' || n
    where parent_id = 'copy/' || new.id and trashed_at is null;
END;

insert into schema_version (version) values (12);
