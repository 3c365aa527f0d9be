-- URLs of feeds keep their session and campaign parameters, which links that we find lose. What feeds name with such
-- parameters stands here by the key that a link to it has, so that a link finds what was pushed.
create table pushed_short (
  short integer not null,        -- key of the URL without the parameters that links lose
  id integer not null,           -- url.id of the pushed URL; it counts while feeds name it (fed)
  primary key (short, id)
) strict, without rowid;
create index pushed_short_id on pushed_short (id);
-- How records wrote their URL, where that is not the key: two spellings of one key in one feed are told to both.
create table feed_spelling (
  feed integer not null,
  url text not null,             -- the key
  n integer not null,            -- feed_record.n
  written text not null,
  primary key (feed, url, n)
) strict, without rowid;
-- From what the description of a pushed document was made: the same again is not read again.
create table feed_mark (
  id integer primary key,        -- url.id
  mark blob not null,            -- digest of the content and of all that decides what is made of it
  seg integer, off integer, toff integer,  -- where body and text lay, and what the page's digests were, when it was made
  digests blob
) strict;
-- How a membership writes a name that is compared without case: JSON [namespace, domain, name]; null = as in the other columns,
-- or nobody knows any more.
alter table party add column written text;
-- What feeds up to this one named was kept without those parameters, and so were ACLs up to this time.
insert into meta (name, value) select 'short-feed', max(coalesce((select max(id) from feed), 0),
  coalesce((select value from meta where name = 'feed-newest'), 0)) where true on conflict (name) do nothing;
insert into meta (name, value) select 'short-until', unixepoch('subsec') where true on conflict (name) do nothing;
