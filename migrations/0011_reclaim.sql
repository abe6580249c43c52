-- 0011: giving bytes back. docs/STORAGE.md, "What removes bytes, and when".

-- Segments that have lost a page, or were needed again after they were doomed. By segment: the sweep asks of each
-- whether anything refers to it.
create table candidates (
  segment integer primary key
) strict;

-- Segments that have lost a page and have others. By segment: the sweep measures how much of each is still in use.
create table repack_candidates (
  segment integer primary key
) strict;

-- Objects that no row knew when a full pass saw them first. By key: the next pass.
create table orphans (
  key text primary key,
  seen_at integer not null
) strict, without rowid;

-- What a pass didn't see again.
create index orphans_seen on orphans (seen_at);

-- Whether an object has a row: the first 48 of its key's random bits, since whole keys would double the table.
create index segments_key on segments (substr(key, 11, 12));

-- Whoever removes pages need not think of segments. Wrangler finds the end of a trigger by END in capitals.
create trigger page_segments_candidates after delete on page_segments
begin
  insert or ignore into candidates (segment) values (old.segment);
END;

-- What came back may be needed in small part only.
create trigger segments_candidates after update of state on segments when old.state = 'doomed' and new.state = 'live'
begin
  insert or ignore into candidates (segment) values (new.id);
END;

insert into schema_version (version) values (11);
