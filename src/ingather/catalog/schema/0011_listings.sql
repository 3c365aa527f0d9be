-- Who else lists a URL than its owner (table fed): other data sources that pushed or listed it, and what gathered it
-- before a feed brought its content. Bounded for each URL; the oldest goes.
create table fed_other (
  id integer not null,           -- url.id
  source integer not null,       -- source.id
  web integer not null,          -- 1 = listed for the crawler, or gathered; 0 = content of a feed
  feed integer not null,         -- the record that spoke last, 0 = none
  n integer not null,
  at real not null,
  primary key (id, source)
) strict, without rowid;
