-- Visits that pushed records ask for: each such record has the number of its demand (feed_record.ask), counted for each URL.
alter table url add column asked integer not null default 0;     -- number of the newest demand
alter table url add column answered integer not null default 0;  -- newest demand that was there when a visit was claimed that is settled
alter table url add column urgent integer not null default 0;    -- newest demand that was urgent (model.demand.Demand)
create index url_asked on url (state, due) where asked > answered;
alter table feed_record add column ask integer;  -- url.asked when the record asked for a visit; null = it planned none
-- The record of a feed that deleted a document; null = another reason.
alter table tombstone add column feed integer;
alter table tombstone add column n integer;
-- ACLs that were pushed with a URL whose visit is still to come: until then both must permit.
create table acl_pending (
  id integer primary key,        -- url.id
  before integer,                -- chain of its ACL before; null = it had none
  pushed integer,                -- chain of its ACL from then on; null = it has none
  open integer not null          -- 1 = without an ACL everybody saw it, or it was no document
) strict;
