"""The tutorial of external metadata, followed line by line."""

import re
import shlex
from pathlib import Path

import pytest

from ingather.cli import run

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "tutorial" / "lay-metadata-over-pages.md").read_text(
    "utf-8"
)
FINDS = {"w:act": 3, "x:science physics": 1, "y:funding": 2}


def blocks(info: str) -> list[str]:
    return re.findall(rf"^```{info}\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


def test_every_line_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    soif, lines = blocks("text")
    (tmp_path / "pages.soif").write_text(soif, "utf-8")
    said: dict[str, str] = {}
    for line in (line[2:] for block in blocks("console") for line in block.splitlines()):
        words = shlex.split(line)
        if words[1:3] == ["overlay", "check"]:
            (tmp_path / "anu" / "config" / "external_metadata.cfg").write_text(lines, "utf-8")
        assert run(words[1:]) == (words[2] == "diff"), (line, capsys.readouterr())
        said[words[2].replace('"', "")] = said[words[1] + " " + words[2]] = capsys.readouterr().out
    for query, number in FINDS.items():
        assert said[query].count("http://www.anu.edu.au/") == number, said[query]
    assert "Jim's own page" in said["w:act"]
    explained = said["overlay explain"]
    assert "terms: act_w knowledge_x science_x chemistry_x external_y funding_y" in explained
    assert "physics_x" not in explained
    unused = [line for line in said["overlay stats"].splitlines() if line.startswith("!")]
    assert len(unused) == 1
    assert "/chem/" in unused[0]
