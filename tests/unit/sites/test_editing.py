"""One edit at a time, of what is there; and what waits for the end of a crawl is what the next edit begins with."""

import threading
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from ingather.app.home import Home
from ingather.app.publishing import Published, Publishing, require_base
from ingather.app.sites.board import ServedSites
from ingather.app.sites.counting import documents_by_host, documents_of_sites, uncovered
from ingather.app.sites.editing import Asked, Editing
from ingather.app.sites.sites import SiteDesk
from ingather.conf import Site, load
from ingather.conf.sites.newsite import NewSite
from ingather.conf.sites.siteedit import SiteChange
from ingather.errors import ConflictError, ConsentError, UsageError
from ingather.testing.rig import Rig


@pytest.fixture
def home(tmp_path: Path) -> Home:
    Rig(tmp_path / "home").init()
    return Home.open(tmp_path / "home")


def editing(home: Home) -> Editing:
    return Editing(
        home, Publishing(home, home.settings(environment={}).settings, environment={}).publish, environment={}
    )


def quiet(**rest: object) -> Asked:
    return Asked(tell=lambda _: None, **rest)  # type: ignore[arg-type]


def names(home: Home) -> list[str]:
    return [site.name for site in load(home.config).rules.sites]


def test_many_editors_at_once_lose_nothing(home: Home) -> None:
    desks = [SiteDesk(editing(home)) for _ in range(3)]
    work = [
        threading.Thread(target=desk.add, args=(NewSite(f"n{n}.example"), quiet()))
        for n, desk in enumerate(desks)
    ]
    for one in work:
        one.start()
    for one in work:
        one.join(timeout=60)
    assert sorted(names(home)) == [f"n{n}.example" for n in range(3)]


def test_what_another_publishes_meanwhile_is_not_overwritten(home: Home) -> None:
    good = Publishing(home, home.settings(environment={}).settings, environment={})

    def late(
        files: Mapping[str, bytes], *, note: str, author: str, confirm: Callable[[Path], None], base: str
    ) -> Published:
        (home.config / "robot.conf").write_text("depth=3\n")  # somebody was quicker
        return good.publish(files, note=note, author=author, confirm=confirm, base=base)

    with pytest.raises(ConflictError, match="changed meanwhile"):
        SiteDesk(Editing(home, late, environment={})).add(NewSite("a.example"), quiet())
    assert (home.config / "robot.conf").read_text() == "depth=3\n"
    assert names(home) == []
    require_base(home, "")
    require_base(home, load(home.config).digest)


def test_edits_while_a_crawl_has_the_home_wait_together(home: Home) -> None:
    desk = SiteDesk(editing(home))
    with home.lock("ingather crawl"):
        first = desk.add(NewSite("a.example"), quiet())
        second = desk.add(NewSite("b.example"), quiet())
        assert (first["waiting"], second["waiting"], second["version"]) == (True, True, None)
        assert names(home) == []
        assert [site["name"] for site in desk.listed()["sites"]] == ["a.example", "b.example"]
    third = desk.add(NewSite("c.example"), quiet())
    assert not third["waiting"]
    assert names(home) == ["a.example", "b.example", "c.example"]


def test_an_edit_that_changes_nothing_publishes_nothing(home: Home) -> None:
    desk = SiteDesk(editing(home))
    desk.add(NewSite("a.example"), quiet())
    answer = desk.change("a.example", SiteChange(enable=True), quiet())
    assert (answer["changed"], answer["version"], answer["difference"]) == (False, None, [])


def test_documents_belong_to_the_most_specific_site() -> None:
    counted = {"www.siroe.com": 5, "a.siroe.com": 3, "old.example": 7, "": 1}
    sites = [
        Site("all", "siroe.com", domain=True),
        Site("www", "www.siroe.com"),
        Site("old", "old.example", enabled=False),
    ]
    assert documents_of_sites(counted, sites) == {"www": 5, "all": 3, "old": 7}
    assert uncovered(counted, sites) == 8
    assert uncovered(counted, []) == 16


def test_a_home_without_a_catalog_has_no_documents(tmp_path: Path) -> None:
    assert documents_by_host(Home(tmp_path)) == {}


def test_the_board_reads_flat_forms(home: Home) -> None:
    board = ServedSites(editing(home))

    def edit(verb: str, at: str = "", match: str = "", **fields: str) -> Mapping[str, object]:
        return board.edit(
            verb, at, {k.replace("_", "-"): v for k, v in fields.items()}, author="ann", match=match
        )

    made = edit(
        "add", host="a.example", domain="true", depth="4", delay="2", connections="3", start="https://a.example/ http://b.a.example/",
        protocols="http, https", ports="80 8080", rules="Archive, Audio", name="a", note="because",
    )  # fmt: skip
    assert (made["site"], made["version"], made["changed"]) == ("a", 2, True)
    site = board.site("a.example")
    assert (site["type"], site["depth"], site["delay"], site["connections"]) == ("domain", 4, 2.0, 3)
    assert (len(site["starts"]), site["ports"], site["rules"]) == (2, [80, 8080], ["Archive", "Audio"])
    edit(
        "set",
        "a",
        unset="delay, rules",
        domain="no",
        ports="443",
        remove_start="http://b.a.example/",
        match=str(made["etag"]),
    )
    site = board.site("a")
    assert (site["type"], site["delay"], site["rules"], site["ports"]) == ("server", None, [], [443])
    with pytest.raises(ConflictError):
        edit("enable", "a", match=str(made["etag"]))
    with pytest.raises(ConsentError, match="0 starting points"):
        edit("disable", "a")
    assert edit("delete", "a", dry_run="1")["starting_points"] == 0
    for fields in (
        {}, {"colour": "red"}, {"depth": "deep"}, {"unset": "name"}, {"unset": "delay", "delay": "3"}, {"ports": "http"},
        {"domain": "perhaps", "depth": "1"},
    ):  # fmt: skip
        with pytest.raises(UsageError):
            edit("set", "a", **fields)
    with pytest.raises(UsageError, match="host is missing"):
        edit("add")
    edit("delete", "a", yes="true")
    assert names(home) == []
    switched = board.switch({"type": "application/pdf"}, on=False, author="ann", match="")
    assert switched["changed"]
    row = next(row for row in board.converters("")["converters"] if row["type"] == "application/pdf")
    assert not row["enabled"]
