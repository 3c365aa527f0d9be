"""Every example of the reference page gives the code beside it."""

import re
from pathlib import Path

import pytest

from ingather.overlay import ERRORS, WARNINGS, read

PAGE = Path(__file__).parents[3] / "docs/reference/overlay-format.md"
ROWS = re.findall(r"^\| `([a-z0-9N-]+)` \| (?:`(.*?)`)? ?\| ", PAGE.read_text(), re.MULTILINE)
SHOWN = {code: example for code, example in ROWS if code in ERRORS + WARNINGS}


def test_the_page_has_every_code() -> None:
    assert set(SHOWN) == {*ERRORS, *WARNINGS}


@pytest.mark.parametrize("code", [code for code, example in SHOWN.items() if example])
def test_an_example_gives_its_code(code: str) -> None:
    text = SHOWN[code].replace("⏎", "\n").replace("0123456789*1000", "0123456789" * 1000)
    overlay = read(text.encode().replace(rb"\xe9", b"\xe9"))
    found = overlay.diagnostics[-1]
    assert found.code == code.replace("-N", "-1")
    assert found.severity == ("error" if code in ERRORS else "warning")
    assert found.line == text.count("\n") + 1
    assert found.text
