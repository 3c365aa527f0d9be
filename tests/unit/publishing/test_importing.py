"""Files of an old robot are taken over whole, and every line is accounted for."""

from pathlib import Path

import pytest

from ingather.conf import load, shipped
from ingather.testing.rig import Rig

PROCESS = """<Process csid="x-catalog://budgie.siroe.com:80/jack" \\
   command-timeout=60
   # email="user@domain"
   server-delay=2
   oncompletion=loop
   smart-host-heuristics=true
   depht=3
</Process>
"""
FILTER = """<Filter name="enumeration-default">
Setup fn=filterrules-setup config=/opt/old/config/filterrules.conf
Setup fn=setup-type-by-extension file=./config/mime.types
MetaData fn=assign-type-by-extension
MetaData fn-filter-by-max src=depth value=5
MetaData fn=filterrules-process
Enumerate fn=enumerate-urls max=1024 type=text/html
Shutdown fn=filterrules-shutdown
</Filter>
<Filter name="generation-default">
Generate fn=extract-html-meta truncate=255
Generate fn=generate-last-modified
</Filter>
"""
RULES = '<Site name="old" host="old.example">\nStart url="http://old.example/"\n</Site>\n'


@pytest.fixture
def old(tmp_path: Path) -> Path:
    folder = tmp_path / "old"
    folder.mkdir()
    (folder / "process.conf").write_text(PROCESS)
    (folder / "filter.conf").write_text(FILTER)
    (folder / "filterrules.conf").write_text(RULES)
    (folder / "convert.conf").write_text("generated\n")
    return folder


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(tmp_path / "home").init()


def test_an_old_installation_is_taken_over_and_every_line_is_told(rig: Rig, old: Path) -> None:
    told = rig.call("conf", "import", str(old), "--json")
    assert told.status == 0, told
    answer = told.json
    assert answer["files"] == {
        "process.conf": "taken",
        "filter.conf": "taken",
        "filterrules.conf": "taken",
        "convert.conf": "generated: left",
        "mime.types": "ours: the folder has none",
        "rd-schema.conf": "ours: stays as it is",
    }
    by_place = {(line["file"], line["line"], line["status"]): line["why"] for line in answer["lines"]}
    statuses = {(file, line): status for file, line, status in by_place}
    assert statuses["process.conf", 4] == "taken"
    assert "W-ALIAS" in by_place["process.conf", 2, "read differently"]
    assert statuses["process.conf", 6] == "taken"
    assert statuses["process.conf", 7] == "dropped"
    assert "/opt/old/config/filterrules.conf" in by_place["filter.conf", 2, "read differently"]
    assert "W-FN-HYPHEN" in by_place["filter.conf", 5, "read differently"]
    assert "W-ALIAS" in by_place["filter.conf", 12, "read differently"]
    assert statuses["filterrules.conf", 2] == "taken"
    assert not any(file in {"mime.types", "convert.conf"} for file, _ in statuses)
    assert sum(answer["counts"].values()) == len(answer["lines"])
    loaded = load(rig.path / "config")
    assert loaded.ok
    assert (loaded.robot.connect_timeout, loaded.robot.max_filesize_kb) == (60, 10240)
    assert [start.url for start in loaded.starting_points] == ["http://old.example/"]
    assert not (rig.path / "config" / "robot.conf").exists()


def test_what_stood_in_config_before_stays_in_the_history(rig: Rig, old: Path) -> None:
    rules = rig.path / "config" / "filterrules.conf"
    mine = rules.read_text() + "# mine\n"
    rules.write_text(mine)
    assert rig.call("conf", "import", str(old)).status == 0
    assert rig.call("conf", "show", "1", "filterrules.conf").out == mine
    assert rig.call("conf", "rollback", "1").status == 0
    assert rules.read_text() == mine
    assert not (rig.path / "config" / "process.conf").exists()


def test_a_refused_line_changes_nothing(rig: Rig, old: Path) -> None:
    (old / "filter.conf").write_text(FILTER.replace("max=1024", "max=many"))
    told = rig.call("conf", "import", str(old))
    assert told.status == 1
    assert (
        "filter.conf:7: refused: Enumerate fn=enumerate-urls max=many type=text/html\n    E-TYPE" in told.out
    )
    assert told.out.endswith("nothing was changed: correct what is refused and import again\n")
    assert {p.name for p in (rig.path / "config").iterdir()} == set(shipped())


def test_a_folder_without_a_robot(rig: Rig, tmp_path: Path) -> None:
    assert rig.call("conf", "import", str(tmp_path)).status == 2
