-- Pushed feeds, one row a file. Its sender was told "Success" only after this row was durable.
create table feed (
  id integer primary key,        -- in order of arrival
  name text not null unique,     -- in the appliance's form
  datasource text not null,
  kind text not null,            -- documents | groups
  feedtype text not null,        -- full | incremental | metadata-and-url; groups have types of their own
  fields blob not null,          -- msgpack map: the rest of the form
  sender text not null,
  received real not null,
  file text not null,            -- in the spool; '' = not kept any more
  size integer not null,
  sha256 text not null,
  estimate integer not null,     -- records, as counted while it came in
  session text not null default '',  -- several files are one full feed
  state integer not null default 0,  -- accepted, in progress, completed, completed with errors, failed in error
  begun real,
  ended real,
  done integer not null default 0,   -- so many records and ACLs of the file are applied
  cursor blob,                   -- msgpack: where its reader stood behind them
  applied integer not null default 0,
  rejected integer not null default 0,
  deleted integer not null default 0,
  held integer not null default 0,
  seq integer not null default 0,    -- newest change that it made
  complete integer not null default 0,  -- 1 = read to its end tag, without repair
  sweep integer not null default 0,  -- what a full feed leaves out: 0 = not decided, 1 = goes, 2 = is held, 3 = stays
  detail text not null default ''
) strict;
create index feed_source on feed (datasource, id);
create index feed_open on feed (id) where state < 2;
create index feed_received on feed (received);

-- Receipts, one a record or ACL, in document order; written in the transaction that applies it.
create table feed_record (
  feed integer not null,
  n integer not null,            -- from 1
  line integer not null,
  url text not null,             -- canonical, or as written if it is no URL
  id integer,                    -- url.id, if it has a row
  action text not null,          -- add | delete | acl | acl-delete | omitted
  state integer not null,        -- feeds.receipts.Written
  seq integer not null default 0,
  note text not null default '', -- why it was rejected, or what was tolerated
  primary key (feed, n)
) strict, without rowid;

-- What feeds say of a URL beside its metadata (layer "feed") and its ACL. A URL has one owner.
create table fed (
  id integer primary key,        -- url.id
  source integer not null,       -- whose it is: the last that wrote
  web integer not null,          -- 1 = listed for the crawler, 0 = content of a feed
  content integer not null default 0,  -- 1 = its content came with a feed: it is never fetched
  feed integer not null,         -- the record that spoke last
  n integer not null,
  once integer not null default 0,     -- crawl-once: never again by schedule
  locked integer not null default 0,
  pagerank integer,
  authmethod text not null default '',
  display text not null default '',
  media_type text not null default '',
  lastmod text not null default '',
  acl integer not null default 0 -- where its ACL came from: 0 = none or elsewhere, 1 = ACL metas, 2 = an acl element
) strict;
create index fed_source on fed (source, id);
