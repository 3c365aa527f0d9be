-- What filter-by-max has let pass in this run; a new run begins with none.
create table run_count (
  what integer not null,         -- 0 hosts, 1 URLs of the enumeration filter; 2, 3 the same of the generation filter
  key integer not null,          -- seeded hash of the host or the URL
  primary key (what, key)
) strict, without rowid;
