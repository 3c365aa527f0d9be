"""After a failed visit: remedies, waits, Retry-After."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingather.model.resource import FailureKind
from ingather.robot.politeness.backoff import (
    BackOffLimits,
    Remedy,
    after_failure,
    remedy_of,
    retry_after_seconds,
    waiting_time,
)

NOW = 1_790_000_000.0


@pytest.mark.parametrize("kind", list(FailureKind))
def test_every_failure_kind_has_a_remedy(kind: FailureKind) -> None:
    assert remedy_of(kind) in set(Remedy)


@pytest.mark.parametrize(
    ("cause", "remedy"),
    [
        (200, None),
        (304, None),
        (301, None),
        (404, Remedy.LEAVE),
        (410, Remedy.LEAVE),
        (401, Remedy.LEAVE),
        (403, Remedy.LEAVE),
        (429, Remedy.WAIT_HOST),
        (503, Remedy.WAIT_HOST),
        (500, Remedy.RETRY),
        (504, Remedy.RETRY),
        (501, Remedy.LEAVE),
        (FailureKind.DNS, Remedy.WAIT_HOST),
        (FailureKind.CLOSED, Remedy.RETRY),
        (FailureKind.RATIO, Remedy.LEAVE),
        (FailureKind.EGRESS, Remedy.LEAVE),
    ],
)
def test_the_remedy_follows_the_cause(cause: FailureKind | int, remedy: Remedy | None) -> None:
    assert remedy_of(cause) is remedy


@given(
    failures=st.integers(1, 10_000),
    chance=st.floats(0, 1, exclude_max=True),
    asked=st.none() | st.floats(0, 1e18),
)
def test_a_wait_is_never_shorter_than_asked_and_never_endless(
    failures: int, chance: float, asked: float | None
) -> None:
    limits = BackOffLimits()
    wait = waiting_time(failures, chance=chance, asked_s=asked, limits=limits)
    if asked is None:
        assert wait.seconds >= limits.base_s
    else:
        assert wait.seconds >= min(asked, limits.retry_after_cap_s)
        assert wait.capped == (asked > limits.retry_after_cap_s)
    assert wait.seconds <= limits.retry_after_cap_s * (1 + limits.jitter)


def test_waits_grow_and_are_jittered() -> None:
    plain = [waiting_time(n, chance=0.0).seconds for n in range(1, 5)]
    assert plain == [10.0, 30.0, 90.0, 270.0]
    assert waiting_time(1, chance=0.5).seconds == pytest.approx(12.5)
    assert waiting_time(99, chance=0.0).seconds == 86_400.0


def test_a_short_retry_after_is_believed_once_and_doubted_when_it_is_repeated() -> None:
    assert waiting_time(1, chance=0.0, asked_s=2.0).seconds == 2.0
    assert waiting_time(3, chance=0.0, asked_s=2.0).seconds == 30.0


def test_retry_after_beyond_seven_days_is_cut_and_reported() -> None:
    wait = waiting_time(1, chance=0.0, asked_s=1e9)
    assert (wait.seconds, wait.capped, wait.asked_s) == (7 * 86_400.0, True, 1e9)


def test_attempts_run_out() -> None:
    first = after_failure(FailureKind.CLOSED, 0, chance=0.0)
    assert first is not None
    assert first.wait is not None
    assert first.failures == 1
    last = after_failure(FailureKind.CLOSED, 3, chance=0.0)
    assert last is not None
    assert (last.wait, last.failures) == (None, 4)


def test_our_own_cancelling_counts_for_nothing() -> None:
    attempt = after_failure(FailureKind.CANCELLED, 3, chance=0.9)
    assert attempt is not None
    assert attempt.failures == 3
    assert attempt.wait is not None
    assert attempt.wait.seconds == 0.0


def test_a_success_is_no_failure() -> None:
    assert after_failure(200, 2, chance=0.0) is None


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120.0),
        (" 7 ", 7.0),
        ("0", 0.0),
        ("Mon, 21 Sep 2026 14:13:30 GMT", 10.0),
        ("Mon, 21 Sep 2026 10:13:30 GMT", 0.0),
        ("Monday, 21-Sep-26 14:13:30 GMT", 10.0),
        ("", None),
        ("soon", None),
        ("-5", None),
        ("\u0661\u0662", None),
    ],
)
def test_rfc9110_10_2_3_retry_after_has_two_forms(value: str, seconds: float | None) -> None:
    assert retry_after_seconds(value, now_s=1_790_000_000.0) == seconds


def test_retry_after_as_a_date_is_measured_against_the_hosts_own_clock() -> None:
    value = "Mon, 21 Sep 2026 15:00:30 GMT"
    assert retry_after_seconds(value, now_s=NOW, date="Mon, 21 Sep 2026 15:00:00 GMT") == 30.0


@given(st.text(max_size=60))
def test_no_retry_after_raises(value: str) -> None:
    seconds = retry_after_seconds(value, now_s=NOW, date=value)
    assert seconds is None or seconds >= 0
