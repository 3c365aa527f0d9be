"""The two walks over a page find the same, whatever the page."""

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict
from functools import cache
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser

from ingather.extract import compiled, html
from ingather.extract.markup import Document
from ingather.extract.walking import walk_in_python
from ingather.testing import hostile

NO_EVENTS = int(LexborDocumentOptions.WO_EVENTS)
KINDS_IN_C = Path(compiled.__file__).parent / "walk" / "lexbor.h"


@cache
def built() -> compiled.Walk:
    walk = compiled.load()
    if walk is None:
        pytest.skip("the compiled walk is not built: ./run test builds it where there is a C compiler")
    return walk


def both(page: bytes, *, folded: bool = True) -> tuple[Document | None, Document]:
    """Return what the compiled walk and the Python walk find."""
    tree = LexborHTMLParser(page, options=NO_EVENTS)
    found = built()(tree, page, folded)
    return found, walk_in_python(LexborHTMLParser(page, options=NO_EVENTS), page, folded=folded)


def assert_alike(page: bytes) -> None:
    for folded in (True, False):
        found, expected = both(page, folded=folded)
        if found is not None:
            assert asdict(found) == asdict(expected)
    assert html.read_html(page) == both(page)[1]


def names_of(strings: list[str]) -> st.SearchStrategy[str]:
    return st.sampled_from(strings)


TAGS = [
    "a",
    "a",
    "a",
    "a",
    "a",
    "p",
    "div",
    "li",
    "dt",
    "dd",
    "th",
    "td",
    "tr",
    "table",
    "tbody",
    "h1",
    "h2",
    "h6",
    "b",
    "strong",
    "em",
    "code",
    "i",
    "span",
    "svg",
    "math",
    "title",
    "script",
    "style",
    "noscript",
    "template",
    "textarea",
    "iframe",
    "frame",
    "frameset",
    "area",
    "map",
    "time",
    "base",
    "meta",
    "link",
    "select",
    "option",
    "img",
    "br",
    "hr",
    "body",
    "html",
    "head",
    "button",
    "form",
    "desc",
    "foreignObject",
    "annotation-xml",
    "mi",
    "xmp",
    "plaintext",
    "noembed",
    "noframes",
    "datalist",
    "object",
    "ruby",
    "rt",
    "x-custom",
]
SPACES = [" ", "\n", "\t", "\r\n", "\f", "\x0b", "\x1c", "\x1f", "\x85", "\xa0", "\u1680", "\u2000", "\u200a", "\u200b", "\u2028",
          "\u202f", "\u205f", "\u3000", "\u180e", "\ufeff", "&nbsp;", "&#x2003;", "&#10;", "\n\n"]  # fmt: skip
WORDS = ["word", "A", "é", "\u212a", "\u0130", "😀", "&amp;", "&lt;b&gt;", "&#0;", "&#xD800;", "x" * 300, "ab " * 400, "0", "<", "]]>", "\x00",
         "é" * 600, "hidden ", "stopindex"]  # fmt: skip
HREFS = ["x", "y", "x#1", "#", "#x", "", " x", "y#", "http://h/é", "é#é", "x\x00", "&amp;#", "z"]
VALUES = [*HREFS, "nofollow", "NoFollow  UGC", "next", "stylesheet Next", "alternate\xa0x", "\u212aanonical", "application/ld+json",
          " application/LD+JSON\u3000; x", "refresh", "Author", "  W  \n w ", "\xa0", "2024", "until-found", "tab\tle", "é"]  # fmt: skip
NAMES = ["href", "HREF", "xlink:href", "rel", "rel", "hidden", "Hidden", "alt", "title", "aria-label", "src", "type", "name", "property",
         "itemprop", "content", "http-equiv", "datetime", "lang", "xml:lang", "data-hidden", "class", "hIdden"]  # fmt: skip
COMMENTS = [
    "<!--stopindex-->", "<!-- StartIndex -->", "<!--\xa0STOPINDEX\u3000-->", "<!--x-->", "<!---->", "<?php x?>", "<![CDATA[c]]>", "<!doctype html>"
]  # fmt: skip


@st.composite
def attributes(draw: st.DrawFn) -> str:
    names = draw(st.lists(names_of(NAMES), max_size=4))
    parts = []
    for name in names:
        value = draw(st.none() | names_of(VALUES))
        parts.append(f" {name}" if value is None else f' {name}="{value}"')
    return "".join(parts)


openings = st.builds("<{}{}>".format, names_of(TAGS), attributes())
links = st.builds('<a href="{}"{}>'.format, names_of(HREFS), attributes())
closings = st.builds("</{}>".format, names_of(TAGS))
soup = st.lists(
    openings | links | closings | names_of(SPACES) | names_of(WORDS) | names_of(COMMENTS), max_size=40
).map("".join)


