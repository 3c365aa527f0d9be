CREATE TABLE meta (
  name text primary key,
  value any
) strict, without rowid;
CREATE TABLE source (
  id integer primary key,
  name text not null unique,
  kind text not null,
  access text not null,         -- public | secure; secure documents have chain 0 until somebody grants more
  documents integer not null default 0  -- described URLs; kept up to date, because deletions ask for it in every batch
, disabled real, acl integer, apart integer not null default 0, inherited integer not null default 0) strict;
CREATE TABLE config_version (
  id integer primary key,
  digest text not null unique,  -- of all files together
  at real not null,
  files blob not null           -- msgpack map: file name -> text, so that an old verdict can be read against its lines
) strict;
CREATE TABLE directive (
  id integer primary key,
  version integer not null,
  place text not null,          -- file:line, '' if no line decided
  category text not null,
  reason text not null,
  unique (version, place, category, reason)
) strict;
CREATE TABLE host (
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
CREATE TABLE url (
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
, part integer, acl integer not null default 0, policy integer, bare text generated always as (
  case when instr(path, '?') = 0 and (
    path glob '*/[iI][nN][dD][eE][xX].[0-9A-Za-z][0-9A-Za-z][0-9A-Za-z]'
    or path glob '*/[iI][nN][dD][eE][xX].[0-9A-Za-z][0-9A-Za-z][0-9A-Za-z][0-9A-Za-z]'
    or path glob '*/[wW][eE][lL][cC][oO][mM][eE].[0-9A-Za-z][0-9A-Za-z][0-9A-Za-z]'
    or path glob '*/[wW][eE][lL][cC][oO][mM][eE].[0-9A-Za-z][0-9A-Za-z][0-9A-Za-z][0-9A-Za-z]'
    or path glob '*/[hH][oO][mM][eE].[0-9A-Za-z][0-9A-Za-z][0-9A-Za-z]'
    or path glob '*/[hH][oO][mM][eE].[0-9A-Za-z][0-9A-Za-z][0-9A-Za-z][0-9A-Za-z]'
    or path glob '*/[dD][eE][fF][aA][uU][lL][tT].[0-9A-Za-z][0-9A-Za-z][0-9A-Za-z]'
    or path glob '*/[dD][eE][fF][aA][uU][lL][tT].[0-9A-Za-z][0-9A-Za-z][0-9A-Za-z][0-9A-Za-z]'
    or path glob '*/[mM][aA][iI][nN].[0-9A-Za-z][0-9A-Za-z][0-9A-Za-z]'
    or path glob '*/[mM][aA][iI][nN].[0-9A-Za-z][0-9A-Za-z][0-9A-Za-z][0-9A-Za-z]')
  then rtrim(path, replace(path, '/', '')) end) virtual, listed integer, intent integer not null default 0, fresh real, behind integer, asked integer not null default 0, answered integer not null default 0, urgent integer not null default 0) strict;
CREATE INDEX url_todo on url (host, prio, id) where state = 0;
CREATE INDEX url_due on url (due) where due is not null and state in (2, 3);
CREATE INDEX url_missing on url (source, missing, version, held) where missing is not null and version is not null and held is null;
CREATE INDEX url_dup on url (digest, dup) where dup is not null;
CREATE TABLE page (
  id integer primary key,       -- url.id
  title text not null,
  attrs blob not null,          -- msgpack: name -> values; an integer n = first n characters of the text
  out blob not null,            -- packed 64-bit keys of followed links, in order
  anchor blob not null,         -- msgpack list of their texts
  extra blob not null           -- msgpack: headings, marked, language, media type, date, flags (for the index document)
, digests blob) strict;
CREATE TABLE inlink (
  id integer primary key,       -- url.id
  n integer not null,           -- public pages that link here
  anchors blob not null         -- msgpack list: informative anchor texts, most frequent first
) strict;
CREATE TABLE layer (
  id integer not null,          -- url.id
  name text not null,
  attrs blob not null,
  at real not null,
  primary key (id, name)
) strict, without rowid;
CREATE TABLE digest (
  md5 blob not null,
  class integer not null,       -- 0 = public sources, else the secure source's id
  head integer not null,        -- url.id
  primary key (md5, class)
) strict, without rowid;
CREATE TABLE change (
  seq integer primary key,
  id integer not null,
  kind integer not null         -- model.change.ChangeKind
) strict;
CREATE TABLE run (
  id integer primary key,
  started real not null,
  ended real,
  kind text not null,           -- crawl | serve
  detail text not null default ''
) strict;
CREATE TABLE budget (
  host integer not null,
  kind text not null,
  name text not null,
  n integer not null,
  refused integer not null default 0,
  primary key (host, kind, name)
) strict, without rowid;
CREATE TABLE hold (
  id integer primary key,
  source integer not null,
  reason text not null,
  opened real not null,
  urls integer not null default 0,
  closed real,
  verdict text                  -- released | discarded | withdrawn
, why text not null default '', decision integer) strict;
CREATE UNIQUE INDEX hold_open on hold (source, reason) where closed is null;
CREATE TABLE hold_item (
  id integer primary key,       -- url.id
  hold integer not null,
  at real not null
) strict;
CREATE INDEX hold_item_hold on hold_item (hold);
CREATE TABLE tombstone (
  id integer primary key,       -- url.id
  at real not null,
  reason text not null,
  seq integer not null,         -- change that announced it
  source integer not null,
  decided integer not null,     -- 0 = by the policy, 1 = by a person (a released hold), 2 = removed by hand
  gone integer not null,        -- 1 = visited again only after a long time or a new link
  version integer               -- url.version before; null = it had no RD
, run integer, hold integer, decision integer, feed integer, n integer) strict;
CREATE INDEX tombstone_day on tombstone (source, at) where decided = 0;
CREATE TABLE removed (
  url text not null,
  exact integer not null,       -- 1 = this URL, 0 = everything that starts so
  at real not null,
  primary key (url, exact)
) strict, without rowid;
CREATE TABLE event (
  id integer primary key,
  at real not null,
  kind text not null,
  subject text not null,
  detail text not null
) strict;
CREATE TABLE publication (
  id integer primary key,
  version integer not null,     -- config_version.id
  at real not null,
  author text not null default '',
  note text not null default ''
) strict;
CREATE TABLE rd_database (
  id integer primary key,
  name text not null unique
) strict;
CREATE TABLE carry (
  id integer primary key,       -- url.id
  depth integer not null        -- of that page: the nearest go first
) strict;
CREATE INDEX carry_depth on carry (depth);
CREATE TABLE redirected (
  id integer primary key,       -- url.id
  since real not null,          -- when the count began
  n integer not null
) strict;
CREATE TABLE acl_entries (
  id integer primary key,
  digest blob not null unique,
  entries blob not null          -- msgpack list of [deny, group, namespace, domain, name, with case], in order
) strict;
CREATE TABLE acl (
  url text primary key,
  chain integer,                 -- acl_chain.id; null = it was taken away
  source integer,                -- whose ACL it is
  at real not null,
  epoch integer not null unique  -- grows with every change: who follows reads what lies above his last one
, bound integer not null default 0) strict, without rowid;
CREATE INDEX acl_source on acl (source) where chain is not null;
CREATE TABLE acl_moved (
  seq integer primary key,       -- change.seq
  id integer not null            -- url.id
) strict;
CREATE TABLE party (
  id integer primary key,
  name text not null,            -- folded if with_case = 0, and so are domain and namespace
  domain text not null,
  namespace text not null,
  is_group integer not null,
  with_case integer not null,
  folded integer, written text,                -- of a group as written: party.id of its folded form
  unique (name, domain, namespace, is_group, with_case)
) strict;
CREATE TABLE membership_load (
  id integer primary key,
  source text not null,
  state integer not null,        -- 0 = being written, 1 = in force, 2 = to be removed
  memberships integer not null,  -- its rows in membership
  began real not null,
  changed real not null
) strict;
CREATE UNIQUE INDEX membership_load_in_force on membership_load (source) where state = 1;
CREATE TABLE membership (
  member integer not null,       -- party.id
  grp integer not null,          -- party.id, as written
  load integer not null,
  primary key (member, grp, load)
) strict, without rowid;
CREATE INDEX membership_by_load on membership (load, grp);
CREATE TABLE membership_epoch (
  id integer primary key check (id = 1),
  epoch integer not null
) strict;
CREATE TABLE feed (
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
CREATE INDEX feed_source on feed (datasource, id);
CREATE INDEX feed_open on feed (id) where state < 2;
CREATE INDEX feed_received on feed (received);
CREATE TABLE feed_record (
  feed integer not null,
  n integer not null,            -- from 1
  line integer not null,
  url text not null,             -- canonical, or as written if it is no URL
  id integer,                    -- url.id, if it has a row
  action text not null,          -- add | delete | acl | acl-delete | omitted
  state integer not null,        -- feeds.receipts.Written
  seq integer not null default 0,
  note text not null default '', ask integer, -- why it was rejected, or what was tolerated
  primary key (feed, n)
) strict, without rowid;
CREATE TABLE fed (
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
CREATE INDEX fed_source on fed (source, id);
CREATE TABLE local_user (
  id integer primary key autoincrement,  -- never given twice: sessions name it
  name text not null,            -- as written
  folded text not null unique,   -- as compared
  domain text not null,          -- of the principal; '' = what the name says
  namespace text not null,
  password text not null,        -- Argon2id in PHC form
  disabled integer not null,
  created real not null,
  changed real not null          -- when the password was set last
) strict;
CREATE TABLE user_session (
  digest blob primary key,       -- SHA-256 of the cookie
  user integer not null,         -- local_user.id
  born real not null,
  used real not null,            -- renewed now and then, not with every request
  expires real not null
) strict, without rowid;
CREATE INDEX user_session_of on user_session (user, born);
CREATE TABLE api_token (
  id integer primary key,
  name text not null unique,
  digest blob not null unique,   -- SHA-256
  rights integer not null,       -- a sum: 1 = searcher, 2 = feeder, 4 = administrator, 8 = searches as whom it names
  created real not null,
  expires real,                  -- null = never
  revoked real                   -- null = in force
) strict;
CREATE INDEX url_acl on url (id) where acl != 0;
CREATE TABLE provider_session (
  digest blob primary key,       -- SHA-256 of the cookie
  name text not null,            -- as access lists spell a user
  groups blob not null,          -- msgpack list of texts
  born real not null,
  used real not null,
  expires real not null
) strict, without rowid;
CREATE INDEX provider_session_expires on provider_session (expires);
CREATE TABLE fed_other (
  id integer not null,           -- url.id
  source integer not null,       -- source.id
  web integer not null,          -- 1 = listed for the crawler, or gathered; 0 = content of a feed
  feed integer not null,         -- the record that spoke last, 0 = none
  n integer not null,
  at real not null,
  primary key (id, source)
) strict, without rowid;
CREATE TABLE run_count (
  what integer not null,         -- 0 hosts, 1 URLs of the enumeration filter; 2, 3 the same of the generation filter
  key integer not null,          -- seeded hash of the host or the URL
  primary key (what, key)
) strict, without rowid;
CREATE INDEX url_place on url (host, path) where version is not null;
CREATE INDEX url_bare on url (host, bare) where bare is not null and version is not null;
CREATE TABLE overlay_text (
  id integer primary key,
  digest blob not null unique,
  body blob not null            -- zlib
) strict;
CREATE TABLE overlay_version (
  id integer primary key,
  digest text not null unique,
  at real not null,
  texts blob not null           -- msgpack map: layer -> overlay_text.id
) strict;
CREATE TABLE overlay_publication (
  id integer primary key,
  version integer not null,
  at real not null,
  author text not null,
  note text not null
) strict;
CREATE TABLE overlay_record (
  prefix text primary key,      -- as the line begins
  line text not null,
  at real not null,
  author text not null
) strict, without rowid;
CREATE TABLE rss_source (
  id integer primary key,        -- source.id
  next real,                     -- when the next cycle may begin; null = not while it is off
  cycle integer,                 -- rss_cycle.id of the cycle that runs; null = none runs
  facts blob not null            -- syndication.facts.SourceFacts
) strict;
CREATE TABLE rss_feed (
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
CREATE INDEX rss_feed_parent on rss_feed (parent) where parent != 0;
CREATE TABLE rss_page (
  url integer primary key,       -- url.id
  feed integer not null
) strict;
CREATE INDEX rss_page_feed on rss_page (feed);
CREATE TABLE rss_document (
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
CREATE INDEX rss_document_due on rss_document (source, counted, due, id) where due is not null;
CREATE INDEX rss_document_asked on rss_document (source, counted, asked) where asked is not null;
CREATE INDEX rss_document_wanted on rss_document (source, id) where wanted != 0;
CREATE INDEX rss_document_state on rss_document (source, state, id);
CREATE INDEX rss_document_final on rss_document (final, id) where final != '';
CREATE INDEX rss_document_alias on rss_document (alias, id) where alias != 0;
CREATE TABLE rss_listing (
  feed integer not null,         -- rss_feed.id
  id integer not null,           -- url.id
  listed integer not null,       -- 1 = in the last good list
  guid text not null default '', -- the feed's name of the item
  facts blob not null,           -- syndication.facts.ListedDates
  primary key (feed, id)
) strict, without rowid;
CREATE INDEX rss_listing_now on rss_listing (feed, id) where listed = 1;
CREATE INDEX rss_listing_id on rss_listing (id, feed);
CREATE INDEX rss_listing_guid on rss_listing (feed, guid) where guid != '';
CREATE TABLE rss_event (
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
CREATE INDEX rss_event_document on rss_event (document, id) where document is not null;
CREATE INDEX rss_event_feed on rss_event (feed, id) where feed is not null and document is null;
CREATE INDEX rss_event_notice on rss_event (id) where notice = 1;
CREATE INDEX rss_event_at on rss_event (at);
CREATE TABLE rss_cycle (
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
CREATE INDEX rss_cycle_source on rss_cycle (source, id);
CREATE TABLE acl_rescue (
  chain integer primary key,     -- acl_chain.id
  own integer not null,          -- acl_chain.id of the document's own ACL
  policy integer not null,       -- acl_chain.id of its policy rules
  unique (own, policy)
) strict;
CREATE TABLE run_figure (
  run integer not null,
  what text not null,            -- visits | outcome | error | rds | excluded | refused
  name text not null,            -- of excluded: directive.id
  n integer not null,
  primary key (run, what, name)
) strict, without rowid;
CREATE TABLE host_figure (
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
CREATE TABLE observation (
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
  detail text not null, found real,          -- in the words of the visit, or which feed
  primary key (id, n)
) strict, without rowid;
CREATE INDEX observation_day on observation (at);
CREATE TABLE decision (
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
CREATE INDEX decision_source on decision (source, at);
CREATE TABLE again (
  id integer primary key         -- url.id
) strict;
CREATE TABLE hint_score (
  host integer not null,         -- host.id
  hint integer not null,         -- robot.hints.Hint
  right real not null,           -- observations that agreed, old ones fade
  wrong real not null,
  primary key (host, hint)
) strict, without rowid;
CREATE TABLE host_pulse (
  id integer primary key,        -- host.id
  quiet integer not null,        -- visits in a row that found no change
  sampled integer not null,      -- value of quiet at which the sample has proved that nothing changed; 0 = no sample is out
  since real not null            -- when the sample was taken
) strict;
CREATE TABLE host_day (
  hkey text not null,
  day integer not null,
  n integer not null,
  primary key (hkey, day)
) strict, without rowid;
CREATE TABLE sitemap (
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
, host integer) strict;
CREATE INDEX sitemap_parent on sitemap (parent) where parent != 0;
CREATE INDEX sitemap_due on sitemap (due) where due is not null;
CREATE TABLE sitemap_voucher (
  sitemap integer not null,      -- sitemap.id
  hkey text not null,            -- politeness name of the host
  primary key (sitemap, hkey)
) strict, without rowid;
CREATE TABLE sitemap_entry (
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
CREATE INDEX sitemap_entry_new on sitemap_entry (sitemap, url) where state = 0;
CREATE INDEX sitemap_entry_of on sitemap_entry (id) where id is not null;
CREATE TABLE fingerprint (
  id integer primary key,        -- url.id
  near integer not null
) strict;
CREATE TABLE near (
  id integer primary key,        -- url.id
  head integer not null,         -- url.id of the member that stands for the group
  bits integer not null          -- in how many bits the fingerprints of both differ
) strict;
CREATE INDEX near_head on near (head);
CREATE TABLE canonical (
  id integer primary key,        -- url.id
  target integer not null,       -- key of the URL that is named
  url text not null,             -- that URL
  verdict text,                  -- null = not judged yet; '' = obeyed; else why it is ignored
  at real                        -- when it was judged
) strict;
CREATE INDEX url_behind on url (behind) where behind is not null;
CREATE TABLE trap (
  id integer primary key,
  kind text not null,            -- calendar | session | facets | paging | loop
  place text not null,           -- origin and the part of the URL that is the trap: its name across passes
  origin text not null,
  state text not null,           -- open | dismissed | published
  first real not null,
  last real not null,            -- last pass that saw it
  urls integer not null,         -- URLs of it that are known
  visited integer not null,      -- how many of them were visited
  contents integer not null,     -- how many contents those had
  why text not null,             -- for people
  examples blob not null,        -- msgpack list of URLs
  pattern text not null,         -- of the rule's Match line, '' = none can be given
  excluded integer not null,     -- known URLs that the rule would exclude
  good integer not null,         -- documents with a content of their own among them
  advice text not null,          -- what else would help, '' = nothing
  by text not null default '',   -- who published or dismissed it, and when
  decided real,
  unique (kind, place)
) strict;
CREATE TABLE host_alias (
  alias text primary key,        -- as in URLs: name, or name:port where it is not the scheme's own
  host text not null,            -- whose keys its URLs get
  state text not null,           -- model.alias.AliasState: proposed | applied | refused | folded
  evidence text not null,        -- for people
  who text not null,             -- who decided; '' = nobody did
  at real not null               -- since when it is so, wall seconds
) strict, without rowid;
CREATE INDEX sitemap_host on sitemap (host);
CREATE INDEX sitemap_voucher_of on sitemap_voucher (hkey);
CREATE INDEX feed_record_acl on feed_record (feed, url) where action = 'acl';
CREATE INDEX url_asked on url (state, due) where asked > answered;
CREATE TABLE acl_pending (
  id integer primary key,        -- url.id
  before integer,                -- chain of its ACL before; null = it had none
  pushed integer,                -- chain of its ACL from then on; null = it has none
  open integer not null          -- 1 = without an ACL everybody saw it, or it was no document
) strict;
CREATE TABLE "acl_chain" (
  id integer primary key check (id > 1),
  entries integer not null,      -- acl_entries.id
  parent text not null,          -- canonical URL, '' = the root
  type integer not null,         -- how it combines with what inherits from it, in the order of model.acl.Inheritance
  problem text not null,         -- why it is not trusted: then nobody sees what it governs
  source integer not null default 0,  -- whose ACL it is: of those with a parent, and of bound ones; 0 = not known
  bound integer not null default 0,   -- a token brought it
  unique (entries, parent, type, problem, source, bound)
) strict;
CREATE INDEX acl_chain_parent on acl_chain (parent) where parent != '';
CREATE TABLE pushed_short (
  short integer not null,        -- key of the URL without the parameters that links lose
  id integer not null,           -- url.id of the pushed URL; it counts while feeds name it (fed)
  primary key (short, id)
) strict, without rowid;
CREATE INDEX pushed_short_id on pushed_short (id);
CREATE TABLE feed_spelling (
  feed integer not null,
  url text not null,             -- the key
  n integer not null,            -- feed_record.n
  written text not null,
  primary key (feed, url, n)
) strict, without rowid;
CREATE TABLE feed_mark (
  id integer primary key,        -- url.id
  mark blob not null,            -- digest of the content and of all that decides what is made of it
  seg integer, off integer, toff integer,  -- where body and text lay, and what the page's digests were, when it was made
  digests blob
) strict;
