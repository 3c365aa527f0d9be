"""Feeds on a disk that is full up to its reserve: contents wait, revocations and what precedes them go on."""

from pathlib import Path

import pytest

from ingather.app.disk import Headroom
from ingather.app.feeds.queues import FeedQueues, Space
from ingather.app.feeds.thread import Feeding
from ingather.feeds.spool import Spool
from ingather.testing.feeds import FeedRig, content, feed_xml, record
from ingather.testing.running import wait_until

RESERVE = 1000


class Disk:
    """A disk with so many bytes free, of which 1,000 are kept in reserve."""

    def __init__(self, free: int) -> None:
        self.free = free

    def room(self) -> Headroom:
        return Headroom(Path("/"), self.free, RESERVE)


def desk_of(rig: FeedRig, disk: Disk) -> Feeding:
    """Return a desk that applies what *rig* took, in a thread of its own."""
    local = rig.local
    made = Feeding(
        local.feeding._home, local._transact, clock=rig.clock, process=local._process, room=disk.room
    )
    made.recover()
    made.start()
    return made


def state(rig: FeedRig, name: str) -> str:
    return str(rig.local.office.feed(name)["state"])


@pytest.mark.parametrize(
    ("free", "applied"), [(1000, {"new", "gone"}), (999, {"gone"}), (500, {"gone"}), (1, {"gone"})]
)
def test_contents_wait_and_deletions_go_on(rig: FeedRig, free: int, applied: set[str]) -> None:
    rig.push(record("http://gone.test/a", content("x")), datasource="gone")
    new = rig.take(feed_xml(record("http://new.test/a", content("y")), datasource="new"), "new")
    gone = rig.take(feed_xml(record("http://gone.test/a", action="delete"), datasource="gone"), "gone")
    disk = Disk(free)
    desk = desk_of(rig, disk)
    try:
        wait_until(lambda: state(rig, gone.name) == "completed")
        assert not rig.described("http://gone.test/a")
        if "new" not in applied:
            wait_until(lambda: desk.waits_for_room)
            assert state(rig, new.name) == "accepted"
            assert desk.backlog() == 1
            disk.free = RESERVE  # it goes on by itself
        wait_until(lambda: state(rig, new.name) == "completed")
        assert rig.described("http://new.test/a")
    finally:
        desk.stop()


def test_what_precedes_a_revocation_may_use_half_of_the_reserve(rig: FeedRig) -> None:
    url = "http://order.test/a"
    first = rig.take(feed_xml(record(url, content("x")), datasource="order"), "order")
    then = rig.take(feed_xml(record(url, action="delete"), datasource="order"), "order")
    other = rig.take(feed_xml(record("http://other.test/a", content("y")), datasource="other"), "other")
    disk = Disk(499)
    desk = desk_of(rig, disk)
    try:
        wait_until(lambda: desk.waits_for_room)
        assert [state(rig, ticket.name) for ticket in (first, then, other)] == ["accepted"] * 3
        disk.free = 500
        wait_until(lambda: state(rig, then.name) == "completed")
        assert state(rig, first.name) == "completed"  # the order of a source holds
        assert not rig.described(url)
        assert state(rig, other.name) == "accepted"
    finally:
        desk.stop()


def test_feeds_of_a_disabled_source_do_not_wait_for_room() -> None:
    queues = FeedQueues()
    queues.add(1, "asleep", 1, 0.0, groups=False)
    queues.space = Space.NONE
    assert (queues.turn(), queues.waits_for_room) == (None, True)
    queues.resting = frozenset({"asleep"})
    assert (queues.turn(), queues.waits_for_room) == (None, False)


@pytest.mark.parametrize(
    ("body", "light"),
    [
        (feed_xml(record("http://a.test/a", action="delete")), True),
        (feed_xml(record("http://a.test/a", content("x"))), False),
        (feed_xml(record("http://a.test/a", content("x"))).decode().encode("utf-16"), False),
        (b'{"url": "http://a.test/a", "action": "delete"}\n{"type": "end"}\n', True),
        (b'{"url": "http://a.test/a", "content": "x"}\n{"type": "end"}\n', False),
        (b"<gsafeed>" + b" " * (1 << 20) + b"</gsafeed>", False),
    ],
    ids=["deletes", "contents", "utf-16", "lines-delete", "lines-contents", "large"],
)
@pytest.mark.parametrize("piece", [1, 7, 5000, 1 << 21])
def test_feeds_without_contents_are_known_while_they_come(
    tmp_path: Path,
    body: bytes,
    light: bool,  # noqa: FBT001 - a case
    piece: int,
) -> None:
    file = Spool(tmp_path).begin(b"<record")
    step = max(piece, len(body) // 2000)
    for at in range(0, len(body), step):
        file.write(body[at : at + step])
    assert file.light is light
    assert file.commit().light is light
