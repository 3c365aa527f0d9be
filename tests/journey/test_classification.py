"""Classification from file to search: rules when pages are described, queries of the index afterwards."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ingather.app.demo import Resource, StaticServer
from ingather.cli import run
from ingather.conf.rd.taxonomy import Category, Taxonomy, write_taxonomy

SITE = {
    "": Resource(
        "text/html",
        b"<html lang=en><title>Start</title><a href=/minutes.html>m</a> <a href=/form.html>f</a></html>",
    ),
    "minutes.html": Resource(
        "text/html", b"<html lang=en><title>Minutes of May</title><p>We met and spoke.</html>"
    ),
    "form.html": Resource("text/html", b"<html lang=en><title>Holiday form</title><p>Days of leave.</html>"),
}
RULES = """# what belongs where
max-categories=3
Classify src=path method=ends-with value=.html category=Pages
Classify src=title method=contains value=holiday ignore-case=true category="Staff:Leave"
Classify method=query value="title:minutes" category="Archive:Minutes"
"""


def asked(home: Path, capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    capsys.readouterr()
    run(["search", "--home", str(home), "--json", *words])
    answer = json.loads(capsys.readouterr().out)
    return sorted(hit["url"].rsplit("/", 1)[-1] for hit in answer["results"])


def classified(home: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, int]:
    capsys.readouterr()
    assert run(["classify", "--home", str(home), "--json"]) == 0
    answer: dict[str, int] = json.loads(capsys.readouterr().out)
    return answer


def test_rules_queries_and_search(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home = tmp_path / "home"
    assert run(["init", str(home)]) == 0
    (home / "config" / "classification.conf").write_text(RULES, "utf-8")
    taxonomy = Taxonomy.of(
        [
            Category("Pages"),
            Category("Staff:Leave"),
            Category("Archive:Minutes"),
            Category("Talk", query="spoke"),
        ]
    )
    (home / "config" / "taxonomy.rdm").write_bytes(write_taxonomy(taxonomy))
    with StaticServer(SITE) as server:
        command = [
            sys.executable,
            "-m",
            "ingather",
            "crawl",
            "--home",
            str(home),
            server.url,
            "--own-host",
            server.address,
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=90)
        assert done.returncode == 0, done.stderr
        assert asked(home, capsys, "category:Pages") == ["form.html", "minutes.html"]
        assert asked(home, capsys, "category:staff") == ["form.html"]
        assert asked(home, capsys, "category:Archive") == []
        assert classified(home, capsys) == {"queries": 2, "documents": 1, "changed": 1}
        assert asked(home, capsys, "category:Archive:Minutes") == ["minutes.html"]
        assert asked(home, capsys, "category:Talk category:Pages") == ["minutes.html"]
        assert classified(home, capsys) == {"queries": 2, "documents": 1, "changed": 0}
    # What is no longer found loses its tag; a query that cannot be asked changes nothing.
    rules = RULES.replace("title:minutes", "title:holiday")
    (home / "config" / "classification.conf").write_text(rules, "utf-8")
    (home / "config" / "taxonomy.rdm").unlink()
    assert classified(home, capsys) == {"queries": 1, "documents": 1, "changed": 2}
    assert asked(home, capsys, "category:Archive") == ["form.html"]
    assert asked(home, capsys, "category:Talk") == []
    (home / "config" / "classification.conf").write_text(rules.replace("title:holiday", "x " * 5000), "utf-8")
    assert run(["classify", "--home", str(home)]) == 2
    assert "classification.conf:5" in capsys.readouterr().err
    assert asked(home, capsys, "category:Archive") == ["form.html"]
