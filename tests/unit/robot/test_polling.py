"""A feed's poll, from the socket to the report: validators, hints, redirects, and what is listed."""

import asyncio
import gzip
from typing import Any

import pytest

from ingather.fetch.freshness import fresh_s
from ingather.model.intent import Intent
from ingather.model.lifecycle import Outcome
from ingather.model.polled import Hop, Polled, PollKind, decode_polled
from ingather.model.resource import Response
from ingather.robot.visit.listed import ListedRules
from ingather.syndication import Listing, unpack_listing
from ingather.testing.hand import answer

ITEM = "<item><link>http://n.test/{n}</link><pubDate>Tue, 20 Mar 2018 08:33:00 GMT</pubDate></item>"
ATOM = '<feed xmlns="http://www.w3.org/2005/Atom" {more}><title>T</title>{entries}</feed>'


def rss(items: str = ITEM.format(n="a"), *, head: str = "") -> str:
    return f'<?xml version="1.0"?><rss version="2.0"><channel><title>T</title>{head}{items}</channel></rss>'


def poll(bench: Any, said: bytes | str, intent: Intent = Intent.FEED, **claim: Any) -> Polled:
    """Have the server say *said* at ``/feed`` and poll it."""
    bench.server.said["/feed"] = said if isinstance(said, bytes) else answer(said)
    got: Polled = bench.run(bench.hand.poll(bench.server.origin + "/feed", intent, **claim))
    return got


def listed(bench: Any, said: bytes | str, **claim: Any) -> Listing:
    got = poll(bench, said, **claim)
    assert got.kind is PollKind.LISTED, got
    listing = unpack_listing(got.listing)
    assert got.items == len(listing.items)
    return listing


def links(bench: Any, said: bytes | str, **claim: Any) -> list[str]:
    return [item.link for item in listed(bench, said, **claim).items]


# -- what a poll tells -----------------------------------------------------------------------------


def test_a_poll_tells_validators_exactly_as_received(bench: Any) -> None:
    headers = (("ETag", 'W/"a  b"'), ("Last-Modified", "tue, 20 mar 2018 8:33 GMT"))
    got = poll(bench, answer(rss(), 200, *headers))
    assert (got.kind, got.status, got.items) == (PollKind.LISTED, 200, 1)
    assert (got.etag, got.last_modified) == ('W/"a  b"', "tue, 20 mar 2018 8:33 GMT")
    assert (got.size, got.url, got.hops) == (len(rss()), bench.server.origin + "/feed", ())


def test_a_poll_sends_validators_back_unchanged_and_304_means_unchanged(bench: Any) -> None:
    got = poll(
        bench, answer(b"", 304, ("ETag", '"new"')), etag='W/"a  b"', last_modified="tue, 20 mar 2018 8:33 GMT"
    )
    headers = bench.server.asked[-1][2]
    assert (headers["if-none-match"], headers["if-modified-since"]) == (
        'W/"a  b"',
        "tue, 20 mar 2018 8:33 GMT",
    )
    assert (got.kind, got.status, got.etag, got.listing) == (PollKind.UNCHANGED, 304, '"new"', b"")


def test_an_equal_body_is_unchanged_but_not_when_it_is_asked_for_anew(bench: Any) -> None:
    digest = poll(bench, rss()).digest
    assert poll(bench, rss(), digest=digest).kind is PollKind.UNCHANGED
    assert poll(bench, rss(), Intent.FEED_ANEW, digest=digest).kind is PollKind.LISTED


def test_a_304_that_nobody_asked_for_is_an_error(bench: Any) -> None:
    assert poll(bench, answer(b"", 304), Intent.FEED_ANEW).kind is PollKind.NOT_A_FEED


def test_the_report_of_a_poll_describes_and_follows_nothing(bench: Any) -> None:
    bench.server.said["/feed"] = answer(rss(), 200, ("ETag", '"x"'))
    report = bench.run(bench.hand.visit(bench.server.origin + "/feed", Intent.FEED))
    assert (Outcome(report.outcome), report.intent) == (Outcome.ENUMERATED, Intent.FEED)
    assert not report.described
    assert not any((report.stored, report.links, report.found, report.redirect, report.text))
    assert (report.etag, report.digest) == ('"x"', decode_polled(report.polled).digest)


