"""The room as its neighbours see it."""

import subprocess
import sys

import pytest

import ingather.extract
from ingather.extract.language import detect_language, language_tag


def test_every_public_name_is_there() -> None:
    for name in ingather.extract.__all__:
        assert getattr(ingather.extract, name) is not None
    with pytest.raises(AttributeError):
        _ = ingather.extract.nothing


def test_the_room_imports_nothing_before_it_is_used() -> None:
    code = "import sys, ingather.extract; print(sorted(m for m in ('selectolax', 'lxml', 'eldc', 'can_ada') if m in sys.modules))"
    answer = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == "[]"


def test_tuning_the_allocator_is_harmless() -> None:
    assert isinstance(ingather.extract.tune_allocator(), bool)


@pytest.mark.parametrize(
    ("declared", "tag"),
    [("en", "en"), ("EN-us", "en-US"), ("zh-hans-cn", "zh-Hans-CN"), ("de-DE-1996", "de-DE-1996"), ("sr-Latn", "sr-Latn"),
     ("en_US.UTF-8", "en-US"), ("en, de", "en"), ("", ""), ("und", ""), ("x", ""), ("{{lang}}", ""), ("Deutsch", "de")],
)  # fmt: skip
def test_language_tags_are_spelt_as_bcp_47_does(declared: str, tag: str) -> None:
    assert language_tag(declared) == tag


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ("The robot gathers documents and keeps them in one catalog for everybody.", "en"),
        ("Le robot rassemble les documents et les garde dans un seul catalogue.", "fr"),
        ("ロボットは文書を集めて、ひとつの目録に保存します。とても便利です。", "ja"),
        ("short", ""),
        ("12345 67890 12345 67890 12345", ""),
        ("", ""),
    ],
)
def test_language_is_detected_from_words(text: str, tag: str) -> None:
    assert detect_language(text) == tag


def test_a_lone_surrogate_does_not_stop_detection() -> None:
    assert detect_language("\ud800 The robot gathers documents and keeps them for everybody.") == "en"
