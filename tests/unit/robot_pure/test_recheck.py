"""When a document is looked at again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingather.robot.frontier.recheck import RecheckLimits, RecheckReason, next_visit

HOUR, DAY, NOW = 3_600.0, 86_400.0, 1_790_000_000.0


def test_the_interval_halves_on_change_and_grows_without() -> None:
    changed = next_visit(NOW, interval_s=DAY, changed=True)
    assert (changed.interval_s, changed.due_s, changed.reason) == (
        DAY / 2,
        NOW + DAY / 2,
        RecheckReason.CHANGED,
    )
    assert next_visit(NOW, interval_s=DAY, changed=False).interval_s == 1.5 * DAY


def test_a_failed_visit_leaves_the_interval_as_it_is() -> None:
    assert next_visit(NOW, interval_s=2 * DAY, changed=None).interval_s == 2 * DAY


def test_the_first_visit_starts_with_a_day() -> None:
    first = next_visit(NOW, interval_s=None, changed=None)
    assert (first.interval_s, first.reason) == (DAY, RecheckReason.FIRST)


@given(
    interval=st.none() | st.floats(0, 1e9),
    changed=st.none() | st.booleans(),
    chance=st.floats(0, 1, exclude_max=True),
    expires=st.none() | st.floats(-1e12, 1e12),
    rd_expires=st.none() | st.floats(-1e12, 1e12),
)
def test_every_visit_is_due_between_one_hour_and_thirty_days(
    interval: float | None,
    changed: bool | None,  # noqa: FBT001
    chance: float,
    expires: float | None,
    rd_expires: float | None,
) -> None:
    again = next_visit(
        NOW, interval_s=interval, changed=changed, chance=chance, expires_s=expires, rd_expires_s=rd_expires
    )
    assert HOUR <= again.interval_s <= 30 * DAY
    assert NOW + HOUR - 1 <= again.due_s <= NOW + 30 * DAY + 1


def test_always_changing_ends_at_one_hour_and_never_changing_at_thirty_days() -> None:
    for changed, end in ((True, HOUR), (False, 30 * DAY)):
        interval = DAY
        for _ in range(20):
            interval = next_visit(NOW, interval_s=interval, changed=changed).interval_s
        assert interval == end


def test_expires_puts_the_visit_off_but_not_the_interval() -> None:
    again = next_visit(NOW, interval_s=DAY, changed=False, expires_s=NOW + 5 * DAY)
    assert again.due_s == NOW + 5 * DAY
    assert again.interval_s == 1.5 * DAY
    assert again.reason is RecheckReason.EXPIRES


def test_a_change_that_was_seen_outweighs_expires() -> None:
    assert next_visit(NOW, interval_s=DAY, changed=True, expires_s=NOW + 20 * DAY).due_s == NOW + DAY / 2


def test_the_description_is_renewed_before_it_expires() -> None:
    again = next_visit(NOW, interval_s=20 * DAY, changed=False, rd_expires_s=NOW + 3 * DAY)
    assert again.due_s == NOW + 3 * DAY
    assert again.reason is RecheckReason.RD_EXPIRES


def test_bounds_are_settings() -> None:
    limits = RecheckLimits(min_s=6 * HOUR, max_s=2 * DAY, spread=0.0)
    assert next_visit(NOW, interval_s=6 * HOUR, changed=True, limits=limits).interval_s == 6 * HOUR
    assert next_visit(NOW, interval_s=2 * DAY, changed=False, limits=limits).interval_s == 2 * DAY


@pytest.mark.parametrize("chance", [0.0, 0.25, 0.75])
def test_visits_are_spread(chance: float) -> None:
    again = next_visit(NOW, interval_s=2 * DAY, changed=None, chance=chance)
    assert again.due_s - NOW == pytest.approx(2 * DAY * (0.9 + 0.2 * chance))
