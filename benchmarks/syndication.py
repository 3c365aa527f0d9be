"""What does it cost to read feeds? Megabytes for a CPU-second, milliseconds for a document, by tier.

    python benchmarks/syndication.py [--seconds 1.0] [--cases FILE] [--polls N] [--decide N] [--due N]

Well-formed feeds of 10, 100 and 1,000 items with summaries or bodies of 4 KB, RSS and Atom; the same with a bare ampersand (mended, then
strict) and with an element not closed (lenient). --cases: a file of cases as JSON lines (``input.feed``, ``expected.checks``) out of
feedparser's own suite: how many of its assertions about links, ids and dates of the first item hold; CDF is left out.
--polls: what so many polls of a running home cost all its processes together: feeds of 100 items of which nothing is new, half of them answer 304.
--decide: what so many polls of feeds of 100 items cost the decider alone, half of them 304, a tenth of the others with one new item; then what 100,000
registrations with 500 due cost, found by an index.
--due: the same list read from a catalog with N documents of one source.
"""

import argparse
import base64
import json
import re
import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from xml.sax.saxutils import escape

from _polls import polls

from ingather.app.syndication.records import document_of
from ingather.model.intent import Intent
from ingather.model.polled import PollKind
from ingather.syndication import Listing, ListingItem, read_listing
from ingather.syndication.clocks import planned
from ingather.syndication.facts import CycleFacts, DocState, Due, Registration, SourceFacts
from ingather.syndication.rulings import Listed, Poll
from ingather.testing.fedhome import FedHome, fed
from ingather.testing.prose import paragraph
from ingather.testing.syndicated import SimulatedSource

_DAY = datetime(2018, 3, 20, 8, 33, tzinfo=UTC)
_URL = "http://n.test/feed"
# Many of the suite's items have a date and no link, and an item without a link is none here.
_START = re.compile(rb"(<(?:item|entry)(?:\s[^<>]*)?>)", re.IGNORECASE)
_RSS_LINK, _ATOM_LINK = b"<link>http://pad.test/</link>", b'<link href="http://pad.test/"/>'


def rss(items: int, words: int) -> str:
    """Return an RSS feed whose items have bodies of so many words."""
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>News</title>'
        '<link>http://n.test/</link><atom:link rel="self" href="http://n.test/feed"/><ttl>60</ttl>\n'
        + "".join(
            f"<item><title>Item {n}</title><link>http://n.test/article/{n}?id={n}&amp;view=full</link>"
            f'<guid isPermaLink="false">n.test-{n}</guid><pubDate>{format_datetime(_DAY + timedelta(hours=n))}</pubDate>'
            f"<description>{escape(f'<p>{paragraph(n * 2654435761, words)}</p>')}</description></item>\n"
            for n in range(items)
        )
        + "</channel></rss>"
    )


def atom(items: int, words: int) -> str:
    """Return the same as an Atom feed."""
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom"><title>News</title><link href="http://n.test/"/>\n'
        + "".join(
            f'<entry><title>Item {n}</title><link rel="alternate" type="text/html" href="http://n.test/article/{n}?id={n}&amp;view=full"/>'
            f"<id>tag:n.test,2018:{n}</id><published>{(_DAY + timedelta(hours=n)).isoformat()}</published><updated>{(_DAY + timedelta(hours=n + 1)).isoformat()}</updated>"
            f'<content type="html">{escape(f"<p>{paragraph(n * 2654435761, words)}</p>")}</content></entry>\n'
            for n in range(items)
        )
        + "</feed>"
    )


def measure(name: str, text: str, seconds: float) -> None:
    """Print how long reading *text* takes."""
    body, rounds = text.encode(), 0
    found = read_listing(body, url=_URL, content_type=None)
    assert found.items, found
    start = time.process_time()
    while (spent := time.process_time() - start) < seconds:
        read_listing(body, url=_URL, content_type=None)
        rounds += 1
    tier = "strict" if not found.malformed else "malformed"
    print(
        f"{name:28} {tier:9} {len(found.items):5} items {len(body) / 1e3:8.0f} KB {1e3 * spent / rounds:9.2f} ms {len(body) * rounds / 1e6 / spent:8.1f} MB/s"
    )


def suite(path: Path) -> None:
    """Print how many assertions of the cases hold."""
    counts: Counter[str] = Counter()
    for line in path.read_text("utf-8").splitlines():
        case = json.loads(line)
        feed = case["input"]["feed"]
        body = base64.b64decode(feed["b64"]) if "b64" in feed else feed["text"].encode()
        if "/cdf" in case["id"]:
            continue
        headers = {name.lower(): value for name, value in case["input"]["headers"].items()}
        url = headers.get("content-location") or "http://127.0.0.1:8097/feed"
        found = read_listing(body, url=url, content_type=headers.get("content-type"))
        if not found.items and not any(place[-1] == "link" for place, _ in case["expected"]["checks"]):
            padded = _START.sub(rb"\1" + (_ATOM_LINK if b"<entry" in body else _RSS_LINK), body, count=1)
            found = read_listing(padded, url=url, content_type=headers.get("content-type"))
        for place, expected in case["expected"]["checks"]:
            if len(place) == 3 and place[:2] == ["entries", 0]:
                judge(case["id"], place[2], expected, found, counts)
    for name in sorted({key.split()[0] for key in counts}):
        print(
            f"{name:18} {counts[name + ' held']:4} of {counts[name + ' held'] + counts[name + ' failed']:4}"
        )


