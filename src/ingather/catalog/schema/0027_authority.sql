-- What a token brought counts for its own source alone (feeds/authority.py). bound: a token brought this ACL; it governs documents of
-- its source and no others'.
alter table acl add column bound integer not null default 0;
-- apart: tokens push to this source, so its documents neither hide those of others nor name them in their links. inherited: ACLs of
-- other sources may inherit from ACLs of this one as from their own (setting acls-inherited).
alter table source add column apart integer not null default 0;
alter table source add column inherited integer not null default 0;
-- A chain with a parent knows whose ACL it is: where parent and child are of two sources and a token brought one of them, both must permit.
create table acl_chain_of_sources (
  id integer primary key check (id > 1),
  entries integer not null,      -- acl_entries.id
  parent text not null,          -- canonical URL, '' = the root
  type integer not null,         -- how it combines with what inherits from it, in the order of model.acl.Inheritance
  problem text not null,         -- why it is not trusted: then nobody sees what it governs
  source integer not null default 0,  -- whose ACL it is: of those with a parent, and of bound ones; 0 = not known
  bound integer not null default 0,   -- a token brought it
  unique (entries, parent, type, problem, source, bound)
) strict;
insert into acl_chain_of_sources (id, entries, parent, type, problem, source, bound)
  select id, entries, parent, type, problem, 0, 0 from acl_chain;
drop table acl_chain;
alter table acl_chain_of_sources rename to acl_chain;
create index acl_chain_parent on acl_chain (parent) where parent != '';
