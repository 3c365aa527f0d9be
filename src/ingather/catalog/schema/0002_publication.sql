-- Which configuration was in force when, and who said so. A version (config_version) is a text and keeps
-- its number: publishing an old text again adds a line here and no new version. A version without a line
-- was never in force: it is what stood in config/ before something else was written over it.
create table publication (
  id integer primary key,
  version integer not null,     -- config_version.id
  at real not null,
  author text not null default '',
  note text not null default ''
) strict;
insert into publication (version, at, note) select id, at, 'from before authors and notes were kept' from config_version order by id;
