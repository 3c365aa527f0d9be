"""Feeds pushed past the gate: a home of its own, a real catalog, a real feed worker, and short ways to look."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from ingather.access import NOBODY, PUBLIC
from ingather.app.feeds.local import LocalFeeds
from ingather.app.feeds.process import FeedProcess
from ingather.app.home import Home
from ingather.app.homeparts import database_of
from ingather.app.operating import removal_job
from ingather.app.sourcerules import policies_of
from ingather.catalog.sqlite_reader import SqliteReader
from ingather.feeds.authority import TRUSTED, Grant, Sender
from ingather.feeds.desk import FeedFields, FeedTicket
from ingather.model.decided import By
from ingather.ports.catalog import UrlRecord
from ingather.testing.clock import FakeClock

__all__ = ["FeedRig", "content", "feed_xml", "record"]

_PROLOGUE = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE gsafeed PUBLIC "-//Google//DTD GSA Feeds//EN" "">\n'
)


def record(url: str, inner: str = "", **attributes: str) -> str:
    """Return a record; ``_`` in attribute names is ``-``."""
    given = {"mimetype": "text/html"} | attributes
    text = "".join(f" {name.replace('_', '-')}={quoteattr(value)}" for name, value in given.items())
    return f"<record url={quoteattr(url)}{text}>{inner}</record>"


def content(text: str, title: str = "") -> str:
    """Return a content element with a page that says *text*."""
    return f"<content><![CDATA[<html><head><title>{title}</title></head><body><p>{text}</p></body></html>]]></content>"


def feed_xml(*records: str, datasource: str = "src", feedtype: str = "incremental") -> bytes:
    """Return a feed of *records* in one group."""
    head = f"<header><datasource>{datasource}</datasource><feedtype>{feedtype}</feedtype></header>"
    return f"{_PROLOGUE}<gsafeed>{head}<group>{''.join(records)}</group></gsafeed>".encode()


class FeedRig:
    """A home whose feeds are applied when they are pushed.

    Args:
        path: where the home is to be.
        process: the worker, shared by tests because it starts slowly.
        written: settings of the new home.
    """

    def __init__(
        self, path: Path, process: FeedProcess | None = None, *, written: Mapping[str, str] | None = None
    ) -> None:
        self.home = Home.create(path, written=written)
        self.read = self.home.settings(environment={})
        self.clock = FakeClock()
        self._process = process
        self.local = self._open()
        self._numbers = 0

    def _open(self) -> LocalFeeds:
        return LocalFeeds(
            self.home, self.read.settings, self.read.sources, process=self._process, clock=self.clock
        )

    def reopen(self) -> None:
        """Close the catalog and open it again, as a restart does."""
        self.local.close()
        self.local = self._open()

    def take(
        self,
        body: bytes,
        datasource: str = "src",
        feedtype: str = "incremental",
        *,
        grant: Grant = TRUSTED,
        **more: Any,
    ) -> FeedTicket:
        """Give a feed its row and apply nothing; *grant*: what its sender may say."""
        self._numbers += 1
        file = self.home.path.parent / f"pushed-{self._numbers}.xml"
        file.write_bytes(body)
        return self.local.take(file, FeedFields(datasource, feedtype, **more), Sender("127.0.0.1", grant))

    def push(
        self, *records: str, datasource: str = "src", feedtype: str = "incremental", body: bytes = b"", **more: Any
    ) -> dict[str, Any]:  # fmt: skip
        """Push a feed, apply it, and return its report."""
        made = body or feed_xml(*records, datasource=datasource, feedtype=feedtype)
        ticket = self.take(made, datasource, feedtype, **more)
        self.local.apply()
        return self.local.office.feed(ticket.name)

    def remove(self, target: str) -> dict[str, Any]:
        """Remove a URL as a person does; return the answer."""
        policies = policies_of(self.read.settings, self.read.sources, frozenset())
        answer: dict[str, Any] = self.local.do(
            removal_job(target, By("a person", "test"), policies, yes=True)
        )
        return answer

    def records(self, feed: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the receipts of a feed."""
        return self.local.office.records(str(feed["id"]))

    def reader(self) -> SqliteReader:
        """Return a reader; the caller closes it."""
        return SqliteReader(database_of(self.home), self.home.bodies)

    def row(self, url: str) -> UrlRecord | None:
        """Return the catalog's row of a URL."""
        reader = self.reader()
        try:
            return reader.find(url)
        finally:
            reader.close()

    def described(self, url: str) -> bool:
        """Whether *url* is a document."""
        row = self.row(url)
        return row is not None and row.described

    def attributes(self, url: str) -> dict[str, tuple[str, ...]]:
        """Return the effective attributes of a document, empty if it is none."""
        reader = self.reader()
        try:
            row = reader.find(url)
            found = None if row is None or not row.described else reader.description(row.id)
            return {} if found is None else found.effective()
        finally:
            reader.close()

    def text(self, url: str) -> str:
        """Return the kept text of a document."""
        reader = self.reader()
        try:
            row = reader.find(url)
            return "" if row is None else reader.texts([row.id]).get(row.id, "")
        finally:
            reader.close()

    def chain(self, url: str) -> int | None:
        """Return the access chain of a document that the index must hold; ``None`` = it must hold none."""
        reader = self.reader()
        try:
            row = reader.find(url)
            shown = {} if row is None else reader.shown_rows([row.id])
            return shown[row.id].chain if row is not None and row.id in shown else None
        finally:
            reader.close()

    def public(self, url: str) -> bool:
        """Whether everybody may see a document."""
        return self.chain(url) == PUBLIC

    def hidden(self, url: str) -> bool:
        """Whether nobody may, without any ACL."""
        return self.chain(url) == NOBODY

    def close(self) -> None:
        """Close the catalog; the shared worker goes on."""
        self.local.close()
