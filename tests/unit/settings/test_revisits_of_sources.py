"""Keys of sources about revisits: read, held against each other, and what they come to."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingather.app.wiring import host_visits, own_recheck_limits, recheck_limits
from ingather.conf.settings.file import SettingsFile, read_settings
from ingather.conf.settings.values import Settings
from ingather.conf.sources.revisits import RevisitConf
from ingather.conf.sources.source import SourceConf

HOUR, DAY = 3_600.0, 86_400.0


def read(text: str) -> SettingsFile:
    return read_settings(text.encode())


def test_a_source_has_bounds_budget_and_sitemaps_of_its_own() -> None:
    found = read(
        "[source.news]\nrecheck-min = '15m'\nrecheck-first = '1h'\nrecheck-max = '2d'\nhost-visits = 9\nuse-sitemaps = false\n"
        "sitemaps = ['HTTP://A.test/s.xml?sessionid=1', 'http://a.test/s.xml?sessionid=1']\n"
    )
    assert not found.diagnostics
    own = found.sources["news"].revisits
    assert own == RevisitConf(
        recheck_min=900.0, recheck_max=2 * DAY, recheck_first=HOUR, host_visits=9, use_sitemaps=False,
        sitemaps=("http://a.test/s.xml?sessionid=1",),
    )  # fmt: skip
    limits = own_recheck_limits(found.settings, found.sources)
    assert set(limits) == {"news"}
    assert (limits["news"].min_s, limits["news"].first_s, limits["news"].max_s) == (900.0, HOUR, 2 * DAY)
    budget = host_visits(found.settings, found.sources)
    assert budget is not None
    assert (budget("news"), budget("web")) == (9, 0)


def test_without_a_budget_nobody_counts() -> None:
    assert host_visits(Settings(), {"web": SourceConf()}) is None


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ("recheck-min = '2d'\nrecheck-max = '1d'", "longer than recheck-max"),
        ("recheck-first = '1h'\nrecheck-min = '2h'", "does not lie between"),
        ("recheck-min = '1s'", "recheck-min"),
        ("sitemaps = ['ftp://a.test/s.xml']", "http and https"),
        ("sitemaps = ['s.xml']", "cannot be a sitemap"),
    ],
)
def test_mistakes_are_named_and_the_defaults_stay(keys: str, words: str) -> None:
    found = read(f"[source.news]\n{keys}\n")
    (one,) = found.diagnostics
    assert one.is_error
    assert words in str(one)
    assert found.sources["news"].revisits == RevisitConf()


@given(*[st.none() | st.floats(60, 90 * DAY)] * 3)
def test_bounds_of_a_source_are_always_in_order(
    least: float | None, first: float | None, most: float | None
) -> None:
    source = SourceConf(revisits=RevisitConf(least, most, first))
    limits = own_recheck_limits(Settings(), {"web": source}).get("web", recheck_limits(Settings()))
    if least is None or most is None or least <= most:
        assert limits.min_s <= limits.first_s <= limits.max_s
