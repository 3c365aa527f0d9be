"""The catalog against a simple model: whatever happens in whatever order, what must hold, holds."""

from collections.abc import Sequence
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any

import apsw
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from ingather.catalog.packing import unpack_keys
from ingather.catalog.sqlite_changes import Applied
from ingather.model.change import ChangeKind
from ingather.model.lifecycle import Outcome, State
from ingather.testing.contracts_catalog import SqliteUnderTest, Visitor

SITES = {"web": "http://open.test", "other": "http://wide.test", "vault": "http://safe.test"}
URLS = [
    f"{SITES['web']}/a",
    f"{SITES['web']}/b",
    f"{SITES['other']}/a",
    f"{SITES['vault']}/a",
    f"{SITES['vault']}/b",
]
SOURCE = {url: name for name, site in SITES.items() for url in URLS if url.startswith(site)}
urls = st.sampled_from(URLS)
bodies = st.sampled_from(["one", "one", "two"])


class Catalog(RuleBasedStateMachine):
    """Known URLs, their depths and links, who is described by what; the catalog must agree."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(mkdtemp())
        self.catalog = SqliteUnderTest(self.folder)
        self.visitor = Visitor(self.catalog)
        self.db = apsw.Connection(str(self.folder / "catalog.db"), flags=apsw.SQLITE_OPEN_READONLY)
        self.access = {"web": "public", "other": "public", "vault": "secure"}
        for name, access in self.access.items():
            self.catalog.put_source(name, access)
        self.depth: dict[str, int] = {}
        self.links: dict[str, set[str]] = {}
        self.body: dict[str, str] = {}
        self.kept: dict[str, str] = {}
        self.removed: set[str] = set()
        self.held: dict[str, bool] = {}

    def teardown(self) -> None:
        self.db.close()
        self.visitor.close()
        rmtree(self.folder)

    def _relax(self) -> None:
        while True:
            better = {
                child: self.depth[page] + 1
                for page, children in self.links.items()
                for child in children
                if child in self.depth and self.depth[child] > self.depth[page] + 1
            }
            if not better:
                return
            self.depth.update(better)

    def _known(self, url: str, depth: int) -> None:
        if url in self.removed and url not in self.depth:
            return
        self.depth[url] = min(self.depth.get(url, depth), depth)

    def _alive(self, url: str) -> bool:
        return url in self.depth and self.visitor.record(url).state is not State.GONE

    def _found(self, url: str) -> None:
        """*url* is seen as described again."""
        self.held.pop(url, None)

    # -- what happens -------------------------------------------------------------------------

    @initialize(depths=st.lists(st.integers(0, 3), min_size=len(URLS), max_size=len(URLS)))
    def begin(self, depths: list[int]) -> None:
        for url, depth in zip(URLS, depths, strict=True):
            self.discover(url, depth)
            self.visit(url, "one", [], late=False)

    @rule(url=urls, depth=st.integers(0, 2))
    def discover(self, url: str, depth: int) -> None:
        row = self.visitor.discover(self.visitor.discovery(url, depth=depth, source=SOURCE[url]))
        assert (row is None) == (url in self.removed)
        self._known(url, depth)
        self._relax()

    @rule(url=urls, body=bodies, children=st.lists(urls, max_size=3), late=st.booleans())
    def visit(self, url: str, body: str, children: list[str], *, late: bool) -> None:
        if not self._alive(url):
            return
        row = self.visitor.claim(url)
        found = [
            self.visitor.discovery(child, depth=self.depth[url] + 1, source=SOURCE[child])
            for child in children
        ]
        report = self.visitor.report(row, url, body, found)
        if late and self.depth[url] > 0:  # a nearer path is found while the page is visited
            self.visitor.discover(self.visitor.discovery(url, depth=self.depth[url] - 1, source=SOURCE[url]))
            self._known(url, self.depth[url] - 1)
            self._relax()
        self.visitor.settle(report, row)
        for child in children:
            self._known(child, self.depth[url] + 1)
        self.links[url] = set(children)
        self.body[url] = self.kept[url] = body
        self._found(url)
        self._relax()

    @rule(
        url=urls,
        outcome=st.sampled_from([Outcome.NOT_FOUND, Outcome.FAILED, Outcome.SERVER_ERROR, Outcome.UNCHANGED]),
    )
    def answer(self, url: str, outcome: Outcome) -> None:
        if not self._alive(url) or (outcome is Outcome.UNCHANGED and url not in self.body):
            return
        self.visitor.answer(url, outcome, status=404 if outcome is Outcome.NOT_FOUND else 0)
        if outcome is Outcome.UNCHANGED:
            self._found(url)

    @rule(url=urls, gone=st.booleans())
    def delete(self, url: str, *, gone: bool) -> None:
        if url not in self.body:
            return
        self.visitor.delete(url, gone=gone)
        del self.body[url]
        self.held.pop(url, None)

    @rule(
        url=urls,
        hidden=st.booleans(),
        reason=st.sampled_from(["not found (404)", "robots.txt forbids it now"]),
    )
    def hold(self, url: str, *, hidden: bool, reason: str) -> None:
        if url in self.body:
            self.visitor.hold(url, reason, hidden=hidden)
            self.held.setdefault(url, hidden)

    @precondition(lambda self: self.held)
    @rule(release=st.booleans())
    def close_hold(self, *, release: bool) -> None:
        hold = self.catalog.writer.deletions.holds()[0]
        applied = Applied()
        items = {url for url in self.held if self._held_in(url) == hold.id}
        count = self.catalog.writer.transaction(
            lambda w: w.deletions.close_hold(
                hold.id, release=release, now_s=self.visitor.now_s, applied=applied
            )
        )
        self.visitor._heard(applied)
        assert count == hold.urls == len(items)
        for url in items:
            del self.held[url]
            if release:
                del self.body[url]

    def _held_in(self, url: str) -> int:
        found: int = self._all("select hold from hold_item where id = ?", (self.visitor.id(url),))[0][0]
        return found

    @rule(url=urls)
    def remove(self, url: str) -> None:
        assert self.visitor.remove(url) == (url in self.body)
        self.removed.add(url)
        self.body.pop(url, None)
        self.held.pop(url, None)

    @rule(url=urls)
    def undelete(self, url: str) -> None:
        buried = url in self.depth and bool(
            self._all("select 1 from tombstone where id = ?", (self.visitor.id(url),))
        )
        assert self.visitor.undelete(url) == buried
        self.removed.discard(url)
        if buried and url in self.kept:
            self.body.setdefault(url, self.kept[url])
        self._relax()

    @rule(access=st.sampled_from(["public", "secure"]))
    def declare(self, access: str) -> None:
        self.access["vault"] = access
        sequence = self.catalog.writer.applier.sequence
        self.catalog.put_source("vault", access)
        reader = self.catalog.reader()
        self.visitor.changes += [(c.sequence, c.url_id, c.kind) for c in reader.changes(sequence, 1000)]
        reader.close()

    @rule(days=st.integers(1, 40))
    def wait(self, days: int) -> None:
        self.visitor.now_s += days * 86_400.0

    @rule()
    def restart(self) -> None:
        self.catalog.restart()

    # -- what must hold -----------------------------------------------------------------------

    def _all(self, sql: str, values: Sequence[object] = ()) -> list[Any]:
        return self.db.execute(sql, values).fetchall()

    @invariant()
    def depths_are_the_smallest_over_all_known_paths(self) -> None:
        rows = self._all("select h.origin || u.path, u.depth from url u join host h on h.id = u.host")
        assert dict(rows) == self.depth

    @invariant()
    def links_are_kept(self) -> None:
        rows = self._all(
            "select h.origin || u.path, p.out from page p join url u on u.id = p.id join host h on h.id = u.host"
        )
        assert {url: len(set(unpack_keys(out))) for url, out in rows} == {
            url: len(children) for url, children in self.links.items()
        }

    def _should_be_shown(self) -> set[str]:
        groups: dict[tuple[str, str], list[str]] = {}
        for url, body in self.body.items():
            if not self.held.get(url):
                source = SOURCE[url]
                group = "public" if self.access[source] == "public" else source
                groups.setdefault((body, group), []).append(url)
        return {min(members, key=lambda url: (self.depth[url], url)) for members in groups.values()}

    @invariant()
    def exactly_the_heads_are_shown(self) -> None:
        rows = self._all(
            "select h.origin || u.path from url u join host h on h.id = u.host "
            "where u.version is not null and u.dup is null and u.held is not 2"
        )
        assert {row[0] for row in rows} == self._should_be_shown()

    @invariant()
    def who_follows_the_log_shows_the_same(self) -> None:
        last = {url_id: kind for _, url_id, kind in self.visitor.changes}
        followed = {
            url
            for url in self.depth
            if last.get(self.visitor.id(url)) is ChangeKind.PUT and not self.held.get(url)
        }
        assert followed == self._should_be_shown()
        assert [c[0] for c in self.visitor.changes] == list(range(1, len(self.visitor.changes) + 1))

    @invariant()
    def duplicates_name_their_head(self) -> None:
        shown = self._should_be_shown()
        for url in self.body:
            record = self.visitor.record(url)
            assert record.described
            if url not in shown and not self.held.get(url):
                assert record.duplicate_of in shown
                assert record.outcome is Outcome.DUPLICATE or record.outcome in (
                    Outcome.NOT_FOUND, Outcome.FAILED, Outcome.SERVER_ERROR,
                )  # fmt: skip
                assert self.body[record.duplicate_of] == self.body[url]

    @invariant()
    def counters_count(self) -> None:
        for source, documents in self._all("select name, documents from source"):
            assert documents == sum(SOURCE[url] == source for url in self.body)
        facts = self.catalog.writer.transaction(
            lambda w: [w.deletions.facts(w.applier.source(name), self.visitor.now_s) for name in SITES]
        )
        assert sum(f.held for f in facts) == len(self.held) == len(self._all("select 1 from hold_item"))
        missing = self._all(
            "select 1 from url where missing is not null and version is not null and held is null"
        )
        assert sum(f.missing for f in facts) == len(missing)
        assert sum(hold.urls for hold in self.catalog.writer.deletions.holds()) == len(self.held)
        assert self._all("select sum(n) from budget where kind = 'host'")[0][0] in (None, len(self.depth))

    @invariant()
    def the_buried_are_not_described(self) -> None:
        for url in self.removed & self.depth.keys():
            assert self.visitor.record(url).state is State.GONE
        for url in self.depth.keys() - self.body.keys():
            assert not self.visitor.record(url).described


TestCatalog = Catalog.TestCase
# Not shrunk: the steps of a run are few, and shrinking takes minutes.
TestCatalog.settings = settings(
    max_examples=25,
    stateful_step_count=25,
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
    suppress_health_check=[HealthCheck.too_slow],
)
