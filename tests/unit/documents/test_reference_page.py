"""The reference of formats names what the code can say."""

import re
from dataclasses import fields
from pathlib import Path

import pytest

from ingather.conf import load_bodies, shipped
from ingather.extract.conversion import ConversionLimits
from ingather.extract.readers import reader_of
from ingather.model.phase import Phase

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


READ = PAGE.partition("## What is read")[2].partition("\n## ")[0]
ENDINGS = {
    ending
    for row in re.findall(r"^\| ([^|]+) \|", READ, re.MULTILINE)
    for ending in re.findall(r"`([a-z0-9]+)`", row)
}


def test_the_shipped_filter_converts_every_type_that_is_read() -> None:
    loaded = load_bodies({name: text.encode() for name, text in shipped().items()})
    assert loaded.generation is not None
    lines = [
        d.parameters["type"] for d in loaded.generation.phase(Phase.DATA) if d.function == "convert-to-html"
    ]
    types = {ending: loaded.mime.type_of(f"x.{ending}") for ending in ENDINGS}

    assert len(ENDINGS) > 60
    assert {ending: kind for ending, kind in types.items() if kind not in lines} == {}
    assert len(lines) == len(set(lines))
    assert [kind for kind in lines if not reader_of(kind)] == []


@pytest.mark.parametrize(
    "media_type",
    [
        "application/vnd.apple.pages",
        "application/vnd.apple.numbers",
        "application/vnd.apple.keynote",
        "application/vnd.dbf",
        "application/vnd.hancom.hwp",
        "application/vnd.hancom.hwpx",
        "application/hwp+zip",
    ],
)
def test_types_as_they_are_registered_have_a_line(media_type: str) -> None:
    assert f"convert-to-html type={media_type}\n" in shipped()["filter.conf"]
    assert reader_of(media_type)


def test_the_rule_that_keeps_archives_out_is_named() -> None:
    rule = (
        shipped()["filterrules.conf"].partition('<Rule name="Archive" enable=true')[2].partition("</Rule>")[0]
    )

    for ending in ("zip", "tar", "gz", "bz2", "xz", "7z"):
        assert f'value=".{ending}"' in rule
    assert "the shipped rule `Archive`" in PAGE
