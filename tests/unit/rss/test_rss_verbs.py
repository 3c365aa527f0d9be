"""``ingather rss list|status|show|explain|poll|pause|resume``, and OPML: on a catalog as a keeper leaves it."""

import json
from pathlib import Path
from typing import Any

import pytest

from ingather.app.home import Home
from ingather.app.homeparts import database_of
from ingather.app.wiring import budget_limits
from ingather.catalog.sqlite_apply import Applied
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.syndication.opml import read_opml
from ingather.testing.rig import Rig

GOOD, GONE, NEW = "http://n.test/feed?a=1,2", "http://n.test/gone", "http://n.test/new"


def told(rig: Rig, *arguments: str, status: int = 0) -> Any:
    ran = rig.call("rss", *arguments, "--json")
    assert ran.status == status, ran.err
    return json.loads(ran.out)


def test_list_names_every_feed_and_when_and_why(rig: Rig) -> None:
    found = told(rig, "list")["feeds"]
    assert [(feed["url"], feed["state"], feed["next_poll"]) for feed in found] == [
        (GOOD, "active", "2018-03-20T11:33:00Z"), (GONE, "gone", None), (NEW, "new", None),
    ]  # fmt: skip
    assert (found[0]["seen"], found[0]["new"], found[0]["changed"], found[0]["malformed"]) == (2, 1, 2, True)
    said = rig.call("rss", "list").out
    assert "next poll 2018-03-20T11:33:00Z: ttl of 180 min" in said
    assert "malformed, overrun, polled 2018-03-20T08:33:00Z: 3 items, 1 new, 2 changed, 2 seen" in said
    assert "\x1b" not in said
    assert "ingather rss resume 2" in said
    assert GONE in rig.call("rss", "list", "--trouble").out
    assert NEW not in rig.call("rss", "list", "--trouble").out
    assert len(told(rig, "list", "--source", "news")["feeds"]) == 3


def test_list_says_why_a_feed_is_not_polled_for_a_source(rig: Rig) -> None:
    rig.toml(f'[source.late]\nkind = "rss"\nfeeds = ["{GOOD}"]\n')
    (late,) = told(rig, "list", "--source", "late")["feeds"]
    assert late["why"] == "it is a feed of the source news: a feed is polled for one source alone"
    text = (rig.path / "ingather.toml").read_text()
    (rig.path / "ingather.toml").write_text(
        text.replace(
            '\nkind = "rss"\nfeeds = ["' + GOOD + '", ',
            '\nkind = "rss"\nenable-indexer = false\nfeeds = ["' + GOOD + '", ',
        )
    )
    good = next(feed for feed in told(rig, "list", "--source", "news")["feeds"] if feed["url"] == GOOD)
    assert (good["next_poll"], good["why"]) == (None, "the source news is off (enable-indexer = false)")
    said = rig.call("rss", "show", GOOD).out
    assert "enable-indexer = false" in said
    assert f"ingather rss check {GOOD}" in said


def test_status_counts_and_tells_the_notices(rig: Rig) -> None:
    found = told(rig, "status")
    (source,) = found["sources"]
    assert source["feed_states"] == {"active": 1, "failing": 0, "gone": 1}
    assert source["documents"] == {"pending": 1, "live": 1, "retry": 1}
    assert [notice["status"] for notice in found["notices"]] == [410]
    said = rig.call("rss", "status").out
    assert "next cycle 2018-03-20T09:33:00Z" in said
    assert "notice  2018-03-20T08:33:00Z  its server says that it is gone" in said


def test_show_tells_all_of_one_feed(rig: Rig) -> None:
    found = told(rig, "show", GOOD)
    assert found["totals"]["documents"] == {"live": 1, "retry": 1, "pending": 1}
    assert [(one["url"], one["reason"]) for one in found["trouble"]] == [("http://n.test/b", "HTTP 503")]
    assert found["hints"] == {
        "ttl_s": 10800.0, "max_age_s": None, "retry_after_s": None, "skip_hours": [3], "skip_days": ["Sunday"],
    }  # fmt: skip
    said = rig.call("rss", "show", "1").out
    assert "ttl: 3h" in said
    assert "retry  http://n.test/b  HTTP 503" in said
    assert "error: answers 410" in rig.call("rss", "show", GONE).out
    assert "start ingather serve" in rig.call("rss", "show", NEW).out


