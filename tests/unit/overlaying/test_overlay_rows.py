"""Rows of the external metadata specification, sections 7 to 9, as searchers and operators meet them."""

from typing import Any

import pytest

from ingather.testing.rig import Rig

PAGE = {"title": "Old", "partial-text": "something to read"}
ONE, TWO = "http://s.com/1", "http://s.com/2"
FILE = "config/external_metadata.cfg"


def test_overlay_row_7_of_several_titles_the_first_is_shown_and_all_are_searched(desk: Any) -> None:
    desk.put((ONE, PAGE))
    desk.write('s.com/ t:"Annual report" t:Yearbook\n')
    desk.take_in()
    (result,) = desk.search("yearbook").results
    assert (result.title, result.title_original) == ("Annual report", "Old")
    assert desk.found("title:yearbook") == desk.found("old") == [ONE]
    desk.write("")
    desk.take_in()
    assert desk.search("old").results[0].title == "Old"
    assert desk.found("yearbook") == []


def test_overlay_row_7_what_is_expired_is_described_and_listed_on(desk: Any) -> None:
    desk.put((ONE, PAGE), (TWO, PAGE))
    desk.write("s.com/1 X:20040531\n")
    desk.take_in()
    assert desk.found("read") == [TWO]
    shown = Rig(desk.home.path).call("rd", "show", ONE)
    assert shown.status == 0, shown.err
    assert ONE in Rig(desk.home.path).call("overlay", "expired").out


def test_overlay_row_8_classes_of_two_cases_are_two(desk: Any) -> None:
    desk.put((ONE, PAGE))
    desk.write('s.com/ x:"Été" Y:a\n')
    desk.take_in()
    assert desk.found("x:ete") == desk.found("x:ÉTÉ") == desk.found("Y:A") == [ONE]
    assert desk.found("X:ete") == desk.found("y:a") == []


def test_overlay_row_8_phrases_stay_inside_one_value(desk: Any) -> None:
    desk.put((ONE, PAGE), (TWO, PAGE))
    desk.write('s.com/1 x:"a b" x:c\ns.com/2 x:"a b c"\n')
    desk.take_in()
    assert desk.found('x:"b c"') == [TWO]
    assert desk.found('x:"a b"') == [ONE, TWO]
    assert desk.found('x:"$++ a b $++"') == [ONE]


def test_overlay_row_8_built_in_operators_win_and_unknown_names_are_text(desk: Any) -> None:
    desk.put((ONE, {**PAGE, "partial-text": "note: nosuch fish"}), (TWO, PAGE))
    desk.write("s.com/ site:elsewhere title:wombat\n")
    desk.take_in()
    assert desk.found("site:s.com") == [ONE, TWO]
    assert desk.found("site:elsewhere") == desk.found("title:wombat") == []
    assert desk.found("nosuch:fish") == [ONE]


@pytest.mark.parametrize(
    ("how", "state"), [("ignore_file", "ignored"), ("keep_last_good", "kept"), ("skip_line", "partly")]
)
def test_overlay_row_9_findings_stand_in_log_and_status_until_mended(desk: Any, how: str, state: str) -> None:
    desk.settings(f'[overlay]\non-error = "{how}"')
    desk.put((ONE, PAGE))
    desk.write("s.com/ X:20300101\nbad line\n")
    form = desk.take_in().form()
    assert form["problems"][FILE].startswith(f"{FILE}:2:1: error no-full-host")
    assert ("1 expiry dates lapse" in form["problems"][FILE]) is (how == "ignore_file")
    log = (desk.home.log / "external_metadata.cfg.log").read_text().splitlines()
    assert log[0].startswith(f"{FILE}:2:1 error no-full-host")
    assert log[-1] == f"{FILE}: {state}; 2 records, 1 bad, 1 errors, 0 warnings"
    desk.write("s.com/ X:20300101\n")
    assert desk.take_in().form()["problems"] == {}


def test_overlay_row_10_profiles_have_no_effect_until_they_are_concatenated(desk: Any) -> None:
    desk.put((ONE, PAGE))
    profile = desk.home.config / "sources/web/profiles/p/external_metadata.cfg"
    profile.parent.mkdir(parents=True)
    profile.write_text("s.com/ x:1\ns.com/ x:2\n")
    desk.take_in()
    assert desk.found("x:1") == []
    done = Rig(desk.home.path).call("overlay", "concatenate", "--source", "web")
    assert (done.status, "1 lines written" in done.out) == (0, True)  # a duplicate is a warning
    desk.take_in()
    assert desk.found("x:1") == [ONE]
