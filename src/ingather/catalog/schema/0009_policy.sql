-- What a policy rule (URL pattern to ACL) says of a document that has no ACL of its own: acl_chain.id. In the sum
-- url.acl, 8 stands for it.
alter table url add column policy integer;
-- Whatever is not simply as open as its source.
create index url_acl on url (id) where acl != 0;
