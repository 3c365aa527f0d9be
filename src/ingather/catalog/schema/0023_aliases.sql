-- Hosts with two names: what is proposed, chosen or refused, and what smart-host-heuristics folds.
create table host_alias (
  alias text primary key,        -- as in URLs: name, or name:port where it is not the scheme's own
  host text not null,            -- whose keys its URLs get
  state text not null,           -- model.alias.AliasState: proposed | applied | refused | folded
  evidence text not null,        -- for people
  who text not null,             -- who decided; '' = nobody did
  at real not null               -- since when it is so, wall seconds
) strict, without rowid;
