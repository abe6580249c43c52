-- 0008: what WebDAV's clients keep with a file or a folder.

-- Dead properties: elements that we keep and don't read. A rowid table: long rows overflow early in one without.
create table properties (
  node integer not null,                        -- nodes.n
  namespace text not null,                      -- '' for none
  name text not null,
  xml text not null                             -- the whole element, with the namespaces that it needs
) strict;

-- A node's properties, in listings and where one is set.
create unique index properties_node on properties (node, namespace, name);

-- Wrangler finds the end of a trigger by END in capitals.
create trigger node_gone_properties after delete on nodes begin
  delete from properties where node = old.n;
END;

insert into schema_version (version) values (8);