def test_explain_says_why_and_what_is_next(rig: Rig) -> None:
    a = told(rig, "explain", "http://n.test/a")
    assert a["because"] == (
        f"indexed at 2018-03-20T08:33:00Z because feed {GOOD} listed it on 2018-03-20T07:33:00Z; next check 2018-03-22T08:33:00Z "
        "because still listed, and not looked at for 2 d (it has no date); due now, in the next cycle"
    )  # fmt: skip
    assert a["seen"] == "2018-03-20T08:33:00Z"
    assert a["listings"][0]["waiting"]["published"] == "2018-03-21T08:33:00Z"
    b = told(rig, "explain", "http://n.test/b")
    assert (
        "kept although its last visit failed; no feed lists it any more, last seen 2018-03-20T07:33:00Z; next visit 2018-03-20T09:33:00Z"
        in b["because"]
    )
    assert "2 visits failed since" in rig.call("rss", "explain", "http://n.test/b").out
    assert a["registered"].startswith("2018-03-20T")
    said = rig.call("rss", "explain", "http://n.test/a").out
    assert "last listed " in said
    assert "True" not in said
    c = told(rig, "explain", "http://N.test:80/c#x")
    assert (c["state"], c["next"]["what"], c["next"]["at"]) == ("pending", "fetch", None)
    assert told(rig, "explain", "http://n.test/other", status=1) == {
        "url": "http://n.test/other",
        "known": False,
        "foreign": [],
    }


def test_the_explanation_of_a_url_knows_what_feeds_say(rig: Rig) -> None:
    c = rig.call("explain", "http://n.test/c")
    assert c.out.startswith(
        f"Not in search: not indexed so far; feed {GOOD} listed it on 2018-03-20T08:33:00Z; next visit as soon as its host allows"
    )
    assert (
        f"web feed   listed by {GOOD} (news) 2018-03-20T08:33:00Z to 2018-03-20T08:33:00Z; no date" in c.out
    )
    assert "found      by a web feed" in c.out
    feed = rig.call("explain", GOOD)
    assert (
        "it is a feed of the source news, and feeds are no documents; next poll 2018-03-20T11:33:00Z: ttl of 180 min"
        in feed.out
    )
    assert json.loads(rig.call("explain", "http://n.test/a", "--json").out)["web_feeds"]["state"] == "live"


def test_poll_pause_and_resume(rig: Rig) -> None:
    assert [(one["done"], one["why"]) for one in told(rig, "poll", "news")["feeds"]] == [
        (True, ""), (False, "its server says that it is gone: resume it"),
    ]  # fmt: skip
    polled = told(rig, "show", GOOD)
    assert polled["why"] == "asked for by a person"
    assert told(rig, "status")["sources"][0]["next_cycle"] == "2018-03-20T09:33:00Z", "it was due before"
    assert told(rig, "pause", "1")["feeds"][0]["done"]
    assert told(rig, "pause", "1", status=1)["feeds"][0]["why"] == "it is paused already"
    assert told(rig, "poll", GOOD, status=1)["feeds"][0]["why"] == "it is paused: resume it"
    paused = told(rig, "show", GOOD)
    assert (paused["paused"], paused["next_poll"], paused["events"][0]["cause"]) == (
        True,
        None,
        "paused by a person",
    )
    assert told(rig, "resume", "all")["feeds"] == [
        {"id": 1, "url": GOOD, "done": True, "why": ""}, {"id": 2, "url": GONE, "done": True, "why": ""},
    ]  # fmt: skip
    again = told(rig, "show", GONE)
    assert (again["state"], again["events"][0]["before"], again["next_poll"] is None) == (
        "failing",
        "gone",
        False,
    )
    assert rig.call("rss", "resume", "1").status == 1


def test_documents_of_other_sources_are_listed(rig: Rig) -> None:
    assert told(rig, "conflicts") == {"documents": []}
    home = Home.open(rig.path)
    writer = CatalogWriter(database_of(home), budgets=budget_limits(home.settings().settings))

    def take(writer: CatalogWriter) -> None:
        document = writer.syndication.known(["http://n.test/a"])["http://n.test/a"]
        writer.feeds.move(document, writer.registry.put_source("papers", "feed", "public"), Applied())

    try:
        writer.transaction(take)
    finally:
        writer.close()
    assert told(rig, "conflicts", "--source", "news")["documents"] == [
        {"url": "http://n.test/a", "owner": "papers", "listed_by": "news"}
    ]
    assert "http://n.test/a  belongs to papers, listed by news, too" in rig.call("rss", "conflicts").out
    assert rig.call("rss", "conflicts", "--source", "none").status == 2


