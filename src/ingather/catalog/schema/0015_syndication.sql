-- RSS, Atom and sitemap sources: what their feeds list, how far each document is looked after, and what happened.
-- The facts that only the decider reads are msgpack maps (syndication.facts); columns are what queries ask for.

-- What the visit that a row waits for is to do: model.intent.Intent; 0 = an ordinary visit.
alter table url add column intent integer not null default 0;

-- Sources of this kind, one row a source.
create table rss_source (
  id integer primary key,        -- source.id
  next real,                     -- when the next cycle may begin; null = not while it is off
  cycle integer,                 -- rss_cycle.id of the cycle that runs; null = none runs
  facts blob not null            -- syndication.facts.SourceFacts
) strict;

-- Feeds and sitemaps. A feed that moves for good keeps its row; one that the configuration names no more keeps it, too.
create table rss_feed (
  id integer primary key,
  url integer not null unique,   -- url.id of where it is polled
  source integer not null,
  name text not null,            -- its URL as configured
  configured integer not null,   -- 1 = the configuration names it
  paused integer not null default 0,
  state integer not null,        -- syndication.facts.FeedState
  due real,                      -- next poll; null = none planned
  polled real,                   -- last poll, whatever came of it
  good real,                     -- last poll that told what it lists: then everything listed was seen
  facts blob not null,           -- syndication.facts.FeedFacts
  unique (source, name)
) strict;
create index rss_feed_due on rss_feed (source, due) where due is not null and configured = 1 and paused = 0;

-- Further pages of a feed and the sitemaps of an index, while a poll waits for them.
create table rss_page (
  url integer primary key,       -- url.id
  feed integer not null,
  n integer not null,            -- in order of discovery, from 1
  depth integer not null
) strict;
create index rss_page_feed on rss_page (feed);

-- Documents that a source of this kind looks after.
create table rss_document (
  id integer primary key,        -- url.id
  source integer not null,
  state integer not null,        -- syndication.facts.DocState
  due real,                      -- nothing is to be done before; null = nothing is planned
  asked real,                    -- since when a visit is wanted; null = none is
  seen real,                     -- last listed in a good poll; what is listed now was seen at rss_feed.good, too
  alias integer,                 -- rss_document.id of the document that is the same
  final text not null default '',-- where its link leads, if elsewhere
  facts blob not null            -- syndication.facts.Registration
) strict;
create index rss_document_due on rss_document (source, due, id) where due is not null;
create index rss_document_state on rss_document (source, state, id);
create index rss_document_final on rss_document (final, id) where final != '';

-- What each feed says of a document. Dates are kept by feed, so that two feeds with two dates do not argue.
create table rss_listing (
  feed integer not null,         -- rss_feed.id
  id integer not null,           -- url.id
  listed integer not null,       -- 1 = in the last good list
  first real not null,
  last real not null,            -- last good poll that had it; of what is listed see rss_feed.good
  facts blob not null,           -- syndication.facts.ListedDates
  primary key (feed, id)
) strict, without rowid;
create index rss_listing_id on rss_listing (id, feed);
-- A feed's names of its items that are no links, for deleted entries.
create table rss_guid (
  feed integer not null,
  guid text not null,
  id integer not null,           -- url.id
  primary key (feed, guid)
) strict, without rowid;
create index rss_guid_id on rss_guid (id, feed);

-- Transitions, newest last; pruned by age.
create table rss_event (
  id integer primary key,
  at real not null,
  source integer not null,
  feed integer,                  -- rss_feed.id
  document integer,              -- url.id
  before text not null,          -- state, '' if none
  after text not null,
  cause text not null,
  status integer not null
) strict;
create index rss_event_document on rss_event (document, id) where document is not null;
create index rss_event_feed on rss_event (feed, id) where feed is not null and document is null;
create index rss_event_at on rss_event (at);

-- Cycles of a source, newest last; pruned by age.
create table rss_cycle (
  id integer primary key,
  source integer not null,
  begun real not null,
  ended real,
  polls integer not null default 0,
  checks integer not null default 0,   -- existence checks and refreshes that were asked for
  wanted integer not null default 0,   -- deletions
  facts blob not null            -- syndication.facts.CycleFacts
) strict;
create index rss_cycle_source on rss_cycle (source, id);
