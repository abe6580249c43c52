-- 0015: delta saves.

-- Segments that came in packs and that no file has needed yet, and what each takes of its space's quota until one does or
-- it goes. By segment: when that happens.
create table packs (
  segment integer primary key,                  -- segments.id
  space integer not null,                       -- spaces.n
  size_bytes integer not null
) strict;

create trigger pack_reserves after insert on packs begin
  update spaces set reserved_bytes = reserved_bytes + new.size_bytes where n = new.space;
END;

create trigger pack_releases after delete on packs begin
  update spaces set reserved_bytes = reserved_bytes - old.size_bytes where n = old.space;
END;

-- A segment of a pack begins as doomed. Whatever becomes of it, it is no longer a pack's.
create trigger segment_leaves_pack after update of state on segments when old.state = 'doomed' begin
  delete from packs where segment = old.id;
END;

create trigger segment_of_pack_gone after delete on segments begin
  delete from packs where segment = old.id;
END;

insert into schema_version (version) values (15);
