-- 0014: files that are written in parts.

-- The end of a blob's content, base64, behind its pages: what small appends have added since the last time that it was
-- cut into chunks. Read with the pages, where the end is asked for.
alter table blobs add column tail_bytes integer not null default 0;
alter table blobs add column tail text check ((tail is null) = (tail_bytes = 0) and (tail is null or pages is not null));

-- When the first of the appends was made that a version has taken in; null: it was made otherwise. Read by the next one.
alter table versions add column appended_since integer;

-- How long appends go on in one version. Null: each makes its own. Read with the file by those that append.
alter table spaces add column append_window_secs integer default 60;

insert into schema_version (version) values (14);
