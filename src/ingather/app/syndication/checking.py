"""A feed or sitemap as it is understood, read in a process of its own that can do nothing else: ``ingather rss check``."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import msgspec

from ingather.app.clock import SystemClock
from ingather.app.confined.confinement import confine, limit_cpu
from ingather.errors import WebFeedError
from ingather.extract import read_sitemap
from ingather.fetch import SystemResolver
from ingather.fetch.http import HttpFetcher
from ingather.fetch.limits import Limits
from ingather.fetch.redirects import follow
from ingather.model.resource import Failure, Request
from ingather.model.scope import Scope
from ingather.syndication import read_listing
from ingather.syndication.discovery import find_feeds

__all__ = ["MOST_BYTES", "Fetched", "check_document", "fetch_document", "main", "read_file"]

MOST_BYTES: Final = 50 << 20
"""Of a document that is looked at at all: a sitemap's limit. Feeds have a smaller one of their own."""

_MEMORY: Final = 768 << 20
_OUTPUT: Final = 256 << 20
_OK: Final = 200
_SITEMAP: Final = "a sitemap, not a feed"


class Fetched(msgspec.Struct, frozen=True):
    """A document and where it was finally found; *content_type* is the header as received."""

    body: bytes
    url: str
    content_type: str


def read_file(path: Path, url: str) -> Fetched:
    """Return the document in the file at *path*, as if it had been found at *url*.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as stream:
        return Fetched(stream.read(MOST_BYTES + 1), url or path.resolve().as_uri(), "")


async def fetch_document(url: str, *, addresses: tuple[str, ...], user_agent: str) -> Fetched:
    """Ask for *url*, redirects followed, through the egress gate.

    Args:
        url: http or https.
        addresses: CIDR ranges that may be connected to although they are not public.
        user_agent: sent as such.

    Raises:
        WebFeedError: no document came.
    """
    clock = SystemClock()
    fetcher = HttpFetcher(
        Limits(max_wire_bytes=MOST_BYTES, max_decoded_bytes=MOST_BYTES), user_agent=user_agent, email="", resolver=SystemResolver(clock), clock=clock
    )  # fmt: skip
    try:
        followed = await follow(fetcher, Request(url), Scope("rss check", addresses=addresses), max_hops=10)
    finally:
        await fetcher.close()
    answer = followed.result
    if isinstance(answer, Failure):
        raise WebFeedError(f"{answer.url}: {answer.kind}: {answer.detail}")
    if answer.status != _OK:
        raise WebFeedError(f"{answer.url}: answers {answer.status}")
    return Fetched(answer.body, answer.url, answer.header("content-type"))


def check_document(document: Fetched, *, timeout_s: float) -> dict[str, Any]:
    """Return how *document* is understood, as a JSON object.

    ``url``, ``kind`` (``rss``, ``rdf``, ``atom``, ``json``, ``sitemap``, ``sitemap-index``, ``html`` or ``""``), ``error``, ``malformed``,
    ``remarks``; of a feed also ``version``, ``title``, ``items``, ``rejected``, ``rejected_count``, ``tombstones`` and ``hints``; of a sitemap
    ``items``; of a page ``feeds``.

    Raises:
        WebFeedError: the document brought its reader down, or took too long.
    """
    command = [
        sys.executable, "-m", "ingather.app.syndication.checking", document.url, document.content_type, str(os.getpid()), str(timeout_s),
    ]  # fmt: skip
    try:
        done = subprocess.run(  # noqa: S603 - our own interpreter
            command, input=document.body, capture_output=True, timeout=timeout_s, check=False
        )
    except subprocess.TimeoutExpired:
        raise WebFeedError(f"{document.url}: reading it took longer than {timeout_s:g} s") from None
    if done.returncode != 0 or len(done.stdout) > _OUTPUT:
        raise WebFeedError(f"{document.url}: reading it failed (status {done.returncode})")
    report: dict[str, Any] = msgspec.json.decode(done.stdout)
    return report


def _report(body: bytes, url: str, content_type: str | None) -> dict[str, Any]:
    listing = read_listing(body, url=url, content_type=content_type)
    report: dict[str, Any] = {"url": url, **msgspec.to_builtins(listing, order="deterministic")}
    if not listing.error:
        return report
    if listing.error == _SITEMAP or body.startswith(b"\x1f\x8b"):
        found = read_sitemap(body, url=url, content_type=content_type)
        if found.entries or listing.error == _SITEMAP:
            return {
                "url": url,
                "kind": "sitemap-index" if found.kind == "index" else "sitemap",
                "error": "more entries than one file may have" if found.truncated else "",
                "malformed": found.malformed,
                "remarks": found.remarks,
                "items": [
                    {"link": entry.url, "modified": entry.lastmod, "published": entry.news_date, "title": entry.news_title}
                    for entry in found.entries
                ],
            }  # fmt: skip
    feeds = find_feeds(body, url=url, content_type=content_type) if len(body) <= MOST_BYTES else ()
    return {**report, "kind": "html", "malformed": False, "feeds": feeds} if feeds else report


def main(url: str, content_type: str, parent: str, timeout_s: str) -> None:
    """Read the document on standard input and print the report."""
    confine(memory_bytes=_MEMORY, file_bytes=0, parent=int(parent))
    limit_cpu(float(timeout_s))
    report = _report(sys.stdin.buffer.read(MOST_BYTES + 1), url, content_type or None)
    sys.stdout.buffer.write(msgspec.json.encode(report))


if __name__ == "__main__":
    main(*sys.argv[1:5])
