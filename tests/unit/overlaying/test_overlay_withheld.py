"""A restriction that the index has not followed yet hides its documents in every process, and after every start."""

from typing import Any

import pytest

from ingather.access import ANONYMOUS, Visible, identity, principal
from ingather.access.needs import needs_of
from ingather.app.homeparts import database_of
from ingather.app.overlay.laying import Overlays
from ingather.app.overlay.withheld import Withheld
from ingather.app.searching import search_service
from ingather.catalog.sqlite_changes import Applied
from ingather.model.acl import PrincipalScope
from ingather.search import SearchRequest
from ingather.testing.rig import Rig

PAGE = {"title": "Old", "partial-text": "something to read"}
RESTRICT = """
[class.who]
type = "permission"
[source.inner]
acl-overlay = "restrict"
overlay-on-error = "keep_last_good"
"""
OPEN, SHUT = "http://inner.com/open", "http://inner.com/shut/index.html"
JANE = "inner.com/shut/ who:user:jane\n"


EVERYTHING = Visible(everything=True)


def viewer(name: str) -> Visible:
    user = principal(name, PrincipalScope.USER)
    assert user is not None
    return Visible.of({1}, needs=needs_of(identity([user])))


@pytest.fixture
def inner(desk: Any) -> Any:
    desk.settings(RESTRICT)
    desk.put((OPEN, PAGE), (SHUT, PAGE), source="inner")
    desk.take_in()
    return desk


def in_force(desk: Any, text: str) -> None:
    """Put a file in force; the process ends before its index follows."""
    desk.write(text, source="inner")
    read = desk.home.settings()
    overlays = Overlays(desk.home, read.settings, read.sources, read.classes, desk.clock.wall)
    desk._transaction(overlays.begin)


def seen(desk: Any, who: Visible) -> list[str]:
    """Return what a process that starts now finds."""
    service, _, texts = search_service(desk.home, desk.home.settings().settings)
    try:
        answer = service.search(SearchRequest("read", viewer=who))
        assert answer.total == len(answer.results) == sum(answer.facets.kinds.values())
        return sorted(result.url for result in answer.results)
    finally:
        texts.close()


def test_a_process_that_starts_before_the_index_has_followed(inner: Any) -> None:
    in_force(inner, JANE)
    before = [
        (ANONYMOUS, [OPEN]),
        (viewer("bob"), [OPEN]),
        (viewer("jane"), [OPEN, SHUT]),
        (EVERYTHING, [OPEN, SHUT]),
    ]
    for who, urls in before:
        assert seen(inner, who) == urls
    assert inner.found("read") == [OPEN, SHUT]  # the index alone, which has not followed
    inner.follow(inner.take_in())
    for who, urls in before:
        assert seen(inner, who) == urls


def test_search_on_the_command_line(inner: Any) -> None:
    in_force(inner, JANE)
    ran = Rig(inner.home.path).call("search", "read")
    assert ran.status == 0, ran.err
    assert ran.out.splitlines()[0] == "1 document"
    assert "shut" not in ran.out


def test_a_source_whose_restrictions_were_never_read_is_hidden_at_once(inner: Any) -> None:
    in_force(inner, JANE + "bad line\n")
    assert seen(inner, ANONYMOUS) == seen(inner, viewer("jane")) == []


def test_one_that_asks_on_sees_each_version(inner: Any) -> None:
    applied = inner.sequence
    withheld = Withheld(database_of(inner.home))
    try:
        assert withheld(ANONYMOUS, applied) == ()
        in_force(inner, JANE)
        first = inner.sequence
        (row,) = withheld(ANONYMOUS, applied)
        assert withheld(viewer("jane"), applied) == withheld(ANONYMOUS, first) == ()
        assert withheld(ANONYMOUS, applied) == (row,)  # somebody still has the older state of the index
        in_force(inner, "inner.com/shut/ who:user:bob\n")
        assert withheld(viewer("jane"), first) == withheld(viewer("jane"), applied) == (row,)
        assert withheld(viewer("bob"), first) == ()
        in_force(inner, "")
        assert withheld(ANONYMOUS, applied) == ()
    finally:
        withheld.close()


def test_a_document_that_comes_under_a_restriction_afterwards(inner: Any) -> None:
    inner.put(("http://inner.com/shut/b", PAGE), source="web")
    inner.take_in()
    inner.write(JANE, source="inner")
    inner.take_in()
    assert seen(inner, ANONYMOUS) == [OPEN, "http://inner.com/shut/b"]

    def move(writer: Any) -> None:  # as a feed does that lays claim to it
        ((row,),) = writer.overlays._rows.all("select id from url where path = '/shut/b'")
        writer.overlays._cursor.execute(
            "update url set source = (select id from source where name = 'inner') where id = ?", (row,)
        )
        writer.overlays.changed([row], Applied())

    inner.edit(move)  # the index has not followed
    assert seen(inner, ANONYMOUS) == [OPEN]
    assert seen(inner, viewer("jane")) == [OPEN, "http://inner.com/shut/b", SHUT]
