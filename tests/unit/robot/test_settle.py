"""What becomes of a URL after a visit."""

import pytest

from ingather.model.lifecycle import Outcome, State
from ingather.model.report import Report, Row, Settled
from ingather.robot.settling.settle import SettleRules, settle

NOW = 1_800_000_000.0
HOUR = 3600.0


def row(**changes: object) -> Row:
    facts: dict[str, object] = {
        "id": 7, "host": 1, "path": "/a", "depth": 1, "max_depth": None, "source": 1, "hops": 0, "etag": "", "last_modified": "",
        "digest": b"", "version": None, "wait_s": None, "fails": 0, "strikes": 0, "missing_s": None, "fetched_s": None, "duplicate": None,
    }  # fmt: skip
    return Row(**(facts | changes))  # type: ignore[arg-type]


def visit(outcome: Outcome, status: int = 200, *, of: Row | None = None, **changes: object) -> Settled:
    report = Report(id=7, outcome=int(outcome), status=status, at_s=NOW, version=1, **changes)  # type: ignore[arg-type]
    return settle(report, of or row(), rules=SettleRules(), chance=0.5)


def test_a_described_page_is_put_and_visited_again() -> None:
    got = visit(Outcome.INDEXED, described=True, digest=b"x")
    assert (got.state, got.put, got.keep_description, got.propose) == (State.DONE, True, False, "")
    assert got.due_s is not None
    assert got.due_s > NOW


def test_an_unchanged_page_keeps_what_is_known_and_tells_nobody() -> None:
    got = visit(Outcome.UNCHANGED, 304, of=row(version=1, wait_s=HOUR, fetched_s=NOW - HOUR))
    assert (got.put, got.keep_description, got.propose) == (False, True, "")
    assert got.wait_s is not None
    assert got.wait_s > HOUR


def test_a_changed_page_is_visited_sooner_than_an_unchanged_one() -> None:
    before = row(version=1, wait_s=10 * HOUR, fetched_s=NOW - 10 * HOUR, digest=b"old")
    changed = visit(Outcome.INDEXED, of=before, described=True, digest=b"new")
    same = visit(Outcome.UNCHANGED, of=before)
    assert changed.due_s is not None
    assert same.due_s is not None
    assert changed.due_s < same.due_s


@pytest.mark.parametrize(
    ("outcome", "status", "detail"),
    [
        (Outcome.SERVER_ERROR, 500, "HTTP 500"),
        (Outcome.BACK_OFF, 503, "HTTP 503"),
        (Outcome.BACK_OFF, 429, "HTTP 429"),
        (Outcome.FAILED, 0, "dns: no such name"),
        (Outcome.FAILED, 0, "tls: certificate"),
        (Outcome.FAILED, 0, "first-byte-timeout"),
        (Outcome.ROBOTS_UNREACHABLE, 0, "robots.txt is unreachable"),
        (Outcome.REFUSED, 403, "HTTP 403"),
        (Outcome.REFUSED, 401, "HTTP 401"),
    ],
)
def test_trouble_never_proposes_a_deletion(outcome: Outcome, status: int, detail: str) -> None:
    got = visit(outcome, status, of=row(version=3, digest=b"d"), detail=detail)
    assert (got.propose, got.keep_description, got.put) == ("", True, False)
    assert got.due_s is not None
    assert got.due_s > NOW


@pytest.mark.parametrize(
    ("asked_s", "fails", "waits"), [(2.0, 0, True), (2.0, 3, False), (3600.0, 0, False), (None, 0, False)]
)
def test_a_run_that_ends_waits_for_a_host_that_says_when_to_come_back_soon(
    asked_s: float | None, fails: int, *, waits: bool
) -> None:
    report = Report(id=7, outcome=int(Outcome.BACK_OFF), status=429, at_s=NOW, version=1, retry_s=asked_s)
    got = settle(report, row(fails=fails), rules=SettleRules(one_shot=True), chance=0.5)
    assert (got.state == State.WAITING) is waits
    assert (got.due_s is None) is waits
    assert visit(Outcome.BACK_OFF, 429, retry_s=asked_s).state == State.DONE


def test_a_missing_page_is_proposed_and_the_policy_says_when_it_is_looked_at_again() -> None:
    first = visit(Outcome.NOT_FOUND, 404, of=row(version=1))
    assert first.missing_s == NOW
    assert first.due_s == NOW + 60.0
    assert "404" in first.propose
    second = visit(Outcome.NOT_FOUND, 410, of=row(version=1, missing_s=NOW - HOUR))
    assert second.missing_s == NOW - HOUR
    assert "410" in second.propose


def test_a_missing_page_that_nobody_sees_is_not_proposed() -> None:
    assert visit(Outcome.NOT_FOUND, 404).propose == ""


def test_a_page_that_answers_again_is_not_missing_any_more() -> None:
    assert visit(Outcome.UNCHANGED, 304, of=row(version=1, missing_s=NOW - HOUR)).missing_s is None


@pytest.mark.parametrize(
    "outcome", [Outcome.NOINDEX, Outcome.EXCLUDED, Outcome.ENUMERATED, Outcome.ROBOTS, Outcome.REDIRECTED]
)
def test_a_described_page_that_may_not_be_described_any_more_is_proposed(outcome: Outcome) -> None:
    got = visit(outcome, of=row(version=2))
    assert got.propose
    assert got.keep_description
    assert visit(outcome).propose == ""


def test_one_strike_comes_again_soon_two_are_quarantine() -> None:
    first = visit(Outcome.CONVERSION_FAILED, described=True, digest=b"bad", strike=True)
    assert (first.state, first.strikes) == (State.DONE, 1)
    assert first.due_s is not None
    assert first.due_s <= NOW + HOUR
    second = visit(
        Outcome.CONVERSION_FAILED,
        of=row(strikes=1, digest=b"bad"),
        described=True,
        digest=b"bad",
        strike=True,
    )
    assert (second.state, second.strikes, second.due_s) == (State.QUARANTINED, 2, None)


def test_a_changed_document_starts_with_no_strikes_of_its_past() -> None:
    got = visit(
        Outcome.CONVERSION_FAILED,
        of=row(strikes=1, digest=b"old"),
        described=True,
        digest=b"new",
        strike=True,
    )
    assert (got.state, got.strikes) == (State.DONE, 1)


def test_who_kills_a_gatherer_waits_once_more_and_is_then_left_alone() -> None:
    assert visit(Outcome.QUARANTINED).state == State.WAITING
    assert visit(Outcome.QUARANTINED, of=row(strikes=1)).state == State.QUARANTINED


def test_what_is_excluded_before_the_network_waits_for_other_rules_only() -> None:
    got = visit(Outcome.EXCLUDED, 0)
    assert (got.state, got.due_s, got.propose) == (State.EXCLUDED, None, "")