@settings(max_examples=200)
@given(soup)
@example("<p><frameset><frame src=x>")  # the body that is left is not in the tree
@example("<a href=x></a><svg><a xlink:href=y>z</a></svg>")
@example("<a href=x rel=nofollow></a><a href=x rel=nofollow></a><a href=x> later </a>")
@example("<a href=x></a><template><a href=x>no</a></template><a href='x#y'>yes</a>")
@example("<title>a</title><svg><title>b<p>c</p></title></svg><time>a<p>b</p></time>")
@example("<a href=x>1</a><a href=y>2</a><h1>a</h1><h2>b</h2><li>c</li><a href=z><p>d</p></a><a href=q>e</a>")
@example("<html hidden><head hidden><title hidden>t</title></head><body hidden>x<i hidden>y</i><svg hidden>z")
@example("<head><!--stopindex--></head><body>no<p>no<!--startindex--></p>yes<h1>yes</h1>")
def test_any_soup_reads_alike(page: str) -> None:
    assert_alike(page.encode("utf-8", "replace"))


@settings(max_examples=75)
@given(
    st.lists(soup.map(lambda s: s.encode("utf-8", "replace")) | st.binary(max_size=4), max_size=5).map(
        b"".join
    )
)
def test_bytes_that_are_not_utf_8_read_alike(page: bytes) -> None:
    assert_alike(page)


def pages() -> Iterator[tuple[str, bytes]]:
    yield "empty", b""
    yield "one byte", b"<"
    yield "attributes", hostile.attributes(1_900)
    yield "nesting", hostile.nesting(7_000)
    yield "comments", hostile.unclosed_comments(2_000)
    yield "tables", hostile.open_tables(500)
    yield "entities", hostile.entity_flood(10_000)
    yield "title", hostile.giant_title(1 << 20)
    yield "links", hostile.many_links(20_000)
    yield "deep", hostile.deep_page()
    yield "headings", b"<h1><div>" * 2000 + b"x" * 300_000
    yield "marked", b"<b><div>" * 2000 + b"x" * 300_000
    yield "nested links", b"".join(b"<a href=%d><table><tr><td>" % n for n in range(800)) + b"x" * 100_000
    yield "nameless", b"".join(b"<a href=%d><table><tr><td>" % n for n in range(800)) + b"<a href=1>x</a>"
    yield (
        "metas",
        b"<meta name=a content=b>" * 2_000 + b"".join(b"<meta name=%d content=b>" % n for n in range(2_000)),
    )
    yield "times", b"<time>x</time>" * 100
    yield "json", b"<script type='application/ld+json'>1</script>" * 30
    yield "large json", b"<script type='application/ld+json'>%s</script>" % (b"1" * (1 << 20) + b"2")
    yield "large text", "<p>é\u3000 </p>".encode() * 20_000
    yield "frames", b"<frameset>" + b"<frame src=a#b title=T>" * 100
    yield "meta of 20,000 characters", b"<meta name=a content='%s'>" % ("é" * 20_000).encode()


@pytest.mark.parametrize("page", [pytest.param(page, id=name) for name, page in pages()])
def test_hostile_pages_read_alike(page: bytes) -> None:
    found, expected = both(page)
    assert found == expected


def test_white_space_is_what_python_takes_for_it() -> None:
    for first in range(0, 0x11000, 0x1000):
        characters = [chr(n) for n in range(max(first, 1), first + 0x1000) if not 0xD800 <= n < 0xE000]
        page = "".join(f"<h1>{c}x{c}{c}y{c}</h1><p>{c}z{c}" for c in characters if c not in "<&").encode()
        found, expected = both(page)
        assert found == expected, hex(first)


def test_what_is_not_utf_8_is_left_to_python() -> None:
    assert [both(page)[0] is None for page in (b"\xff", b"a\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", "é\u20ac😀".encode())] == [
        True, True, True, True, False,
    ]  # fmt: skip


def test_the_room_uses_the_compiled_walk_where_it_is_built() -> None:
    built()
    assert html.walk_in_use() == "compiled"


def test_the_environment_chooses_the_python_walk(monkeypatch: pytest.MonkeyPatch) -> None:
    command = [sys.executable, "-c", "from ingather.extract.html import walk_in_use; print(walk_in_use())"]
    monkeypatch.setenv("INGATHER_WALK", "python")
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout == "python\n"


def test_a_compiled_walk_that_errs_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html, "_compiled", html._compiled.__wrapped__)
    monkeypatch.setattr(compiled, "load", lambda: lambda _tree, _html, _folded: Document(title="else"))
    assert html.walk_in_use() == "python"
    assert html.read_html(b"<title>x</title>").title == "x"


def test_without_a_library_pages_are_walked_in_python(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(html, "_compiled", html._compiled.__wrapped__)
    for library in (tmp_path / "none.so", tmp_path / "broken.so"):
        monkeypatch.setattr(compiled, "_LIBRARY", library)
        assert html.walk_in_use() == "python"
        (tmp_path / "broken.so").write_bytes(b"no library")


def test_both_walks_know_the_same_kinds_in_the_same_order() -> None:
    source = KINDS_IN_C.read_text()
    kinds = re.search(r"NO_KIND, ([^}]*)", source)
    assert kinds is not None
    python = (Path(compiled.__file__).parent / "elements.py").read_text()
    order = re.search(r"^\(\n(.*?)\) = range\(19\)", python, re.DOTALL | re.MULTILINE)
    assert order is not None
    assert re.findall(r"\w+", kinds[1]) == re.findall(r"\w+", order[1])