def test_a_malformed_list_leaves_no_digest_so_that_it_is_read_again(bench: Any) -> None:
    bench.server.said["/feed"] = answer(rss("<item><link>http://n.test/1?x=1&y=2</link></item>"))
    report = bench.run(bench.hand.visit(bench.server.origin + "/feed", Intent.FEED))
    got = decode_polled(report.polled)
    assert (got.kind, got.confined, report.digest) == (PollKind.LISTED, True, b"")


@pytest.mark.parametrize(
    ("status", "kind", "outcome"),
    [
        (404, PollKind.MISSING, Outcome.NOT_FOUND),
        (410, PollKind.GONE, Outcome.NOT_FOUND),
        (401, PollKind.REFUSED, Outcome.REFUSED),
        (451, PollKind.REFUSED, Outcome.REFUSED),
        (500, PollKind.SERVER_ERROR, Outcome.SERVER_ERROR),
        (204, PollKind.NOT_A_FEED, Outcome.FAILED),
        (205, PollKind.NOT_A_FEED, Outcome.FAILED),
    ],
)
def test_each_status_has_its_kind(bench: Any, status: int, kind: PollKind, outcome: Outcome) -> None:
    bench.server.said["/feed"] = answer(b"", status)
    report = bench.run(bench.hand.visit(bench.server.origin + "/feed", Intent.FEED))
    got = decode_polled(report.polled)
    assert (got.kind, got.status, Outcome(report.outcome)) == (kind, status, outcome)
    assert got.detail


@pytest.mark.parametrize(("status", "kind"), [(429, PollKind.BACK_OFF), (503, PollKind.BACK_OFF)])
def test_retry_after_is_told(make_bench: Any, status: int, kind: PollKind) -> None:
    bench = make_bench()  # its host backs off
    got = poll(bench, answer(b"", status, ("Retry-After", "7200")))
    assert (got.kind, got.status, got.retry_s) == (kind, status, 7200.0)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ((("Cache-Control", "public, max-age=604800"),), 604_800.0),
        ((("Cache-Control", 'Max-Age="60", private'), ("Age", "20")), 40.0),
        ((("Expires", "Tue, 20 Mar 2018 09:33:00 GMT"), ("Date", "Tue, 20 Mar 2018 08:33:00 GMT")), 3600.0),
        ((("Expires", "Tue, 20 Mar 2018 09:33:00 GMT"), ("Cache-Control", "max-age=5")), 5.0),
        ((("Expires", "0"),), None),
        ((("Expires", "Tue, 20 Mar 2018 08:00:00 GMT"), ("Date", "Tue, 20 Mar 2018 08:33:00 GMT")), 0.0),
        ((("Cache-Control", "no-cache"),), None),
        ((("Cache-Control", "max-age=-5"),), None),
        ((("Cache-Control", f"max-age={'9' * 40}"),), 999_999_999_999.0),
        ((), None),
    ],
)
def test_how_long_an_answer_is_fresh(headers: tuple[tuple[str, str], ...], seconds: float | None) -> None:
    assert fresh_s(Response("http://n.test/", 200, headers).header, now_s=0.0) == seconds


def test_a_poll_tells_the_hints_of_the_head(bench: Any) -> None:
    assert poll(bench, answer(rss(), 200, ("Cache-Control", "max-age=600"))).max_age_s == 600.0


# -- numbered cases of the specification -----------------------------------------------------------


def test_rss_case_30_the_guid_is_the_link_if_it_is_a_permalink(bench: Any) -> None:
    assert links(bench, rss("<item><guid>https://n.test/g</guid></item>")) == ["https://n.test/g"]
    found = listed(bench, rss('<item><guid isPermaLink="false">https://n.test/g</guid></item>'))
    assert (found.items, found.rejected_count) == ((), 1)