def judge(name: str, what: str, expected: Any, found: Listing, counts: Counter[str]) -> None:
    """Count one assertion about the first item."""
    first = found.items[0] if found.items else None
    rejected = found.rejected[0] if found.rejected else None
    if what == "link":
        held = (first.link if first else "") == expected
    elif what in {"id", "guid"}:
        held = (first.guid if first else rejected.guid if rejected else "") == expected
    elif what in {"published_parsed", "updated_parsed", "created_parsed"}:
        moment = "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z".format(*expected[:6]) if expected else ""
        # Without a link there is no item, and no date to compare.
        if first is None:
            counts[f"{what} without-link"] += 1
            return
        held = moment in {first.published, first.modified}
    else:
        return
    counts[f"{what} {'held' if held else 'failed'}"] += 1
    if not held:
        print(f"  {name}: {what} {expected!r}: {first or rejected or found.error}")


def built(number: int, asked: int) -> str:
    """Return a feed as a home polls it: made anew at each request, with the same items."""
    moment = format_datetime(_DAY + timedelta(seconds=asked))
    text = rss(100, 60).replace("<ttl>60</ttl>", f"<lastBuildDate>{moment}</lastBuildDate>")
    return re.sub(r"http://n\.test/article/(\d+)\?[^<]*", rf"/d/{number}/\1", text)


def decide(count: int) -> None:
    """Print what *count* polls cost the decider, and what the due-list of a large source does."""
    source = SimulatedSource()
    feeds = 20
    for n in range(feeds):
        source.add(f"{_URL}/{n}", _numbered(n, 0))
    source.cycle()
    spent, new = 0.0, 0
    for turn in range(count):
        number = turn % feeds + 1
        feed, source.now = source.feeds[number], source.now + 60
        unchanged = turn % 2 == 0
        new += turn % 20 == 1
        items = () if unchanged else tuple(_keyed(source, number - 1, new))
        kind = PollKind.UNCHANGED if unchanged else PollKind.LISTED
        poll = Poll(
            kind,
            Intent.FEED,
            304 if unchanged else 200,
            items=items,
            listed=len(items),
            digest=str(new).encode(),
        )
        start = time.process_time()
        ruling = source.decider.polled(feed, poll, source.book, source.now)
        spent += time.process_time() - start
        source.feeds[number] = ruling.feed
        source.book.put(ruling.registrations)
        source.book.put_listings(ruling.listings)
    print(f"{count} polls: {spent:.2f} CPU-s, {1e6 * spent / count:.0f} us each")
    limits = source.decider.limits
    rows = sorted(
        (
            planned(Registration(key, state=DocState.LIVE, checked_s=key * 10.0, known_s=0.0), limits)
            for key in range(1, 100_001)
        ),
        key=lambda r: r.due_s or 0.0,
    )
    now = (rows[499].due_s or 0.0) + 1
    start = time.perf_counter()
    ready = rows[: bisect_right(rows, now, key=lambda r: r.due_s or 0.0)]
    asked = source.decider.due(SourceFacts(CycleFacts(now)), ready, now)
    print(
        f"{len(rows)} registrations, {len(asked.rulings)} due: {1e3 * (time.perf_counter() - start):.1f} ms"
    )


def due(count: int) -> None:
    """Print how long the due-list of a source with *count* documents takes, all of them due."""
    feed = "https://n.test/feed.xml"
    with TemporaryDirectory() as folder:
        home = FedHome(Path(folder) / "catalog.db", {"news": fed(feeds=(feed,))})
        ((number, _),) = home.desk.numbers()

        def fill(writer: Any, applied: Any) -> None:
            store = writer.syndication
            rows = [store.make(f"https://n.test/{n}", number, applied) for n in range(count)]
            store.put_documents(
                document_of(
                    number,
                    Registration(row, state=DocState.LIVE, due=Due.CHECK, due_s=home.now_s - 1 - n / 1e3),
                )
                for n, row in enumerate(rows)
            )

        home.job(fill)
        for _ in range(5):
            start = time.perf_counter()
            found = home.cycling.due_list(home.writer, number)
            print(f"{count} documents, {len(found)} read: {1e3 * (time.perf_counter() - start):.1f} ms")
        home.close()


def _numbered(feed: int, new: int) -> Listing:
    links = (f"http://n.test/{feed}/{n}" for n in range(new, new + 100))
    return Listing("rss", items=tuple(ListingItem(link, "2018-03-20T08:00:00Z") for link in links))


def _keyed(source: SimulatedSource, feed: int, new: int) -> Iterator[Listed]:
    for item in _numbered(feed, new).items:
        yield Listed(source.book.key(item.link), item.link, item.published)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--seconds", type=float, default=1.0)
    arguments.add_argument("--cases", type=Path)
    arguments.add_argument("--polls", type=int, default=0, metavar="N")
    arguments.add_argument("--decide", type=int, default=0, metavar="N")
    arguments.add_argument("--due", type=int, default=0, metavar="N")
    chosen = arguments.parse_args()
    if chosen.due:
        due(chosen.due)
        return
    if chosen.decide:
        decide(chosen.decide)
        return
    if chosen.polls:
        polls(20, chosen.polls, built)
        return
    if chosen.cases:
        suite(chosen.cases)
        return
    for items in (10, 100, 1000):
        measure("RSS, summaries", rss(items, 60), chosen.seconds)
        measure("RSS, 4 KB", rss(items, 600), chosen.seconds)
        measure("Atom, 4 KB", atom(items, 600), chosen.seconds)
    good = rss(100, 600)
    measure("RSS, 4 KB, bare ampersand", good.replace("&amp;view", "&view", 1), chosen.seconds)
    measure("RSS, 4 KB, not closed", good.replace("<title>Item 5</title>", "<title>Item 5"), chosen.seconds)


if __name__ == "__main__":
    main()
