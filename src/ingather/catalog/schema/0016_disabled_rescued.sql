-- Since when a source is disabled: nothing is fetched for it, and its feeds wait. null = it is not.
alter table source add column disabled real;
-- Documents with an ACL of their own under a policy rule, while policy rules rescue broken chains (access.policy-rescues-broken):
-- the chain "own, but policy where own is broken". Its number is a row of acl_chain too, with the entries, parent and type of own
-- and a problem, so that who knows nothing of this table lets nobody through.
create table acl_rescue (
  chain integer primary key,     -- acl_chain.id
  own integer not null,          -- acl_chain.id of the document's own ACL
  policy integer not null,       -- acl_chain.id of its policy rules
  unique (own, policy)
) strict;
