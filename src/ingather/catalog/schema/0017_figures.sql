-- What each run did, counted in the transaction that did it: one row a figure.
create table run_figure (
  run integer not null,
  what text not null,            -- visits | outcome | error | rds | excluded | refused
  name text not null,            -- of excluded: directive.id
  n integer not null,
  primary key (run, what, name)
) strict, without rowid;
-- What visits of each origin cost so far.
create table host_figure (
  id integer primary key,        -- host.id
  visits integer not null,
  ms integer not null,           -- of all of them together ...
  slowest integer not null,      -- ... and of the slowest
  bytes integer not null,
  errors integer not null,
  first real not null,
  last real not null,
  address text not null          -- the last one that was asked
) strict;
