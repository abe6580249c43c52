-- 0017: segments that clients put into the bucket themselves.

-- What somebody was given URLs for, and has reserved of the quota. By id: who has put it says so. By ingest: its end is
-- this row's, whether the segments were verified or have expired. By space: there may be so many of one.
create table direct_uploads (
  id text primary key,
  ingest integer not null unique,               -- ingests.id
  space_id text not null,
  size_bytes integer not null,
  segments text not null,                       -- [[sha256, [[sha256, length], …]], …]: of each, and of its chunks
  job_id text                                   -- the job that verifies it, once somebody has asked
) strict;

create index direct_uploads_space on direct_uploads (space_id);

create trigger direct_upload_reserves after insert on direct_uploads begin
  update spaces set reserved_bytes = reserved_bytes + new.size_bytes where id = new.space_id;
END;

create trigger direct_upload_releases after delete on direct_uploads begin
  update spaces set reserved_bytes = reserved_bytes - old.size_bytes where id = old.space_id;
END;

create trigger direct_upload_ends after delete on ingests begin
  delete from direct_uploads where ingest = old.id;
END;

insert into schema_version (version) values (17);
