"""What ``ingather crawl`` prints at its end."""

import pytest

from ingather.app.crawling import CrawlSummary
from ingather.cli.crawl import _report

TOLD = "config/external_metadata.cfg:2:1: error no-colon: no record of it applies"


def summary(**given: object) -> CrawlSummary:
    made = CrawlSummary(visited=3, documents=2, **given)  # type: ignore[arg-type]
    made.state = made.ended()
    return made


def test_warnings_are_told_and_do_not_make_a_run_fail(capsys: pytest.CaptureFixture[str]) -> None:
    ended = summary(warnings=[TOLD])
    assert (ended.state, ended.status) == ("completed with warnings", 0)
    _report(ended, as_json=False, quiet=False)
    out, err = capsys.readouterr()
    assert out.splitlines()[0] == "3 visits in 0.0 s, 0.0 MB, 2 documents in search, completed with warnings"
    assert err == f"warnings:\n  {TOLD}\n"
    _report(ended, as_json=False, quiet=True)
    assert capsys.readouterr() == ("", err)


@pytest.mark.parametrize(
    ("given", "state"),
    [
        ({}, "completed"),
        ({"interrupted": True, "warnings": [TOLD]}, "interrupted"),
        ({"stopped": "the disk is full"}, "stopped"),
        ({"why_nothing": "no page"}, "failed"),
        ({"failed_starts": [{"url": "u", "why": "w"}], "warnings": [TOLD]}, "failed"),
    ],
)
def test_how_a_run_ended_in_one_word(given: dict[str, object], state: str) -> None:
    assert summary(**given).state == state
