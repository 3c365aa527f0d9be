"""Every way in which a document may, or may not, go."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingather.robot.settling.deletion import (
    Decision,
    DeletionLimits,
    DeletionPolicy,
    DeletionReason,
    Ledger,
    Proposal,
    Ruling,
)

HOUR, NOW = 3_600.0, 1_790_000_000.0
HARMLESS = [
    DeletionReason.REFUSED,
    DeletionReason.SERVER_ERROR,
    DeletionReason.UNREACHABLE,
    DeletionReason.ROBOTS_UNREACHABLE,
    DeletionReason.LOST_LINK,
    DeletionReason.UNREACHABLE_PARENT,
    DeletionReason.NOT_DUE,
]


def judge(reason: DeletionReason, count: int, ledger: Ledger, **facts: object) -> list[Ruling]:
    since = facts.pop("since", None)
    batch = [Proposal(i, reason, since) for i in range(count)]  # type: ignore[arg-type]
    return DeletionPolicy().judge(batch, ledger, now_s=NOW, **facts)  # type: ignore[arg-type]


def decisions(rulings: list[Ruling]) -> set[Decision]:
    return {r.decision for r in rulings}


@pytest.mark.parametrize("reason", [DeletionReason.NOT_FOUND, DeletionReason.GONE])
def test_a_first_404_waits_for_a_second_look_an_hour_later(reason: DeletionReason) -> None:
    [ruling] = judge(reason, 1, Ledger(1000))
    assert (ruling.decision, ruling.again_s) == (Decision.WAIT, NOW + HOUR)


@pytest.mark.parametrize(("age", "decision"), [(HOUR - 1, Decision.WAIT), (HOUR, Decision.DELETE)])
def test_a_second_look_confirms_after_an_hour(age: float, decision: Decision) -> None:
    [ruling] = judge(DeletionReason.NOT_FOUND, 1, Ledger(1000, waiting=1), since=NOW - age)
    assert ruling.decision is decision


def test_a_one_shot_crawl_deletes_nothing_for_404s() -> None:
    rulings = judge(DeletionReason.NOT_FOUND, 3, Ledger(1000, waiting=3), since=NOW - 5 * HOUR, one_shot=True)
    assert decisions(rulings) == {Decision.WAIT}


def test_a_first_look_dated_in_the_future_confirms_nothing() -> None:
    [ruling] = judge(DeletionReason.NOT_FOUND, 1, Ledger(1000, waiting=1), since=NOW + 9 * HOUR)
    assert (ruling.decision, ruling.again_s) == (Decision.WAIT, NOW + HOUR)


@pytest.mark.parametrize("reason", HARMLESS)
def test_errors_and_lost_links_never_delete(reason: DeletionReason) -> None:
    assert decisions(judge(reason, 500, Ledger(500), since=NOW - 99 * HOUR)) == {Decision.IGNORE}


@pytest.mark.parametrize("reason", [DeletionReason.NOINDEX, DeletionReason.RULES, DeletionReason.ROBOTS])
def test_noindex_and_rules_delete_at_that_visit(reason: DeletionReason) -> None:
    assert decisions(judge(reason, 1, Ledger(1000))) == {Decision.DELETE}


def test_an_expired_description_waits_while_the_clock_is_doubted() -> None:
    assert decisions(judge(DeletionReason.EXPIRED, 1, Ledger(1000), clock_trusted=False)) == {Decision.WAIT}
    assert decisions(judge(DeletionReason.EXPIRED, 1, Ledger(1000))) == {Decision.DELETE}
    late = judge(
        DeletionReason.NOT_FOUND, 1, Ledger(1000, waiting=1), since=NOW - 9 * HOUR, clock_trusted=False
    )
    assert decisions(late) == {Decision.WAIT}


@pytest.mark.parametrize(
    ("documents", "count", "decision"),
    [
        (1000, 100, Decision.DELETE),  # ten percent, a hundred: neither is passed
        (1000, 101, Decision.HOLD),
        (5000, 500, Decision.DELETE),
        (5000, 501, Decision.HOLD),
        (200, 100, Decision.DELETE),  # more than ten percent, not more than a hundred, just half
        (200, 101, Decision.HOLD),
        (100, 50, Decision.DELETE),
        (100, 51, Decision.HOLD),
        (10, 5, Decision.DELETE),
        (10, 6, Decision.HOLD),
        (9, 9, Decision.DELETE),  # too small a source for any threshold
        (1, 1, Decision.DELETE),
    ],
)
def test_a_wave_is_held_as_a_whole(documents: int, count: int, decision: Decision) -> None:
    assert decisions(judge(DeletionReason.RULES, count, Ledger(documents))) == {decision}


@pytest.mark.parametrize(
    ("documents", "count", "decision"), [(12, 4, Decision.DELETE), (12, 7, Decision.HOLD)]
)
def test_confirmed_404s_are_counted_once(documents: int, count: int, decision: Decision) -> None:
    rulings = judge(DeletionReason.NOT_FOUND, count, Ledger(documents, waiting=count), since=NOW - 2 * HOUR)
    assert decisions(rulings) == {decision}


def test_one_by_one_a_wave_of_404s_is_held_before_its_first_deletion() -> None:
    # All 300 of 1,000 documents were missing an hour ago: the first to be confirmed is held already.
    [ruling] = judge(DeletionReason.NOT_FOUND, 1, Ledger(1000, waiting=300), since=NOW - 2 * HOUR)
    assert ruling.decision is Decision.HOLD


def test_one_by_one_rules_delete_up_to_the_threshold_and_hold_the_rest() -> None:
    ledger, held = Ledger(1000), 0
    for _ in range(150):
        [ruling] = judge(DeletionReason.RULES, 1, ledger)
        if ruling.decision is Decision.HOLD:
            held += 1
            ledger = Ledger(ledger.documents, ledger.deleted_24h, ledger.held + 1)
        else:
            ledger = Ledger(ledger.documents - 1, ledger.deleted_24h + 1, ledger.held)
    assert (ledger.deleted_24h, held) == (100, 50)


def test_the_operator_is_not_held_up() -> None:
    assert decisions(judge(DeletionReason.OPERATOR, 500, Ledger(500))) == {Decision.DELETE}


def test_held_documents_are_shown_unless_their_source_has_access_rights() -> None:
    assert not any(r.hidden for r in judge(DeletionReason.RULES, 9, Ledger(10)))
    assert all(r.hidden for r in judge(DeletionReason.RULES, 9, Ledger(10, secure=True)))
    other = DeletionPolicy(DeletionLimits(hide_held_public=True, hide_held_secure=False))
    batch = [Proposal(i, DeletionReason.RULES) for i in range(9)]
    assert all(r.hidden for r in other.judge(batch, Ledger(10), now_s=NOW))
    assert not any(r.hidden for r in other.judge(batch, Ledger(10, secure=True), now_s=NOW))


def test_what_is_on_hold_stays_there_when_it_is_seen_missing_again() -> None:
    proposal = Proposal(1, DeletionReason.RULES, held=True)
    [ruling] = DeletionPolicy().judge([proposal], Ledger(1000, held=1), now_s=NOW)
    assert ruling.decision is Decision.HOLD


def test_a_hold_says_why() -> None:
    ruling = judge(DeletionReason.RULES, 6, Ledger(10))[0]
    assert "6 of 10 documents" in ruling.why
    assert "more than 50%" in ruling.why


@given(
    documents=st.integers(10, 5000),
    waves=st.lists(
        st.tuples(st.sampled_from(list(DeletionReason)), st.integers(1, 400), st.booleans()), max_size=12
    ),
)
def test_within_a_day_no_more_than_the_threshold_goes(
    documents: int, waves: list[tuple[DeletionReason, int, bool]]
) -> None:
    policy, left, deleted, held, waiting = DeletionPolicy(), documents, 0, 0, 0
    for reason, size, confirmed in waves:
        count = min(size, left - held - waiting)
        if reason is DeletionReason.OPERATOR or count <= 0:
            continue
        since = NOW - 2 * HOUR if confirmed else None
        batch = [Proposal(i, reason, since) for i in range(count)]
        for ruling in policy.judge(batch, Ledger(left, deleted, held, waiting), now_s=NOW):
            match ruling.decision:
                case Decision.DELETE:
                    left, deleted = left - 1, deleted + 1
                case Decision.HOLD:
                    held += 1
                case Decision.WAIT:
                    waiting += 1
                case Decision.IGNORE:
                    assert reason in HARMLESS
    assert deleted <= max(0.1 * documents, 100)
    assert deleted <= 0.5 * documents
