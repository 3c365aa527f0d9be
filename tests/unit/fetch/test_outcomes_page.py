"""The reference page names every outcome and every failure, and nothing else."""

import re
from pathlib import Path

from ingather.model.lifecycle import Outcome
from ingather.model.resource import FailureKind

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "outcomes.md").read_text("utf-8")


def rows(heading: str) -> list[str]:
    section = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]
    return re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE)


def test_every_outcome_is_documented() -> None:
    assert rows("Outcomes of a visit") == [outcome.name.lower() for outcome in Outcome]


def test_every_failure_is_documented() -> None:
    assert rows("Failures of a request") == [kind.value for kind in FailureKind]
