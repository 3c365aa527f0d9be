"""Bad input: whatever a host says for a feed, the poll ends as an error and the gatherer works on."""

import asyncio
import gzip
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ingather.app.confined.pool import ConverterLimits, JobLimits
from ingather.model.intent import Intent
from ingather.model.lifecycle import Outcome
from ingather.model.polled import PollKind, decode_polled
from ingather.robot.visit.listed import FEED_BYTES, ListedRules
from ingather.syndication import unpack_listing
from ingather.testing.faults import FaultServer
from ingather.testing.hand import answer

ITEM = "<item><link>http://n.test/{}</link></item>"
GOOD = f"<rss><channel>{ITEM.format('good')}</channel></rss>"


@pytest.fixture(scope="module")
def faults() -> Iterator[FaultServer]:
    server = FaultServer(pause_s=0.01).start()
    yield server
    server.stop()


def still_works(bench: Any) -> None:
    bench.server.said["/good"] = answer(GOOD)
    got = bench.run(bench.hand.poll(bench.server.origin + "/good"))
    assert (got.kind, got.items) == (PollKind.LISTED, 1)


def bomb() -> bytes:
    levels = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 9))
    return f'<?xml version="1.0"?><!DOCTYPE rss [<!ENTITY a0 "ha">{levels}]><rss><channel>{ITEM.format("&a8;")}</channel></rss>'.encode()


def outside(entity: str) -> bytes:
    return f'<!DOCTYPE rss [<!ENTITY x SYSTEM "{entity}">]><rss><channel>{ITEM.format("&x;")}</channel></rss>'.encode()


BODIES: dict[str, Callable[[], bytes]] = {
    "entity-bomb": bomb,
    "entity-bomb-utf-16": lambda: bomb().decode().encode("utf-16"),
    "external-entity": lambda: outside("file:///etc/passwd"),
    "nested": lambda: b"<rss><channel><item>" + b"<a>" * 100_000 + b"</a>" * 100_000 + b"</item></channel></rss>",
    "nested-unclosed": lambda: b"<rss><channel><item><link>http://n.test/1</link>" + b"<a>" * 100_000,
    "nested-json": lambda: b'{"version": "https://jsonfeed.org/version/1.1", "items": ' + b"[" * 100_000,
    "open-tags": lambda: b"<rss><channel>" + b"<" * 200_000,
    "html": lambda: b"<!DOCTYPE html><html><head><title>Maintenance</title></head><body><p>Back soon<br></body></html>",
    "html-well-formed": lambda: b"<html xmlns='http://www.w3.org/1999/xhtml'><head><title>x</title></head><body/></html>",
    "text": lambda: b"Too many connections; see http://n.test/help for what to do",
    "empty": lambda: b"",
    "blank": lambda: b" \r\n\n",
    "nul": lambda: bytes(1000),
    "pdf": lambda: b"%PDF-1.7\n" + bytes(range(256)) * 20,
    "truncated-gzip": lambda: gzip.compress(GOOD.encode())[:20],
}  # fmt: skip
LARGE: dict[str, Callable[[], bytes]] = {
    "million-items": lambda: b"<rss><channel>" + b"<item><link>http://n.test/1</link></item>" * 240_000 + b"</channel></rss>",
    "million-items-json": lambda: b'{"version": "https://jsonfeed.org/version/1", "items": [' + b'{"url": "http://n.test/1"},' * 350_000 + b"{}]}",
    "million-items-malformed": lambda: b"<rss><channel>" + b"<item><link>http://n.test/?a&b</link></item>" * 220_000,
    "attributes": lambda: b"<html " + b" ".join(b"a%d='1'" % n for n in range(80_000)) + b"/>",
    "namespaces": lambda: b"<rss " + b" ".join(b"xmlns:a%d='u:%d'" % (n, n) for n in range(40_000)) + b"><channel/>",
}  # fmt: skip


def refused(bench: Any, body: bytes, source: str) -> None:
    bench.server.said["/feed"] = answer(body, 200, ("ETag", '"x"'))
    report = bench.run(bench.hand.visit(bench.server.origin + "/feed", Intent.FEED, source=source))
    got = decode_polled(report.polled)
    assert got.kind is PollKind.NOT_A_FEED, got
    assert (Outcome(report.outcome), report.status) == (Outcome.FAILED, 200)
    assert got.detail
    assert (report.digest, report.etag) == (
        b"",
        "",
    )  # nothing that would make it look unchanged the next time
    still_works(bench)


@pytest.mark.parametrize("source", ["news", "maps"])
@pytest.mark.parametrize("name", BODIES)
def test_rss_case_37_what_is_no_feed_is_an_error_and_the_gatherer_lives(
    bench: Any, name: str, source: str
) -> None:
    refused(bench, BODIES[name](), source)


@pytest.mark.parametrize("name", LARGE)
def test_rss_case_37_what_is_large_is_an_error_and_the_gatherer_lives(bench: Any, name: str) -> None:
    refused(bench, LARGE[name](), "news")


SITEMAP_BODIES: dict[str, Callable[[], bytes]] = {
    "million-urls": lambda: b"<urlset>" + b"<url><loc>http://n.test/1</loc></url>" * 1_000_000 + b"</urlset>",
    "million-lines": lambda: b"http://n.test/page\n" * 1_000_000,
    "gzip-bomb": lambda: gzip.compress(b"<urlset>" + b" " * (200 << 20), 1),
}


@pytest.mark.parametrize("name", SITEMAP_BODIES)
def test_a_sitemap_beyond_its_limits_is_an_error(bench: Any, name: str) -> None:
    bench.server.said["/map"] = answer(SITEMAP_BODIES[name]())
    got = bench.run(bench.hand.poll(bench.server.origin + "/map", source="maps"))
    assert (got.kind, got.items) == (PollKind.NOT_A_FEED, 0), got
    assert got.confined
    still_works(bench)


