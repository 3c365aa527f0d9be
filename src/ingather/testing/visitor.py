"""Keeper and gatherer for tests of catalogs: :class:`Visitor` discovers, visits and settles in the words of the robot.

:class:`SqliteUnderTest` is the catalog of one machine, as a :class:`CatalogUnderTest`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import md5
from pathlib import Path
from typing import Protocol

import msgspec

from ingather.catalog.frontier.sqlite_budget import BudgetLimits
from ingather.catalog.packing import pack_attributes, pack_keys
from ingather.catalog.sqlite_changes import Applied
from ingather.catalog.sqlite_reader import SqliteReader
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.model.change import ChangeKind
from ingather.model.lifecycle import Outcome
from ingather.model.report import Denial, Discovery, Report, Row, Settled
from ingather.model.urlparts import key, split
from ingather.ports.catalog import CatalogReader, UrlRecord
from ingather.robot.settling.settle import SettleRules, settle

__all__ = ["DAY_S", "HOUR_S", "START_S", "CatalogUnderTest", "SqliteUnderTest", "Visitor"]

HOUR_S = 3600.0
DAY_S = 86_400.0
START_S = 1_750_000_000.0


class CatalogUnderTest(Protocol):
    """A catalog with its writer; each call is one durable transaction at wall time *now_s*."""

    @property
    def seed(self) -> int:
        """Hash seed of the URL keys."""

    def discover(
        self, found: Sequence[Discovery], parent: int | None, now_s: float
    ) -> tuple[list[int | None], Applied]:
        """Add URLs; return their rows (``None`` = refused) and what was done."""

    def settle(self, visits: Sequence[Settled], now_s: float) -> Applied:
        """Write settled visits."""

    def row(self, url_id: int) -> Row:
        """Return a row as it is claimed."""

    def remove(self, prefix: str, now_s: float, *, exact: bool) -> tuple[int, Applied]:
        """Remove by hand."""

    def undelete(self, prefix: str, now_s: float, *, exact: bool) -> tuple[int, Applied]:
        """Undo deletions."""

    def delete(self, url_id: int, reason: str, now_s: float, *, gone: bool) -> Applied:
        """Carry out a ruling of the deletion policy."""

    def hold(self, url_id: int, source: str, reason: str, now_s: float, *, hidden: bool) -> Applied:
        """Hold a deletion for a person."""

    def put_source(self, name: str, access: str) -> None:
        """Declare a source."""

    def reader(self) -> CatalogReader:
        """Return a reader on a connection of its own; closed by the caller."""

    def restart(self) -> None:
        """Forget everything that is not durable."""

    def close(self) -> None:
        """Release everything."""


class SqliteUnderTest:
    """The catalog of one machine in *folder*; ``writer`` is at hand for tests of its own parts."""

    def __init__(self, folder: Path, *, budgets: BudgetLimits | None = None, vfs: str | None = None) -> None:
        self._path = folder / "catalog.db"
        self._bodies = folder / "bodies"
        self._bodies.mkdir(exist_ok=True)
        self._budgets = budgets
        self._vfs = vfs
        self.writer = self._open()

    def _open(self) -> CatalogWriter:
        return CatalogWriter(self._path, budgets=self._budgets, vfs=self._vfs, cache_bytes=4 << 20)

    @property
    def seed(self) -> int:
        """Hash seed of the URL keys."""
        return self.writer.seed

    def _at(self, writer: CatalogWriter, now_s: float) -> Applied:
        writer.applier.now_s = now_s
        return Applied()

    def discover(
        self, found: Sequence[Discovery], parent: int | None, now_s: float
    ) -> tuple[list[int | None], Applied]:
        """Add URLs."""

        def work(w: CatalogWriter) -> tuple[list[int | None], Applied]:
            applied = self._at(w, now_s)
            return [w.applier.discover(one, parent, applied) for one in found], applied

        return self.writer.transaction(work)

    def settle(self, visits: Sequence[Settled], now_s: float) -> Applied:
        """Write settled visits."""

        def work(w: CatalogWriter) -> Applied:
            applied = self._at(w, now_s)
            for one in visits:
                w.applier.settle(one, applied)
            return applied

        return self.writer.transaction(work)

    def row(self, url_id: int) -> Row:
        """Return a row as it is claimed."""
        row = self.writer.frontier.row(url_id)
        assert row is not None
        return row

    def remove(self, prefix: str, now_s: float, *, exact: bool) -> tuple[int, Applied]:
        """Remove by hand."""
        applied = Applied()
        return self.writer.transaction(
            lambda w: w.deletions.remove(prefix, now_s, applied, exact=exact)[0]
        ), applied

    def undelete(self, prefix: str, now_s: float, *, exact: bool) -> tuple[int, Applied]:
        """Undo deletions."""
        applied = Applied()
        return self.writer.transaction(
            lambda w: w.deletions.undelete(prefix, now_s, applied, exact=exact)
        ), applied

    def delete(self, url_id: int, reason: str, now_s: float, *, gone: bool) -> Applied:
        """Carry out a ruling."""
        applied = Applied()
        self.writer.transaction(lambda w: w.deletions.delete(url_id, reason, now_s, applied, gone=gone))
        return applied

    def hold(self, url_id: int, source: str, reason: str, now_s: float, *, hidden: bool) -> Applied:
        """Hold a deletion."""
        applied = Applied()
        self.writer.transaction(
            lambda w: w.deletions.hold(
                url_id, w.applier.source(source), reason, now_s, hidden=hidden, applied=applied
            )
        )
        return applied

    def put_source(self, name: str, access: str) -> None:
        """Declare a source."""
        self.writer.transaction(lambda w: w.registry.put_source(name, "site", access))

    def reader(self) -> SqliteReader:
        """Return a reader on a connection of its own."""
        return SqliteReader(self._path, self._bodies)

    def restart(self) -> None:
        """Open the file again."""
        self.writer.close()
        self.writer = self._open()

    def close(self) -> None:
        """Close the writer."""
        self.writer.close()


@dataclass
class Visitor:
    """Keeper and gatherer in one: pages are visited as they are named, in the order of the calls.

    Attributes:
        catalog: what is written to.
        now_s: wall time of everything, moved by the test.
        changes: every change so far, in order.
        waiting: how many URLs were said to wait, over all calls.
        refused: what budgets refused.
    """

    catalog: CatalogUnderTest
    now_s: float = START_S
    source: str = "web"
    changes: list[tuple[int, int, ChangeKind]] = field(default_factory=list)
    waiting: int = 0
    refused: list[tuple[str, str]] = field(default_factory=list)
    _reader: CatalogReader | None = None

    def discovery(  # noqa: PLR0913 - the circumstances of a URL
        self,
        url: str,
        *,
        depth: int = 0,
        max_depth: int | None = None,
        denied: str = "",
        hops: int = 0,
        source: str = "",
        priority: int = 5,
    ) -> Discovery:
        """Return *url* as a gatherer reports it; *denied* is the category of the verdict against it."""
        parts = split(url)
        denial = Denial(denied, "filter.conf:3", f"no: {denied}", 1) if denied else None
        return Discovery(
            key=key(url, self.catalog.seed), origin=parts.origin, path=parts.path, depth=depth, max_depth=max_depth,
            source=source or self.source, denial=denial, hops=hops, priority=priority,
        )  # fmt: skip

    def start(self, url: str, *, max_depth: int | None = None, source: str = "") -> int | None:
        """Put in a starting point."""
        return self.discover(self.discovery(url, max_depth=max_depth, source=source, priority=1))

    def discover(self, found: Discovery, parent: str = "") -> int | None:
        """Discover one URL on the page *parent*; return its row."""
        rows, applied = self.catalog.discover([found], self.id(parent) if parent else None, self.now_s)
        self._heard(applied)
        return rows[0]

    def id(self, url: str) -> int:
        """Return the row of a known URL."""
        return self.record(url).id

    def record(self, url: str) -> UrlRecord:
        """Return what the catalog says of a known URL."""
        record = self.reader.find(url)
        assert record is not None, url
        return record

    @property
    def reader(self) -> CatalogReader:
        """A reader that stays open until :meth:`close`."""
        if self._reader is None:
            self._reader = self.catalog.reader()
        return self._reader

    def close(self) -> None:
        """Close reader and catalog."""
        if self._reader is not None:
            self._reader.close()
        self.catalog.close()

    def claim(self, url: str) -> Row:
        """Return the row of *url* as it is handed to a gatherer."""
        return self.catalog.row(self.id(url))

    def report(  # noqa: PLR0913 - what a visit may bring
        self, row: Row, url: str, body: str, links: Iterable[str | Discovery] = (), *, dedupe: bool = True, title: str = ""
    ) -> Report:  # fmt: skip
        """Return the report of a visit that described *url*, whose body is *body*."""
        title = title or f"Title of {url}"
        found = [self._link(row, link) for link in links]
        return Report(
            id=row.id, outcome=int(Outcome.INDEXED), status=200, at_s=self.now_s, version=1, etag=f'"{body}"',
            digest=md5(body.encode(), usedforsecurity=False).digest(), size=len(body), title=title,
            attributes=pack_attributes({"title": (title,), "body": (body,)}, body),
            links=pack_keys([one.key for one in found]), anchors=msgspec.msgpack.encode([""] * len(found)), found=found,
            text=body, described=True, dedupe=dedupe,
        )  # fmt: skip

    def _link(self, row: Row, link: str | Discovery) -> Discovery:
        if isinstance(link, Discovery):
            return link
        return self.discovery(link, depth=row.depth + 1, max_depth=row.max_depth)

    def visit(
        self, url: str, body: str, links: Iterable[str | Discovery] = (), *, dedupe: bool = True
    ) -> Applied:
        """Visit *url* and describe it."""
        row = self.claim(url)
        return self.settle(self.report(row, url, body, links, dedupe=dedupe), row)

    def answer(
        self, url: str, outcome: Outcome, *, status: int = 0, redirect: Discovery | None = None
    ) -> Applied:
        """Visit *url* with an outcome that brings no description."""
        row = self.claim(url)
        report = Report(
            id=row.id, outcome=int(outcome), status=status, at_s=self.now_s, version=1, redirect=redirect
        )
        return self.settle(report, row)

    def settle(self, report: Report, row: Row) -> Applied:
        """Settle a visit by the robot's own rules."""
        applied = self.catalog.settle([settle(report, row, rules=SettleRules(), chance=0.5)], self.now_s)
        self._heard(applied)
        return applied

    def _heard(self, applied: Applied) -> None:
        self.changes += [(sequence, url_id, kind) for sequence, url_id, kind, _ in applied.changes]
        self.waiting += sum(applied.waiting.values())
        self.refused += applied.refused

    def remove(self, prefix: str, *, exact: bool = True) -> int:
        """Remove by hand."""
        count, applied = self.catalog.remove(prefix, self.now_s, exact=exact)
        self._heard(applied)
        return count

    def undelete(self, prefix: str, *, exact: bool = True) -> int:
        """Undo deletions."""
        count, applied = self.catalog.undelete(prefix, self.now_s, exact=exact)
        self._heard(applied)
        return count

    def delete(self, url: str, reason: str = "not found (404)", *, gone: bool = True) -> None:
        """Delete as the policy does."""
        self._heard(self.catalog.delete(self.id(url), reason, self.now_s, gone=gone))

    def hold(self, url: str, reason: str = "not found (404)", *, hidden: bool = False) -> None:
        """Hold a deletion as the policy does."""
        record = self.record(url)
        self._heard(self.catalog.hold(record.id, record.source, reason, self.now_s, hidden=hidden))

    def shown(self, *urls: str) -> list[str]:
        """Return those of *urls* that the index holds after following the log."""
        last = {url_id: kind for _, url_id, kind in self.changes}
        return [url for url in urls if last.get(self.id(url)) is ChangeKind.PUT]
