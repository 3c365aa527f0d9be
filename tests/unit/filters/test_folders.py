"""A folder's entries are what it holds: the default bound of links in pages does not cut them, a written one does."""

from collections.abc import Callable

import pytest

from ingather.filters import Engine
from ingather.model.candidate import Candidate
from ingather.model.page import Link, Page
from ingather.model.resource import Response

FOLDER = "ftp://h.example/pub/"


@pytest.mark.parametrize(
    ("lines", "listing", "kept"),
    [
        ("Enumerate fn=enumerate-urls", True, 2000),
        ("Enumerate fn=enumerate-urls max=1024 type=text/html", True, 2000),
        ("Enumerate fn=enumerate-urls max=2 type=text/html", True, 2),
        ("Enumerate fn=enumerate-urls max=3000", True, 2000),
        ("Enumerate fn=enumerate-urls", False, 1024),
    ],
)
def test_entries_are_followed_beyond_the_default(
    engine: Callable[..., Engine], lines: str, kept: int, *, listing: bool
) -> None:
    page = Page(media_type="text/html", links=[Link(f"{FOLDER}{number}") for number in range(2000)])
    response = Response(FOLDER, 200, (("Content-Type", "text/html"),), b"x", listing=listing)
    decision = engine(lines).decide(Candidate(FOLDER), response, read_page=lambda _: page)
    assert len(decision.links) == kept
