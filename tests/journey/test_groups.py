"""``ingather groups`` and ``access`` on a home at rest and on one that is served: the same answers."""

import json
from pathlib import Path

from ingather.testing.rig import Rig

XML = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE xmlgroups SYSTEM "gsafeed.dtd">
<xmlgroups>
  <membership source="ad"><principal scope="GROUP">team</principal><members><principal scope="USER">joe</principal></members></membership>
  <membership source="ad"><principal scope="GROUP">company</principal><members><principal scope="GROUP">team</principal></members></membership>
</xmlgroups>
"""


def groups_of(rig: Rig, user: str) -> list[str]:
    return [
        group["text"]
        for group in json.loads(rig.call("groups", "show", "--user", user, "--json").out)["groups"]
    ]


def test_groups_are_loaded_shown_and_removed_whoever_owns_the_home(rig: Rig, tmp_path: Path) -> None:
    feed, table = tmp_path / "groups.xml", tmp_path / "people.csv"
    feed.write_text(XML, "utf-8")
    table.write_text("group,member\n" + "".join(f"g{n},moe\n" for n in range(6_000)), "utf-8")
    assert rig.call("groups", "load", str(feed), "--source", "ad").status == 0
    assert groups_of(rig, "joe") == ["team", "company"]
    with rig.serving() as served:
        rig.tune("listen.admin", served.admin_url.removeprefix("http://"))
        ran = rig.call("groups", "import", str(table), "--source", "hr", "--mode", "full", "--json")
        assert ran.status == 0, ran.err
        report = json.loads(ran.out)
        assert (report["added"], report["replaced"], report["trouble"]) == (6_000, True, "")
        assert len(groups_of(rig, "moe")) == 6_000
        status, listed = served.admin("/api/v1/groups?q=tea")
        assert (status, [group["text"] for group in listed["groups"]]) == (200, ["team"])
        assert {source["source"]: source["memberships"] for source in listed["sources"]} == {
            "ad": 2,
            "hr": 6_000,
        }
        assert served.admin("/api/v1/groups/show?user=joe")[1]["groups"][1]["way"] == [
            "joe",
            "team",
            "company",
        ]
        table.write_text("group,case\nx,y\n", "utf-8")
        assert rig.call("groups", "import", str(table), "--source", "hr", "--mode", "full").status == 2
        assert len(groups_of(rig, "moe")) == 6_000

        status, begun = served.admin("/api/v1/groups/begin", {"source": "api", "mode": "incremental"})
        line = '{"group": "late", "members": [{"user": "joe"}]}\n{"group": 1}\n'
        assert served.admin("/api/v1/groups/add", {"load": begun["load"], "lines": line})[0] == 200
        status, report = served.admin("/api/v1/groups/finish", {"load": begun["load"], "complete": "1"})
        assert (status, report["added"], report["rejected"]) == (200, 1, 1)
        assert served.admin("/api/v1/groups/finish", {"load": begun["load"], "complete": "1"})[0] == 400
        assert "late" in groups_of(rig, "joe")

        assert rig.call("groups", "cleanup", "hr").out == "6000 memberships of hr removed\n"
        assert groups_of(rig, "moe") == []
        for path in (
            "groups",
            "groups/show?user=joe",
            "access/broken",
            "access/who?url=h.test",
            "access/explain?url=h.test",
        ):
            assert served.admin(f"/api/v1/{path}")[0] == 200
            assert served.admin(f"/api/v1/{path}", token="")[0] == 401
        for path in (
            "groups?limit=0",
            "groups/show",
            "access/who",
            "access/explain?url=http://[",
            "access/broken?limit=x",
        ):
            assert served.admin(f"/api/v1/{path}")[0] == 400, path
        said = rig.call("access", "explain", "http://h.test/", "--user", "joe")
        assert said.status == 1
        assert said.out.startswith("joe may not see http://h.test/\n")
        assert rig.call("access", "explain", "http://[", "--user", "joe").status == 2
    assert rig.call("groups", "cleanup", "hr").status == 1
