"""What is said of a record, over every combination of what is known of it and of its URL."""

from collections import Counter
from collections.abc import Iterator
from itertools import product

import pytest

from ingather.feeds.receipts import Shown, Standing, Written, shown_state
from ingather.model.lifecycle import Outcome, State

NOW = 1_790_000_000.0


def every() -> Iterator[Standing]:
    visits = [(None, 0), (3, 2), (3, 3), (3, 4)]
    for written, outcome, state, (asked, answered) in product(
        Written, [None, *Outcome], [None, *State], visits
    ):
        for described, in_index, superseded, buried, fetched, scope in product([False, True], repeat=6):
            yield Standing(
                int(written), in_index=in_index, superseded=superseded, asked=asked, answered=answered, waits=answered < 4,
                state=state, outcome=outcome, fetched_s=NOW if fetched else None, due_s=NOW + 60, buried_s=NOW if buried else None,
                why="deleted by a feed" if buried else "", received_s=NOW - 60, described=described, out_of_scope=scope,
            )  # fmt: skip


@pytest.fixture(scope="module")
def table() -> list[tuple[Standing, Shown]]:
    return [(of, shown_state(of)) for of in every()]


def test_indexed_is_only_what_is_a_document_in_the_index_that_nobody_spoke_about_since(
    table: list[tuple[Standing, Shown]],
) -> None:
    for of, shown in table:
        if shown.state == "indexed":
            assert of.described
            assert of.in_index
            assert not of.superseded
            assert of.written in {Written.APPLIED, Written.WAITING}
            assert of.written != Written.WAITING or of.visited


def test_waiting_is_only_what_a_visit_is_planned_for(table: list[tuple[Standing, Shown]]) -> None:
    for of, shown in table:
        if shown.state == "waiting for crawl":
            assert of.written == Written.WAITING
            assert not of.visited
            assert of.waits or of.state is State.WAITING
            assert (shown.until_s is None) == (of.state is State.WAITING)
        if of.written == Written.WAITING and not of.superseded and not of.visited:
            assert shown.state in {"waiting for crawl", "refused", "failed", "deleted", "applied"}


def test_whoever_is_refused_or_failed_learns_why(table: list[tuple[Standing, Shown]]) -> None:
    for of, shown in table:
        if shown.state in {"refused", "failed"}:
            assert shown.reason
            assert (shown.visited_s is not None) == of.visited
        if shown.state == "failed" and of.state is not State.QUARANTINED:
            assert shown.until_s == of.due_s


def test_a_visit_is_told_of_when_it_was_made_for_the_record_or_later(
    table: list[tuple[Standing, Shown]],
) -> None:
    for of, shown in table:
        assert shown.visited_s is None or (of.visited and of.fetched_s == shown.visited_s)
        if shown.state in {"visited", "refused"} and shown.visited_s is None:
            assert of.state is State.EXCLUDED


def test_every_state_that_is_documented_is_reached_and_no_other(table: list[tuple[Standing, Shown]]) -> None:
    found = Counter(shown.state for _, shown in table)
    assert set(found) == {
        "applied", "indexed", "rejected", "superseded", "waiting for crawl", "visited", "unchanged", "refused", "failed",
        "needs-scope", "deleted",
    }  # fmt: skip
    assert shown_state(Standing(Written.HELD, held=True)).state == "held"
