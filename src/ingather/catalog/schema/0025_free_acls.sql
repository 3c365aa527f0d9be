-- Whether a feed gave a URL an ACL of its own before: asked for each ACL of a record in feeds of more than one batch.
create index feed_record_acl on feed_record (feed, url) where action = 'acl';
