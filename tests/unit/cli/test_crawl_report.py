"""What ``ingather crawl`` prints at its end."""

import pytest

from ingather.app.crawling import CrawlSummary
from ingather.app.runhosts import resolve
from ingather.cli.crawl import _report, _say_addresses

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


@pytest.mark.parametrize(
    ("host", "opened", "said"),
    [
        ("127.0.0.1", ("127.0.0.1/32",), "127.0.0.1 is 127.0.0.1 (not public: opened for this run)"),
        ("[::1]", ("::1/128",), "[::1] is ::1 (not public: opened for this run)"),
        ("169.254.169.254", (), "169.254.169.254 is 169.254.169.254 (169.254.169.254 is a cloud metadata address: no run can reach it)"),
        ("192.0.32.10", (), "192.0.32.10 is 192.0.32.10"),
    ],
)  # fmt: skip
def test_addresses_of_a_run_are_told_with_what_is_opened(
    host: str, opened: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = resolve(host, 80)
    assert found.private == opened
    _say_addresses([found])
    assert capsys.readouterr().err == f"{said}\n"


def test_a_host_that_rests_is_told_without_a_guess_at_why(capsys: pytest.CaptureFixture[str]) -> None:
    _report(summary(left_alone={"a.example": 61.0}), as_json=False, quiet=False)
    assert "  a.example is left alone for 61 s more" in capsys.readouterr().out.splitlines()
