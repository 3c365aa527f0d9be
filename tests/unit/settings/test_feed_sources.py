"""``[source.NAME]`` of kind ``rss`` and ``sitemap``: what is read, what is refused and where."""

import pytest

from ingather.app.sourcerules import deletion_limits
from ingather.app.syndication.sources import limits_of
from ingather.conf.settings.file import SettingsFile, read_settings

NEWS = '[source.news]\nkind = "rss"\nfeeds = ["https://n.test/feed.xml"]\n'


def read(text: str) -> SettingsFile:
    """Read a settings file."""
    return read_settings(text.encode())


def test_feeds_are_canonical_without_losing_a_parameter_and_stand_once() -> None:
    found = read(
        '[source.n]\nkind = "rss"\nfeeds = ["HTTPS://N.test:443/f?utm_source=a#x", "https://n.test/f?utm_source=a"]'
    )
    assert not found.diagnostics
    assert found.sources["n"].syndication.feeds == ("https://n.test/f?utm_source=a",)
    assert found.sources["n"].polls


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('feeds = ["ftp://n.test/f"]', "cannot be a feed"),
        ('feeds = ["no url"]', "cannot be a feed"),
        ('refresh-age = "often"', "refresh-age"),
        ("max-checks-per-cycle = 0", "max-checks-per-cycle"),
        ('on-max-index-age = "burn"', "on-max-index-age"),
        ('code = "two\\nlines"', "is no code"),
        ('link-scope = "everywhere"', "link-scope"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(line: str, said: str) -> None:
    (found,) = read(
        f'[source.news]\nkind = "rss"\n{line}\n' + ("" if "feeds" in line else "feeds = []\n")
    ).diagnostics
    assert found.is_error
    assert (found.place.file, found.place.line) == ("ingather.toml", 3)
    assert said in found.text


def test_times_that_contradict_each_other_are_refused() -> None:
    (found,) = read(f'{NEWS}min-poll-interval = "2h"\nmax-poll-interval = "1h"\n').diagnostics
    assert found.is_error
    assert "min-poll-interval is longer" in found.text


def test_keys_of_feeds_have_no_effect_on_a_site() -> None:
    (found,) = read('[source.b]\nfeeds = ["https://n.test/f"]\n').diagnostics
    assert (found.code, found.place.line) == ("W-NO-EFFECT", 2)


def test_a_source_without_feeds_is_told_unless_it_says_so() -> None:
    (found,) = read('[source.news]\nkind = "sitemap"\n').diagnostics
    assert "has no feeds" in found.text
    assert not read('[source.news]\nkind = "sitemap"\nfeeds = []\n').diagnostics
    assert not read('[source.news]\nkind = "sitemap"\nenable-indexer = false\n').diagnostics


def test_defaults_are_those_of_the_specification() -> None:
    read_ = read(NEWS)
    limits = limits_of(read_.sources["news"])
    assert (limits.discovery_interval_s, limits.max_unseen_age_s, limits.refresh_age_s) == (
        3600,
        172_800,
        604_800,
    )
    assert (limits.delete_floor, limits.delete_share, limits.max_checks_per_cycle) == (20, 0.10, 500)
    assert (limits.items, limits.feed_bytes) == (10_000, 10 << 20)
    policy = deletion_limits(read_.settings, read_.sources["news"])
    assert (policy.documents, policy.share) == (20, 0.10)


def test_codes_are_a_facet_unless_a_class_has_them() -> None:
    assert read(NEWS).classes.of("sourcecode").sources == ("system_source_code",)
    mine = read(f'{NEWS}[class.origin]\nfrom = ["system_source_code"]\n').classes
    assert "sourcecode" not in mine.defined
    assert "sourcecode" not in read("[source.a]\n").classes.defined
