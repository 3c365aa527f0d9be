-- What was seen of a document that may have to go, and what the deletion policy answered: the evidence of holds and tombstones.
-- The newest eight of a URL; forgotten when it is found again.
create table observation (
  id integer not null,           -- url.id
  n integer not null,            -- counts up within a URL
  source integer not null,
  at real not null,
  run integer,                   -- run that saw it; null = none was begun
  reason text not null,
  decision text not null,        -- delete | hold | wait
  why text not null,
  outcome integer,               -- of the visit, model.lifecycle.Outcome; null = no visit said so
  status integer,
  verdict integer,               -- directive.id that decided
  detail text not null,          -- in the words of the visit, or which feed
  primary key (id, n)
) strict, without rowid;
create index observation_day on observation (at);
-- What people decided about deletions; a row for each source and reason that it concerned.
create table decision (
  id integer primary key,
  at real not null,
  who text not null,
  verb text not null,            -- release | discard | remove | undelete
  target text not null,          -- hold 3 | run 7 | reason ... | a URL | a prefix
  source integer not null,       -- 0 = of all
  reason text not null,          -- of what was decided about; '' = all
  note text not null,            -- why, in the words of who decided
  documents integer not null
) strict;
create index decision_source on decision (source, at);
alter table hold add column why text not null default '';  -- what the policy said when it opened
alter table hold add column decision integer;              -- decision.id that closed it
alter table tombstone add column run integer;              -- run that deleted it; null = none was begun
alter table tombstone add column hold integer;             -- hold.id that was released
alter table tombstone add column decision integer;         -- decision.id of the person who wanted it
