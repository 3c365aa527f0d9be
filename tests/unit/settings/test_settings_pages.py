"""The reference page is what the table says."""

from pathlib import Path

from ingather.conf.settings.pages import reference_page
from ingather.conf.settings.values import SETTINGS

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "settings.md"


def test_the_reference_page_is_made_from_the_table() -> None:
    """Make it anew: .venv/bin/python -c 'from ingather.conf.settings.pages import *; print(reference_page(), end="")'."""
    assert PAGE.read_text("utf-8") == reference_page()


def test_every_setting_is_on_the_page() -> None:
    page = reference_page()
    assert all(f"| `{setting.key}` |" in page for setting in SETTINGS)
