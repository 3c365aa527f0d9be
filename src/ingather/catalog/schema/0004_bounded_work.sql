-- Pages whose better path is still to be carried down their links: a large cascade goes on from here, transaction after transaction.
create table carry (
  id integer primary key,       -- url.id
  depth integer not null        -- of that page: the nearest go first
) strict;
create index carry_depth on carry (depth);

-- URLs that redirected more than once within a day.
create table redirected (
  id integer primary key,       -- url.id
  since real not null,          -- when the count began
  n integer not null
) strict;
