"""Hints of hosts: believed when they were right, within bounds, and never against them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingather.fetch.freshness import fresh_s
from ingather.robot.frontier.recheck import RecheckLimits, RecheckReason, next_visit
from ingather.robot.settling.hints import Hint, Hints, Score, Told, Trust, observe, promise, trust

HOUR, DAY, NOW = 3_600.0, 86_400.0, 1_790_000_000.0


def fresh(**fields: str) -> float | None:
    named = {name.replace("_", "-"): value for name, value in fields.items()}
    return fresh_s(lambda name: named.get(name, ""), now_s=NOW)


@pytest.mark.parametrize(
    ("control", "seconds"),
    [
        ("max-age=600", 600.0),
        ("s-maxage=900, max-age=600", 900.0),
        ("max-age=600, no-cache", None),
        ("no-store", None),
        ("immutable", 365 * DAY),
        ("max-age=60, immutable", 60.0),
        ("", None),
        ("max-age=soon", None),
    ],
)
def test_what_cache_control_promises(control: str, seconds: float | None) -> None:
    assert fresh(cache_control=control) == seconds


def test_what_was_spent_in_caches_is_taken_off() -> None:
    assert fresh(cache_control="max-age=600", age="100") == 500.0
    assert fresh(cache_control="max-age=600", age="700") == 0.0


def test_a_host_is_judged_only_after_enough_observations_and_can_win_trust_back() -> None:
    score = Score()
    assert trust(score) is Trust.UNPROVED
    for _ in range(6):
        score = score.with_one(right=False, weight=1.0)
    assert trust(score) is Trust.DISPROVED
    for _ in range(60):
        score = score.with_one(right=True, weight=1.0)
    assert trust(score) is Trust.PROVED


@given(st.lists(st.booleans(), max_size=60))
def test_one_more_right_observation_never_lowers_the_share(history: list[bool]) -> None:
    score = Score()
    for right in history:
        score = score.with_one(right=right, weight=1.0)
    better = score.with_one(right=True, weight=1.0)
    worse = score.with_one(right=False, weight=1.0)

    def share(one: Score) -> float:
        return one.right / (one.right + one.wrong)

    assert share(better) >= share(worse)


def test_a_promise_is_judged_while_it_lasts() -> None:
    told = Told(promised_s=NOW + DAY)
    assert observe(told, before_s=NOW - DAY, now_s=NOW, changed=True) == {Hint.PROMISE: (False, 1.0)}
    assert observe(told, before_s=NOW - DAY, now_s=NOW, changed=False) == {Hint.PROMISE: (True, 1.0)}
    assert observe(told, before_s=NOW - DAY, now_s=NOW + 2 * DAY, changed=True) == {}
    assert observe(told, before_s=None, now_s=NOW, changed=True) == {}
    assert observe(told, before_s=NOW - DAY, now_s=NOW, changed=None) == {}


def test_lastmod_is_right_when_it_announced_the_change() -> None:
    before = NOW - 4 * DAY
    moved, still = Told(lastmod_s=NOW - DAY, read_s=NOW), Told(lastmod_s=NOW - 9 * DAY, read_s=NOW)
    assert observe(moved, before_s=before, now_s=NOW, changed=True)[Hint.LASTMOD] == (True, 1.0)
    assert observe(moved, before_s=before, now_s=NOW, changed=False)[Hint.LASTMOD] == (False, 1.0)
    assert observe(still, before_s=before, now_s=NOW, changed=True)[Hint.LASTMOD] == (False, 1.0)
    right, weight = observe(still, before_s=before, now_s=NOW, changed=False)[Hint.LASTMOD]
    assert right
    assert weight < 1


def test_a_change_after_the_sitemap_was_read_is_no_lie_of_the_sitemap() -> None:
    told = Told(lastmod_s=NOW - 9 * DAY, read_s=NOW - 3 * DAY)
    assert Hint.LASTMOD not in observe(told, before_s=NOW - 4 * DAY, now_s=NOW, changed=True)


def test_changefreq_is_wrong_when_nothing_happens_for_twice_as_long() -> None:
    told = Told(every_s=HOUR)
    assert observe(told, before_s=NOW - DAY, now_s=NOW, changed=False)[Hint.CHANGEFREQ][0] is False
    assert observe(told, before_s=NOW - DAY, now_s=NOW, changed=True)[Hint.CHANGEFREQ][0] is True
    yearly = Told(every_s=365 * DAY)
    assert observe(yearly, before_s=NOW - DAY, now_s=NOW, changed=True)[Hint.CHANGEFREQ][0] is False
    assert observe(yearly, before_s=NOW - DAY, now_s=NOW, changed=False)[Hint.CHANGEFREQ][0] is True


def test_promises_are_heeded_by_trust_and_put_to_the_test_now_and_then() -> None:
    def until(belief: Trust, chance: float = 0.5) -> float | None:
        return promise(20 * DAY, belief, interval_s=DAY, now_s=NOW, chance=chance)

    assert until(Trust.PROVED) == NOW + 20 * DAY
    assert until(Trust.UNPROVED) == NOW + 2 * DAY
    assert until(Trust.DISPROVED) is None
    assert until(Trust.PROVED, 0.05) is None
    assert promise(None, Trust.PROVED, interval_s=DAY, now_s=NOW, chance=0.5) is None


def test_trust_of_hints_without_a_score_is_unproved() -> None:
    assert Hints().trust(Hint.LASTMOD) is Trust.UNPROVED


LIMITS = st.tuples(st.floats(60, DAY), st.floats(1, 60), st.floats(0, 1)).map(
    lambda t: RecheckLimits(min_s=t[0], max_s=t[0] * t[1], first_s=t[0] * (1 + (t[1] - 1) * t[2]))
)


@given(
    interval=st.none() | st.floats(0, 1e9),
    changed=st.none() | st.booleans(),
    chance=st.floats(0, 1, exclude_max=True),
    expires=st.none() | st.floats(-1e12, 1e12),
    every=st.none() | st.floats(0, 1e10),
    announced=st.booleans(),
    limits=LIMITS,
)
def test_no_hint_moves_a_visit_out_of_the_bounds(  # noqa: PLR0913, PLR0917 - everything that is said
    interval: float | None,
    changed: bool | None,  # noqa: FBT001
    chance: float,
    expires: float | None,
    every: float | None,
    announced: bool,  # noqa: FBT001
    limits: RecheckLimits,
) -> None:
    again = next_visit(
        NOW, interval_s=interval, changed=changed, chance=chance, expires_s=expires, every_s=every, announced=announced,
        limits=limits,
    )  # fmt: skip
    assert limits.min_s <= again.interval_s <= limits.max_s
    assert NOW + limits.min_s - 1 <= again.due_s <= NOW + limits.max_s + 1


@given(
    interval=st.floats(0, 1e8),
    chance=st.floats(0, 1, exclude_max=True),
    every=st.none() | st.floats(0, 1e8),
    announced=st.booleans(),
    one=st.floats(0, 1e8),
    two=st.floats(0, 1e8),
)
def test_more_evidence_of_rest_never_brings_a_visit_nearer(  # noqa: PLR0913, PLR0917 - everything that is said
    interval: float,
    chance: float,
    every: float | None,
    announced: bool,  # noqa: FBT001
    one: float,
    two: float,
) -> None:
    def due(changed: bool | None, expires: float | None = None, often: float | None = every) -> float:  # noqa: FBT001
        return next_visit(
            NOW, interval_s=interval, changed=changed, chance=chance, expires_s=expires, every_s=often, announced=announced
        ).due_s  # fmt: skip

    assert due(changed=True) <= due(changed=None) <= due(changed=False)
    short, long = sorted((one, two))
    assert due(changed=False, expires=NOW + short) <= due(changed=False, expires=NOW + long)
    assert due(changed=False, often=short) <= due(changed=False, often=long)


def test_a_believed_changefreq_is_the_first_interval_and_half_way_to_it_later() -> None:
    first = next_visit(NOW, interval_s=None, changed=None, every_s=7 * DAY)
    assert (first.interval_s, first.reason) == (7 * DAY, RecheckReason.CHANGEFREQ)
    later = next_visit(NOW, interval_s=2 * DAY, changed=None, every_s=8 * DAY)
    assert later.interval_s == pytest.approx(4 * DAY)


def test_a_page_whose_sitemap_tells_its_changes_waits_longer() -> None:
    again = next_visit(NOW, interval_s=2 * DAY, changed=False, announced=True)
    assert (again.due_s, again.reason) == (NOW + 6 * DAY, RecheckReason.LISTED)
    assert next_visit(NOW, interval_s=2 * DAY, changed=True, announced=True).due_s == NOW + DAY
