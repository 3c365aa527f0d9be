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
  name text not null,            -- its URL as configured, or as its index names it
  parent integer not null default 0,      -- rss_feed.id of the sitemap index that names it; 0 = the configuration does
  configured integer not null,   -- 1 = it is named there
  paused integer not null default 0,
  state integer not null,        -- syndication.facts.FeedState
  asked real,                    -- since when a poll is wanted; null = none is
  due real,                      -- next poll; null = none planned
  polled real,                   -- last poll, whatever came of it
  good real,                     -- last poll that told what it lists: then everything listed was seen
  facts blob not null,           -- syndication.facts.FeedFacts
  unique (source, name)
) strict;
create index rss_feed_parent on rss_feed (parent) where parent != 0;

-- Further pages of a feed that a poll waits for.
create table rss_page (
  url integer primary key,       -- url.id
  feed integer not null
) strict;
create index rss_page_feed on rss_page (feed);

-- Documents that a source of this kind looks after.
create table rss_document (
  id integer primary key,        -- url.id
  source integer not null,
  state integer not null,        -- syndication.facts.DocState
  intent integer not null,       -- the visit that is wanted; 0 = none
  asked real,                    -- since when it is
  due real,                      -- nothing is to be done before; null = a visit is wanted, or nothing is ever to be done
  why integer not null,          -- syndication.facts.Due
  counted integer not null,      -- 1 = the visit counts against the cycle's budget
  wanted integer not null,       -- syndication.facts.Want: why it is to go; 0 = it is not
  alias integer not null,        -- rss_document.id of the document that is the same; 0 = none
  final text not null default '',-- where its link leads, if elsewhere
  facts blob not null            -- syndication.facts.Registration
) strict;
create index rss_document_due on rss_document (source, counted, due, id) where due is not null;
create index rss_document_asked on rss_document (source, counted, asked) where asked is not null;
create index rss_document_wanted on rss_document (source, id) where wanted != 0;
create index rss_document_state on rss_document (source, state, id);
create index rss_document_final on rss_document (final, id) where final != '';
create index rss_document_alias on rss_document (alias, id) where alias != 0;

-- What each feed says of a document. Dates are kept by feed, so that two feeds with two dates do not argue.
create table rss_listing (
  feed integer not null,         -- rss_feed.id
  id integer not null,           -- url.id
  listed integer not null,       -- 1 = in the last good list
  guid text not null default '', -- the feed's name of the item
  facts blob not null,           -- syndication.facts.ListedDates
  primary key (feed, id)
) strict, without rowid;
create index rss_listing_now on rss_listing (feed, id) where listed = 1;
create index rss_listing_id on rss_listing (id, feed);
create index rss_listing_guid on rss_listing (feed, guid) where guid != '';

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
  status integer not null,
  notice integer not null        -- 1 = a person should see it
) strict;
create index rss_event_document on rss_event (document, id) where document is not null;
create index rss_event_feed on rss_event (feed, id) where feed is not null and document is null;
create index rss_event_notice on rss_event (id) where notice = 1;
create index rss_event_at on rss_event (at);

-- Cycles of a source, newest last; pruned by age.
create table rss_cycle (
  id integer primary key,
  source integer not null,
  begun real not null,
  ended real,
  polls integer not null default 0,
  checks integer not null default 0,   -- visits that count against the budget
  wanted integer not null default 0,   -- deletions that were wanted at its end ...
  removed integer not null default 0,  -- ... and those that were executed
  note text not null default ''        -- why none was, if so
) strict;
create index rss_cycle_source on rss_cycle (source, id);
