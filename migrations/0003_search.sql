-- 0003: search by name.
--
-- A trigram index over names, kept by triggers in the same commit as the tree. Each name is indexed behind two
-- characters U+0002, which no name can hold: so a trigram of them and one or two characters finds a beginning that
-- is too short for trigrams of its own. The tokenizer folds case and drops diacritics. Wrangler finds the end of a
-- trigger by END in capitals.

-- Search: MATCH on space and name, newest first by rowid, which is nodes.n. `space` is the space's integer key as six
-- hexadecimal digits, so that a search never reads other spaces' hits.
create virtual table node_names using fts5 (
  space, name, content = '', contentless_delete = 1, tokenize = 'trigram remove_diacritics 1'
);

insert into node_names (rowid, space, name)
  select n.n, printf('#%06x', s.n), char(2, 2) || n.name_nfc
    from nodes n join spaces s on s.id = n.space_id where n.parent_id <> '';

create trigger node_named after insert on nodes when new.parent_id <> '' begin
  insert into node_names (rowid, space, name)
    select new.n, printf('#%06x', s.n), char(2, 2) || new.name_nfc from spaces s where s.id = new.space_id;
END;

create trigger node_renamed after update of name_nfc on nodes when new.name_nfc <> old.name_nfc begin
  delete from node_names where rowid = old.n;
  insert into node_names (rowid, space, name)
    select new.n, printf('#%06x', s.n), char(2, 2) || new.name_nfc from spaces s where s.id = new.space_id;
END;

create trigger node_gone after delete on nodes begin
  delete from node_names where rowid = old.n;
END;

insert into schema_version (version) values (3);
