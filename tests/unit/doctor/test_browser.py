"""The doctor's look at the browser for pages made by scripts."""

import pytest

from ingather.app.clock import SystemClock
from ingather.app.doctor.browsing import check_browser
from ingather.app.doctor.finding import Level
from ingather.app.rendering.finding import find
from ingather.conf.settings.file import read_settings
from ingather.conf.sources.reach import ReachConf
from ingather.conf.sources.source import SourceConf

WANTED = {"shop": SourceConf(name="shop", reach=ReachConf(javascript="auto")), "web": SourceConf()}


def test_where_nobody_wants_it_nothing_is_started() -> None:
    settings = read_settings(b'[javascript]\nbrowser = "/not/there"\n').settings
    [only] = check_browser(settings, {"web": SourceConf()}, SystemClock())
    assert (only.level, only.text) == (Level.FINE, "no source wants its pages rendered")


def test_a_browser_that_is_not_there_is_an_error_with_what_to_do() -> None:
    settings = read_settings(b'[javascript]\nbrowser = "/not/there"\n').settings
    [only] = check_browser(settings, WANTED, SystemClock())
    assert only.level is Level.ERROR
    assert only.text == "pages of shop are read without their scripts: /not/there is no program"
    assert only.do == "install the package chromium, or set javascript.browser"


def test_a_program_that_is_no_browser_is_an_error() -> None:
    settings = read_settings(b'[javascript]\nbrowser = "/bin/false"\n').settings
    [only] = check_browser(settings, WANTED, SystemClock())
    assert only.level is Level.ERROR
    assert "the browser does not start" in only.text


@pytest.mark.browser
@pytest.mark.skipif(bool(find().trouble), reason="no chromium (apt-get install chromium)")
def test_a_browser_that_works_is_named_with_its_locks() -> None:
    *others, last = check_browser(read_settings(b"").settings, WANTED, SystemClock())
    assert all(one.level is Level.WARNING for one in others)
    assert last.level is Level.FINE
    assert "Chrom" in last.text
    assert "dies-with-parent" in last.text
