-- Named statements of the catalog's hot path; `-- name:` starts one. Parameters are positional.

-- name: insert_url
-- A conflict means that the URL is known: the caller then looks at depth.
insert into url (key, host, path, source, depth, maxdepth, parent, state, prio, hops, verdict, outcome)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (key) do nothing

-- name: discover_url
-- The same for what filters judged; what they deny is settled by this run.
insert into url (key, host, path, source, depth, maxdepth, parent, state, prio, hops, verdict, outcome, run)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (key) do nothing

-- name: url_by_key
select id, host, path, depth, maxdepth, state, verdict, source, hops, fetched, dup from url where key = ?

-- name: url_by_id
select id, host, path, depth, maxdepth, state, verdict, source, hops, fetched, dup from url where id = ?

-- name: offer_path
-- A better path: what is known of the way to a URL, all at once.
update url set depth = ?2, maxdepth = ?3, hops = ?4, parent = ?5, prio = min(prio, ?6) where id = ?1

-- name: row_now
-- The row as it stands when its visit is settled; it may have moved on since it was claimed.
select state, depth, maxdepth, digest, version, dup, held, source, fetched, coalesce(hist, x''), acl, policy, due, asked, urgent from url where id = ?

-- name: settle_url
update url set state = ?2, outcome = ?3, status = ?4, verdict = ?5, version = ?6, run = ?7, due = ?8, fetched = ?9,
  described = ?10, seen = ?10, wait = ?11, missing = ?12, fails = ?13, strikes = ?14, target = ?15, dup = ?16, held = null,
  etag = ?17, lastmod = ?18, digest = ?19, size = ?20, seg = ?21, off = ?22, len = ?23, toff = ?24, tlen = ?25, detail = ?26,
  hist = ?27, grouped = ?28, fresh = ?29,
  prio = iif(prio < 0, prio + 10, prio), intent = 0,
  answered = max(answered, ?30)
where id = ?1

-- name: settle_url_same
-- The visit brought another body and the same description: it stands, with its dates.
update url set state = ?2, outcome = ?22, status = ?3, verdict = ?4, version = ?5, run = ?6, due = ?7, fetched = ?8, seen = ?8,
  wait = ?9, missing = null, fails = 0, strikes = ?10, target = null, etag = ?11, lastmod = ?12, digest = ?13, size = ?14,
  seg = ?15, off = ?16, len = ?17, toff = ?18, tlen = ?19, detail = null, hist = ?20, fresh = ?21, prio = iif(prio < 0, prio + 10, prio),
  intent = 0, answered = max(answered, ?23)
where id = ?1

-- name: settle_url_kept
-- The visit brought no new body: what is kept of it stands. Outcome 1 = unchanged, 12 = duplicate.
update url set state = ?2, outcome = case when ?3 = 1 and dup is not null then 12 else ?3 end, status = ?4,
  verdict = coalesce(?5, verdict), run = ?6, due = ?7, fetched = ?8, seen = case when ?3 = 1 then ?8 else seen end,
  wait = ?9, missing = ?10, fails = ?11, strikes = ?12, target = ?13, detail = ?14, hist = ?15,
  etag = coalesce(nullif(?16, ''), etag), lastmod = coalesce(nullif(?17, ''), lastmod), fresh = ?18,
  prio = iif(prio < 0, prio + 10, prio), intent = 0,
  answered = max(answered, ?19)
where id = ?1

-- name: put_page
insert or replace into page (id, title, attrs, out, anchor, extra, digests) values (?, ?, ?, ?, ?, ?, ?)

-- name: put_links
-- Links of a page that has no RD: the graph needs them all the same.
insert into page (id, title, attrs, out, anchor, extra) values (?1, '', x'80', ?2, ?3, x'90')
on conflict (id) do update set out = excluded.out, anchor = excluded.anchor, digests = null
where out is not excluded.out or anchor is not excluded.anchor

-- name: put_change
insert into change (seq, id, kind) values (?, ?, ?)

-- name: refill
-- Up to ?4 waiting URLs of host ?1 behind (prio ?2, id ?3), in order, without those whose content comes with feeds, or whose
-- source is disabled.
-- Pushed: a feed lists it, or its source is what feeds push and nothing said before that it is out of scope (pushed_url).
-- What has no RD is asked for whole, unless it is a feed or a sitemap (intents 5, 8); a sitemap that has one is: its validators are the RD's.
select id, host, path, depth, maxdepth, source, hops, iif(iif(version is null, intent not in (5, 8), intent = 8), '', coalesce(etag, '')),
  iif(iif(version is null, intent not in (5, 8), intent = 8), '', coalesce(lastmod, '')), iif(version is not null and intent = 8, x'', coalesce(digest, x'')), version, wait, fails, strikes, missing, fetched,
  dup, intent, asked, (exists (select 1 from fed f where f.id = url.id) or source in (select id from source where kind = 'gsa')
  and (verdict is null or not exists (select 1 from directive d where d.id = verdict and d.category = 'site not allowed'))), prio
from url where host = ?1 and state = 0 and (prio, id) > (?2, ?3) and not exists (select 1 from fed f where f.id = url.id and f.content)
  and source not in (select id from source where disabled is not null)
