-- Where sitemaps are fetched, and which a host's robots.txt names: both are asked for by host, with a sitemap for each of many hosts.
alter table sitemap add column host integer;   -- host.id of its URL
update sitemap set host = (select u.host from url u where u.id = sitemap.url);
create index sitemap_host on sitemap (host);
create index sitemap_voucher_of on sitemap_voucher (hkey);
