-- Lists of permits and denials, interned: many URLs share one.
create table acl_entries (
  id integer primary key,
  digest blob not null unique,
  entries blob not null          -- msgpack list of [deny, group, namespace, domain, name, with case], in order
) strict;
-- What decides about a document: its own entries and the URL that it inherits from. Index documents carry this
-- number (0 = nobody, 1 = everybody, so the first is 2), so a change of a parent's ACL changes no document.
-- Numbers are never given twice: an old one may still stand in the index.
create table acl_chain (
  id integer primary key check (id > 1),
  entries integer not null,      -- acl_entries.id
  parent text not null,          -- canonical URL, '' = the root
  type integer not null,         -- how it combines with what inherits from it, in the order of model.acl.Inheritance
  problem text not null,         -- why it is not trusted: then nobody sees what it governs
  unique (entries, parent, type, problem)
) strict;
-- ACLs by URL: of documents, and of folders and shares that are none.
create table acl (
  url text primary key,
  chain integer,                 -- acl_chain.id; null = it was taken away
  source integer,                -- whose ACL it is
  at real not null,
  epoch integer not null unique  -- grows with every change: who follows reads what lies above his last one
) strict, without rowid;
create index acl_source on acl (source) where chain is not null;
-- Changes of the log that moved a document to another chain. Until the index has applied one, it is asked here.
create table acl_moved (
  seq integer primary key,       -- change.seq
  id integer not null            -- url.id
) strict;
-- From now on url.acl is a sum: 1 = a readacl list in some layer, 2 = an ACL in the table acl, 4 = secured by its
-- authmethod, by credentials or by its host's word. 0 = its source decides.
