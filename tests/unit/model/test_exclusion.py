"""Every exclusion has its place in the vendor's report, and in the document."""

import re
from pathlib import Path

import pytest

from ingather.model.exclusion import BY_OUTCOME, DETAILS, reported
from ingather.model.lifecycle import Outcome
from ingather.model.verdict import Exclusion

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "outcomes.md"
SIX = ["filter rules", "file not found", "site not allowed", "protocol not allowed", "error", "duplication"]


def test_the_document_has_the_table_of_the_code() -> None:
    section = PAGE.read_text().partition("## Exclusion reasons")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `([a-z ]+)` \| `([a-z ]+)` \|", section, re.MULTILINE)
    assert rows == [(str(category), detail) for detail, category in DETAILS.items()]


def test_there_are_six_categories_and_every_exclusion_is_in_one() -> None:
    assert list(dict.fromkeys(map(str, DETAILS.values()))) == SIX
    assert set(BY_OUTCOME.values()) <= set(DETAILS)
    for exclusion in Exclusion:
        assert str(reported(exclusion).category) in SIX


@pytest.mark.parametrize(
    ("category", "reason", "outcome", "expected"),
    [
        (Exclusion.FILTER_RULES, "filter rule Archive", None, ("filter rules", "filter")),
        (Exclusion.FILTER_RULES, "filter-by-max: content-length over 1024", None, ("filter rules", "size")),
        (Exclusion.DEPTH, "depth over 3", None, ("filter rules", "depth")),
        (Exclusion.BUDGET, "more than 20 segments (limits.url-segments)", None, ("filter rules", "budget")),
        (Exclusion.ROBOTS, "robots.txt forbids it", Outcome.ROBOTS, ("filter rules", "robots")),
        (Exclusion.ROBOTS, "robots: the page says noindex", Outcome.NOINDEX, ("filter rules", "noindex")),
        (Exclusion.ROBOTS, "robots: the page says noindex", None, ("filter rules", "noindex")),
        (Exclusion.PROTOCOL_NOT_ALLOWED, "port not allowed", None, ("protocol not allowed", "port")),
        (Exclusion.PROTOCOL_NOT_ALLOWED, "protocol not allowed", None, ("protocol not allowed", "protocol")),
        (Exclusion.SITE_NOT_ALLOWED, "site disabled", None, ("site not allowed", "site")),
        ("", "refused-address: 10.0.0.1", Outcome.FAILED, ("site not allowed", "address")),
        ("", "dns: no such name", Outcome.FAILED, ("error", "failure")),
        ("", "HTTP 404", Outcome.NOT_FOUND, ("file not found", "not found")),
        ("of a plug-in", "no", None, ("filter rules", "filter")),
    ],
)
def test_where_the_report_puts_it(
    category: str, reason: str, outcome: Outcome | None, expected: tuple[str, str]
) -> None:
    found = reported(category, reason, outcome)
    assert (str(found.category), found.detail) == expected
