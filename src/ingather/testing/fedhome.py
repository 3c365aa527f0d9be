"""Sources of web feeds with a real catalog and a real desk, a clock of their own and a web that is a dictionary.

What the gatherer reports is made here, from what the web answers; all else is the product: the decider, the desk, the
committer, the catalog. Time passes when the test says so, days in a moment.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import md5
from pathlib import Path
from random import Random
from typing import Any, Final
from urllib.parse import urljoin

from ingather.app.sourcerules import deletion_limits
from ingather.app.syndication.cycling import Cycling
from ingather.app.syndication.desk import Desk
from ingather.app.syndication.reconciling import reconcile
from ingather.app.syndication.records import feed_facts, registration
from ingather.app.syndication.sources import fed_sources
from ingather.catalog.packing import pack_attributes
from ingather.catalog.sqlite_apply import Applied
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.conf.settings.values import Settings
from ingather.conf.sources.source import SourceConf
from ingather.conf.sources.syndication import SyndicationConf
from ingather.model.change import ChangeKind
from ingather.model.intent import FEEDS, Intent
from ingather.model.lifecycle import Outcome
from ingather.model.polled import Hop, Polled, PollKind, encode_polled
from ingather.model.report import Denial, Report, Row
from ingather.model.url import Canonicaliser
from ingather.robot.settling.committing import Batch, Committed, Committer
from ingather.robot.settling.deletion import DeletionPolicy
from ingather.robot.settling.settle import SettleRules
from ingather.syndication import ListingLimits, pack_listing
from ingather.syndication.choosing import list_document
from ingather.syndication.facts import FeedFacts, Registration

__all__ = ["Asked", "FedHome", "Said", "fed", "rss"]

T0: Final = 1_521_534_780.0
"""Tue, 20 Mar 2018 08:33:00 GMT."""
_HTTP_OK: Final = 200


@dataclass(frozen=True, slots=True)
class Said:
    """What the web answers: a status and a body, a redirect (``to``), a failure (``status`` 0 and its ``kind``), or a robots rule."""

    status: int = 200
    body: str = ""
    etag: str = ""
    to: str = ""
    kind: str = ""
    retry_s: float | None = None
    max_age_s: float | None = None
    robots: str = ""
    noindex: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """One request: when, which URL, what for, what came."""

    at_s: float
    url: str
    intent: Intent
    status: int


def fed(kind: str = "rss", name: str = "news", **keys: Any) -> SourceConf:
    """Return a source; *keys* of :class:`SyndicationConf`, or of :class:`SourceConf` with ``source_`` before them."""
    own = {key.removeprefix("source_"): value for key, value in keys.items() if key.startswith("source_")}
    rest = {key: value for key, value in keys.items() if not key.startswith("source_")}
    return SourceConf(name=name, kind=kind, syndication=SyndicationConf(**rest), **own)  # type: ignore[arg-type]


def rss(*items: str | tuple[str, str], channel: str = "", after: str = "") -> str:
    """Return an RSS document: links with dates; *channel* and *after* stand before and behind the items."""
    entries = "".join(
        f"<item><link>{link}</link>{f'<pubDate>{date}</pubDate>' if date else ''}</item>"
        for link, date in ((item, "") if isinstance(item, str) else item for item in items)
    )
    return f'<?xml version="1.0"?><rss version="2.0"><channel><title>N</title>{channel}{entries}{after}</channel></rss>'


@dataclass
class FedHome:
    """One home; ``web`` maps URLs to what they answer, or to functions of how often they were asked before."""

    path: Path
    sources: dict[str, SourceConf]
    web: dict[str, Said | Callable[[int], Said]] = field(default_factory=dict)
    now_s: float = T0
    asked: list[Asked] = field(default_factory=list)
    changes: list[tuple[int, int]] = field(default_factory=list)
    before_commit: Callable[["FedHome"], None] = lambda _: None
    trusted: bool = True
    begun: bool = False

    def __post_init__(self) -> None:
        self.open()

    # -- life ---------------------------------------------------------------------------------

    def open(self) -> None:
        """Start, as a process does."""
        self.writer = CatalogWriter(self.path)
        self.writer.syndication.query(
            "pragma synchronous = off"
        )  # crashes here are ends of processes, not of machines
        self.desk = Desk(fed_sources(self.sources, Canonicaliser().canonical))
        self.cycling = Cycling(self.desk)
        policies = {
            name: DeletionPolicy(deletion_limits(Settings(), conf)) for name, conf in self.sources.items()
        }
        self.committer = Committer(
            self.writer, rules=SettleRules(), policies=lambda name: policies.get(name, DeletionPolicy()), dice=Random(1),  # noqa: S311 - jitter
            now_s=lambda: self.now_s, clock_trusted=lambda: self.trusted, syndicator=self.desk,
        )  # fmt: skip
        self.job(lambda writer, _: self._declare(writer))
        self.job(lambda writer, applied: reconcile(self.desk, writer, applied, whole=True))

    def _declare(self, writer: Any) -> None:
        for name, conf in {"web": SourceConf(), **self.sources}.items():
            writer.registry.put_source(name, conf.kind, conf.access)

    def close(self) -> None:
        """End; nothing is lost."""
        self.writer.close()

    def crash(self) -> None:
        """Die between two transactions and start again: what was in memory is gone."""
        self.writer.close()
        self.open()

    def configure(self, **sources: SourceConf) -> None:
        """Start again with other sources."""
        self.writer.close()
        self.sources = dict(sources)
        self.open()

    # -- work ---------------------------------------------------------------------------------

    def commit(self, batch: Batch) -> Committed:
        """Commit a batch."""
        self.before_commit(self)
        done = self.committer.commit(batch)
        self.changes += [(change[1], int(change[2])) for change in done.applied.changes]
        return done

    def job(self, work: Callable[[Any, Applied], Any]) -> Any:
        """Run a job in the writer's transaction."""
        return self.commit(Batch(jobs=[work])).answers[0]

    def waiting(self) -> list[Row]:
        """Return what waits to be visited."""
        return [
            row
            for host in self.writer.frontier.waiting_hosts()
            for _, row in self.writer.frontier.refill(host, (-1_000, 0), 100_000)
        ]

    def step(self) -> float | None:
        """Let the cycles move on."""
        at: float | None = self.job(
            lambda writer, applied: self.cycling.step(writer, applied, clock_trusted=self.trusted)
        )
        return at

    def visit(self, limit: int = 0) -> int:
        """Visit what waits; return how many visits there were."""
        rows = self.waiting()
        rows = rows[:limit] if limit else rows
        if rows:
            self.commit(Batch(visits=[(self.report(row), row) for row in rows]))
        return len(rows)

    def cycle(self, *, hours: float = 1.0) -> list[Asked]:
        """Let *hours* pass since the last cycle, then run one whole; return what was asked for."""
        before = len(self.asked)
        self.now_s += hours * 3600.0 if self.begun else 0.0
        self.begun = True
        self.rest()
        return self.asked[before:]

    def rest(self) -> None:
        """Do everything that is to be done now."""
        for _ in range(10_000):
            at = self.step()
            if not self.visit() and (at is None or at > self.now_s):
                return
        msg = "it never rests"
        raise AssertionError(msg)

    def until(self, hours: float, *, every: float = 1.0) -> list[Asked]:
        """Let *hours* pass in steps of *every*, working in each; return what was asked for."""
        before, end_s = len(self.asked), self.now_s + hours * 3600.0
        while self.now_s < end_s:
            self.now_s = min(self.now_s + every * 3600.0, end_s)
            self.rest()
        return self.asked[before:]

    # -- what is there --------------------------------------------------------------------------

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return what the catalog answers."""
        return self.writer.syndication.query(sql, values)

    def documents(self) -> set[str]:
        """Return the URLs that searchers may find."""
        return {
            url
            for (url,) in self.rows(
                "select h.origin || u.path from url u join host h on h.id = u.host where u.version is not null and u.dup is null "
                "and u.held is not 2"
            )
        }

    def id_of(self, url: str) -> int:
        """Return the row of a URL."""
        return self.writer.syndication.known([url])[url]

    def registration(self, url: str) -> Registration:
        """Return the registration of a document."""
        row = self.writer.syndication.document(self.id_of(url))
        assert row is not None, url
        return registration(row)

    def state(self, url: str) -> str:
        """Return the state of a document, in small letters."""
        return self.registration(url).state.name.lower()

    def feed(self, name: str = "") -> FeedFacts:
        """Return the facts of a feed, of the only one without *name*."""
        for number, _ in self.desk.numbers():
            for row in self.writer.syndication.feeds(number):
                if name in {"", row.name}:
                    return feed_facts(row)
        raise AssertionError(name)

    def holds(self) -> list[tuple[str, int]]:
        """Return (reason, documents) of the open holds."""
        return [(hold.reason, hold.urls) for hold in self.writer.deletions.holds()]

    def tombstone(self, url: str) -> str:
        """Return why a document was deleted, ``""`` if it was not."""
        found = self.rows("select reason from tombstone where id = ?", self.id_of(url))
        return str(found[0][0]) if found else ""

    def notices(self) -> list[str]:
        """Return what a person should see."""
        return [cause for (cause,) in self.rows("select cause from rss_event where notice = 1 order by id")]

    def removed(self, url: str) -> int:
        """Return how often the index was told to remove a document."""
        return self.changes.count((self.id_of(url), int(ChangeKind.REMOVE)))

    def of(self, url: str) -> list[Asked]:
        """Return the requests for *url*."""
        return [one for one in self.asked if one.url == url]

    # -- what the gatherer would report -----------------------------------------------------------

    def _said(self, url: str) -> Said:
        said = self.web.get(url, Said(404))
        return said(len(self.of(url))) if callable(said) else said

    def report(self, row: Row) -> Report:
        """Visit a row: as the gatherer does, on the web that is a dictionary."""
        url, intent = self.writer.syndication.url(row.id), Intent(row.intent)
        hops: list[Hop] = []
        here, said = url, self._said(url)
        while said.to and len(hops) < 10:  # noqa: PLR2004 - as in the settings
            here = urljoin(here, said.to)
            hops.append(Hop(said.status, here))
            said = self._said(here)
        same = bool(said.etag and said.etag == row.etag and intent.conditional and said.status == _HTTP_OK)
        status = 304 if same else said.status
        self.asked.append(Asked(self.now_s, url, intent, 0 if said.robots else status))
        if intent in FEEDS:
            return self._polled(row, intent, here, said, hops, same=same)
        final = here if hops else ""
        return self._document(row, intent, said, final, same=same)

    def _report(self, row: Row, intent: Intent, outcome: Outcome, said: Said, status: int) -> Report:
        return Report(
            id=row.id, outcome=int(outcome), status=status, at_s=self.now_s, version=1, intent=int(intent), detail=said.kind,
            retry_s=said.retry_s, etag=said.etag,
        )  # fmt: skip

    def _polled(  # noqa: PLR0913 - one poll
        self, row: Row, intent: Intent, here: str, said: Said, hops: list[Hop], *, same: bool
    ) -> Report:
        kinds = {
            404: PollKind.MISSING,
            410: PollKind.GONE,
            429: PollKind.BACK_OFF,
            503: PollKind.BACK_OFF,
            0: PollKind.FAILED,
        }
        listing, kind, items = b"", PollKind.UNCHANGED, 0
        digest = md5(said.body.encode(), usedforsecurity=False).digest()
        if said.robots:
            kind = PollKind.ROBOTS
        elif not same and said.status == _HTTP_OK:
            sitemap = intent is Intent.SITEMAP or "<urlset" in said.body or "<sitemapindex" in said.body
            found = list_document(
                said.body.encode(),
                url=here,
                content_type=None,
                sitemap=sitemap,
                limits=ListingLimits(items=50_000),
            )
            kind = PollKind.NOT_A_FEED if found.error else PollKind.LISTED
            listing, items = pack_listing(found), len(found.items)
        elif not same:
            kind = kinds.get(said.status) or (
                PollKind.SERVER_ERROR if said.status >= 500 else PollKind.REFUSED  # noqa: PLR2004 - a class
            )
        polled = Polled(
            kind, 304 if same else said.status, said.kind, said.etag, "", said.max_age_s, said.retry_s, tuple(hops), here,
            b"" if same else digest, len(said.body), 0.0, listing, items,
        )  # fmt: skip
        outcome = (
            Outcome.UNCHANGED if same else Outcome.ENUMERATED if kind is PollKind.LISTED else Outcome.FAILED
        )
        report = self._report(row, intent, outcome, said, polled.status)
        report.polled = encode_polled(polled)
        return report

    def _document(self, row: Row, intent: Intent, said: Said, final: str, *, same: bool) -> Report:
        if said.robots:
            outcome = Outcome.ROBOTS if said.robots == "disallow" else Outcome.ROBOTS_UNREACHABLE
            report = self._report(row, intent, outcome, said, 0)
            report.denial = Denial("robots", "", "robots.txt", 1)
            return report
        by_status = {
            0: Outcome.FAILED, 404: Outcome.NOT_FOUND, 410: Outcome.NOT_FOUND, 429: Outcome.BACK_OFF, 503: Outcome.BACK_OFF,
        }  # fmt: skip
        digest = md5(said.body.encode(), usedforsecurity=False).digest()
        if same or (said.status == _HTTP_OK and digest == row.digest and row.version is not None):
            report = self._report(row, intent, Outcome.UNCHANGED, said, 304 if same else 200)
        elif said.status == _HTTP_OK and said.noindex:
            report = self._report(row, intent, Outcome.NOINDEX, said, 200)
        elif said.status == _HTTP_OK:
            report = self._report(row, intent, Outcome.INDEXED, said, 200)
            report.described, report.digest, report.size = True, digest, len(said.body)
            report.title = report.text = said.body
            report.attributes = pack_attributes({"title": (said.body,)}, "")
            report.links, report.anchors = b"", b"\x90"
        else:
            usual = Outcome.SERVER_ERROR if said.status >= 500 else Outcome.REFUSED  # noqa: PLR2004 - a class
            report = self._report(row, intent, by_status.get(said.status, usual), said, said.status)
        report.final_url = final
        return report
