-- Digests of what a description is made of, side by side: text, metadata, access list, links, and text without what changes
-- by itself (catalog.digests); null = made before they were kept, or by a feed.
alter table page add column digests blob;
-- URLs that somebody wants visited again while they are in a gatherer's hands: they wait again when that visit is settled.
create table again (
  id integer primary key         -- url.id
) strict;
-- How often what hosts say of their changes was right: robot.hints.
create table hint_score (
  host integer not null,         -- host.id
  hint integer not null,         -- robot.hints.Hint
  right real not null,           -- observations that agreed, old ones fade
  wrong real not null,
  primary key (host, hint)
) strict, without rowid;
-- Hosts whose documents do not change: a sample of what is due is visited first (robot.sampling).
create table host_pulse (
  id integer primary key,        -- host.id
  quiet integer not null,        -- visits in a row that found no change
  sampled integer not null,      -- value of quiet at which the sample has proved that nothing changed; 0 = no sample is out
  since real not null            -- when the sample was taken
) strict;
-- Visits of each host by day, for budgets: host is a politeness name, day counts from 1970 in UTC.
create table host_day (
  hkey text not null,
  day integer not null,
  n integer not null,
  primary key (hkey, day)
) strict, without rowid;
-- When what a host promised of its answer ends (Cache-Control, Expires); null = it promised nothing.
alter table url add column fresh real;
-- Sitemaps of sites: robots.txt, settings or an index name them.
create table sitemap (
  id integer primary key,
  url integer not null unique,   -- url.id where it is fetched
  source integer not null,       -- source.id
  parent integer not null default 0,   -- sitemap.id of the index that names it; 0 = none does
  depth integer not null,        -- indexes above it
  configured integer not null,   -- 1 = settings name it: then it may list whatever the filters let in
  named integer not null,        -- 1 = something names it still
  kind text not null default '', -- index | urls | '' = never read
  asked real,                    -- since when a poll is wanted; null = none is
  due real,                      -- next poll; null = none planned
  wait real,                     -- interval, seconds
  polled real,                   -- last poll, whatever came of it
  good real,                     -- last poll that told what it lists
  turn integer not null default 0,     -- counts the lists that were read
  listed integer not null default 0,   -- entries of the last one
  error text not null default ''
) strict;
create index sitemap_parent on sitemap (parent) where parent != 0;
create index sitemap_due on sitemap (due) where due is not null;
-- Hosts whose robots.txt names a sitemap: it may list all their URLs.
create table sitemap_voucher (
  sitemap integer not null,      -- sitemap.id
  hkey text not null,            -- politeness name of the host
  primary key (sitemap, hkey)
) strict, without rowid;
-- What sitemaps list. A URL that goes from its sitemap goes from here, and from nowhere else.
create table sitemap_entry (
  sitemap integer not null,      -- sitemap.id
  url text not null,             -- canonical
  id integer,                    -- url.id; null = nothing was made of it
  state integer not null,        -- model.sitemap.EntryState
  turn integer not null,         -- sitemap.turn that listed it last
  lastmod real,                  -- wall time; null = not said
  every real,                    -- changefreq in seconds; null = not said
  priority real,
  primary key (sitemap, url)
) strict, without rowid;
create index sitemap_entry_new on sitemap_entry (sitemap, url) where state = 0;
create index sitemap_entry_of on sitemap_entry (id) where id is not null;
