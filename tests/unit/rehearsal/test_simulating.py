"""``ingather simulate``: verdicts with their lines, the description that would result, and nothing stored."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ingather.app.home import Home
from ingather.cli import run
from ingather.testing.rig import Rig
from ingather.testing.site import Site

RULES = """<Rule name="Drafts" enable=true action=exclude>
Match src=path method=begins-with value="/drafts/"
Match src=type method=is value="text/plain"
</Rule>
<Site name="here" host="{host}" type=server enable=true depth=2 source=web>
Start url="{origin}/"
Protocol allow="http"
Port allow="{port}"
Use rule="Drafts"
</Site>
"""


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with Site() as site:
        site.page("/", "Start page", "/one", "/drafts/two")
        site.page("/one", "One")
        site.put("/notes", "notes", kind="text/plain")
        site.status("/old", 301, ("Location", "/drafts/new"))
        site.robots("User-agent: *\nDisallow: /closed/\n")
        yield site


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory, site: Site) -> Rig:
    rig = Rig(tmp_path_factory.mktemp("simulate") / "home").init()
    host, _, port = site.url("/").split("/")[2].partition(":")
    origin = f"http://{host}:{port}"
    (rig.path / "config" / "filterrules.conf").write_text(RULES.format(host=host, origin=origin, port=port))
    return rig.toml('[source.web]\naddresses = ["127.0.0.0/8"]\n')


def simulated(rig: Rig, *arguments: str) -> tuple[int, dict[str, Any]]:
    ran = rig.call("simulate", "--json", *arguments)
    assert ran.out, ran.err
    return ran.status, {entry["url"]: entry for entry in json.loads(ran.out)["urls"]}


def test_metadata_names_site_rule_line_and_category_without_the_network(rig: Rig, site: Site) -> None:
    status, found = simulated(
        rig, site.url("/"), site.url("/drafts/x"), "http://elsewhere.example/", "--depth", "1"
    )
    assert status == 1
    start, draft, stranger = found.values()
    assert (start["site"], start["phase"], start["depth"]) == ("here", "metadata", 1)
    assert start["generation"]["allowed"]
    assert draft["generation"] == draft["generation"] | {
        "allowed": False, "rule": "Drafts", "where": "filterrules.conf:1", "reason": "filter rule Drafts", "phase": "MetaData",
        "reported_as": {"category": "filter rules", "detail": "filter"},
    }  # fmt: skip
    assert stranger["enumeration"]["category"] == "site not allowed"
    assert stranger["enumeration"]["where"].startswith("filter.conf:")
    assert site.asked("/drafts/x") == 0


def test_data_goes_through_the_whole_pipeline_and_stores_nothing(rig: Rig, site: Site) -> None:
    status, found = simulated(rig, site.url("/"), "--data")
    entry = found[site.url("/")]
    assert status == 0
    assert entry["outcome"] == "indexed"
    assert entry["rd"]["title"] == ["Start page"]
    assert entry["links"] == [site.url("/one"), site.url("/drafts/two")]
    assert entry["fetched"]["status"] == 200
    assert entry["robots"]["allowed"]
    assert not list((rig.path / "catalog").iterdir())
    assert not list((rig.path / "bodies").iterdir())


def test_what_ends_before_or_behind_the_fetch(rig: Rig, site: Site) -> None:
    _, found = simulated(
        rig, site.url("/notes"), site.url("/old"), site.url("/closed/x"), site.url("/gone"), "--data"
    )
    notes, old, closed, gone = found.values()
    assert (notes["outcome"], notes["generation"]["rule"]) == ("excluded", "Drafts")
    assert old["redirect"] == {
        "url": site.url("/drafts/new"), "allowed": False, "reason": "filter rule Drafts", "where": "filterrules.conf:1",
    }  # fmt: skip
    assert notes["phase"] == "data"
    assert (closed["outcome"], closed["robots"]["line"]) == ("robots", 2)
    assert gone["outcome"] == "not_found"


def test_another_folder_is_tried_also_without_a_home(
    rig: Rig, site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "config"
    Home.create(tmp_path / "other")
    (tmp_path / "other" / "config").rename(folder)
    rules = (rig.path / "config" / "filterrules.conf").read_text().replace("begins-with", "ends-with")
    (folder / "filterrules.conf").write_text(rules)
    status, found = simulated(rig, site.url("/drafts/x"), "--config", str(folder))
    assert (status, found[site.url("/drafts/x")]["generation"]["allowed"]) == (0, True)
    assert (
        run(["simulate", "--home", str(tmp_path / "none"), "--config", str(folder), site.url("/drafts/x")])
        == 0
    )
    assert "as far as MetaData can tell" in capsys.readouterr().out


def test_counters_of_a_run_are_named_not_guessed(rig: Rig, site: Site, tmp_path: Path) -> None:
    text = (rig.path / "config" / "filter.conf").read_text()
    folder = tmp_path / "config"
    folder.mkdir()
    for name in ("filterrules.conf", "mime.types", "robot.conf"):
        (folder / name).write_bytes((rig.path / "config" / name).read_bytes())
    line = "MetaData fn=filter-by-max src=objects value=1\nMetaData fn=filterrules-process"
    (folder / "filter.conf").write_text(text.replace("MetaData fn=filterrules-process", line))
    status, found = simulated(rig, site.url("/"), site.url("/one"), "--config", str(folder))
    assert status == 0
    for entry in found.values():
        assert {told["what"] for told in entry["depends_on_the_run"]} == {"objects"}
    ran = rig.call("simulate", site.url("/one"), "--config", str(folder))
    assert "depends on the run: objects (filter.conf:" in ran.out


def test_wrong_calls_and_broken_folders_are_told(rig: Rig, site: Site, tmp_path: Path) -> None:
    assert rig.call("simulate", "http://").status == 2
    assert rig.call("simulate", site.url("/"), "--config", str(tmp_path / "none")).status == 2
    (tmp_path / "filter.conf").write_text('<Filter name="enumeration-default">\nData fn=no-such\n</Filter>\n')
    ran = rig.call("simulate", site.url("/"), "--config", str(tmp_path))
    assert ran.status in {1, 2}
    assert "filter.conf:2" in ran.err
