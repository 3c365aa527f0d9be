"""A running robot gets another configuration: by hand, by ``conf publish``, by going back to an old one."""

import signal
import socket
from pathlib import Path
from urllib.parse import quote

from ingather.testing.rig import Rig, wait_until
from ingather.testing.site import Site

DENY = "MetaData fn=filter-by-prefix src=path deny=/private\n"


def denying(rig: Rig) -> Path:
    """A folder with the rig's configuration in which both filters deny a path."""
    folder = rig.path.parent / "next"
    folder.mkdir(exist_ok=True)
    for path in (rig.path / "config").iterdir():
        text = path.read_text()
        if path.name == "filter.conf":
            text = text.replace("Data fn=assign-source", DENY + "Data fn=assign-source")
        (folder / path.name).write_text(text)
    return folder


def prepared(rig: Rig, site: Site) -> None:
    site.page("/", "Start", "/private/a", "/open")
    site.page("/private/a", "Walrus")
    site.page("/open", "Heron")
    rig.site(site.origin)


def test_a_published_configuration_is_taken_over_and_rolled_back_while_serving(rig: Rig, site: Site) -> None:
    prepared(rig, site)
    next_one = denying(rig)
    rig.call("conf", "publish", str(next_one), "--note", "no private pages")
    with socket.socket() as one:  # conf rollback finds the robot by its settings
        one.bind(("127.0.0.1", 0))
        port = int(one.getsockname()[1])
    with rig.serving(admin=port) as served:
        served.rest(2)
        assert served.found("walrus") == []
        assert rig.known()[site.url("/private/a")].visits == 0
        assert served.status["configuration"] == 2
        done = rig.run("conf", "rollback", "1")
        assert done.out == "version 1 is in force; the running robot works by it\n", done
        assert served.status["configuration"] == 1
        wait_until(lambda: served.found("walrus") == [site.url("/private/a")])
        assert served.running.gatherers()
        code, answer = served.admin(f"/api/v1/explain?url={quote(site.url('/private/a'), safe='')}")
        assert (code, answer["config_version"]) == (200, 1), answer
        assert [row["version"] for row in rig.call("conf", "history", "--json").json] == [1, 2]
    assert rig.complaints() == []


def test_what_a_published_configuration_excludes_leaves_search_at_once(rig: Rig, site: Site) -> None:
    site.page("/", "Start", *(f"/private/{n}" for n in range(6)), *(f"/open/{n}" for n in range(12)))
    for number in range(12):
        site.page(f"/private/{number}", f"Walrus {number}", text=f"walrus {number}")
        site.page(f"/open/{number}", f"Heron {number}", text=f"heron {number}")
    rig.site(site.origin)
    with rig.serving() as served:
        served.rest(19)
        assert len(served.found("walrus")) == 6
        asked = site.asked("/private/0")
        done = rig.run("conf", "publish", str(denying(rig)))
        assert "documents that it excludes leave search now" in done.err
        wait_until(lambda: served.found("walrus") == [])
        wait_until(lambda: served.status["leaving"] == {"documents": 6, "left": 0, "looking": False})
        assert len(served.found("heron")) > 0
        assert site.asked("/private/0") == asked  # the filters deny it: the host is not asked
    told = rig.run("tombstones", "list", "--json").json["tombstones"]
    assert sorted(one["url"] for one in told) == [site.url(f"/private/{n}") for n in range(6)]
    assert rig.complaints() == []


def test_robot_case_80_a_reload_with_a_broken_filter_conf_keeps_the_old_configuration(
    rig: Rig, site: Site
) -> None:
    prepared(rig, site)
    filters = rig.path / "config" / "filter.conf"
    good = filters.read_text()
    with rig.serving() as served:
        served.rest(3)
        before = served.status["configuration"], served.status.get("state", "")
        gatherers = sorted(served.running.gatherers())
        filters.write_text(good.replace("Data fn=assign-source", "Data fn=no-such\nData fn=assign-source"))
        code, answer = served.admin("/api/v1/config/reload", {})
        assert (code, answer["error"]["code"]) == (422, "configuration-refused")
        assert "filter.conf:" in answer["error"]["message"]
        assert "E-FN-UNKNOWN" in answer["error"]["message"]
        served.running.signal(signal.SIGHUP)
        wait_until(lambda: "the old one stays in force" in served.running.err)
        assert (
            served.status["configuration"],
            served.status.get("state", ""),
        ) == before
        assert sorted(served.running.gatherers()) == gatherers
        filters.write_text(good.replace("Data fn=assign-source", DENY + "Data fn=assign-source"))
        served.running.signal(signal.SIGHUP)
        wait_until(lambda: "configuration 2 is in force" in served.running.err)
        code, answer = served.admin("/api/v1/config/publish", {"stage": "../../etc"})
        assert code == 400
    assert [row["version"] for row in rig.call("conf", "history", "--json").json] == [2, 1]


def test_robot_case_79_without_a_starting_point_a_crawl_is_refused(rig: Rig) -> None:
    ran = rig.run("crawl")
    assert (ran.status, ran.first.partition(";")[0]) == (
        2,
        "ingather: no starting point (Starting Points: 0 defined)",
    )
