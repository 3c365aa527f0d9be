-- External metadata. The path of a default page without its last segment (/docs/index.html: /docs/), null for any other
-- page: with the path of all others it is the key by which prefixes are compared. Virtual: it lies in the index alone.
alter table url add column bare text generated always as (
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
  then rtrim(path, replace(path, '/', '')) end) virtual;
-- What a prefix touches: described documents only, so that URLs that were merely found cost nothing.
create index url_place on url (host, path) where version is not null;
create index url_bare on url (host, bare) where bare is not null and version is not null;

-- Texts of layers, each once, however many versions have it.
create table overlay_text (
  id integer primary key,
  digest blob not null unique,
  body blob not null            -- zlib
) strict;

-- What was laid over documents when: all layers of all sources together with the switches by which they were read.
create table overlay_version (
  id integer primary key,
  digest text not null unique,
  at real not null,
  texts blob not null           -- msgpack map: layer -> overlay_text.id
) strict;

create table overlay_publication (
  id integer primary key,
  version integer not null,
  at real not null,
  author text not null,
  note text not null
) strict;

-- Records that were set through the API, one line of the format each.
create table overlay_record (
  prefix text primary key,      -- as the line begins
  line text not null,
  at real not null,
  author text not null
) strict, without rowid;
