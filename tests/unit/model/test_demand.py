"""How soon a pushed record has its URL visited."""

import pytest

from ingather.model.demand import BURST, BURST_S, USUAL_S, Demand, earliest_visit

NOW = 1_790_000_000.0


@pytest.mark.parametrize("demand", [Demand.USUAL, Demand.URGENT])
def test_what_nobody_visited_is_visited_at_once(demand: Demand) -> None:
    assert earliest_visit(demand, [], NOW) == NOW


def test_without_a_change_a_visit_is_so_long_after_the_last() -> None:
    assert earliest_visit(Demand.USUAL, [NOW - 20, NOW - 5000], NOW) == NOW - 20 + USUAL_S
    assert earliest_visit(Demand.USUAL, [NOW - USUAL_S], NOW) == NOW


def test_urgent_visits_are_limited_by_their_number() -> None:
    visits = [NOW - ago for ago in (1, 2, 3, 90)]
    assert earliest_visit(Demand.URGENT, visits[: BURST - 1], NOW) == NOW
    assert earliest_visit(Demand.URGENT, visits, NOW) == visits[BURST - 1] + BURST_S
    assert earliest_visit(Demand.URGENT, visits, NOW + BURST_S) == NOW + BURST_S


def test_a_clock_that_was_set_back_delays_no_longer_than_the_limit() -> None:
    assert earliest_visit(Demand.USUAL, [NOW + 86_400], NOW) == NOW + USUAL_S
    assert earliest_visit(Demand.URGENT, [NOW + 86_400] * 12, NOW) == NOW + BURST_S
