"""Quiet hosts: a sample first, the rest to the upper bound, nothing beyond it; and budgets of visits in a day."""

import math

from hypothesis import given
from hypothesis import strategies as st

from ingather.robot.frontier.sampling import Due, Pulse, SamplingLimits, beat, split_due
from ingather.robot.politeness.visitbudget import VisitBudget, day_of

DAY, NOW = 86_400.0, 1_790_000_000.0
LIMITS = SamplingLimits(after=5, sample=2)
PAGES = [Due(number, NOW - 3 * DAY, 30 * DAY) for number in range(6)]


def test_a_host_that_is_not_quiet_has_all_its_pages_visited() -> None:
    split = split_due(Pulse(4), PAGES, LIMITS, now_s=NOW)
    assert (split.visit, split.later, split.pulse) == (tuple(range(6)), (), Pulse(4))


def test_of_a_quiet_host_a_sample_is_visited_and_the_rest_waits_a_little() -> None:
    split = split_due(Pulse(5), PAGES, LIMITS, now_s=NOW)
    assert split.visit == (0, 1)
    assert split.later == tuple((number, NOW + LIMITS.look_s) for number in range(2, 6))
    assert split.pulse == Pulse(5, 7, NOW)


def test_while_the_sample_is_out_nobody_else_is_visited() -> None:
    split = split_due(Pulse(6, 7, NOW), PAGES[2:], LIMITS, now_s=NOW + 10)
    assert split.visit == ()
    assert {due for _, due in split.later} == {NOW + 10 + LIMITS.look_s}


def test_if_none_of_the_sample_changed_the_rest_waits_to_the_upper_bound() -> None:
    split = split_due(Pulse(7, 7, NOW), PAGES[2:], LIMITS, now_s=NOW + 3600)
    assert split.visit == ()
    assert {due for _, due in split.later} == {NOW + 27 * DAY}


def test_a_change_ends_the_rest() -> None:
    assert beat(Pulse(70, 72, NOW), changed=True) == Pulse()
    assert split_due(Pulse(), PAGES, LIMITS, now_s=NOW).visit == tuple(range(6))


def test_a_sample_counts_for_a_day() -> None:
    split = split_due(Pulse(9, 7, NOW), PAGES, LIMITS, now_s=NOW + DAY)
    assert split.visit == (0, 1)


def test_sampling_can_be_switched_off() -> None:
    assert len(split_due(Pulse(500), PAGES, SamplingLimits(after=0), now_s=NOW).visit) == 6


@given(
    quiet=st.integers(0, 100),
    sampled=st.integers(0, 100),
    since=st.floats(-3 * DAY, 3 * DAY),
    pages=st.lists(st.tuples(st.none() | st.floats(0, 60 * DAY), st.floats(3_600, 60 * DAY)), max_size=20),
)
def test_no_page_is_put_off_beyond_its_upper_bound_and_none_is_lost(
    quiet: int, sampled: int, since: float, pages: list[tuple[float | None, float]]
) -> None:
    due = [Due(number, None if ago is None else NOW - ago, most) for number, (ago, most) in enumerate(pages)]
    split = split_due(Pulse(quiet, sampled, NOW + since), due, LIMITS, now_s=NOW)
    assert sorted([*split.visit, *(number for number, _ in split.later)]) == list(range(len(due)))
    for number, at in split.later:
        fetched = due[number].fetched_s
        assert fetched is not None
        assert NOW < at <= fetched + due[number].most_s
    for page in due:
        if page.fetched_s is None or page.fetched_s + page.most_s <= NOW:
            assert page.id in split.visit


def test_a_quiet_host_costs_a_sample_a_day_until_a_page_changes() -> None:
    """A hundred pages, an upper bound of ten days: the first change is seen by a sample, then all are visited."""
    pulse, due, visited = Pulse(5), dict.fromkeys(range(100), NOW), dict.fromkeys(range(100), NOW - DAY)
    visits_by_day, now = [], NOW
    for day in range(5):
        count = 0
        for hour in range(24):
            now = NOW + day * DAY + hour * 3_600
            ready = sorted((n for n in due if due[n] <= now), key=lambda n: (due[n], n))
            split = split_due(pulse, [Due(n, visited[n], 10 * DAY) for n in ready], LIMITS, now_s=now)
            pulse = split.pulse
            due.update(split.later)
            for number in split.visit:
                pulse = beat(pulse, changed=False)
                visited[number], due[number], count = now, now + DAY, count + 1
        visits_by_day.append(count)
    assert max(visits_by_day) <= 4
    assert (
        len(
            split_due(
                beat(pulse, changed=True), [Due(n, visited[n], 10 * DAY) for n in due], LIMITS, now_s=now
            ).visit
        )
        == 100
    )


def test_a_budget_admits_so_many_visits_a_day_and_host() -> None:
    now = [5.5 * DAY]
    budget = VisitBudget(lambda source: 3 if source == "web" else 0, lambda: now[0], {"a.test": 1})
    keys = [("a.test", "web")] * 3 + [("b.test", "web"), ("a.test", "free")]
    assert budget.admits(keys, {}) == [True, True, False, True, True]
    assert budget.admits(keys[:2], {"a.test": 2}) == [False, False]
    budget.visited("a.test")
    assert budget.admits(keys[:2], {}) == [True, False]
    assert math.isclose(budget.left_s(), 0.5 * DAY)
    now[0] = 6 * DAY
    assert budget.admits(keys[:3], {}) == [True, True, True]
    assert day_of(now[0]) == 6
