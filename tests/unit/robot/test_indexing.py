"""The index follows the change log: in order, never ahead, and from wherever it was left."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from ingather.errors import IndexingError
from ingather.index import IndexFolder
from ingather.model.change import Change, ChangeKind
from ingather.model.report import Report
from ingather.ports.index import IndexDocument, IndexWriter
from ingather.robot.indexing.following import IndexFollower
from ingather.robot.indexing.pace import FollowLimits
from ingather.testing.clock import FakeClock
from ingather.testing.rig import wait_until


class Log:
    """A change log in memory and the documents behind it."""

    def __init__(self) -> None:
        self.entries: list[Change] = []
        self.pages: dict[int, str] = {}
        self.newest = 0

    def put(self, row: int, body: str) -> tuple[int, int, ChangeKind, Report | None]:
        self.pages[row] = body
        return self._note(row, ChangeKind.PUT)

    def remove(self, row: int) -> tuple[int, int, ChangeKind, Report | None]:
        self.pages.pop(row, None)
        return self._note(row, ChangeKind.REMOVE)

    def _note(self, row: int, kind: ChangeKind) -> tuple[int, int, ChangeKind, Report | None]:
        self.newest += 1
        self.entries.append(Change(self.newest, row, kind))
        return self.newest, row, kind, None

    def changes(self, after: int, limit: int) -> list[Change]:
        return [c for c in self.entries if c.sequence > after][:limit]

    def prune(self, upto: int) -> None:
        self.entries = [c for c in self.entries if c.sequence > upto]

    def kept(self) -> tuple[int, int]:
        return (self.entries[0].sequence, self.entries[-1].sequence) if self.entries else (0, 0)

    def shown(self) -> Iterator[int]:
        return iter(sorted(self.pages))

    def documents(self, fresh: Sequence[tuple[int, Report | None]]) -> list[IndexDocument]:
        return [
            IndexDocument(
                id=row,
                url=f"http://h/{row}",
                chain=1,
                title=f"t{row}",
                body=self.pages[row],
                site="h",
                path=f"/{row}",
            )
            for row, _ in fresh
            if row in self.pages
        ]

    def close(self) -> None:
        """Nothing is open."""


def follower(folder: Path, log: Log, told: list[int]) -> IndexFollower:
    index = IndexFolder(folder)
    limits = FollowLimits(quiet_docs=3, quiet_s=3600.0, group=2)
    return IndexFollower(index.writer, lambda: log, FakeClock(), committed=told.append, limits=limits)


def rows(folder: Path) -> list[int]:
    return sorted(row for row, _ in IndexFolder(folder).reader().snapshot().rows())


def test_what_is_pushed_is_found_and_the_sequence_kept(tmp_path: Path) -> None:
    log = Log()
    told: list[int] = []
    one = follower(tmp_path, log, told)
    one.start()
    one.push([log.put(1, "apple"), log.put(2, "pear"), log.put(3, "plum"), log.remove(2)])
    assert one.flush(4, 60)
    one.stop()
    assert rows(tmp_path) == [1, 3]
    assert told[-1] == 4


def test_what_was_missed_is_read_from_the_log(tmp_path: Path) -> None:
    log = Log()
    told: list[int] = []
    for row in range(1, 8):
        log.put(row, "word")
    log.remove(5)
    one = follower(tmp_path, log, told)
    one.start()
    assert one.flush(8, 60)
    one.stop()
    assert rows(tmp_path) == [1, 2, 3, 4, 6, 7]
    again = follower(tmp_path, log, told)
    again.start()
    again.push([log.put(9, "later")])
    assert again.flush(9, 60)
    again.stop()
    assert rows(tmp_path) == [1, 2, 3, 4, 6, 7, 9]


def test_what_was_taken_up_before_is_not_applied_twice(tmp_path: Path) -> None:
    log = Log()
    told: list[int] = []
    entries = [log.put(row, "word") for row in range(1, 4)]
    one = follower(tmp_path, log, told)
    one.start()
    assert one.flush(3, 60)
    one.push(entries)  # the keeper tells of commits that the log gave already
    one.push([log.remove(1)])
    assert one.flush(4, 60)
    one.stop()
    assert rows(tmp_path) == [2, 3]


def test_a_lag_beyond_its_limit_is_full_and_so_no_claims_go_out() -> None:
    log = Log()
    limits = FollowLimits(queue_docs=3)
    one = IndexFollower(_nobody, lambda: log, FakeClock(), committed=lambda _: None, limits=limits)
    one.push([log.put(row, "word") for row in range(3)])
    assert (one.lag, one.full) == (3, False)
    one.push([log.put(4, "word")])
    assert (one.lag, one.full) == (4, True)


def _nobody() -> IndexWriter:
    raise AssertionError


def test_a_broken_index_stops_nobody() -> None:
    def broken() -> IndexWriter:
        raise IndexingError("the index cannot be opened", hint="run: ingather index rebuild")

    log = Log()
    one = IndexFollower(broken, lambda: log, FakeClock(), committed=lambda _: None)
    one.start()
    assert not one.flush(1, 60)
    one.push([log.put(1, "word")])
    assert (one.lag, one.full) == (0, False)
    assert "cannot be opened" in one.broken
    one.stop()


def test_an_empty_index_behind_a_pruned_log_is_filled_from_the_catalog(tmp_path: Path) -> None:
    log = Log()
    told: list[int] = []
    for row in range(1, 8):
        log.put(row, "word")
    log.remove(5)
    log.prune(6)
    one = follower(tmp_path, log, told)
    one.start()
    assert one.flush(8, 60)
    one.push([log.put(9, "later")])
    assert one.flush(9, 60)
    one.stop()
    assert rows(tmp_path) == [1, 2, 3, 4, 6, 7, 9]
    assert told == [8, 9]


def test_an_index_that_is_older_than_the_log_asks_to_be_rebuilt(tmp_path: Path) -> None:
    log = Log()
    one = follower(tmp_path, log, [])
    one.start()
    one.push([log.put(1, "word")])
    assert one.flush(1, 60)
    one.stop()
    for row in range(2, 6):
        log.put(row, "word")
    log.prune(3)
    late = follower(tmp_path, log, [])
    late.start()
    assert not late.flush(5, 60)
    late.stop()
    assert "up to 1" in late.broken
    assert rows(tmp_path) == [1]


def collecting(folder: Path, log: Log, told: list[int], *, docs: int = 1000) -> IndexFollower:
    index = IndexFolder(folder)
    limits = FollowLimits(quiet_docs=1, quiet_s=0.0, group=2, collect_s=60.0, collect_docs=docs)
    return IndexFollower(index.writer, lambda: log, FakeClock(), committed=told.append, limits=limits)


def test_descriptions_are_collected_until_nothing_more_is_to_come(tmp_path: Path) -> None:
    """index-after-ngenerated: minutes of collecting; the end of a run ends it."""
    log, told = Log(), list[int]()
    one = collecting(tmp_path, log, told)
    one.start()
    one.opened.wait(60)
    one.push([log.put(row, "word") for row in range(1, 4)])
    wait_until(lambda: one.lag == 0)
    assert told == []
    one.hurry()
    wait_until(lambda: told == [3])
    one.hurry()  # nothing is collected: the next one waits again
    one.push([log.put(4, "word")])
    wait_until(lambda: one.lag == 0)
    assert told == [3]
    one.adopt(FollowLimits(quiet_docs=1, quiet_s=0.0))
    one.push([log.put(5, "word")])
    wait_until(lambda: told == [3, 5])
    one.stop()


def test_collecting_ends_at_a_thousand_and_never_keeps_a_removal_waiting(tmp_path: Path) -> None:
    log, told = Log(), list[int]()
    one = collecting(tmp_path, log, told, docs=3)
    one.start()
    one.opened.wait(60)
    one.push([log.put(row, "word") for row in range(1, 4)])
    wait_until(lambda: told and told[-1] >= 3)
    one.push([log.remove(2)])
    wait_until(lambda: told[-1] == 4)
    one.stop()
    assert rows(tmp_path) == [1, 3]
