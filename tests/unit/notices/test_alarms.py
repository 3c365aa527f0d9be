"""Alarms, ended runs and channels: told when they begin, rarely while they last, once when over; nothing twice."""

from collections.abc import Callable, Sequence
from typing import Any

from ingather.app.notices import Alarm, Alarms, BatchOutbox, Delivery, Fanout, Notice, Outbox, RunNotices
from ingather.testing.clock import FakeClock

DISK = Alarm("disk", "home", "the disk is full", {"free_bytes": 1})
HOUR, DAY = 3_600.0, 86_400.0


class Told:
    """Takes notices while it has room."""

    def __init__(self) -> None:
        self.notices: list[Notice] = []
        self.room = True

    def offer(self, notice: Notice, settled: Callable[[], None] = lambda: None) -> bool:
        if self.room:
            self.notices.append(notice)
            settled()
        return self.room

    @property
    def kinds(self) -> list[str]:
        return [notice.kind for notice in self.notices]


class Book:
    """A memory and what holds."""

    def __init__(self) -> None:
        self.clock, self.memory, self.found = FakeClock(), dict[str, bytes](), list[Alarm]()
        self.told = Told()
        self.alarms = self.made()

    def made(self) -> Alarms:
        return Alarms(
            lambda: self.found, lambda name: self.memory.get(name, b""), self.memory.__setitem__, self.clock, again_s=DAY, apart_s=HOUR
        )  # fmt: skip

    def look(self, after_s: float = 60.0) -> list[str]:
        self.clock.advance(after_s)
        self.alarms(self.told)
        return self.told.kinds


def test_a_state_is_told_when_it_begins_lasts_and_is_over() -> None:
    book = Book()
    assert book.look() == []
    book.found = [DISK]
    assert book.look() == ["disk"]
    assert book.told.notices[0].about["free_bytes"] == 1
    assert book.look() == ["disk"]
    assert book.look(DAY) == ["disk", "disk"]
    book.found = []
    assert book.look() == ["disk", "disk", "disk.over"]
    assert book.look(DAY) == ["disk", "disk", "disk.over"]
    assert len({notice.id for notice in book.told.notices}) == 3


def test_what_comes_and_goes_is_told_once_in_a_while() -> None:
    book = Book()
    for _ in range(20):
        book.found = [DISK]
        book.look()
        book.found = []
        book.look()
    assert book.told.kinds == ["disk", "disk.over"]
    book.found = [DISK]
    assert book.look(2 * HOUR) == ["disk", "disk.over", "disk"]


def test_a_restart_tells_nothing_twice() -> None:
    book = Book()
    book.found = [DISK]
    book.look()
    book.alarms = book.made()
    assert book.look() == ["disk"]
    book.found = []
    book.alarms = book.made()
    assert book.look() == ["disk", "disk.over"]


def test_without_room_it_is_told_later() -> None:
    book = Book()
    book.told.room = False
    book.found = [DISK]
    assert book.look() == []
    book.told.room = True
    assert book.look() == ["disk"]


def test_several_things_of_one_kind_are_told_apart() -> None:
    book = Book()
    book.found = [Alarm("hold", str(number), "5 deletions") for number in range(3)]
    assert book.look() == ["hold"] * 3
    book.found = book.found[1:]
    assert book.look() == ["hold"] * 3 + ["hold.over"]
    assert book.told.notices[-1].about["subject"] == "0"


def test_runs_that_ended_are_told_one_in_a_while_with_their_number() -> None:
    clock, memory, told = FakeClock(), dict[str, bytes](), Told()
    runs: list[dict[str, Any]] = [{"run": 1, "ended": 5.0, "state": "completed"}]
    figures: dict[int, dict[str, dict[str, int]]] = {}

    def made() -> RunNotices:
        return RunNotices(
            lambda: runs, lambda run: figures.get(run, {"visits": {"": 9}}), lambda name: memory.get(name, b""), memory.__setitem__, clock,
            apart_s=HOUR,
        )  # fmt: skip

    notices = made()

    def look(after_s: float = 60.0) -> list[Any]:
        clock.advance(after_s)
        notices(told)
        return [(notice.about["run"], notice.about["runs"]) for notice in told.notices]

    assert look() == []  # what ended before anybody listened is no news
    runs.insert(0, {"run": 2, "ended": None, "state": "running"})
    assert look() == []
    runs[0].update(ended=6.0, state="completed")
    assert look() == [(2, 1)]
    for number in (3, 4, 5):
        runs.insert(0, {"run": number, "ended": 7.0, "state": "completed"})
    figures[4] = {}  # it visited nothing
    assert look() == [(2, 1)]
    assert look(HOUR) == [(2, 1), (5, 2)]
    notices = made()
    assert look() == [(2, 1), (5, 2)]


def _outbox(clock: FakeClock, sent: list[str], *, room: int = 1_000, trouble: str = "") -> Outbox:
    def send(notice: Notice) -> Delivery:
        sent.append(notice.kind)
        return Delivery(0 if trouble else 200, trouble)

    return Outbox(send, clock, attempts=2, room=room)


def test_every_channel_gets_it_and_it_is_settled_once_by_the_last() -> None:
    clock, first, second, settled = FakeClock(), list[str](), list[str](), list[int]()
    boxes = [_outbox(clock, first), _outbox(clock, second, trouble="down")]
    post = Fanout(boxes, ("disk*",))
    assert post.offer(Notice("1", "disk", "", {}), lambda: settled.append(1))
    assert post.offer(Notice("2", "hold", "", {}), lambda: settled.append(2))  # not wanted: done with at once
    assert settled == [2]
    boxes[0].turn()
    boxes[1].turn()
    assert (first, second, settled) == (["disk"], ["disk"], [2])
    clock.advance(HOUR)
    boxes[1].turn()
    assert (second, settled) == (["disk", "disk"], [2, 1])


def test_without_room_in_one_channel_none_takes_it() -> None:
    clock, sent = FakeClock(), list[str]()
    boxes = [_outbox(clock, sent), _outbox(clock, sent, room=0)]
    assert not Fanout(boxes).offer(Notice("1", "disk", "", {}))
    assert boxes[0].turn() == 0


def test_mail_is_put_together_and_not_sent_too_often() -> None:
    clock, mails = FakeClock(), list[list[str]]()

    def send(notices: Sequence[Notice]) -> Delivery:
        mails.append([notice.id for notice in notices])
        return Delivery(250)

    outbox = BatchOutbox(send, clock, attempts=2, every_s=300.0, together=3)
    outbox.offer(Notice("0", "disk", "", {}))
    outbox.turn()
    for number in range(1, 6):
        outbox.offer(Notice(str(number), "hold", "", {}))
        outbox.turn()
    assert mails == [["0"]]
    for _ in range(2):
        clock.advance(301.0)
        outbox.turn()
    assert mails == [["0"], ["1", "2", "3"], ["4", "5"]]
    assert (outbox.delivered, outbox.waiting) == (6, 0)
