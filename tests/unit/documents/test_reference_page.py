"""The reference of formats names what the code can say."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from ingather.extract.conversion import ConversionLimits

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/reference/formats.md").read_text(encoding="utf-8")
SOURCES = [
    ROOT / "src/ingather/extract/conversion.py",
    *(ROOT / "src/ingather/extract/documents").glob("*.py"),
]
CODE = "\n".join(source.read_text(encoding="utf-8") for source in SOURCES)


@pytest.mark.parametrize("flag", sorted(set(re.findall(r'flag\(\s*"([a-z-]+)"', CODE))))
def test_every_flag_is_documented(flag: str) -> None:
    assert f"`{flag}`" in PAGE


@pytest.mark.parametrize("reason", sorted(set(re.findall(r'reason="([a-z-]+)"', CODE))))
def test_every_reason_is_documented(reason: str) -> None:
    assert f"| `{reason}` |" in PAGE


@pytest.mark.parametrize("limit", [field.name for field in fields(ConversionLimits)])
def test_every_limit_is_documented_with_its_default(limit: str) -> None:
    assert f"| `{limit}` | {getattr(ConversionLimits(), limit):,} |" in PAGE
