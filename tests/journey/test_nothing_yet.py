"""From a new site to served search: while nothing is gathered, every surface says why; `site open` mends it."""

import json

import pytest

from ingather.testing.rig import Rig, wait_until
from ingather.testing.site import Site

pytestmark = pytest.mark.timeout(300)


def test_an_empty_search_says_why_on_every_surface(rig: Rig, site: Site) -> None:
    site.page("/", "Walrus", text="walrus")
    empty = rig.run("robot", "status", "--json")
    assert json.loads(empty.out)["nothing_gathered"] is None  # no catalog: nothing is known
    assert rig.run("site", "add", site.origin).status == 0
    why = f"nothing gathered yet, because {site.url('/')} failed: 127.0.0.1 is a loopback address that the source does not name"
    with rig.serving() as served:
        wait_until(lambda: why in served.running.err)
        assert "open its address: ingather site open" in served.running.err
        assert served.running.err.count("nothing gathered yet") == 1
        status, page = served.get("/?q=walrus")
        assert status == 200
        assert "its site is private, and the settings do not open it" in page
        assert "127.0.0.1" not in page.split('id="answer"')[1]
        assert "Check the spelling" not in page
        assert why in served.admin("/api/v1/status")[1]["nothing_gathered"]
    told = rig.run("robot", "status")
    assert why in told.out
    doctor = json.loads(rig.run("doctor", "--only", "catalog", "--json").out)
    assert [one["level"] for one in doctor["findings"] if why.partition("because ")[2] in one["text"]] == [
        "warning"
    ]
    assert rig.run("site", "open", "127.0.0.1").status == 0
    with rig.serving() as served:
        wait_until(lambda: served.found("walrus"))
        assert served.admin("/api/v1/status")[1]["nothing_gathered"] is None
