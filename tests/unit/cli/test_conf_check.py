"""``ingather conf check``: what it prints, and its exit status."""

import io
import json
from pathlib import Path

import pytest

from ingather.cli import run
from ingather.cli.findings import excerpt

GOOD = {
    "robot.conf": "depth=3\n",
    "filter.conf": (
        '<Filter name="enumeration-default">\nData fn=clear-source src=x\n</Filter>\n'
        '<Filter name="generation-default">\nData fn=clear-source src=x\n</Filter>\n'
    ),
}


def folder(path: Path, **changed: str) -> Path:
    path.mkdir()
    for name, text in (GOOD | {name.replace("_", "."): text for name, text in changed.items()}).items():
        (path / name).write_text(text, "utf-8")
    return path


def test_a_folder_without_mistakes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["conf", "check", str(folder(tmp_path / "c"))]) == 0
    assert capsys.readouterr().out == "no mistakes found\n"


def test_an_error_gives_status_1_and_a_warning_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["conf", "check", str(folder(tmp_path / "e", robot_conf="depth=deep\n"))]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "robot.conf:1:7: error E-TYPE: depth='deep' is not a whole number",
        "1 error, 0 warnings",
    ]
    assert run(["conf", "check", str(folder(tmp_path / "w", robot_conf="dept=3\n"))]) == 0
    assert "robot.conf:1:1: warning E-ROBOT-UNKNOWN" in capsys.readouterr().out


def test_strict_makes_errors_of_what_is_tolerated(tmp_path: Path) -> None:
    old = folder(tmp_path / "c", robot_conf="depth=\u201d3\u201d\n")
    assert run(["conf", "check", str(old)]) == 0
    assert run(["conf", "check", str(old), "--strict"]) == 1


def test_wrong_use_gives_status_2_and_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["conf", "check", str(tmp_path / "missing")]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert run(["conf", "check", "--nonsense"]) == 2
    assert run(["conf"]) == 2
    assert "which one: check" in capsys.readouterr().err


def test_json_counts_all_and_lists_places(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = '<Filter name="enumeration-default">\n' + "Data fn=nonsense\n" * 1200 + "</Filter>\n"
    where = folder(tmp_path / "c", filter_conf=text + GOOD["filter.conf"].replace("enumeration-", "x-", 1))
    assert run(["conf", "check", str(where), "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["errors"] == 1200
    assert len(told["findings"]) == 1000
    assert told["findings"][0] | {"hint": None} == {
        "code": "E-FN-UNKNOWN",
        "severity": "error",
        "file": "filter.conf",
        "line": 2,
        "column": 9,
        "text": "no function 'nonsense' (filter 'enumeration-default')",
        "hint": None,
        "notes": [],
    }


def test_without_a_folder_the_home_is_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home = tmp_path / "home"
    assert run(["init", str(home)]) == 0
    capsys.readouterr()
    assert run(["conf", "check", "--home", str(home)]) == 0
    assert capsys.readouterr().out == "no mistakes found\n"
    (home / "config" / "filterrules.conf").write_text(
        '<Site name="s" host="www.siroe.com" source=intranet>\n</Site>\n'
    )
    assert run(["conf", "check", "--home", str(home)]) == 1
    (said, count) = capsys.readouterr().out.splitlines()
    page = Path(__file__).parents[3] / "docs" / "reference" / "diagnostics.md"
    assert ": error E-SOURCE: " in said
    assert f"\n{said}\n" in page.read_text("utf-8")
    assert count == "1 error, 0 warnings"


def test_a_robot_conf_and_a_process_conf(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["conf", "check", str(folder(tmp_path / "c", process_conf="depth=4\n"))]) == 0
    said = capsys.readouterr().out.splitlines()[0]
    assert "robot.conf is read, process.conf beside it is not" in said


def test_a_terminal_shows_the_line_with_a_caret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = Terminal()
    monkeypatch.setattr("sys.stdout", out)
    assert run(["conf", "check", str(folder(tmp_path / "c", robot_conf="loglevel=1\n\tdepth=deep\n"))]) == 1
    lines = out.getvalue().splitlines()
    assert lines[0].startswith("robot.conf:2:8: error E-TYPE")
    assert lines[1:3] == ["   depth=deep", "         ^"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    "words",
    [["crawl"], ["serve"], ["simulate", "http://a.example/"], ["conf", "publish"], ["conf", "check"], ["config", "check"]],
)  # fmt: skip
def test_every_verb_shows_the_line_with_a_caret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    home = tmp_path / "home"
    assert run(["init", str(home)]) == 0
    with (home / "config" / "robot.conf").open("a") as stream:
        stream.write("\nremote-access=lots\n")
    out, err = Terminal(), Terminal()
    monkeypatch.setattr("sys.stdout", out)
    monkeypatch.setattr("sys.stderr", err)
    assert run([*words, "--home", str(home)]) == 1
    lines = (out.getvalue() + err.getvalue()).splitlines()
    at = next(n for n, line in enumerate(lines) if "error E-TYPE: remote-access='lots'" in line)
    assert lines[at + 1 : at + 3] == ["  remote-access=lots", "                ^"]


@pytest.mark.parametrize(
    "words", [["simulate", "http://a.example/"], ["replay", "--sample", "5"], ["conf", "publish"]]
)
def test_so_do_the_verbs_that_take_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    home = tmp_path / "home"
    assert run(["init", str(home)]) == 0
    other = folder(tmp_path / "c", robot_conf="remote-access=lots\n")
    where = [str(other)] if words[0] == "conf" else ["--config", str(other)]
    err = Terminal()
    monkeypatch.setattr("sys.stderr", err)
    assert run([*words, *where, "--home", str(home)]) == 1
    assert err.getvalue().splitlines()[1:3] == ["  remote-access=lots", "                ^"]


def test_settings_are_shown_too_and_a_pipe_gets_the_findings_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "home"
    assert run(["init", str(home)]) == 0
    with (home / "ingather.toml").open("a") as stream:
        stream.write("\n[no-such-section]\n")
    capsys.readouterr()
    assert run(["crawl", "--home", str(home)]) == 1
    (said,) = capsys.readouterr().err.splitlines()
    err = Terminal()
    monkeypatch.setattr("sys.stderr", err)
    assert run(["crawl", "--home", str(home)]) == 1
    assert err.getvalue().splitlines()[:2] == [said, "  [no-such-section]"]


def test_the_excerpt_of_a_long_line_holds_its_caret() -> None:
    line, caret = excerpt("x" * 500 + "HERE" + "y" * 500, 501)
    assert line[caret.index("^") :].startswith("HERE")
    assert len(line) < 110
    assert excerpt(None, 1) == []


def test_a_folder_is_checked_with_the_plug_ins_of_the_home(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "home"
    assert run(["init", str(home)]) == 0
    old = folder(tmp_path / "old", robot_conf="depth=deep\n")
    capsys.readouterr()
    assert run(["conf", "check", str(old), "--home", str(home)]) == 1
    assert capsys.readouterr().out.splitlines()[0].startswith("robot.conf:1:7: error E-TYPE")
    assert run(["conf", "check", str(old), "--home", str(tmp_path / "none")]) == 1
