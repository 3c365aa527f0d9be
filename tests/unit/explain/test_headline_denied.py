"""The first line does not say "In search." of a document that the configuration in force excludes."""

from typing import Any

import pytest

from ingather.explain.headline import headline


def answer(*, allowed: bool, fed: bool = False) -> dict[str, Any]:
    verdict = {"allowed": allowed, "reason": "denied by /old/", "category": "path", "where": "filter.conf:31"}
    return {
        "known": True, "index": {"indexed": True, "behind": 0}, "next_visit": "2026-11-24T10:00:00Z",
        "decision": {"generation": verdict, "enumeration": verdict}, "feeds": [{"source": "crm"}] if fed else [],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (answer(allowed=True), "In search."),
        (
            answer(allowed=False),
            "In search still, but the configuration in force excludes it, next visit 2026-11-24T10:00:00Z: denied by /old/ (filter.conf:31).",
        ),
        (answer(allowed=False, fed=True), "In search."),  # what is pushed is not the filters' business
    ],
)
def test_the_headline_goes_by_the_configuration_in_force(found: dict[str, Any], told: str) -> None:
    assert headline(found) == told
