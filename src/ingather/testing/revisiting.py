"""A robot in one process over a web that changes: each look at a page is settled, ruled on and committed as the keeper does.

For tests of what becomes of documents over days: time is a number, the web a mapping.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from ingather.catalog.sqlite_changes import Applied
from ingather.model.lifecycle import Outcome
from ingather.model.report import Denial, Discovery, Report, Row
from ingather.robot.settling.committing import Batch, Committed, Committer
from ingather.robot.settling.deletion import DeletionLimits, DeletionPolicy
from ingather.robot.settling.settle import SettleRules
from ingather.testing.visitor import SqliteUnderTest, Visitor

__all__ = ["Page", "Revisits"]


@dataclass(frozen=True)
class Page:
    """What a URL answers: a body with links, or anything else (*outcome*, *status*, *detail*, the deciding *rule*)."""

    body: str = ""
    links: tuple[str | Discovery, ...] = ()
    outcome: Outcome = Outcome.INDEXED
    status: int = 200
    detail: str = ""
    rule: str = ""
    to: str = ""


GONE = Page(outcome=Outcome.NOT_FOUND, status=404, detail="status 404")


@dataclass
class Revisits:
    """Looks at pages.

    Attributes:
        catalog, visitor: what is written to, and its clock (``visitor.now_s``).
        web: URL to what it answers; what is not there answers 404.
        limits: of the deletion policy, by source.
        one_shot: runs are single crawls.
        trusted: whether the clock is believed.
    """

    catalog: SqliteUnderTest
    visitor: Visitor
    web: dict[str, Page] = field(default_factory=dict)
    limits: Mapping[str, DeletionLimits] = field(default_factory=dict)
    one_shot: bool = False
    trusted: bool = True
    asked: list[tuple[float, str]] = field(default_factory=list)

    def commit(self, batch: Batch) -> Committed:
        """Commit a batch as the keeper does."""
        committer = Committer(
            self.catalog.writer, rules=SettleRules(one_shot=self.one_shot),
            policies=lambda name: DeletionPolicy(self.limits.get(name, DeletionLimits())), dice=Random(1),  # noqa: S311 - jitter
            now_s=lambda: self.visitor.now_s, clock_trusted=lambda: self.trusted,
        )  # fmt: skip
        done = committer.commit(batch)
        self.visitor.changes += [(change[0], change[1], change[2]) for change in done.applied.changes]
        return done

    def job(self, work: Callable[..., object]) -> object:
        """Run a job in the writer's transaction."""
        return self.commit(Batch(jobs=[work])).answers[0]

    @property
    def clock_trusted(self) -> bool:
        """Whether the clock is believed."""
        return self.trusted

    async def write(self, work: Callable[..., object]) -> object:
        """Run a job as the keeper does."""
        return self.job(work)

    def answer(self, work: Callable[[Applied, int], tuple[int, int]], value: int) -> tuple[int, int]:
        """Run *work* in the writer's transaction with *value*; return its answer."""
        answers: list[tuple[int, int]] = []
        self.job(lambda _writer, applied: answers.append(work(applied, value)))
        return answers[0]

    def run(self, kind: str = "crawl") -> int:
        """Begin a run that visits everything again; return its number."""
        now_s = self.visitor.now_s

        def begin(_writer: object, applied: Applied) -> int:
            registry = self.catalog.writer.registry
            number, _ = registry.begin_run(kind, now_s)
            registry.revisit(None, applied)
            return number

        number = self.job(begin)
        self.rest()
        self.job(lambda _w, _a: self.catalog.writer.registry.end_run(int(str(number)), now_s, ""))
        return int(str(number))

    def pass_time(self, hours: float, *, step: float = 0.5) -> None:
        """Let *hours* pass; whatever is due is visited."""
        end_s = self.visitor.now_s + hours * 3600.0
        while self.visitor.now_s < end_s:
            self.visitor.now_s = min(self.visitor.now_s + step * 3600.0, end_s)
            self.job(lambda _w, _a: self.catalog.writer.registry.promote_due(self.visitor.now_s, 100_000))
            self.rest()

    def rest(self) -> None:
        """Visit what waits until nothing waits."""
        for _ in range(100):
            rows = self.waiting()
            if not rows:
                return
            self.commit(Batch(visits=[(self.report(row), row) for row in rows]))
        msg = "it never rests"
        raise AssertionError(msg)

    def look(self, urls: Iterable[str]) -> None:
        """Visit *urls* in one batch."""
        rows = [self.visitor.claim(url) for url in urls]
        self.commit(Batch(visits=[(self.report(row), row) for row in rows]))

    def waiting(self) -> list[Row]:
        """Return what waits to be visited."""
        frontier = self.catalog.writer.frontier
        return [
            row for host in frontier.waiting_hosts() for _, row in frontier.refill(host, (-1, 0), 100_000)
        ]

    def url(self, row: Row) -> str:
        """Return the URL of a row."""
        origin, _ = self.catalog.writer.frontier.names([row.host])[row.host]
        return origin + row.path

    def report(self, row: Row) -> Report:
        """Return what a visit of *row* brings now."""
        url = self.url(row)
        page = self.web.get(url, GONE)
        self.asked.append((self.visitor.now_s, url))
        if page.outcome is Outcome.INDEXED:
            made = self.visitor.report(row, url, page.body, page.links)
            if row.etag and row.etag == made.etag:
                return Report(
                    row.id,
                    int(Outcome.UNCHANGED),
                    304,
                    self.visitor.now_s,
                    1,
                    etag=made.etag,
                    digest=row.digest,
                )
            return made
        denial = Denial("filter rules", page.rule, page.detail, 1) if page.rule else None
        redirect = self.visitor.discovery(page.to, depth=row.depth) if page.to else None
        return Report(
            row.id, int(page.outcome), page.status, self.visitor.now_s, 1, detail=page.detail, denial=denial,
            redirect=redirect, etag='"other"' if page.status == 200 else "",  # noqa: PLR2004 - RFC 9110
        )  # fmt: skip

    def site(self, count: int, host: str = "http://site.test", source: str = "web") -> list[str]:
        """Put in a start page with links to *count* pages, and visit them; return the pages."""
        pages = [f"{host}/{n}" for n in range(count)]
        self.web |= {url: Page(f"text of {url}") for url in pages}
        self.web[f"{host}/"] = Page(
            "start", tuple(self.visitor.discovery(url, depth=1, source=source) for url in pages)
        )
        self.visitor.start(f"{host}/", source=source)
        self.rest()
        return pages

    def found(self, urls: Sequence[str]) -> list[str]:
        """Return those of *urls* that searchers find: by the change log that the index follows, and by a rebuild alike."""
        reader = self.catalog.reader()
        try:
            rebuilt = set(reader.shown())
        finally:
            reader.close()
        followed = self.visitor.shown(*urls)
        assert followed == [url for url in urls if self.visitor.id(url) in rebuilt]
        return followed
