-- What a page's text is like: SimHash of its words (64 bits, signed), for near-duplicates; only texts that are long enough.
create table fingerprint (
  id integer primary key,        -- url.id
  near integer not null
) strict;
-- Groups of near-duplicates, made by a pass when gathering is quiet: each member but the head has a row.
create table near (
  id integer primary key,        -- url.id
  head integer not null,         -- url.id of the member that stands for the group
  bits integer not null          -- in how many bits the fingerprints of both differ
) strict;
create index near_head on near (head);
-- Canonical links: pages that name another address as theirs. A pass judges them when gathering is quiet.
create table canonical (
  id integer primary key,        -- url.id
  target integer not null,       -- key of the URL that is named
  url text not null,             -- that URL
  verdict text,                  -- null = not judged yet; '' = obeyed; else why it is ignored
  at real                        -- when it was judged
) strict;
-- Shown as this row (url.id), because the canonical link is obeyed; null = shown for itself.
alter table url add column behind integer;
create index url_behind on url (behind) where behind is not null;
-- Crawler traps that were found, each with the rule that would stop it.
create table trap (
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
