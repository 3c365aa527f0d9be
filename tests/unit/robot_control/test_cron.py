from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingather.conf.sources.cron import parse_cron
from ingather.errors import UnitError

VIENNA = ZoneInfo("Europe/Vienna")


def after(text: str, at: str, zone: ZoneInfo | None = None) -> str:
    where = zone or UTC
    found = parse_cron(text).next_after(datetime.fromisoformat(at).replace(tzinfo=where).timestamp(), where)
    assert found is not None
    return datetime.fromtimestamp(found, where).strftime("%Y-%m-%d %H:%M")


@pytest.mark.parametrize(
    ("text", "at", "expected"),
    [
        ("30 2 * * *", "2026-11-22 02:29", "2026-11-22 02:30"),
        ("30 2 * * *", "2026-11-22 02:30", "2026-11-23 02:30"),
        ("*/15 8-18 * * mon-fri", "2026-11-20 18:45", "2026-11-23 08:00"),  # a Friday evening
        ("0 0 29 2 *", "2026-01-01 00:00", "2028-02-29 00:00"),
        ("0 12 13 * fri", "2026-11-01 00:00", "2026-11-06 12:00"),  # one of both days is enough
        ("0 12 */2 * 7", "2026-11-01 13:00", "2026-11-15 12:00"),  # a step restricts no day: both count
        ("0 4 * jan,jul sun", "2026-11-22 00:00", "2027-01-03 04:00"),
        ("0 5 * * fri-mon", "2026-11-24 00:00", "2026-11-27 05:00"),
        ("@weekly", "2026-11-22 00:00", "2026-11-29 00:00"),
        ("@hourly", "2026-12-31 23:30", "2027-01-01 00:00"),
    ],
)
def test_the_next_time(text: str, at: str, expected: str) -> None:
    assert after(text, at) == expected


def test_clocks_that_are_put_forward_and_back() -> None:
    assert after("30 2 * * *", "2026-03-29 01:00", VIENNA) == "2026-03-29 03:30"  # there is no 02:30
    first = parse_cron("30 2 * * *").next_after(datetime(2026, 10, 25, 1, tzinfo=VIENNA).timestamp(), VIENNA)
    assert first is not None
    assert first == datetime(2026, 10, 25, 0, 30, tzinfo=UTC).timestamp()  # the first of the two
    then = parse_cron("30 2 * * *").next_after(first, VIENNA)
    assert then == datetime(2026, 10, 26, 1, 30, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    "text",
    ["", "* * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * * 13 *", "* * * * 8", "*/0 * * * *", "5-1 * * * *",
     "0 0 30 2 *", "@reboot", "a * * * *", "1,,2 * * * *", "*-5 * * * *", "0 0 * * xyz"],
)  # fmt: skip
def test_what_is_no_expression_or_never_comes_is_refused(text: str) -> None:
    with pytest.raises(UnitError):
        parse_cron(text)


@given(
    st.integers(0, 59), st.integers(0, 23), st.integers(0, 6),
    st.datetimes(datetime(2020, 1, 1), datetime(2040, 1, 1)),  # noqa: DTZ001 - hypothesis wants them naive
)  # fmt: skip
def test_a_weekly_time_comes_within_a_week_and_fits(minute: int, hour: int, day: int, at: datetime) -> None:
    now = at.replace(tzinfo=UTC)
    found = parse_cron(f"{minute} {hour} * * {day}").next_after(now.timestamp(), UTC)
    assert found is not None
    then = datetime.fromtimestamp(found, UTC)
    assert timedelta(0) < then - now <= timedelta(days=7)
    assert (then.minute, then.hour, (then.weekday() + 1) % 7) == (minute, hour, day)
