"""A folder of configuration: what is found where, digests, the shipped files."""

from pathlib import Path

import pytest

from ingather.conf import load, load_bodies, shipped
from ingather.conf.mime import parse_mime
from ingather.conf.names import distance, nearest, suggestion
from ingather.conf.report import Report
from ingather.conf.shipped import NAMES

FILTERS = (
    '<Filter name="enumeration-default">\nSetup fn=filterrules-setup config={0}\nShutdown fn=filterrules-shutdown\n'
    '</Filter>\n<Filter name="generation-default">\nData enable=false fn=generate-md5\n</Filter>\n'
)


def write(folder: Path, **files: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text)
    return folder


def test_the_shipped_files_load_without_a_word(tmp_path: Path) -> None:
    for name, text in shipped().items():
        (tmp_path / name).write_text(text)
    loaded = load(tmp_path)
    assert loaded.diagnostics == ()
    assert loaded.ok
    assert set(loaded.files) == set(NAMES)
    assert loaded.starting_points == ()
    assert len(loaded.mime) > 400
    assert loaded.mime.type_of("/x/Report.PDF") == "application/pdf"


def test_the_vendors_nineteen_predefined_filters_are_there_and_twelve_are_on() -> None:
    loaded = load_bodies({name: text.encode() for name, text in shipped().items()})
    rules = {rule.name: rule.enabled for rule in loaded.rules.rules}
    assert len(rules) == 19
    assert [name for name, enabled in rules.items() if not enabled] == [
        "Lotus Domino Documents",
        "Lotus Domino OpenViews",
        "Plug-in",
        "PowerPoint",
        "Spreadsheet",
        "System Directories (UNIX)",
        "System Directories (NT)",
    ]
    assert all(rule.new_sites and not rule.include and rule.matches for rule in loaded.rules.rules)


def test_the_example_site_loads_when_its_comment_signs_are_taken_away() -> None:
    files = shipped()
    lines = files["filterrules.conf"].splitlines()
    example = [
        line.removeprefix("#") if line.startswith(("#<", "#Start", "#P", "#Use")) else line for line in lines
    ]
    files["filterrules.conf"] = "\n".join(example)
    loaded = load_bodies({name: text.encode() for name, text in files.items()})
    assert loaded.diagnostics == ()
    (start,) = loaded.starting_points
    assert (start.url, start.depth, start.source) == ("https://intranet.example/", 10, "web")
    assert len(loaded.rules.rules_of(loaded.rules.sites[0])) == 12


def test_the_folder_may_be_the_home_or_its_config(tmp_path: Path) -> None:
    write(tmp_path / "config", filter_conf=FILTERS.format("./config/filterrules.conf"), filterrules_conf="")
    assert load(tmp_path).ok
    assert load(tmp_path / "config").ok


@pytest.mark.parametrize("reference", ["./config/r.conf", "config/r.conf", "r.conf", "{absolute}/r.conf"])
def test_referenced_files_are_found_whatever_the_folder_is_called(tmp_path: Path, reference: str) -> None:
    folder = write(tmp_path / "etc", r_conf="<Site name=a host=a.example>\n</Site>\n")
    write(folder, filter_conf=FILTERS.format(reference.format(absolute=folder)))
    loaded = load(folder)
    assert loaded.ok, [str(d) for d in loaded.diagnostics]
    assert [site.host for site in loaded.rules.sites] == ["a.example"]
    assert loaded.rules.file == "r.conf"


def test_a_file_beside_the_folder_is_found(tmp_path: Path) -> None:
    write(tmp_path / "shared", r_conf="")
    folder = write(tmp_path / "config", filter_conf=FILTERS.format("./shared/r.conf"))
    assert load(folder).rules.file == "../shared/r.conf"


def test_an_empty_folder_is_a_finding_not_an_exception(tmp_path: Path) -> None:
    loaded = load(tmp_path)
    assert not loaded.ok
    assert {d.code for d in loaded.diagnostics} == {"E-FILE"}
    assert not load(tmp_path / "nowhere").ok


def test_an_unreadable_file_is_a_finding(tmp_path: Path) -> None:
    folder = write(tmp_path, filter_conf=FILTERS.format("r.conf"))
    (folder / "r.conf").mkdir()
    (found,) = [d for d in load(folder).diagnostics if d.is_error]
    assert (found.code, found.file, found.line) == ("E-FILE", "filter.conf", 2)


def test_kept_bytes_load_to_the_same_configuration(tmp_path: Path) -> None:
    for name, text in shipped().items():
        (tmp_path / name).write_text(text)
    loaded = load(tmp_path)
    again = load_bodies(loaded.bodies)
    assert again.digest == loaded.digest
    assert again.robot == loaded.robot
    assert again.diagnostics == loaded.diagnostics
    (tmp_path / "robot.conf").write_text("depth=3\n")
    assert load(tmp_path).digest != loaded.digest


@pytest.mark.parametrize(
    "text", ["type=text/html  exts=htm,HTML\n", "text/html htm html\n", "TEXT/HTML .htm .html # x\n"]
)
def test_mime_maps_of_both_forms(text: str) -> None:
    report = Report()
    found = parse_mime(
        f"#--Netscape Communications Corporation MIME Information\n{text}enc=x-gzip exts=gz\n", "m", report
    )
    assert report.diagnostics == []
    assert found.types == {"htm": "text/html", "html": "text/html"}


def test_mime_maps_report_what_they_do_not_understand_and_later_lines_win() -> None:
    report = Report()
    found = parse_mime("text/plain txt\nnonsense here\ntext/other txt\n", "m", report)
    assert [(d.code, d.line) for d in report.diagnostics] == [("W-MIME", 2)]
    assert found.type_of("/a.b/c.txt") == "text/other"
    assert found.type_of("/a.txt/c") is None


def test_nearest_names() -> None:
    assert distance("depht", "depth") == 1
    assert nearest("enumerate-url", ["enumerate-urls", "extract-source"]) == ["enumerate-urls"]
    assert suggestion("zzzzzz", ["depth", "email"]) is None
