-- Databases: named partitions of RDs. A row without one is in the database "default".
create table rd_database (
  id integer primary key,
  name text not null unique
) strict;
alter table url add column part integer;                     -- rd_database.id
-- 1 = some layer of its RD has an access list (readacl): shown to nobody until lists are read.
alter table url add column acl integer not null default 0;