def test_a_body_of_60_mb_is_not_taken(bench: Any) -> None:
    async def sixty(_headers: Any, writer: asyncio.StreamWriter) -> bytes:
        writer.write(answer(b"<rss>", length=60_000_000))
        for _ in range(60):
            writer.write(b" " * 1_000_000)
            await writer.drain()
        return b""

    for source, path in (("news", "/feed"), ("maps", "/map")):
        bench.server.said[path] = sixty
        got = bench.run(bench.hand.poll(bench.server.origin + path, source=source))
        assert (got.kind, got.detail.partition(":")[0]) == (PollKind.FAILED, "too-large")
    still_works(bench)


def test_a_small_answer_that_unpacks_to_60_mb_is_not_taken(bench: Any) -> None:
    body = gzip.compress(b"<rss>" + bytes(range(256)) * 240_000)
    bench.server.said["/feed"] = answer(body, 200, ("Content-Encoding", "gzip"))
    got = bench.run(bench.hand.poll(bench.server.origin + "/feed"))
    assert got.kind is PollKind.FAILED
    assert got.detail.partition(":")[0] in {"decoded-too-large", "compression-ratio"}
    still_works(bench)


@pytest.mark.parametrize("length", [len(GOOD) + 1, len(GOOD) * 10, FEED_BYTES + 1])
def test_a_body_shorter_than_its_length_is_a_transfer_error_and_no_feed(bench: Any, length: int) -> None:
    bench.server.said["/feed"] = answer(GOOD, 200, ("ETag", '"x"'), length=length)
    got = bench.run(bench.hand.poll(bench.server.origin + "/feed"))
    assert (got.kind, got.listing, got.etag) == (PollKind.FAILED, b"", "")
    assert got.detail.partition(":")[0] in {"closed", "too-large"}
    still_works(bench)


def test_a_body_longer_than_its_length_ends_there(bench: Any) -> None:
    text = f"<rss><channel>{ITEM.format('first')}{ITEM.format('second')}</channel></rss>"
    bench.server.said["/feed"] = answer(text, length=text.index("second"))
    got = bench.run(bench.hand.poll(bench.server.origin + "/feed"))
    found = unpack_listing(got.listing)
    assert ([item.link for item in found.items], found.malformed) == (["http://n.test/first"], True)


@pytest.mark.parametrize(
    "fault",
    ["drop", "reset", "partial", "cut-chunked", "broken-chunked", "infinite", "infinite-chunked", "large", "gzip-bomb", "brotli-bomb",
     "zstd-bomb", "double-gzip", "bad-gzip", "cut-gzip", "unknown-coding", "not-http", "bad-status", "huge-head", "endless-head",
     "negative-length", "two-lengths", "endless-redirect", "redirect-loop", "redirect-self", "redirect-nowhere", "redirect-bad",
     "redirect-file", "redirect-metadata", "redirect-mapped", "500"],
)  # fmt: skip
def test_a_misbehaving_host_gives_an_error_and_nothing_else(
    bench: Any, faults: FaultServer, fault: str
) -> None:
    report = bench.run(bench.hand.visit(f"{faults.origin}/{fault}", Intent.FEED))
    assert Outcome(report.outcome) in {Outcome.FAILED, Outcome.SERVER_ERROR, Outcome.ROBOTS_UNREACHABLE}
    assert report.polled
    assert (report.digest, report.etag, report.described) == (b"", "", False)


@pytest.mark.parametrize("fault", ["slow-drip", "slow-head", "no-answer", "stall"])
def test_a_feed_that_does_not_end_is_given_up(bench: Any, faults: FaultServer, fault: str) -> None:
    bench.hand.rules["news"] = ListedRules(poll_s=0.2)
    got = bench.run(bench.hand.poll(f"{faults.origin}/{fault}"))
    assert (got.kind, got.detail) == (PollKind.FAILED, "total-timeout: a feed must end within 0.2 s")
    bench.clear()
    still_works(bench)


def test_a_feed_has_ten_seconds_and_a_sitemap_sixty() -> None:
    assert (ListedRules().most_s, ListedRules(kind="sitemap").most_s) == (10.0, 60.0)
    limits = ConverterLimits().of("listing")
    assert (limits.cpu_s, limits.wall_s) == (10.0, 10.0)


def test_a_feed_that_takes_its_reader_too_long_is_an_error_and_the_gatherer_lives(make_bench: Any) -> None:
    """Nine megabytes for the lenient tier take seconds everywhere."""
    bench = make_bench(converters=ConverterLimits(jobs={"listing": JobLimits(cpu_s=60.0, wall_s=0.05)}))
    body = b"<rss><channel>" + b"<item><title><link>http://n.test/?a=1&<b>x</link>" * 50_000
    bench.server.said["/feed"] = answer(body)
    got = bench.run(bench.hand.poll(bench.server.origin + "/feed"))
    assert (got.kind, got.detail) == (PollKind.NOT_A_FEED, "not-a-feed: reading it took too long")
    bench.server.said["/good"] = answer(GOOD)
    assert bench.run(bench.hand.poll(bench.server.origin + "/good")).items == 1


def test_a_feed_that_killed_a_reader_before_is_read_where_it_may_die(bench: Any) -> None:
    bench.server.said["/feed"] = answer(GOOD)
    got = bench.run(bench.hand.poll(bench.server.origin + "/feed", suspect=True))
    assert (got.kind, got.confined) == (PollKind.LISTED, True)
