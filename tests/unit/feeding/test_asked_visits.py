"""A pushed change is never dropped: each record plans a visit, whatever is being visited, and its receipt follows that to its end."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ingather.app.feeds.process import FeedProcess
from ingather.app.feeds.thread import Feeding
from ingather.model.demand import BURST_S, USUAL_S
from ingather.model.lifecycle import Outcome, State
from ingather.testing.feedrobot import FeedRobot
from ingather.testing.feeds import FeedRig, content, record

LISTS = "metadata-and-url"


def meta(text: str) -> str:
    return f'<metadata><meta name="said" content="{text}"/></metadata>'


@pytest.fixture
def own(tmp_path: Path, process: FeedProcess) -> Iterator[FeedRig]:
    made = FeedRig(tmp_path / "home", process)
    yield made
    made.close()


@pytest.fixture
def robot(own: FeedRig) -> FeedRobot:
    return FeedRobot(own)


@pytest.fixture(scope="module")
def process() -> Iterator[FeedProcess]:
    made = FeedProcess()
    yield made
    made.stop()


def told(rig: FeedRig, *records: str, feedtype: str = LISTS, **more: Any) -> dict[str, Any]:
    """Push and return the last receipt."""
    found: dict[str, Any] = rig.records(rig.push(*records, feedtype=feedtype, **more))[-1]
    return found


URL = "http://asked.test/a"
STAGES = ("before it is claimed", "claimed", "answered", "settled")


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize(
    "push", [record(URL, meta("new")), record(URL, crawl_immediately="true")], ids=["changed", "immediately"]
)
def test_gsa_T28_a_push_at_any_stage_of_a_visit_is_followed_by_a_visit_that_was_claimed_after_it(
    own: FeedRig, robot: FeedRobot, stage: str, push: str
) -> None:
    own.push(record(URL), feedtype=LISTS)
    at = STAGES.index(stage)
    if at == 0:
        own.push(push, feedtype=LISTS)
    row = robot.claim(URL)
    assert row is not None
    if at == 1:
        own.push(push, feedtype=LISTS)
    report = robot.report(row, "old")
    own.clock.advance(1)
    if at == 2:
        own.push(push, feedtype=LISTS)
    robot.settle((report, row))
    if at == 3:
        own.push(push, feedtype=LISTS)
    if at == 0:
        assert robot.claim(URL) is None  # the visit was claimed after both
        return
    assert robot.visit(URL, "new")
    assert robot.title(URL) == "new"
    assert robot.claim(URL) is None


def test_the_receipt_follows_the_visit_to_its_end(own: FeedRig, robot: FeedRobot) -> None:
    first = own.push(record(URL), feedtype=LISTS)
    assert own.records(first)[0]["state"] == "waiting for crawl"
    row = robot.claim(URL)
    assert row is not None
    second = own.push(record(URL, meta("x")), feedtype=LISTS)
    own.clock.advance(5)
    robot.settle((robot.report(row, "old"), row))
    shown = own.records(second)[0]
    assert (shown["state"], "visited" in shown) == ("waiting for crawl", False)
    own.clock.advance(5)
    assert robot.visit(URL, "new")
    shown = own.records(second)[0]
    assert shown["state"] == "visited"
    assert shown["visited"].endswith("Z")
    assert own.records(first)[0]["state"] == "superseded"
    own.local.index()
    office = own.local.office
    indexed = own.local.writer.applier.sequence
    office._indexed = lambda: indexed
    assert own.records(second)[0]["state"] == "indexed"


def test_a_push_without_a_change_is_delayed_and_says_until_when(own: FeedRig, robot: FeedRobot) -> None:
    own.push(record(URL), feedtype=LISTS)
    robot.visit(URL, "old")
    own.clock.advance(20)
    now_s = own.clock.wall()
    shown = told(own, record(URL))
    assert shown["state"] == "waiting for crawl"
    assert "visited again at the earliest at " in shown["note"]
    assert shown["note"].endswith("it was visited 20 s ago")
    assert shown["until"] in shown["note"]
    assert robot.claim(URL) is None
    for _ in range(5):  # once more is no later, and no more visits
        own.clock.advance(60)
        assert told(own, record(URL))["until"] == shown["until"]
    own.clock.advance(now_s - 20 + USUAL_S - own.clock.wall())
    assert robot.visit(URL, "new")
    assert robot.claim(URL) is None
    assert robot.title(URL) == "new"


def test_urgent_pushes_are_limited_by_delay_alone(own: FeedRig, robot: FeedRobot) -> None:
    own.push(record(URL), feedtype=LISTS)
    visits = []
    for second in range(200):
        if robot.visit(URL, f"at {second}"):
            visits.append(second)
        own.push(record(URL, meta(str(second)), crawl_immediately="true"), feedtype=LISTS)
        own.clock.advance(1)
    assert visits[:3] == [0, 1, 2]
    assert all(later - earlier >= BURST_S for earlier, later in zip(visits, visits[3:], strict=False))
    own.clock.advance(BURST_S)
    assert robot.visit(URL, "last")
    assert robot.title(URL) == "last"


def test_gsa_13_an_adaptor_that_pushes_at_every_fetch_is_not_fetched_without_rest(
    own: FeedRig, robot: FeedRobot
) -> None:
    own.push(record(URL, crawl_immediately="true"), feedtype=LISTS)
    visits = 0
    for _ in range(120):
        row = robot.claim(URL)
        if row is not None:
            visits += 1
            own.push(record(URL), feedtype=LISTS)  # while it is fetched
            robot.settle((robot.report(row, "same"), row))
        own.clock.advance(30)
    assert visits == 4  # in an hour: at once, then every 15 minutes


def test_gsa_T29_crawl_once_says_that_nothing_is_planned(own: FeedRig, robot: FeedRobot) -> None:
    own.push(record(URL, crawl_once="true"), feedtype=LISTS)
    robot.visit(URL, "once")
    own.clock.advance(90_000)
    shown = told(own, record(URL, crawl_once="true"))
    assert shown["state"] == "applied"
    assert "only crawl-immediately fetches it again" in shown["note"]
    assert robot.claim(URL) is None
    assert told(own, record(URL, crawl_once="true", crawl_immediately="true"))["state"] == "waiting for crawl"
    assert robot.visit(URL, "twice")
    row = own.row(URL)
    assert row is not None
    assert (row.state, row.due_s) == (State.DONE, None)


def test_crawl_once_does_not_take_away_a_visit_that_was_asked_for_meanwhile(
    own: FeedRig, robot: FeedRobot
) -> None:
    own.push(record(URL, crawl_once="true"), feedtype=LISTS)
    row = robot.claim(URL)
    assert row is not None
    for _ in range(4):
        own.push(record(URL, crawl_once="true", crawl_immediately="true"), feedtype=LISTS)
    robot.settle((robot.report(row, "old"), row))
    assert robot.visit(URL, "new")
    assert robot.title(URL) == "new"


def test_a_plan_outlives_a_restart(own: FeedRig, robot: FeedRobot) -> None:
    own.push(record(URL), feedtype=LISTS)
    robot.visit(URL, "old")
    shown = told(own, record(URL))
    own.reopen()
    again = FeedRobot(own)
    assert again.claim(URL) is None
    own.clock.advance(USUAL_S)
    assert again.visit(URL, "new")
    assert shown["state"] == "waiting for crawl"
    assert again.title(URL) == "new"


def test_a_deletion_while_it_is_visited_drops_no_later_push(own: FeedRig, robot: FeedRobot) -> None:
    own.push(record(URL), feedtype=LISTS)
    robot.visit(URL, "old")
    own.push(record(URL, crawl_immediately="true"), feedtype=LISTS)
    row = robot.claim(URL)
    assert row is not None
    own.push(record(URL, action="delete"), feedtype=LISTS)
    own.clock.advance(1)
    added = own.push(record(URL), feedtype=LISTS)
    robot.settle((robot.report(row, "of before the deletion"), row))
    own.clock.advance(USUAL_S)
    assert robot.visit(URL, "back")
    assert own.described(URL)
    assert robot.title(URL) == "back"
    assert own.records(added)[0]["state"] == "visited"


def test_a_page_that_is_found_missing_while_it_is_pushed_again_is_looked_at_again(
    own: FeedRig, robot: FeedRobot
) -> None:
    own.push(record(URL), feedtype=LISTS)
    robot.visit(URL, "old")
    own.clock.advance(USUAL_S)
    own.push(record(URL), feedtype=LISTS)
    robot.visit(URL, "", outcome=Outcome.NOT_FOUND, status=404)
    own.clock.advance(7200)
    own.push(record(URL), feedtype=LISTS)
    row = robot.claim(URL)
    assert row is not None
    own.push(record(URL, meta("it is back")), feedtype=LISTS)
    robot.settle((robot.report(row, "", outcome=Outcome.NOT_FOUND, status=404), row))
    assert robot.visit(URL, "back")
    assert own.described(URL)


def test_quiet_hosts_are_no_reason_to_put_off_what_was_pushed(own: FeedRig, robot: FeedRobot) -> None:
    from ingather.robot.frontier.sampling import SamplingLimits
    from ingather.robot.settling.remembering import promote, promote_asked

    own.push(record(URL), feedtype=LISTS)
    robot.visit(URL, "old")
    own.push(record(URL), feedtype=LISTS)
    own.clock.advance(USUAL_S)
    writer, now_s = own.local.writer, own.clock.wall()
    row = own.row(URL)
    assert row is not None
    host = writer.feeds.row(URL).row.host  # type: ignore[union-attr]
    writer.transaction(lambda w: w.applier.freshness.put_pulse(host, 1000, 1, now_s))
    assert writer.frontier.asked_due(now_s)
    woken = writer.transaction(lambda w: promote_asked(w, 10, now_s=now_s))
    assert woken == {host: 1}
    limits = SamplingLimits(after=2)
    assert writer.transaction(lambda w: promote(w, 10, limits, now_s=now_s, most_s=lambda _: 9e9)) == {}


ENDS = [
    (Outcome.ROBOTS, 0, "refused", "robots.txt forbids it"), (Outcome.EXCLUDED, 200, "refused", "the rules exclude it"),
    (Outcome.NOINDEX, 200, "refused", "the page forbids it (noindex)"), (Outcome.REFUSED, 403, "refused", "its host refuses access: HTTP 403"),
    (Outcome.SERVER_ERROR, 500, "failed", "its host failed: HTTP 500"), (Outcome.NOT_FOUND, 404, "failed", "it is not there: HTTP 404"),
    (Outcome.REFUSED, 401, "refused", "its host refuses access: HTTP 401"), (Outcome.FAILED, 0, "failed", "its host did not answer"), (Outcome.REDIRECTED, 302, "visited", "it leads to another URL: HTTP 302"),
]  # fmt: skip


@pytest.mark.parametrize("end", ENDS, ids=[f"{e[0].name}-{e[1]}" for e in ENDS])
def test_the_end_of_a_visit_is_in_the_receipt_with_its_reason(
    own: FeedRig, robot: FeedRobot, end: tuple[Outcome, int, str, str]
) -> None:
    outcome, status, state, reason = end
    feed = own.push(record(URL), feedtype=LISTS)
    robot.visit(URL, "", outcome=outcome, status=status)
    shown = own.records(feed)[0]
    assert (shown["state"], shown["reason"], "visited" in shown) == (state, reason, True)
    assert ("until" in shown) == (state == "failed")
    assert state in shown["log"]


def test_an_add_that_the_same_feed_deletes_is_not_said_to_be_indexed(own: FeedRig) -> None:
    feed = own.push(record(URL, content("x")), record(URL, action="delete"))
    assert [r["state"] for r in own.records(feed)] == ["superseded", "deleted"]
    listed = own.push(record(URL), record(URL, action="delete"), feedtype=LISTS)
    assert [r["state"] for r in own.records(listed)] == ["superseded", "deleted"]


def test_a_record_that_makes_no_document_is_not_said_to_be_indexed(own: FeedRig) -> None:
    shown = told(own, record(URL, meta("x")), feedtype="incremental")
    assert (shown["state"], "makes no document" in shown["note"]) == ("applied", True)
    owned = "http://asked.test/owned"
    own.push(record(owned, content("x")))
    shown = told(own, record(owned, meta("x")))
    assert (shown["state"], "its content comes with feeds" in shown["note"]) == ("unchanged", True)


def test_the_backlog_counts_visits_that_may_be_made_now(own: FeedRig, robot: FeedRobot) -> None:
    def due(most: int = 900) -> int:
        return own.local.office.due_visits(own.clock.wall(), most)

    assert due() == 0
    own.push(*(record(f"http://asked.test/{n}") for n in range(12)), feedtype=LISTS)
    assert (due(), due(5)) == (12, 5)
    for n in range(12):
        robot.visit(f"http://asked.test/{n}", f"page {n}")
    assert due() == 0
    own.push(record("http://asked.test/3"), feedtype=LISTS)
    assert due() == 0  # delayed
    own.clock.advance(USUAL_S)
    assert due() == 1


def test_the_backlog_is_records_and_visits_counted_once_a_second(own: FeedRig, robot: FeedRobot) -> None:
    desk = Feeding(
        own.local.feeding._home,
        own.local._transact,
        clock=own.clock,
        count=own.local.office.due_visits,
        process=own.local._process,
    )
    own.push(*(record(f"http://asked.test/{n}") for n in range(3)), feedtype=LISTS)
    assert desk.backlog() == 3
    own.take(b"<record/>" * 2, "more")
    desk.recover()
    assert desk.backlog() == 5
    robot.visit("http://asked.test/0")
    assert desk.backlog() == 5
    own.clock.advance(1)
    assert desk.backlog() == 4
    desk.rest(frozenset({"more"}))
    assert desk.backlog() == 2
