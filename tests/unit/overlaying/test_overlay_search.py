"""What one line changes, from the file to the results (external metadata specification, section 14)."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ingather.overlay import read

PAGE = {"title": "Old", "partial-text": "something to read"}
SEED = """\
www.anu.edu.au w:ACT
www.anu.edu.au/chem/ x:knowledge x:science x:chemistry
www.anu.edu.au/physics/ x:"knowledge science physics" y:external y:funding
www.anu.edu.au/physics/molecular/ x:knowledge x:science x:chemistry
"""
HOME = "http://www.anu.edu.au"
STAFF, MOLECULAR, JIM = (
    f"{HOME}/physics/staff.htm",
    f"{HOME}/physics/molecular/index.htm",
    f"{HOME}/~jim/index.html",
)


def test_one_line_makes_a_site_answer_to_a_class(desk: Any) -> None:
    desk.put(
        ("http://site.com/a", PAGE), ("http://site.com/b/index.html", PAGE), ("https://site.com/a", PAGE), ("http://other.com/a", PAGE)
    )  # fmt: skip
    desk.take_in()
    assert desk.found("c:partner") == []
    desk.write('site.com/ c:partner t:"New name"\n')
    desk.take_in()
    assert desk.found("c:partner") == ["http://site.com/a", "http://site.com/b/index.html"]
    titles = {r.url: (r.title, r.title_original, r.classes) for r in desk.search("read").results}
    assert titles["http://site.com/a"] == ("New name", "Old", {"c": ("partner",)})
    assert titles["http://other.com/a"] == ("Old", "", {})
    desk.write("")
    desk.take_in()
    assert desk.found("c:partner") == []
    assert {r.title for r in desk.search("read").results} == {"Old"}


@pytest.mark.parametrize(
    ("zone", "last", "first"),
    [
        ("UTC", datetime(2004, 12, 31, 23, 59, 59, tzinfo=UTC), datetime(2005, 1, 1, tzinfo=UTC)),
        (
            "Australia/Sydney",
            datetime(2004, 12, 31, 12, 59, 59, tzinfo=UTC),
            datetime(2004, 12, 31, 13, tzinfo=UTC),
        ),
    ],
)
def test_overlay_case_24_a_document_is_hidden_when_its_day_ends(
    desk: Any, zone: str, last: datetime, first: datetime
) -> None:
    desk.settings(f'[source.web]\ntime-zone = "{zone}"')
    inside, outside = "http://www.xxx.gov.au/notices/2004/a.htm", "http://www.xxx.gov.au/b.htm"
    desk.put((inside, PAGE), (outside, PAGE))
    desk.write("http://www.xxx.gov.au/notices/2004/ d:20040101 X:20041231 c:law\n")
    desk.take_in()
    result = next(r for r in desk.search("read").results if r.url == inside)
    assert result.date_s == datetime(2004, 1, 1, tzinfo=UTC).timestamp()
    desk.clock.at = last
    assert desk.found("read") == [outside, inside]
    assert desk.found("d=2004") == [inside]
    assert desk.search("read").facets.classes == {"c": {"law": 1}}
    desk.clock.at = first  # and nothing was put into the index
    answer = desk.search("read")
    assert [r.url for r in answer.results] == [outside]
    assert (answer.total, answer.facets.kinds, answer.facets.classes) == (1, {"html": 1}, {})
    assert desk.found("c:$++") == []
    desk.write("")
    desk.take_in()
    assert desk.found("read") == [outside, inside]


def test_overlay_case_38_values_of_page_and_overlay_add_up_and_the_old_title_finds(desk: Any) -> None:
    desk.settings('[class.x]\nfrom = ["x-class"]')
    desk.put(("http://site.com/1", {**PAGE, "x-class": "own"}))
    desk.write('site.com/ x:ext t:"New"\n')
    desk.take_in()
    (result,) = desk.search("Old").results
    assert (result.title, result.title_original, result.classes) == ("New", "Old", {"x": ("own", "ext")})
    assert desk.found("x:own") == desk.found("x:ext") == desk.found("New") == ["http://site.com/1"]
    assert desk.found("title:Old") == []
    assert desk.found("t:new") == desk.found('t:"$++ new $++"') == ["http://site.com/1"]


def test_overlay_case_39_layers_add_up_and_the_file_speaks_first_for_the_title(desk: Any) -> None:
    url = "http://example.com/a"
    desk.put((url, PAGE))
    desk.write(f"{url} foo:bar t:File\n")
    desk.edit(lambda w: w.overlays.put_record(url, f"{url} foo:foobar t:Api u2:more", 0.0, "somebody"))
    desk.take_in()
    (result,) = desk.search("read").results
    assert (result.title, result.classes) == ("File", {"foo": ("bar", "foobar"), "u2": ("more",)})
    desk.edit(lambda w: w.overlays.delete_record(url))
    desk.take_in()
    assert desk.search("read").results[0].classes == {"foo": ("bar",)}


def test_overlay_case_42_one_changed_line_looks_at_its_documents_alone(desk: Any) -> None:
    desk.put(
        (STAFF, PAGE), (MOLECULAR, PAGE), (JIM, PAGE), (f"{HOME}/physicsx", PAGE), (f"{HOME}/chem/a", PAGE)
    )
    desk.write(SEED)
    desk.take_in()
    desk.changes()
    desk.write(SEED.replace("y:external y:funding", "y:external"))
    overlays = desk.take_in()
    assert overlays.progress.places == 1
    assert overlays.progress.looked == 2
    assert desk.changes() == [MOLECULAR, STAFF]
    desk.write(SEED.replace("y:external y:funding", "y:external") + "# a remark\n")
    assert desk.take_in().progress.looked == 0
    # A line that says what was inherited anyway changes nothing for anybody.
    desk.write(SEED.replace("y:external y:funding", "y:external w:ACT") + "# a remark\n")
    assert desk.take_in().progress.looked == 2
    assert desk.changes() == []


def test_overlay_case_43_words_and_phrases_inside_one_value(desk: Any) -> None:
    desk.put((STAFF, PAGE), (MOLECULAR, PAGE))
    desk.write(SEED)
    desk.take_in()
    assert desk.found("w:ACT") == desk.found("w:act") == [MOLECULAR, STAFF]
    assert desk.found('x:"science physics"') == [STAFF]
    assert desk.found('x:"physics knowledge"') == []


QUERIES = {
    "w:ACT": {STAFF, MOLECULAR, JIM},
    "W:ACT": set(),
    "x:science": {STAFF, MOLECULAR},
    'x:"$++ science $++"': {MOLECULAR},
    'x:"knowledge science"': {STAFF},
    "x:$++": {STAFF, MOLECULAR},
    "-x:$++": {JIM},
    "read !y:funding": {JIM},
    "y:[external nobody]": {STAFF, MOLECULAR},
    "[x:chemistry x:physics]": {STAFF, MOLECULAR},
    "x:knowledge -x:physics": {MOLECULAR},
    "+read |y:external": {STAFF, MOLECULAR},
    "ACT": set(),
    "nosuch:ACT": set(),
    "x:nothing": set(),
    'x:"$++ knowledge"': {STAFF, MOLECULAR},
    "title:old x:physics": {STAFF},
}


@pytest.mark.parametrize("query", QUERIES)
def test_queries_of_the_original(desk: Any, query: str) -> None:
    desk.put((STAFF, PAGE), (MOLECULAR, PAGE), (JIM, PAGE))
    desk.write(SEED)
    desk.take_in()
    assert desk.found(query) == sorted(QUERIES[query])


def test_facets_count_whole_values_and_choose(desk: Any) -> None:
    desk.settings('[class.y]\nlabel = "Kind of money"\n[class.x]\nfacet = false')
    desk.put((STAFF, PAGE), (MOLECULAR, PAGE), (JIM, PAGE))
    desk.write(SEED)
    desk.take_in()
    facets = desk.search("read").facets
    assert facets.classes == {"w": {"ACT": 3}, "y": {"external": 2, "funding": 2}}
    assert facets.labels == {"w": "w", "y": "Kind of money"}
    assert desk.search("read").labels == {
        "w": "w",
        "x": "x",
        "y": "Kind of money",
    }  # of what results show, facet or not
    chosen = desk.search("read", classes=(("y", "funding"),))
    assert sorted(r.url for r in chosen.results) == [MOLECULAR, STAFF]
    assert chosen.facets.classes["y"] == {"external": 2, "funding": 2}


def test_numbers_and_dates_are_compared_whatever_their_class(desk: Any) -> None:
    desk.settings('[class.size]\ntype = "number"\n[class.until]\ntype = "date"\nfrom = ["dc.until"]')
    desk.put(
        ("http://a.com/1", PAGE), ("http://a.com/2", {**PAGE, "dc.until": "2011-05-06"}), ("http://a.com/3", PAGE)
    )  # fmt: skip
    desk.write('a.com/1 size:5 until:20100101\na.com/2 size:"-7.5"\na.com/3 size:none\n')
    desk.take_in()
    one, two = "http://a.com/1", "http://a.com/2"
    assert desk.found("size<6") == [one, two]
    assert desk.found("size>=5") == desk.found("size:5") == [one]
    assert desk.found("size<-7") == [two]
    assert desk.found("until<01feb2010") == [one]
    assert desk.found("until>2010") == desk.found("until=may2011") == [two]
    assert desk.found("size:none") == ["http://a.com/3"]


def test_content_is_found_without_its_class_and_format_is_a_type(desk: Any) -> None:
    desk.settings("[class.k1]\ncontent = true")
    desk.put(("http://a.com/1", PAGE))
    desk.write("a.com/ k1:wombat k2:kangaroo f:PDF\n")
    desk.take_in()
    assert desk.found("wombat") == desk.found("filetype:pdf") == desk.found("f:pdf") == ["http://a.com/1"]
    assert desk.found("kangaroo") == []


def test_what_search_says_is_what_lookup_says(desk: Any) -> None:
    desk.put((STAFF, PAGE), (MOLECULAR, PAGE), (JIM, PAGE))
    desk.write(SEED)
    desk.take_in()
    overlay = read(SEED.encode())
    for result in desk.search("read").results:
        assert dict(result.classes) == overlay.lookup(result.url)


def test_a_search_a_second_later_does_not_find_what_expired(desk: Any) -> None:
    desk.put(("http://a.com/1", PAGE))
    desk.write("a.com/ X:20040601\n")
    desk.take_in()
    desk.clock.at = datetime(2004, 6, 2, tzinfo=UTC) - timedelta(seconds=1)
    assert desk.found("read") == ["http://a.com/1"]
    desk.clock.at += timedelta(seconds=1)
    assert desk.found("read") == []
    assert desk.search("rea").help.did_you_mean == ""