order by prio, id limit ?4

-- name: claim_one
select id, host, path, depth, maxdepth, source, hops, iif(iif(version is null, intent not in (5, 8), intent = 8), '', coalesce(etag, '')),
  iif(iif(version is null, intent not in (5, 8), intent = 8), '', coalesce(lastmod, '')), iif(version is not null and intent = 8, x'', coalesce(digest, x'')), version, wait, fails, strikes, missing, fetched,
  dup, intent, asked, (exists (select 1 from fed f where f.id = url.id) or source in (select id from source where kind = 'gsa')
  and (verdict is null or not exists (select 1 from directive d where d.id = verdict and d.category = 'site not allowed')))
from url where id = ?

-- name: pushed_url
-- Whether the host of URL ?1 needs no site, because a trusted sender named the URL or the page that led to it.
select (exists (select 1 from fed f where f.id = url.id) or source in (select id from source where kind = 'gsa')
  and (verdict is null or not exists (select 1 from directive d where d.id = verdict and d.category = 'site not allowed'))) from url where id = ?

-- name: fed_row
-- All that applying a record asks of a URL with key ?1: its URL and state, who buried it, its layer ?2, what feeds say of it, and claim_one.
select h.origin || u.path, u.state, t.decided, l.attrs,
  f.source, f.web, f.content, f.feed, f.n, f.once, f.locked, f.pagerank, f.authmethod, f.display, f.media_type, f.lastmod, f.acl,
  u.id, u.host, u.path, u.depth, u.maxdepth, u.source, u.hops,
  iif(iif(u.version is null, u.intent not in (5, 8), u.intent = 8), '', coalesce(u.etag, '')),
  iif(iif(u.version is null, u.intent not in (5, 8), u.intent = 8), '', coalesce(u.lastmod, '')),
  iif(u.version is not null and u.intent = 8, x'', coalesce(u.digest, x'')), u.version, u.wait, u.fails, u.strikes, u.missing, u.fetched,
  u.dup, u.intent, u.asked
from url u join host h on h.id = u.host left join tombstone t on t.id = u.id left join fed f on f.id = u.id
left join layer l on l.id = u.id and l.name = ?2
where u.key = ?1

-- name: wake_asked
-- Visits that pushed records ask for and a limit delayed, whose time has come.
update url set state = 0 where id in (select id from url indexed by url_asked where asked > answered and state in (2, 3) and due <= ?1 limit ?2)
returning host

-- name: asked_due
-- Whether wake_asked would find something.
select exists (select 1 from url indexed by url_asked where asked > answered and state in (2, 3) and due <= ?1)

-- name: count_asked
-- Visits that pushed records ask for and that may be made now, at most ?2 of them; not of disabled sources. Of each kind no more than ten
-- times as many rows are looked at, whatever waits.
select min(count(*), ?2) from (
  select * from (select source from url indexed by url_asked where asked > answered and state = 0 limit 10 * ?2)
  union all
  select * from (select source from url indexed by url_asked where asked > answered and state in (2, 3) and due <= ?1 limit 10 * ?2)
) where source not in (select id from source where disabled is not null)

-- name: waiting_hosts
select host, count(*) from url where state = 0 and source not in (select id from source where disabled is not null) group by host

-- name: promote_due
update url set state = 0 where id in (select id from url where due <= ?1 and due is not null and state in (2, 3) order by due limit ?2)
returning host

-- name: revisit_hosts
-- What a new run visits again: all that was visited, at the hosts ?2 (JSON; null = all). Tombstones when their time has come.
select host, count(*) from url where (state = 2 and due is not null or state = 3 and due <= ?1)
  and (?2 is null or host in (select value from json_each(?2))) group by host

-- name: revisit
update url set state = 0 where (state = 2 and due is not null or state = 3 and due <= ?1)
  and (?2 is null or host in (select value from json_each(?2)))

-- name: shown
-- Everything that the index must hold, ascending.
select id from url where version is not null and dup is null and held is not 2 and behind is null and id > ?1 order by id limit ?2

-- name: first_duplicate
-- Who steps forward for digest ?1 in access class ?2: the smallest (depth, URL) that may be shown.
select u.id from url u join host h on h.id = u.host
where u.digest = ?1 and u.dup = ?2 and u.version is not null and u.held is not 2 order by u.depth, h.origin || u.path limit 1

-- name: rank
select u.depth, h.origin || u.path, u.held from url u join host h on h.id = u.host where u.id = ?

-- name: record
-- A URL as people see it; a condition follows.
select u.id, h.origin || u.path, s.name, u.state, u.depth, u.outcome, u.status, u.detail, d.place, d.version, d.reason,
  u.fetched, u.due, u.etag, u.lastmod, u.digest, u.size, u.version, p.extra,
  (select h.origin || x.path from url x join host h on h.id = x.host where x.id = u.parent),
  (select h.origin || x.path from url x join host h on h.id = x.host where x.id = u.target),
  (select h.origin || x.path from digest g join url x on x.id = g.head join host h on h.id = x.host
   where g.md5 = u.digest and g.class = u.dup)
from url u join host h on h.id = u.host join source s on s.id = u.source left join directive d on d.id = u.verdict
  left join page p on p.id = u.id where
