"""Parameters of robot.conf that a whole crawl is not needed to see at work."""

from pathlib import Path

import pytest

from ingather.app.gatherer import _scratch
from ingather.conf import load_bodies
from ingather.filters import Engine
from ingather.model.candidate import Candidate

FILTERS = """<Filter name="enumeration-default">
{line}
</Filter>
<Filter name="generation-default">
{line}
</Filter>
<Filter name="narrow">
MetaData fn=filter-by-prefix src=path allow=/papers
</Filter>
"""


def judged(robot: str, url: str, line: str = "MetaData fn=clear-source src=x") -> tuple[bool, bool]:
    loaded = load_bodies({"robot.conf": robot.encode(), "filter.conf": FILTERS.format(line=line).encode()})
    assert loaded.ok, [str(d) for d in loaded.diagnostics]
    found = Engine(loaded).decide(Candidate(url))
    return found.enumeration.allowed, found.generation.allowed


@pytest.mark.parametrize(
    ("robot", "expected"),
    [
        ("", (True, True)),
        ("generation-filter=narrow", (True, False)),
        ("enumeration-filter=narrow", (False, True)),
    ],
)
def test_the_selected_filters_judge(robot: str, expected: tuple[bool, bool]) -> None:
    assert judged(robot, "http://a.example/x") == expected


@pytest.mark.parametrize(("dialect", "denied"), [("auto", True), ("shexp", False), ("posix", True)])
def test_the_dialect_decides_what_a_pattern_matches(dialect: str, *, denied: bool) -> None:
    line = "MetaData fn=filter-by-regex src=path deny=/ol"  # searched for, or the whole path
    allowed = judged(f"regex-dialect={dialect}", "http://a.example/old", line)
    assert allowed == (not denied, not denied)


def test_strict_refuses_what_is_tolerated_otherwise() -> None:
    line = "MetaData fn-filter-by-max src=depth value=10"
    assert judged("", "http://a.example/", line) == (True, True)
    filters = FILTERS.format(line=line).encode()
    assert not load_bodies({"robot.conf": b"strict=true\n", "filter.conf": filters}).ok


def test_temporary_files_of_converters_lie_in_tmpdir(tmp_path: Path) -> None:
    home, own = tmp_path / "home", tmp_path / "own"
    assert _scratch(home, "", 0).parent == home / "run"
    folder = _scratch(home, str(own), 1)
    assert folder.is_dir()
    assert folder.parent == own
