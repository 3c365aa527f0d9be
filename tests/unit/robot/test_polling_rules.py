"""What a source's settings make of visits."""

from dataclasses import fields

from ingather.app.sourcerules import listed_rules
from ingather.conf.sources.source import SourceConf
from ingather.conf.sources.syndication import SyndicationConf
from ingather.robot.visit.listed import FEED_BYTES, SITEMAP_BYTES, ListedRules


def test_a_source_says_nothing_and_gets_the_defaults() -> None:
    assert listed_rules(SourceConf(name="news", kind="rss")) == ListedRules()
    assert listed_rules(SourceConf(name="maps", kind="sitemap")) == ListedRules(kind="sitemap")
    assert (ListedRules().most_bytes, ListedRules().most_items) == (FEED_BYTES, 10_000)
    assert (ListedRules(kind="sitemap").most_bytes, ListedRules(kind="sitemap").most_items) == (
        SITEMAP_BYTES,
        50_000,
    )


def test_every_rule_but_the_time_of_a_poll_is_a_setting() -> None:
    said = SyndicationConf(
        max_feed_size=1, max_feed_items=2, max_file_size=3, max_redirects=4,
        honoured_query_parameters=("id", "p"), link_scope="same-host", discover_urls=True, robots_for_feeds=False,
    )  # fmt: skip
    rules = listed_rules(SourceConf(name="news", kind="rss", syndication=said))
    assert rules == ListedRules(
        kind="rss", discover=True, same_host=True, document_bytes=3,
        honoured_query=frozenset({"id", "p"}), feed_bytes=1, feed_items=2, redirects=4, obey_robots=False,
    )  # fmt: skip
    default = ListedRules()
    same = {
        field.name for field in fields(rules) if getattr(rules, field.name) == getattr(default, field.name)
    }
    assert same == {"kind", "poll_s"}
