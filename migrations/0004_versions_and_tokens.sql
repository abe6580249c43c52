-- 0004: labels of versions, what pages are still listed by, and what tokens are limited to.

-- A version's name in its history, where it was given one. Read with the history.
alter table versions add column label text;

-- How many blobs list a page. By page: kept up to date by the triggers below, whoever writes blobs.
create table page_uses (
  page integer primary key,
  blobs integer not null
) strict;

-- Pages that no blob lists any more: removed in the batch that removed the blob.
create index page_uses_none on page_uses (blobs) where blobs = 0;

insert into page_uses (page, blobs)
select json_extract(e.value, '$[1]'), count(distinct b.id) from blobs b, json_each(b.pages) e group by 1;

-- Wrangler finds the end of a trigger by END in capitals.
create trigger blobs_use_pages after insert on blobs when new.pages is not null
begin
  insert into page_uses (page, blobs)
  select distinct json_extract(value, '$[1]'), 1 from json_each(new.pages) where true
      on conflict (page) do update set blobs = blobs + 1;
END;

create trigger blobs_release_pages after delete on blobs when old.pages is not null
begin
  update page_uses set blobs = blobs - 1
   where page in (select json_extract(value, '$[1]') from json_each(old.pages));
END;

create trigger blobs_change_pages after update of pages on blobs
begin
  update page_uses set blobs = blobs - 1
   where page in (select json_extract(value, '$[1]') from json_each(old.pages));
  insert into page_uses (page, blobs)
  select distinct json_extract(value, '$[1]'), 1 from json_each(new.pages) where true
      on conflict (page) do update set blobs = blobs + 1;
END;

-- What a token is limited to, beside its account's roles. Read with the token, in every request; a token that was made
-- without them has no limits. They never change.
alter table tokens add column space_id text;      -- null: every space
alter table tokens add column folder_id text;     -- a node in that space, with what is below; null: the whole space
alter table tokens add column rights text not null default 'write' check (rights in ('read', 'write'));
alter table tokens add column protocols text not null default 'all' check (protocols in ('all', 'rest', 'webdav'));

-- An account's tokens, newest first.
create index tokens_account on tokens (account_id, created_at);

insert into schema_version (version) values (4);
