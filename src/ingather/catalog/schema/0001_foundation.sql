-- The catalog, version 1. One writer; readers on connections of their own. Every statement stands
-- alone (a pragma that returns a row would end a script), times are wall seconds UTC.

-- What this catalog is: schema version, hash seed, next numbers.
create table meta (
  name text primary key,
  value any
) strict, without rowid;

-- Who owns URLs. Seconds and shares live in ingather.toml; here only what rows must refer to.
create table source (
  id integer primary key,
  name text not null unique,
  kind text not null,
  access text not null,         -- public | secure; secure documents have chain 0 until somebody grants more
  documents integer not null default 0  -- described URLs; kept up to date, because deletions ask for it in every batch
) strict;

-- Published configurations: the deciding directive of every URL names its version.
create table config_version (
  id integer primary key,
  digest text not null unique,  -- of all files together
  at real not null,
  files blob not null           -- msgpack map: file name -> text, so that an old verdict can be read against its lines
) strict;

-- Deciding directives and reasons, interned: a URL row holds one small number.
create table directive (
  id integer primary key,
  version integer not null,
  place text not null,          -- file:line, '' if no line decided
  category text not null,
  reason text not null,
  unique (version, place, category, reason)
) strict;

-- Origins (scheme://host:port), their politeness and robots state as it survives a restart.
create table host (
  id integer primary key,
  origin text not null unique,
  hkey text not null,           -- politeness name, shared by http and https
  not_before real not null default 0,
  back_offs integer not null default 0,
  robots_kind text not null default '',
  robots_body blob,
  robots_at real not null default 0,
  robots_since real not null default 0,
  robots_detail text not null default '',
  delay real not null default 0
) strict;

-- One row a URL; a tombstone keeps its row, so that it can be undone. Sequential ids = order of discovery = order of claims, so inserts append and updates
-- meet warm neighbours; the seeded hash beside them is what gatherers, seen-caches and link blobs speak.
create table url (
  id integer primary key,
  key integer not null unique,
  host integer not null,
  path text not null,
  source integer not null,
  depth integer not null,       -- smallest over all known paths
  maxdepth integer,             -- depth limit, the most generous of all known paths counted from this depth; null = default, -1 = none
  parent integer,               -- page on the shortest known path; null = starting point
  state integer not null,       -- model.lifecycle.State
  prio integer not null,
  hops integer not null,        -- redirects followed on the way here
  outcome integer,              -- model.lifecycle.Outcome of the last visit
  status integer,
  verdict integer,              -- directive.id
  version integer,              -- config_version of the last description
  run integer,                  -- last run that settled this URL
  due real,                     -- next visit; null = none planned
  fetched real,                 -- last visit, whatever came of it
  described real,               -- visit that made the RD that is kept
  seen real,                    -- last visit that found the page as described: the RD's dates are counted from it
  wait real,                    -- current recheck interval in seconds
  missing real,                 -- first 404/410 in a row
  fails integer not null default 0,
  strikes integer not null default 0,
  target integer,               -- where it redirects to
  grouped integer not null default 0,  -- 1 = its filter asked to hide equal bodies: it takes part in a group
  dup integer,                  -- hidden behind the head of its body's group (digest.class); null = the head, or no duplicate
  held integer,                 -- its deletion waits for a person: 1 = shown meanwhile, 2 = hidden
  etag text,
  lastmod text,
  digest blob,
  size integer,
  seg integer, off integer, len integer, toff integer, tlen integer,
  detail text,
  hist blob                     -- last twelve visits, newest first, 20 bytes each (packing.py)
) strict;

-- The frontier: empties itself. Host first, so that one host's queue is one range.
create index url_todo on url (host, prio, id) where state = 0;
-- The recrawl queue.
create index url_due on url (due) where due is not null and state in (2, 3);
-- Documents missing at a first look, for the deletion policy's account of a source.
create index url_missing on url (source, missing, version, held) where missing is not null and version is not null and held is null;
-- Who steps forward when the head of a group of equal bodies goes.
create index url_dup on url (digest, dup) where dup is not null;

-- The RD's page layer and the page's links, one row a page, replaced by each changed visit.
create table page (
  id integer primary key,       -- url.id
  title text not null,
  attrs blob not null,          -- msgpack: name -> values; an integer n = first n characters of the text
  out blob not null,            -- packed 64-bit keys of followed links, in order
  anchor blob not null,         -- msgpack list of their texts
  extra blob not null           -- msgpack: headings, marked, language, media type, date, flags (for the index document)
) strict;

-- What other public pages say about a page: made by a pass over the link blobs, never a row an edge.
create table inlink (
  id integer primary key,       -- url.id
  n integer not null,           -- public pages that link here
  anchors blob not null         -- msgpack list: informative anchor texts, most frequent first
) strict;

-- Other layers (feed, header, editor); a recrawl never touches them.
create table layer (
  id integer not null,          -- url.id
  name text not null,
  attrs blob not null,
  at real not null,
  primary key (id, name)
) strict, without rowid;

-- Equal bodies and who is shown for them: the described URL with the smallest (depth, URL). Groups are
-- made inside one access class only: a public copy never hides behind one that not everybody may see.
create table digest (
  md5 blob not null,
  class integer not null,       -- 0 = public sources, else the secure source's id
  head integer not null,        -- url.id
  primary key (md5, class)
) strict, without rowid;

-- The change log: the index follows it by sequence number.
create table change (
  seq integer primary key,
  id integer not null,
  kind integer not null         -- model.change.ChangeKind
) strict;

-- Runs: from start to an empty pool. An unfinished one is continued, not begun again.
create table run (
  id integer primary key,
  started real not null,
  ended real,
  kind text not null,           -- crawl | serve
  detail text not null default ''
) strict;

-- What URL budgets counted and refused: kind host | prefix | path. URLs that filters denied cost nothing.
create table budget (
  host integer not null,
  kind text not null,
  name text not null,
  n integer not null,
  refused integer not null default 0,
  primary key (host, kind, name)
) strict, without rowid;

-- Deletions that wait for a person; a hold with nothing left in it closes by itself.
create table hold (
  id integer primary key,
  source integer not null,
  reason text not null,
  opened real not null,
  urls integer not null default 0,
  closed real,
  verdict text                  -- released | discarded | withdrawn
) strict;
create unique index hold_open on hold (source, reason) where closed is null;
-- URLs in open holds, each in one.
create table hold_item (
  id integer primary key,       -- url.id
  hold integer not null,
  at real not null
) strict;
create index hold_item_hold on hold_item (hold);

-- Tombstones: why and when; undone by deleting the row.
create table tombstone (
  id integer primary key,       -- url.id
  at real not null,
  reason text not null,
  seq integer not null,         -- change that announced it
  source integer not null,
  decided integer not null,     -- 0 = by the policy, 1 = by a person (a released hold), 2 = removed by hand
  gone integer not null,        -- 1 = visited again only after a long time or a new link
  version integer               -- url.version before; null = it had no RD
) strict;
-- What the policy deleted of a source within a day.
create index tombstone_day on tombstone (source, at) where decided = 0;

-- URLs and prefixes removed by hand: not gathered until undeleted, whoever links to them.
create table removed (
  url text not null,
  exact integer not null,       -- 1 = this URL, 0 = everything that starts so
  at real not null,
  primary key (url, exact)
) strict, without rowid;

-- What operators should know, newest last; pruned by age.
create table event (
  id integer primary key,
  at real not null,
  kind text not null,
  subject text not null,
  detail text not null
) strict;
