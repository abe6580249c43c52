-- 0007: what a space keeps.

-- How many versions of a file, how long those that were replaced, and how long the trash. Null: for ever. Read with the
-- space by the commits that make versions or fill the trash. The defaults are for new spaces: what a space kept before
-- there were limits, it keeps until its owner says otherwise.
alter table spaces add column versions_kept integer default 100;
alter table spaces add column versions_days integer;
alter table spaces add column trash_days integer default 30;
update spaces set versions_kept = null, trash_days = null;

insert into schema_version (version) values (7);
