-- Who sees a source's documents that neither have an ACL of their own nor are named by a policy rule: acl_chain.id; null = as its access
-- says. It stands in url.policy, as a rule's chain does.
alter table source add column acl integer;
