-- Who is meant by memberships: users and groups, each once, in the form in which it is compared. A group as such has
-- two rows, as written (with_case = 1) and folded: what looks upwards from it needs both.
create table party (
  id integer primary key,
  name text not null,            -- folded if with_case = 0, and so are domain and namespace
  domain text not null,
  namespace text not null,
  is_group integer not null,
  with_case integer not null,
  folded integer,                -- of a group as written: party.id of its folded form
  unique (name, domain, namespace, is_group, with_case)
) strict;
-- One row for each state of a source's memberships. A replacing load writes a new one beside the old and changes them over
-- in one step.
create table membership_load (
  id integer primary key,
  source text not null,
  state integer not null,        -- 0 = being written, 1 = in force, 2 = to be removed
  memberships integer not null,  -- its rows in membership
  began real not null,
  changed real not null
) strict;
create unique index membership_load_in_force on membership_load (source) where state = 1;
create table membership (
  member integer not null,       -- party.id
  grp integer not null,          -- party.id, as written
  load integer not null,
  primary key (member, grp, load)
) strict, without rowid;
create index membership_by_load on membership (load, grp);
-- Grows with every change of what is in force: whoever keeps an expansion compares it.
create table membership_epoch (
  id integer primary key check (id = 1),
  epoch integer not null
) strict;
insert into membership_epoch (id, epoch) values (1, 0);
