-- People who log in here with a password of their own.
create table local_user (
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
-- Browsers that logged in. What stands here opens nothing: the id is in the cookie alone.
create table user_session (
  digest blob primary key,       -- SHA-256 of the cookie
  user integer not null,         -- local_user.id
  born real not null,
  used real not null,            -- renewed now and then, not with every request
  expires real not null
) strict, without rowid;
create index user_session_of on user_session (user, born);
-- Keys of programs. Names are given once; a revoked one keeps its row.
create table api_token (
  id integer primary key,
  name text not null unique,
  digest blob not null unique,   -- SHA-256
  rights integer not null,       -- a sum: 1 = searcher, 2 = feeder, 4 = administrator, 8 = searches as whom it names
  created real not null,
  expires real,                  -- null = never
  revoked real                   -- null = in force
) strict;