def test_rss_case_31_the_alternate_and_nothing_else(bench: Any) -> None:
    entry = (
        '<entry><link rel="self" href="http://n.test/self"/><link rel="enclosure" href="http://n.test/x.mp3"/>'
        '<link rel="alternate" href="http://n.test/1"/></entry>'
    )
    assert links(bench, ATOM.format(more="", entries=entry)) == ["http://n.test/1"]
    assert bench.server.paths() == ["/feed"]


def test_rss_case_32_bases_add_up(bench: Any) -> None:
    entry = '<entry xml:base="../"><link href="1"/></entry>'
    assert links(bench, ATOM.format(more='xml:base="http://a.test/z/"', entries=entry)) == ["http://a.test/1"]


def test_rss_case_33_an_id_that_is_no_url_is_rejected(bench: Any) -> None:
    found = listed(bench, ATOM.format(more="", entries="<entry><id>urn:uuid:1</id></entry>"))
    assert (found.items, found.rejected_count) == ((), 1)


def test_rss_case_34_an_unescaped_ampersand_stays_in_the_link(bench: Any) -> None:
    found = listed(bench, rss("<item><link>http://a.test/1?x=1&y=2</link></item>" + ITEM.format(n=2)))
    assert [item.link for item in found.items] == ["http://a.test/1?x=1&y=2", "http://n.test/2"]
    assert found.malformed


@pytest.mark.parametrize("whole", [7, 3])
def test_rss_case_35_a_feed_that_is_cut_has_whole_items_alone(bench: Any, whole: int) -> None:
    """How many there were before, and whether so few count, is the decider's to know."""
    text = rss("".join(ITEM.format(n=f"article-{n}") for n in range(10)))
    cut = text[: text.index(f"article-{whole}") + 5]
    found = listed(bench, answer(cut, length=None))
    assert [item.link for item in found.items] == [f"http://n.test/article-{n}" for n in range(whole)]
    assert found.malformed


@pytest.mark.parametrize(
    "body",
    [
        rss(ITEM.format(n="a") + "<item><title>caf\xe9</title></item>")
        .replace("1.0", "1.0", 1)
        .encode("windows-1252"),
        b"\r\n\n  " + rss().encode(),
        rss()
        .replace("rss", "RSS")
        .replace("item", "ITEM")
        .replace("link", "LINK")
        .replace("channel", "CHANNEL")
        .encode(),
    ],
    ids=["windows-1252 for utf-8", "leading blank lines", "upper case"],
)
def test_rss_case_36_odd_feeds_keep_their_links(bench: Any, body: bytes) -> None:
    assert (
        links(bench, answer(body, 200, ("Content-Type", "application/rss+xml; charset=utf-8")))[0]
        == "http://n.test/a"
    )


def test_rss_case_38_links_that_nobody_may_ask_for(bench: Any) -> None:
    items = "".join(
        f"<item><link>{link}</link></item>"
        for link in ("file:///etc/passwd", "javascript:alert(1)", "http://169.254.169.254/x")
    )
    found = listed(bench, rss(items))
    # The address is a URL like others: the gate refuses it, whoever asks.
    assert ([item.link for item in found.items], found.rejected_count) == (["http://169.254.169.254/x"], 2)
    report = bench.run(bench.hand.visit("http://169.254.169.254/x", Intent.NEW))
    assert Outcome(report.outcome) in {Outcome.FAILED, Outcome.ROBOTS_UNREACHABLE}
    assert "169.254.169.254" in report.detail


# -- redirects -------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_followed_and_told_with_their_codes(bench: Any, status: int) -> None:
    server = bench.server
    server.said["/two"] = answer(b"", 302, ("Location", f"{server.other}/three"))
    server.said["/three"] = answer(
        rss(), 200, ("ETag", '"3"'), ("Last-Modified", "Tue, 20 Mar 2018 08:33:00 GMT")
    )
    got = poll(bench, answer(b"", status, ("Location", "/two#part")), etag='"old"', last_modified="then")
    assert got.kind is PollKind.LISTED
    assert got.hops == (Hop(status, server.origin + "/two"), Hop(302, server.other + "/three"))
    assert (got.url, got.etag) == (server.other + "/three", '"3"')
    sent = [
        (path, headers.get("if-none-match"), headers.get("if-modified-since"))
        for _, path, headers in server.asked
    ]
    # The tag goes along, the date does not: what is behind the redirect today may be older.
    assert [s for s in sent if s[0] != "/robots.txt"] == [
        ("/feed", '"old"', "then"), ("/two", '"old"', None), ("/three", '"old"', None)
    ]  # fmt: skip


