"""Events of the log: pretty on a terminal, JSON elsewhere, and never among the answers of a command."""

import json
import subprocess
import sys

import pytest

TOLD = "from ingather.log import get; get('search').info('a trifle'); get('search').warning('trouble', file='x.db')"


def told(text: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, check=True, timeout=100
    )


def test_events_of_a_command_that_chose_nothing_go_to_standard_error() -> None:
    done = told(TOLD)
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    event = json.loads(line)
    assert (event["event"], event["level"], event["room"], event["file"]) == (
        "trouble",
        "warning",
        "search",
        "x.db",
    )


def test_the_settings_of_a_program_around_ours_are_left_alone() -> None:
    done = told(
        f"import structlog; structlog.configure(processors=[structlog.processors.KeyValueRenderer()]); {TOLD}"
    )
    assert "event='trouble'" in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize(("stream", "pretty"), [("io.StringIO()", False), ("Terminal()", True)])
def test_events_are_pretty_on_a_terminal_and_json_elsewhere(stream: str, pretty: bool) -> None:  # noqa: FBT001 - a case
    done = told(
        "import io, sys\n"
        "class Terminal(io.StringIO):\n    def isatty(self): return True\n"
        f"from ingather.log import configure, get; out = {stream}; configure(stream=out)\n"
        "get('search').info('began', file='x.db'); print(out.getvalue(), end='')"
    )
    (line,) = done.stdout.splitlines()
    if pretty:
        assert "began" in line
        assert not line.startswith("{")
    else:
        assert json.loads(line)["event"] == "began"
