"""Both forms of Retry-After, and everything that is neither."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingather.fetch.retry_after import RetryAfter, read_retry_after

NOW_S = 1_795_258_800.0  # Sat, 21 Nov 2026 11:00:00 GMT
DAY_S = 86_400.0


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120.0),
        (" 120 ", 120.0),
        ("0", 0.0),
        ("1.5", 1.0),
        ("Sat, 21 Nov 2026 11:02:00 GMT", 120.0),
        ("Saturday, 21-Nov-26 11:02:00 GMT", 120.0),
        ("Sat Nov 21 11:02:00 2026", 120.0),
        ("Sat, 21 Nov 2026 13:02:00 +0200", 120.0),
        ("Sat, 21 Nov 2026 10:00:00 GMT", 0.0),
    ],
)
def test_rfc9110_10_2_3_seconds_and_dates(value: str, seconds: float) -> None:
    assert read_retry_after(value, now_s=NOW_S) == RetryAfter(seconds)


@pytest.mark.parametrize("value", ["700000", "Sat, 21 Nov 2099 11:02:00 GMT", "9" * 18])
def test_longer_than_seven_days_is_capped_and_told(value: str) -> None:
    assert read_retry_after(value, now_s=NOW_S) == RetryAfter(7 * DAY_S, capped=True)


@pytest.mark.parametrize("value", ["", "soon", "-5", "+5", "9" * 40, "12 s", "Sat, 99 Nov 2026 11:02:00 GMT"])
def test_what_is_neither_says_nothing(value: str) -> None:
    assert read_retry_after(value, now_s=NOW_S) is None


@given(st.text(max_size=40))
def test_no_text_fails(value: str) -> None:
    wait = read_retry_after(value, now_s=NOW_S)
    assert wait is None or 0 <= wait.seconds <= 7 * DAY_S