def test_the_date_of_another_url_is_not_kept_for_this_one(bench: Any) -> None:
    bench.server.said["/two"] = answer(
        rss(), 200, ("ETag", '"3"'), ("Last-Modified", "Tue, 20 Mar 2018 08:33:00 GMT")
    )
    bench.server.said["/feed"] = answer(b"", 302, ("Location", "/two"))
    report = bench.run(bench.hand.visit(bench.server.origin + "/feed", Intent.FEED))
    assert (report.etag, report.last_modified, report.final_url) == ('"3"', "", bench.server.origin + "/two")


@pytest.mark.parametrize(
    ("location", "why"),
    [
        ("/feed", "redirect-loop"),
        ("", "bad-redirect"),
        ("http://", "bad-redirect"),
        ("file:///etc/passwd", "bad-redirect"),
    ],
)
def test_redirects_that_lead_nowhere_are_errors(bench: Any, location: str, why: str) -> None:
    got = poll(bench, answer(b"", 301, ("Location", location)))
    assert got.kind is PollKind.FAILED
    assert got.detail.startswith(why)


def test_more_than_ten_redirects_are_an_error(bench: Any) -> None:
    for number in range(12):
        bench.server.said[f"/{number}"] = answer(b"", 302, ("Location", f"/{number + 1}"))
    got = poll(bench, answer(b"", 302, ("Location", "/0")))
    assert (got.kind, got.detail.partition(":")[0], len(got.hops)) == (
        PollKind.FAILED,
        "too-many-redirects",
        10,
    )
    assert len(bench.server.paths()) == 11


def test_a_redirect_to_a_forbidden_address_is_not_made(bench: Any) -> None:
    got = poll(bench, answer(b"", 302, ("Location", "http://169.254.1.2/latest")))
    assert (got.kind, got.detail.partition(":")[0]) == (PollKind.FAILED, "refused-address")
    assert "169.254.1.2" in got.detail


def test_a_feed_that_moved_to_a_page_says_so(bench: Any) -> None:
    bench.server.said["/page"] = answer(
        "<!DOCTYPE html><html><body><p>Closed<br></body></html>", 200, ("Content-Type", "text/html")
    )
    got = poll(bench, answer(b"", 301, ("Location", "/page")))
    assert (got.kind, got.hops) == (PollKind.NOT_A_FEED, (Hop(301, bench.server.origin + "/page"),))


# -- robots.txt ------------------------------------------------------------------------------------


def test_robots_txt_binds_feeds_unless_the_source_says_otherwise(make_bench: Any) -> None:
    bench = make_bench()
    bench.server.said["/robots.txt"] = answer("User-agent: *\nDisallow: /feed")
    got = poll(bench, rss())
    assert (got.kind, bench.server.paths()) == (PollKind.ROBOTS, [])
    assert "Disallow: /feed" in got.detail
    bench.hand.rules["news"] = ListedRules(obey_robots=False)
    assert poll(bench, rss()).kind is PollKind.LISTED


def test_robots_txt_of_a_host_that_a_redirect_leads_to_binds(make_bench: Any) -> None:
    bench = make_bench()

    async def robots(headers: Any, _writer: Any) -> bytes:
        other = headers["host"] == bench.server.other.removeprefix("http://")
        return answer("User-agent: *\nDisallow: /secret" if other else "")

    bench.server.said |= {"/robots.txt": robots, "/secret": answer(rss()), "/open": answer(rss())}
    got = poll(bench, answer(b"", 301, ("Location", f"{bench.server.other}/secret")))
    assert (got.kind, got.status, got.hops) == (
        PollKind.ROBOTS,
        301,
        (Hop(301, bench.server.other + "/secret"),),
    )
    assert poll(bench, answer(b"", 301, ("Location", f"{bench.server.other}/open"))).kind is PollKind.LISTED
    assert bench.server.paths() == ["/feed", "/feed", "/open"]
    assert sum(path == "/robots.txt" for _, path, _ in bench.server.asked) == 2  # once a host


