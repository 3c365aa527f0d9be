-- url.seen when it was seen so: evidence counts as long as that stands, whatever clocks say.
alter table observation add column found real;
