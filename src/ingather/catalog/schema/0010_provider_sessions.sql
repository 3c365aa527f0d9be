-- Browsers of people for whom an identity provider vouched; what it said of them then stands here as long as they are
-- logged in. The id is in the cookie alone.
create table provider_session (
  digest blob primary key,       -- SHA-256 of the cookie
  name text not null,            -- as access lists spell a user
  groups blob not null,          -- msgpack list of texts
  born real not null,
  used real not null,
  expires real not null
) strict, without rowid;
create index provider_session_expires on provider_session (expires);