def test_an_unreachable_robots_txt_proves_nothing(make_bench: Any) -> None:
    bench = make_bench()
    bench.server.said["/robots.txt"] = answer(b"", 503)
    got = poll(bench, rss())
    assert (got.kind, bench.server.paths()) == (PollKind.ROBOTS_UNREACHABLE, [])


# -- sitemaps --------------------------------------------------------------------------------------

URLSET = '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{}</urlset>'


def test_a_sitemap_is_listed_and_an_index_says_that_it_is_one(bench: Any) -> None:
    found = listed(
        bench,
        URLSET.format("<url><loc>http://n.test/1</loc><lastmod>2018-03-20</lastmod></url>"),
        source="maps",
    )
    assert (found.kind, [(i.link, i.modified) for i in found.items]) == (
        "sitemap", [("http://n.test/1", "2018-03-20T00:00:00Z")]
    )  # fmt: skip
    index = '<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><sitemap><loc>http://n.test/s.xml</loc></sitemap></sitemapindex>'
    assert listed(bench, index, source="maps", intent=Intent.PAGE).kind == "sitemap-index"


@pytest.mark.parametrize("source", ["news", "maps"])
@pytest.mark.parametrize(
    "body",
    [
        URLSET.format("<url><loc>http://n.test/a</loc></url>"),
        rss(),
        '{"version": "https://jsonfeed.org/version/1.1", "items": [{"id": "1", "url": "http://n.test/a"}]}',
    ],
)
def test_either_kind_of_source_reads_what_it_finds(bench: Any, source: str, body: str) -> None:
    assert links(bench, body, source=source) == ["http://n.test/a"]


def test_a_compressed_sitemap_is_read_where_it_may_die(bench: Any) -> None:
    body = gzip.compress(URLSET.format("<url><loc>http://n.test/1</loc></url>").encode())
    got = poll(bench, answer(body, 200, ("Content-Type", "application/gzip")), source="maps")
    assert (got.kind, got.items, got.confined) == (PollKind.LISTED, 1, True)


# -- politeness ------------------------------------------------------------------------------------


def test_a_hop_on_the_same_host_waits_for_its_turn_like_everything_else(bench: Any) -> None:
    """Six visits with three requests each, at one host that bears two connections: all end, each once."""
    server = bench.server
    for number in range(6):
        server.said[f"/{number}"] = answer(b"", 302, ("Location", f"/{number}/b"))
        server.said[f"/{number}/b"] = answer(b"", 302, ("Location", f"/{number}/c"))
        server.said[f"/{number}/c"] = answer(rss())

    async def work() -> list[Any]:
        return await asyncio.gather(*(bench.hand.poll(f"{server.origin}/{number}") for number in range(6)))

    assert [got.kind for got in bench.run(work())] == [PollKind.LISTED] * 6
    assert sorted(server.paths()) == sorted(f"/{n}{part}" for n in range(6) for part in ("", "/b", "/c"))


def test_a_hop_to_a_host_that_asked_for_time_is_not_made(make_bench: Any) -> None:
    bench = make_bench()
    server = bench.server
    server.said["/busy"] = answer(b"", 503, ("Retry-After", "7200"))
    busy = bench.run(bench.hand.poll(server.other + "/busy"))
    assert (busy.kind, busy.retry_s) == (PollKind.BACK_OFF, 7200.0)
    got = poll(bench, answer(b"", 302, ("Location", f"{server.other}/feed2")))
    assert got.kind is PollKind.BACK_OFF
    assert got.retry_s is not None
    assert 7000.0 < got.retry_s <= 7200.0 * 1.5
    assert "/feed2" not in server.paths()
