"""Sources that list what others own, and settings that keep documents with their owner (GSA feeds specification, section 8.2)."""

from dataclasses import replace

import pytest

from ingather.app.explaining import explainer_of
from ingather.app.feeds.local import feed_home
from ingather.app.feeds.process import FeedProcess
from ingather.app.sourcerules import policies_of
from ingather.conf.sources.source import SourceConf
from ingather.explain import as_text
from ingather.testing.feeds import FeedRig, content, record


def listings(rig: FeedRig, url: str) -> list[tuple[bool, str, bool]]:
    reader = rig.reader()
    try:
        row = reader.find(url)
        assert row is not None
        return [(one["owner"], one["source"], one["web"]) for one in reader.listings(row.id)]
    finally:
        reader.close()


def test_everyone_who_lists_a_url_is_kept(rig: FeedRig) -> None:
    url = "http://many.test/a"
    for name in ("many1", "many2", "many3"):
        rig.clock.advance(1.0)
        rig.push(record(url), datasource=name, feedtype="metadata-and-url")
    assert listings(rig, url) == [(True, "many3", True), (False, "many2", True), (False, "many1", True)]
    rig.clock.advance(1.0)
    rig.push(record(url, content("x")), datasource="many1")
    assert listings(rig, url) == [(True, "many1", False), (False, "many3", True), (False, "many2", True)]
    rig.clock.advance(1.0)
    rig.push(record(url), datasource="many4", feedtype="metadata-and-url")
    assert listings(rig, url)[:2] == [(True, "many1", False), (False, "many4", True)]


def test_other_listings_are_bounded_and_the_oldest_go(rig: FeedRig) -> None:
    url = "http://crowd.test/a"
    for number in range(36):
        rig.clock.advance(1.0)
        rig.push(record(url), datasource=f"crowd{number}", feedtype="metadata-and-url")
    found = [source for _, source, _ in listings(rig, url)]
    assert found == [f"crowd{number}" for number in range(35, 2, -1)]


def test_what_feeds_say_is_explained(rig: FeedRig) -> None:
    url = "http://told.test/a"
    told = rig.push(record(url, content("what is told"), lock="true", pagerank="98"), datasource="told")
    reader = rig.reader()
    try:
        row = reader.find(url)
        assert row is not None
        owner = reader.listings(row.id)[0]
        assert reader.shown_rows([row.id])[row.id].pagerank == 98
    finally:
        reader.close()
    assert (owner["feed"], owner["record"], owner["lock"], owner["pagerank"]) == (told["name"], 1, True, 98)


def test_pushed_content_is_explained_without_sites_that_do_not_concern_it(rig: FeedRig) -> None:
    url = "http://told.test/why"
    rig.push(record(url, content("why it is there")), datasource="told")
    answer = explainer_of(rig.home, rig.read.settings, rig.read.sources).explain(url)
    assert (answer["decision"]["generation"]["allowed"], answer["decision"]["enumeration"]["allowed"]) == (
        True,
        True,
    )
    assert "found      by a feed" in as_text(answer)


@pytest.mark.parametrize("setting", ["taken_over", "takes_over"])
def test_a_source_may_keep_its_documents_or_leave_those_of_others(
    rig: FeedRig, monkeypatch: pytest.MonkeyPatch, setting: str
) -> None:
    mine, theirs = f"mine-{setting.replace('_', '-')}", f"theirs-{setting.replace('_', '-')}"
    url = f"http://{mine}.test/a"
    sources = {
        mine: SourceConf(name=mine, taken_over=setting != "taken_over"),
        theirs: SourceConf(name=theirs, takes_over=setting != "takes_over"),
    }
    home = feed_home(
        rig.home,
        sources,
        lambda: pytest.fail("no worker is made"),
        policies_of(rig.read.settings, sources, frozenset({"web"})),
    )
    before = rig.local.feeding._home
    monkeypatch.setattr(rig.local.feeding, "_home", replace(before, policy=home.policy))
    rig.push(record(url, content("mine")), datasource=mine)
    told = rig.push(record(url, content("theirs")), datasource=theirs)
    assert (told["rejected"], rig.text(url)) == (1, "mine")
    assert f"belongs to {mine}" in rig.records(told)[0]["note"]
    assert listings(rig, url)[1] == (False, theirs, False)
    rig.push(record(url, action="delete"), datasource=theirs)
    assert rig.described(url)  # neither side's "no" lets it be deleted


def test_links_of_what_is_pushed_are_followed_unless_the_source_says_otherwise(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    page = '<content><![CDATA[<p>%s <a href="http://links.test/b">b</a>]]></content>'
    process = FeedProcess()
    rig = FeedRig(tmp_path_factory.mktemp("links") / "home", process)
    try:
        with (rig.home.path / "ingather.toml").open("a") as file:
            file.write("\n[source.quiet]\nfollow-fed-links = false\n")
        rig.read = rig.home.settings(environment={})
        rig.reopen()
        rig.push(record("http://links.test/quiet", page % "one"), datasource="quiet")
        assert rig.row("http://links.test/b") is None
        rig.push(record("http://links.test/loud", page % "two"), datasource="loud")
        assert rig.row("http://links.test/b") is not None
    finally:
        rig.close()
        process.stop()
