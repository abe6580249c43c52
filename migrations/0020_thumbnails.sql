-- 0020: thumbnails.

-- Small pictures of blobs. By blob_id: whoever asks for one, whoever makes them, and the blob's end.
create table thumbnails (
  blob_id text primary key,                     -- the picture
  job_id text,                                  -- the job that makes them; null: they are made, or refused
  sheet text,                                   -- a blob that no version has: all of them, one after another
  images text,                                  -- JSON: where each is in the sheet, see docs/STORAGE.md
  refused text,                                 -- why there are none
  check ((job_id is not null) + (sheet is not null) + (refused is not null) = 1
         and (sheet is null) = (images is null))
) strict, without rowid;

-- They go with the picture. The pages go in the same batch. Wrangler finds the end of a trigger by END in capitals.
create trigger thumbnails_gone after delete on blobs begin
  delete from blobs where id = (select sheet from thumbnails where blob_id = old.id);
  delete from thumbnails where blob_id = old.id;
END;

insert into schema_version (version) values (20);
