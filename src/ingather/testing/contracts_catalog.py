"""What every catalog must pass, whoever writes the adapter: the writer's side and the reader's, together.

The port (:mod:`ingather.ports.catalog`) says how a catalog is read; this says what it must have become by
what was written. A backend shows itself as a :class:`CatalogUnderTest`; its tests subclass the suite::

    class TestMyCatalog(CatalogWriterContract):
        def make(self, folder: Path) -> CatalogUnderTest:
            return MyCatalogUnderTest(folder)

:class:`Visitor` plays keeper and gatherer (:mod:`ingather.testing.visitor`).
"""
# ruff: noqa: PLR2004 - a number in an expectation is its own name

from abc import ABC, abstractmethod
from hashlib import md5
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from ingather.model.change import ChangeKind
from ingather.model.lifecycle import Outcome, State
from ingather.model.verdict import Exclusion
from ingather.robot.settling.settle import SettleRules, settle
from ingather.testing.visitor import DAY_S, HOUR_S, START_S, CatalogUnderTest, SqliteUnderTest, Visitor

__all__ = [
    "DAY_S",
    "HOUR_S",
    "START_S",
    "CatalogUnderTest",
    "CatalogWriterContract",
    "SqliteUnderTest",
    "Visitor",
]


class CatalogWriterContract(ABC):
    """One transaction a visit, depth, equal bodies, deletion, restarts: as a reader of the port sees them."""

    @abstractmethod
    def make(self, folder: Path) -> CatalogUnderTest:
        """Return an empty catalog in *folder*."""

    def _visitor(self, folder: str) -> Visitor:
        return Visitor(self.make(Path(folder)))

    # -- one transaction a visit --------------------------------------------------------------

    def test_a_visit_writes_row_description_links_and_change_together(self) -> None:
        """Everything that a page's outcome says is there, and so is what it links to."""
        with TemporaryDirectory() as folder:
            v = self._visitor(folder)
            v.start("http://a.test/")
            applied = v.visit("http://a.test/", "hello", ["http://a.test/x", "http://b.test/"])
            assert applied.new_urls == 2
            record, child = v.record("http://a.test/"), v.record("http://b.test/")
            assert (record.state, record.outcome, record.status, record.described) == (
                State.DONE,
                Outcome.INDEXED,
                200,
                True,
            )
            assert record.digest == md5(b"hello", usedforsecurity=False).hexdigest()
            assert (child.state, child.depth, child.referrer) == (State.WAITING, 1, "http://a.test/")
            reader = v.catalog.reader()
            description = reader.description(record.id)
            assert description is not None
            assert description.effective()["title"] == ("Title of http://a.test/",)
            assert [(c.url_id, c.kind) for c in reader.changes(0, 10)] == [(record.id, ChangeKind.PUT)]
            reader.close()
            v.close()

    def test_a_failed_transaction_keeps_nothing(self) -> None:
        """A visit whose second half cannot be written leaves no first half."""
        with TemporaryDirectory() as folder:
            v = self._visitor(folder)
            v.start("http://a.test/")
            row = v.claim("http://a.test/")
            good = v.report(row, "http://a.test/", "hello", ["http://a.test/x"])
            bad = msgspec.structs.replace(v.report(row, "http://a.test/", "hello"), title=None)
            visits = [settle(report, row, rules=SettleRules(), chance=0.5) for report in (good, bad)]
            failed = False
            try:
                v.catalog.settle(visits, v.now_s)
            except Exception:  # noqa: BLE001 - whatever the backend says of a value that cannot be
                failed = True
            assert failed
            reader = v.catalog.reader()
            assert reader.find("http://a.test/x") is None
            assert reader.changes(0, 10) == []
            reader.close()
            assert v.record("http://a.test/").state is State.WAITING
            v.visit("http://a.test/", "hello", ["http://a.test/x"])
            assert v.record("http://a.test/x").state is State.WAITING
            v.close()

    # -- depth --------------------------------------------------------------------------------

    def test_a_shorter_path_found_later_reopens_what_only_depth_excluded(self) -> None:
        """The long path is crawled first: S > a > b > c, limit 2; then S > c is found, and c's child comes into reach."""
        site = "http://a.test"
        with TemporaryDirectory() as folder:
            v = self._visitor(folder)
            v.start(f"{site}/", max_depth=2)
            v.visit(f"{site}/", "s", [f"{site}/a"])
            v.visit(f"{site}/a", "a", [f"{site}/b"])
            too_deep = v.discovery(f"{site}/c", depth=3, max_depth=2, denied=Exclusion.DEPTH)
            v.visit(f"{site}/b", "b", [too_deep])
            assert v.record(f"{site}/c").state is State.EXCLUDED
            v.visit(f"{site}/", "s changed", [f"{site}/a", f"{site}/b"])
            assert v.record(f"{site}/b").depth == 1
            assert v.record(f"{site}/c").depth == 2
            assert v.record(f"{site}/c").state is State.WAITING
            assert v.record(f"{site}/c").referrer == f"{site}/b"
            v.close()

    # -- equal bodies -------------------------------------------------------------------------

    def test_the_head_of_equal_bodies_is_the_smallest_whatever_arrives_first(self) -> None:
        """All orders of arrival end alike: one is shown, the others name it."""
        urls = [f"http://a.test/{name}" for name in "abc"]
        for order in ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)):
            with TemporaryDirectory() as folder:
                v = self._visitor(folder)
                for url in urls:
                    v.start(url)
                for one in order:
                    v.visit(urls[one], "same")
                assert v.shown(*urls) == [urls[0]]
                assert [v.record(url).duplicate_of for url in urls] == ["", urls[0], urls[0]]
                v.close()

    def test_groups_of_equal_bodies_survive_a_restart(self) -> None:
        """A copy that comes after a restart meets the group that was made before."""
        with TemporaryDirectory() as folder:
            v = self._visitor(folder)
            v.start("http://a.test/b")
            v.start("http://a.test/a")
            v.visit("http://a.test/b", "same")
            v.catalog.restart()
            v.visit("http://a.test/a", "same")
            assert v.shown("http://a.test/a", "http://a.test/b") == ["http://a.test/a"]
            assert v.record("http://a.test/b").duplicate_of == "http://a.test/a"
            v.close()

    def test_a_deleted_head_promotes_the_next_and_comes_back_when_undeleted(self) -> None:
        """The content stays findable; undoing restores the order."""
        a, b, c = urls = [f"http://a.test/{name}" for name in "abc"]
        with TemporaryDirectory() as folder:
            v = self._visitor(folder)
            for url in urls:
                v.start(url)
                v.visit(url, "same")
            v.delete(a)
            assert v.shown(*urls) == [b]
            assert v.record(c).duplicate_of == b
            v.undelete(a)
            assert v.shown(*urls) == [a]
            assert v.record(b).duplicate_of == a
            v.close()

    def test_a_public_copy_never_hides_behind_a_secure_one(self) -> None:
        """Groups are made inside one access class."""
        with TemporaryDirectory() as folder:
            v = self._visitor(folder)
            v.catalog.put_source("web", "public")
            v.catalog.put_source("vault", "secure")
            v.start("http://a.test/a", source="vault")
            v.start("http://a.test/b")
            v.visit("http://a.test/a", "same")
            v.visit("http://a.test/b", "same")
            assert v.record("http://a.test/a").duplicate_of == ""
            assert v.record("http://a.test/b").duplicate_of == ""
            v.close()

    # -- deletion -----------------------------------------------------------------------------

    def test_what_was_removed_by_hand_stays_away_until_undeleted(self) -> None:
        """Neither links nor running visits nor restarts bring it back; undeleting does."""
        with TemporaryDirectory() as folder:
            v = self._visitor(folder)
            v.start("http://a.test/")
            v.visit("http://a.test/", "start", ["http://a.test/x/1"])
            v.visit("http://a.test/x/1", "one")
            row = v.claim("http://a.test/x/1")
            assert v.remove("http://a.test/x/", exact=False) == 1
            v.settle(v.report(row, "http://a.test/x/1", "two"), row)
            v.catalog.restart()
            v.now_s += 40 * DAY_S
            v.visit("http://a.test/", "start", ["http://a.test/x/1", "http://a.test/x/2"])
            reader = v.catalog.reader()
            assert reader.find("http://a.test/x/2") is None
            reader.close()
            gone = v.record("http://a.test/x/1")
            assert (gone.state, gone.described, gone.due_s) == (State.GONE, False, None)
            assert v.undelete("http://a.test/x/", exact=False) == 1
            assert v.shown("http://a.test/x/1") == ["http://a.test/x/1"]
            assert v.record("http://a.test/x/1").state is State.WAITING
            v.discover(v.discovery("http://a.test/x/2"))
            assert v.record("http://a.test/x/2").state is State.WAITING
            v.close()

    def test_a_page_that_comes_back_loses_its_tombstone(self) -> None:
        """A described visit is stronger than any deletion by the policy."""
        with TemporaryDirectory() as folder:
            v = self._visitor(folder)
            v.start("http://a.test/x")
            v.visit("http://a.test/x", "one")
            v.delete("http://a.test/x")
            assert v.shown("http://a.test/x") == []
            v.now_s += 2 * DAY_S
            v.discover(v.discovery("http://a.test/x", depth=1))
            v.visit("http://a.test/x", "one")
            record = v.record("http://a.test/x")
            assert (record.state, record.described) == (State.DONE, True)
            assert v.shown("http://a.test/x") == ["http://a.test/x"]
            assert v.undelete("http://a.test/x") == 0
            v.close()

    # -- the reader's promises ----------------------------------------------------------------

    def test_an_unchanged_visit_says_nothing_to_the_index(self) -> None:
        """The row remembers the visit; the log does not grow."""
        with TemporaryDirectory() as folder:
            v = self._visitor(folder)
            v.start("http://a.test/")
            v.visit("http://a.test/", "one")
            before = len(v.changes)
            v.now_s += DAY_S
            v.answer("http://a.test/", Outcome.UNCHANGED, status=304)
            assert len(v.changes) == before
            reader = v.catalog.reader()
            visits = reader.visits(v.id("http://a.test/"))
            reader.close()
            assert [(visit.outcome, visit.at_s) for visit in visits] == [
                (Outcome.UNCHANGED, v.now_s),
                (Outcome.INDEXED, v.now_s - DAY_S),
            ]
            v.close()

    def test_readers_see_only_what_is_committed_and_all_of_it(self) -> None:
        """A reader that was open before sees the next commit."""
        with TemporaryDirectory() as folder:
            v = self._visitor(folder)
            reader = v.catalog.reader()
            assert reader.find("http://a.test/") is None
            v.start("http://a.test/")
            assert reader.find("http://a.test/") is not None
            v.visit("http://a.test/", "one")
            stats = reader.stats()
            assert stats.states == {"done": 1}
            assert stats.outcomes == {"indexed": 1}
            assert stats.sources == {"web": 1}
            assert (stats.hosts, stats.sequence) == (1, 1)
            reader.close()
            v.close()
