from datetime import UTC, datetime
from math import inf
from zoneinfo import ZoneInfo

import pytest

from ingather.app.robot.sourcehours import hours_of
from ingather.app.robot.timetable import Timetable
from ingather.conf.settings.values import Settings
from ingather.conf.sources.source import SourceConf
from ingather.conf.sources.weekspans import parse_delay, parse_span
from ingather.errors import UnitError
from ingather.robot.politeness.hours import Hours
from ingather.robot.politeness.restraint import Restraints


def at(text: str, zone: str = "UTC") -> float:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).timestamp()


SATURDAY, SUNDAY, MONDAY = "2026-11-21", "2026-11-22", "2026-11-23"


@pytest.mark.parametrize(
    ("windows", "now", "seconds"),
    [
        ((), f"{SUNDAY} 12:00", 0),
        (("22:00-06:00",), f"{SUNDAY} 23:00", 0),
        (("22:00-06:00",), f"{SUNDAY} 05:59", 0),
        (("22:00-06:00",), f"{SUNDAY} 06:00", 16 * 3600),
        (("sat,sun",), f"{SUNDAY} 23:59:30", 0),
        (("sat,sun",), f"{MONDAY} 00:00", 5 * 86_400),
        (("sat 22:00-06:00",), f"{SUNDAY} 03:00", 0),  # it belongs to the day on which it begins
        (("sat 22:00-06:00",), f"{MONDAY} 03:00", 5 * 86_400 + 19 * 3600),
        (("fri-mon 08:00-09:00", "12:00-24:00"), f"{SATURDAY} 09:00:30", 3 * 3600 - 30),
    ],
)
def test_outside_its_windows_a_source_rests(windows: tuple[str, ...], now: str, seconds: float) -> None:
    hours = Hours(windows=tuple(parse_span(text) for text in windows))
    assert hours.closed_s(at(now)) == seconds


def test_delays_by_time_of_day_in_the_zone_of_the_source() -> None:
    source = SourceConf(
        name="x", delays=("mon-fri 08:00-18:00=5s", "12:00-13:00=9s"), time_zone="Europe/Vienna"
    )
    hours = hours_of(Settings(), source)
    assert hours.delay_s(at(f"{MONDAY} 07:59", "Europe/Vienna")) == 0
    assert hours.delay_s(at(f"{MONDAY} 08:00", "Europe/Vienna")) == 5
    assert hours.delay_s(at(f"{MONDAY} 12:30", "Europe/Vienna")) == 9
    assert hours.delay_s(at(f"{SUNDAY} 12:30", "Europe/Vienna")) == 9
    assert hours.delay_s(at(f"{SUNDAY} 10:00", "Europe/Vienna")) == 0


@pytest.mark.parametrize(
    "text", ["", "25:00-26:00", "08:00-08:00", "08:60-09:00", "someday", "mon tue 08:00-09:00", "mon-", "8-9"]
)
def test_what_is_no_part_of_a_week_is_refused(text: str) -> None:
    with pytest.raises(UnitError):
        parse_span(text)


@pytest.mark.parametrize("text", ["08:00-18:00", "08:00-18:00=", "08:00-18:00=0", "08:00-18:00=fast", "=5s"])
def test_what_names_no_delay_is_refused(text: str) -> None:
    with pytest.raises(UnitError):
        parse_delay(text)


def test_hosts_are_slowed_blocked_and_rest_by_the_hours_of_their_source() -> None:
    now = [at(f"{SUNDAY} 07:30")]
    hours = Hours((parse_span("00:00-20:00"),), (parse_delay("08:00-18:00=5s"),))
    restraints = Restraints({"x": hours}, wall=lambda: now[0], slowed={"slow.example": 7.0})
    restraints.lent("one.example", "x")
    restraints.lent("two.example", "other")
    assert restraints.turned() == ([], {})
    assert restraints.floor_s("one.example", "x") == 0
    assert restraints.floor_s("slow.example", "other") == 7
    now[0] = at(f"{SUNDAY} 08:00")
    assert restraints.turned() == ([("one.example", 5.0)], {})
    assert restraints.turned() == ([], {})
    assert restraints.slow("one.example", 9.0) == 9
    assert restraints.slow("one.example", 0) == 5
    now[0] = at(f"{SUNDAY} 20:00")
    assert restraints.rests_s("x") == 4 * 3600
    assert restraints.rests_s("other") == 0
    assert restraints.turned() == ([("one.example", 0.0)], {"one.example": 4 * 3600.0})
    assert restraints.turned() == ([], {})  # it was told once
    restraints.blocked.add("one.example")
    assert (restraints.shut_until("one.example"), restraints.shut_until("two.example")) == (inf, 0.0)


def test_a_timetable_names_each_source_once_and_shows_the_next_runs() -> None:
    night = SourceConf(name="night", schedule=("0 2 * * *",), windows=("03:00-05:00",))
    often = SourceConf(name="often", schedule=("0 * * * *", "30 2 * * *"))
    table = Timetable(
        Settings(), {"night": night, "often": often, "web": SourceConf()}, at(f"{SUNDAY} 01:30")
    )
    assert table.due(at(f"{SUNDAY} 01:59")) == []
    rows = table.form(at(f"{SUNDAY} 01:59"))
    assert [(row["source"], row["in_s"], row["opens_in_s"]) for row in rows] == [
        ("night", 60, 3600),
        ("often", 60, 0),
    ]
    assert table.due(at(f"{SUNDAY} 02:00")) == ["night", "often"]
    assert table.due(at(f"{SUNDAY} 02:00")) == []
    assert table.due(at(f"{SUNDAY} 09:15")) == ["often"]  # made up for once, however often it was missed
    assert datetime.fromtimestamp(table.form(0.0)[0]["at"], UTC).hour == 10
