"""A folder as a page of links: whatever a host says of its entries, a link leads to one entry of that folder."""

from hypothesis import given
from hypothesis import strategies as st

from ingather.extract.page import read_page
from ingather.fetch.shares.listing import Entry, listing_page, listing_response
from ingather.model.exclusion import reported
from ingather.model.resource import Request
from ingather.model.urlparts import split
from ingather.model.verdict import Exclusion

FOLDER = "sftp://h.example/srv/docs/"


def links(body: bytes, url: str = FOLDER) -> list[str]:
    page = read_page(body, url=url, content_type="text/html; charset=utf-8", headers=(), agent="ingather")
    return [link.url for link in page.links]


def test_entries_are_links_sorted_folders_with_a_slash() -> None:
    body, cut = listing_page(
        FOLDER, [Entry("b.txt"), Entry("sub", folder=True), Entry("a & <b>.txt"), Entry("b.txt")]
    )
    assert not cut
    assert links(body) == [FOLDER + "a%20&%20%3Cb%3E.txt", FOLDER + "b.txt", FOLDER + "sub/"]


def test_what_is_no_name_is_left_out() -> None:
    hostile = ["", ".", "..", "../x", "/etc/passwd", "a/b", "a\nb", "a\0b", "\x7f", "..\r\n"]
    body, _ = listing_page(FOLDER, [*map(Entry, hostile), Entry("good")])
    assert links(body) == [FOLDER + "good"]


def test_names_that_look_like_more_are_only_names() -> None:
    names = [
        "http:",
        "javascript:alert(1)",
        "?q",
        "#f",
        "a;v=1",
        "%2e%2e",
        "%2F",
        "a\\b",
        '"><a href=x>',
        "\udcff\udcfe",
    ]
    body, _ = listing_page(FOLDER, map(Entry, names))
    found = links(body)
    assert len(found) == len(names)
    assert all(url.startswith(FOLDER) and "/" not in url[len(FOLDER) :] and "?" not in url for url in found)
    assert FOLDER + "%FF%FE" in found
    assert FOLDER + "%252e%252e" in found


def test_too_many_entries_are_bounded() -> None:
    answer = listing_response(Request(FOLDER), (Entry(f"{number:07}") for number in range(30_000)), most=100)
    assert answer.cut
    assert links(answer.body)[-1] == FOLDER + "0000099"


def test_reports_have_a_place_for_folders() -> None:
    assert reported(Exclusion.FILTER_RULES, "listing") == (Exclusion.FILTER_RULES, "listing")


def test_an_unchanged_folder_is_not_modified() -> None:
    first = listing_response(Request(FOLDER), [Entry("a"), Entry("b")])
    assert (first.status, first.listing, first.header("content-type")) == (
        200,
        True,
        "text/html; charset=utf-8",
    )
    again = listing_response(Request(FOLDER, etag=first.header("etag")), [Entry("b"), Entry("a")])
    assert (again.status, again.body) == (304, b"")
    assert listing_response(Request(FOLDER, etag=first.header("etag")), [Entry("a")]).status == 200


@given(st.lists(st.text(max_size=12), max_size=8))
def test_every_link_is_one_entry_of_the_folder(names: list[str]) -> None:
    body, _ = listing_page(FOLDER, map(Entry, names))
    for url in links(body):
        assert url.startswith(FOLDER)
        assert "/" not in split(url).path.removeprefix("/srv/docs/")
