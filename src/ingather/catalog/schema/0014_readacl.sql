-- The chain that a description's own access list (readacl) makes: acl_chain.id; null = nobody. It counts where the sum
-- url.acl has 1.
alter table url add column listed integer;