def test_a_hold_is_shown_with_the_command_that_releases_it(rig: Rig) -> None:
    home = Home.open(rig.path)
    writer = CatalogWriter(database_of(home), budgets=budget_limits(home.settings().settings))

    def hold(writer: CatalogWriter) -> int:
        document = writer.syndication.known(["http://n.test/b"])["http://n.test/b"]
        source = writer.registry.put_source("news", "rss", "public")
        applied = Applied()
        return writer.deletions.hold(
            document, source, "web feed: not found (404)", 1_521_534_780.0, applied=applied
        )

    try:
        number = writer.transaction(hold)
    finally:
        writer.close()
    release = f"ingather holds release {number}"
    (told_hold,) = told(rig, "status")["sources"][0]["holds"]
    assert (told_hold["documents"], told_hold["release"]) == (1, release)
    assert (
        f"1 deletion held since 2018-03-20T08:33:00Z: web feed: not found (404)\n    carry them out: {release}"
        in rig.call("rss", "status").out
    )
    assert release in rig.call("rss", "show", GOOD).out
    b = told(rig, "explain", "http://n.test/b")
    assert (b["hold"]["release"], b["next"]["what"]) == (release, "person")
    assert release in b["because"]
    assert release in rig.call("explain", "http://n.test/b").out


def test_a_home_without_a_catalog(tmp_path: Path) -> None:
    rig = Rig(tmp_path / "bare").init()
    assert told(rig, "list") == {"feeds": []}
    assert told(rig, "status") == {"sources": [], "notices": []}
    assert rig.call("rss", "poll", "all").status == 2


@pytest.mark.parametrize(
    "arguments",
    [("show",), ("show", "17"), ("show", "http://n.test/none"), ("poll", "nothing"), ("list", "--source", "none"), ("explain", "no url"),
     ("explain",), ("pause", "http://"), ("import-opml", "no-such-file"), ("nonsense",)],
)  # fmt: skip
def test_called_wrongly(rig: Rig, arguments: tuple[str, ...]) -> None:
    wrong = rig.call("rss", *arguments)
    assert wrong.status == 2, wrong.err
    assert len(wrong.err.splitlines()) == 1


OPML = f"""<opml version="2.0"><head><title>Mine</title></head><body>
<outline text="World News"><outline text="Deep"><outline text="One" xmlUrl="http://o.test/1"/></outline>
<outline text="Again" xmlUrl="http://o.test/1"/></outline>
<outline text="News"><outline text="Two &amp; a half" xmlUrl="http://o.test/2"/><outline text="Old" xmlUrl="{GOOD}"/></outline>
<outline text="Loose" xmlUrl="http://o.test/3"/><outline text="bad" xmlUrl="ftp://o.test/4"/></body></opml>"""


def test_opml_comes_in_and_goes_out(rig: Rig, tmp_path: Path) -> None:
    file = tmp_path / "mine.opml"
    file.write_text(OPML)
    before = (rig.path / "ingather.toml").read_text()
    plan = told(rig, "import-opml", str(file))
    assert [(one["name"], one["new"], [feed["url"] for feed in one["feeds"]]) for one in plan["sources"]] == [
        ("world-news", True, ["http://o.test/1"]), ("news", False, ["http://o.test/2"]), ("feeds", True, ["http://o.test/3"]),
    ]  # fmt: skip
    assert [feed["url"] for feed in plan["duplicates"]] == ["http://o.test/1"]
    assert plan["known"] == [{"url": GOOD, "source": "news"}]
    assert (plan["written"], len(plan["remarks"])) == ("", 1)
    assert (rig.path / "ingather.toml").read_text() == before
    said = rig.call("rss", "import-opml", str(file), "--yes")
    assert "listed twice: http://o.test/1 (in World News); the first counts" in said.out
    after = (rig.path / "ingather.toml").read_text()
    assert f'feeds = ["{GOOD}", "{GONE}", "{NEW}", "http://o.test/2"]' in after
    assert '[source.world-news]\nkind = "rss"\nfeeds = [\n  "http://o.test/1",  # One\n]\n' in after
    assert rig.call("config", "check").status == 0
    out = tmp_path / "out.opml"
    assert rig.call("rss", "export-opml", str(out)).status == 0
    back = read_opml(out.read_bytes())
    assert {feed.folders for feed in back.subscriptions} == {("news",), ("world-news",), ("feeds",)}
    assert {feed.url: feed.title for feed in back.subscriptions}[GOOD] == "News [31mhere"
    assert rig.call("rss", "export-opml").out.encode() == out.read_bytes()
    assert told(rig, "import-opml", str(out), "--source", "elsewhere")["sources"] == []
    file.write_text("<rss/>")
    refused = rig.call("rss", "import-opml", str(file))
    assert (refused.status, str(file) in refused.err) == (1, True)
