"""When a source may try a way again, in invented time."""

from hypothesis import given, settings
from hypothesis import strategies as st

from ingather.model.resource import FailureKind
from ingather.robot.politeness.backoff import Remedy, after_failure, remedy_of
from ingather.robot.politeness.ways import LOOK_S, WayBook, WayState
from ingather.testing.clock import FakeClock

PROXY = "proxy http://127.0.0.1:3128"
NAMES = (PROXY, f"{PROXY} to a.example:80")


def test_a_way_that_failed_rests_for_its_source_alone_and_longer_each_time() -> None:
    book, clock = WayBook(), FakeClock()
    rests = []
    for _ in range(4):
        now = clock.monotonic()
        assert book.rests("far", NAMES, now) is None
        seconds = book.failed("far", PROXY, now, chance=0.0, whole=True)
        rests.append(seconds)
        assert book.rests("far", NAMES, now) == (PROXY, seconds)
        assert book.rests("near", NAMES, now) is None
        assert book.rests("far", ("proxy http://127.0.0.1:3129",), now) is None
        assert (
            book.failed("far", PROXY, now, chance=0.0, whole=True) == seconds
        )  # it was under way: not once more
        clock.advance(seconds)
    assert rests == [5.0, 15.0, 45.0, 135.0]
    assert book.answered("far", NAMES) == [PROXY]
    assert book.failed("far", PROXY, clock.monotonic(), chance=0.0, whole=True) == 5.0


def test_one_visit_tries_and_the_others_wait_for_its_answer() -> None:
    book, clock = WayBook(), FakeClock()
    clock.advance(book.failed("far", PROXY, clock.monotonic(), chance=0.5))
    assert book.rests("far", NAMES, clock.monotonic()) is None
    book.tries("far", NAMES, clock.monotonic())
    assert book.rests("far", NAMES, clock.monotonic()) == (PROXY, LOOK_S)
    clock.advance(60)  # it ended without having asked anybody
    assert book.rests("far", NAMES, clock.monotonic()) is None


def test_a_way_to_one_host_leaves_the_others_alone() -> None:
    book, now = WayBook(), FakeClock().monotonic()
    assert book.failed("far", NAMES[1], now, chance=0.0) == 10.0
    assert book.rests("far", NAMES, now) == (NAMES[1], 10.0)
    assert book.rests("far", (PROXY, f"{PROXY} to b.example:80"), now) is None


def test_a_restart_knows_what_rests_and_a_clock_set_back_prolongs_nothing() -> None:
    book, clock = WayBook(), FakeClock()
    for _ in range(3):
        clock.advance(book.failed("far", PROXY, clock.monotonic(), chance=0.0, detail="refused", whole=True))
    book.failed("far", PROXY, clock.monotonic(), chance=0.0, detail="refused", whole=True)
    states = book.export(clock.monotonic(), clock.wall())
    assert [(s.source, s.way, s.failures, s.detail) for s in states] == [("far", PROXY, 4, "refused")]
    again = WayBook()
    clock.jump(-1_000_000)
    again.take(states, 0.0, clock.wall())
    assert again.rests("far", (PROXY,), 0.0) == (PROXY, 135.0)
    again.take([WayState("far", PROXY)], 1.0, clock.wall())  # somebody came through
    assert (again.rests("far", (PROXY,), 1.0), len(again)) == (None, 0)
    assert book.export(clock.monotonic() + 2 * 86_400, clock.wall()) == []


def test_what_a_host_asks_for_a_way_is_obeyed() -> None:
    book, now = WayBook(), 0.0
    assert book.failed("far", PROXY, now, chance=0.0, asked_s=77.0, whole=True) == 77.0


@settings(max_examples=60)
@given(st.lists(st.tuples(st.sampled_from(["fail", "answer", "wait"]), st.floats(0, 500)), max_size=40))
def test_nobody_goes_by_a_way_before_its_rest_is_over_unless_it_answered(
    steps: list[tuple[str, float]],
) -> None:
    book, clock, until = WayBook(), FakeClock(), 0.0
    for step, amount in steps:
        now = clock.monotonic()
        if step == "fail":
            until = now + book.failed("far", PROXY, now, chance=amount / 1000)
        elif step == "answer":
            book.answered("far", NAMES)
            until = 0.0
        else:
            now = clock.advance(amount)
        rest = book.rests("far", NAMES, now)
        if now < until - 1e-6:
            assert rest is not None
            assert abs(rest[1] - (until - now)) < 1e-6
        elif now > until + 1e-6:
            assert rest is None


def test_a_proxys_failure_is_no_reason_to_leave_a_host_alone_nor_to_give_a_url_up() -> None:
    for kind in (FailureKind.PROXY, FailureKind.PROXY_LOGIN):
        assert remedy_of(kind) is Remedy.WAIT_WAY
        attempt = after_failure(kind, 50, chance=0.0, asked_s=20.0)
        assert attempt is not None
        assert attempt.wait is not None
        assert 20.0 <= attempt.wait.seconds <= 3600.0
