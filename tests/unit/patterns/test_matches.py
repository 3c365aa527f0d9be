"""What each pattern takes whose repeated groups were possessive once, at its edges and on hostile input.

The hostile cases are megabytes that a quadratic pattern would need minutes for (the suite's time limit ends it).
"""

import re
from collections.abc import Callable
from typing import Any

import pytest

from ingather.conf.text import blocks
from ingather.extract import charset, hostile
from ingather.extract.documents import mif
from ingather.feeds import pieces, scanning
from ingather.model import url
from ingather.overlay import line, reading

Found = Callable[[Any], Any]


def _match(pattern: re.Pattern[Any]) -> Found:
    def find(text: Any) -> Any:
        match = pattern.match(text)
        return None if match is None else match[0]

    return find


def _all(pattern: re.Pattern[Any]) -> Found:
    return lambda text: [match[0] for match in pattern.finditer(text)]


def _tag(text: bytes) -> bytes | None:
    end = scanning.tag_end(text, 0, len(text))
    return text[:end] if end >= 0 else None


def _whole_tags(text: bytes) -> list[bytes]:
    return [text[start:end] for start, end in hostile._whole_tags(text)]


def _strings(text: bytes) -> list[bytes]:
    return [string for _, _, string, _ in mif._tokens(text) if string is not None]


def _attributes(text: bytes) -> list[tuple[bytes, bytes]]:
    return [
        (m["name"], m["double"] or m["single"] or m["bare"] or b"") for m in charset._ATTRIBUTE.finditer(text)
    ]


def _quick(text: bytes) -> tuple[bytes, ...] | None:
    match = reading._QUICK.fullmatch(text)
    return None if match is None else match.groups()


READERS: dict[str, Found] = {
    "clean": lambda text: url._CLEAN.match(text) is not None,
    "plain": lambda text: (match := url._PLAIN.match(text)) and match[1],
    "header": _match(blocks._HEADER),
    "step": _match(charset._STEP),
    "attribute": _attributes,
    "hostile-attribute": _all(hostile._ATTRIBUTE),
    "hostile-tag": _whole_tags,
    "mif-string": _strings,
    "meta": _all(pieces._META),
    "feed-tag": _tag,
    "quoted": lambda text: (match := line._QUOTED.match(text)) and match[1],
    "again": line._AGAIN.findall,
    "quick": _quick,
}

TABLE: list[tuple[str, str | bytes, object]] = [
    ("clean", "http://h/a", True),
    ("clean", "https://a.b-c.example:8080/x/y.html", True),
    ("clean", "ftp://a_b.example/", True),
    ("clean", "http://h./a", False),
    ("clean", "http://h.:8080/a", False),
    ("clean", "http://h..b./a", False),
    ("clean", "http://h:/a", False),
    ("clean", "http:///a", False),
    ("clean", "http://h/a?b", False),
    ("clean", "http://h/%41", False),
    ("clean", "http://h/a\n", False),
    ("clean", "gopher://h/a", False),
    ("plain", "", ""),
    ("plain", "/", "/"),
    ("plain", "a", ""),
    ("plain", "a/b.c/", ""),
    ("plain", "/a/b.c", "/"),
    ("plain", "../a", "../"),
    ("plain", "../../", "../../"),
    ("plain", "../" * 60 + "a", "../" * 60),
    ("plain", "../" * 62 + "a", None),
    ("plain", "//h/a", None),
    ("plain", "/../a", None),
    ("plain", "..//a", None),
    ("plain", "./a", None),
    ("plain", "..", None),
    ("plain", "a//b", None),
    ("plain", "a/./b", None),
    ("plain", "a/..", None),
    ("plain", "a/.b", None),
    ("plain", "a?b", None),
    ("plain", "mailto:a", None),
    ("plain", "a\n", None),
    ("header", "name=a>", "name=a>"),
    ("header", 'name="a>b" c>d>', 'name="a>b" c>'),
    ("header", r'name="a\">" b>', r'name="a\">" b>'),
    ("header", r"name=\>a>", r"name=\>a>"),
    ("header", 'name="a>', None),
    ("header", 'a="b" c="d>', None),
    ("header", "name=a", None),
    ("header", 'a="' + "\\x" * 100_000, None),
    ("header", '""' * 100_000, None),
    ("step", b"<a b=c>", b"<a b=c"),
    ("step", b'<a b="x>y" c>', b'<a b="x>y" c'),
    ("step", b"<a b= 'x>y'>", b"<a b= 'x>y'"),
    ("step", b'<a b="x>y', b'<a b="x'),
    ("step", b"<a b==\"x>y'>", b'<a b=="x'),
    ("step", b"</p x='>'>", b"</p x='>'"),
    ("step", b"<meta charset", b"<meta"),
    ("step", b"<!-- <a> -->", b"<!-- <a> -->"),
    ("step", b"<!doctype html>", b"<!doctype html"),
    ("step", b"<a " + b"=" * 32_000, b"<a " + b"=" * 32_000),
    ("attribute", b" a=b c = 'd e' f", [(b"a", b"b"), (b"c", b"d e"), (b"f", b"")]),
    ("attribute", b'/a="b"/ =x=y', [(b"a", b"b"), (b"=x", b"y")]),
    ("attribute", b'a="b', [(b"a", b""), (b'"b', b"")]),
    ("hostile-attribute", b"a=1 b = '2 3' c", [b"a=1", b" b = '2 3'", b" c"]),
    ("hostile-attribute", b'a="b c', [b'a="b', b" c"]),
    ("hostile-attribute", b"a= >", [b"a= "]),
    ("hostile-tag", b'<a b=">" c><p>', [b'<a b=">" c', b"<p"]),
    ("hostile-tag", b'<a "b>c"><p', [b'<a "b', b"<p"]),
    ("hostile-tag", b'<a b=">', [b'<a b="']),
    ("hostile-tag", b"<a " + b'=">"' * 100_000 + b">", [b"<a " + b'=">"' * 100_000]),
    ("hostile-tag", b"<a" + b"=" * 1_000_000, [b"<a" + b"=" * 1_000_000]),
    ("mif-string", b"<String `a b'>", [b"a b"]),
    ("mif-string", rb"<String `a\>\q'>", [rb"a\>\q"]),
    ("mif-string", rb"<String `a\'b'>", [rb"a\'b"]),
    ("mif-string", b"<String `a\\\\'>`b'", [b"a\\\\", b"b"]),
    ("mif-string", b"<String `a", [b"a"]),
    ("mif-string", b"``'`a\\", [b"`", b"a"]),
    ("mif-string", b"`" + b"\\x" * 400_000 + b"'", [b"\\x" * 400_000]),
    ("meta", b'<meta name="a" content="b">', [b'<meta name="a" content="b">']),
    ("meta", b"<meta name='a>b'>x</meta >", [b"<meta name='a>b'>", b"</meta >"]),
    ("meta", b'<META name="a', [b"<META name="]),
    ("meta", b'<meta name="a"<b>', [b'<meta name="a"']),
    ("meta", b"<metadata>", []),
    ("meta", b"<meta " + b'""' * 2000 + b">", [b"<meta " + b'""' * 2000 + b">"]),
    ("meta", (b"<meta " + b'""' * 5000) * 100, []),
    ("feed-tag", b'<record url="a">x', b'<record url="a">'),
    ("feed-tag", b"<record url='a>b' c=\"'>\">", b"<record url='a>b' c=\"'>\">"),
    ("feed-tag", b'<record url="a>', None),
    ("feed-tag", b'<record url="a<b">', None),
    ("feed-tag", b"<record", None),
    ("feed-tag", b"<r " + b'a="" ' * 64 + b">", b"<r " + b'a="" ' * 64 + b">"),
    ("feed-tag", b"<r " + b'a="" ' * 65 + b">", b"<r " + b'a="" ' * 65 + b">"),
    ("feed-tag", b"<r " + b'">"' * 400_000 + b">", b"<r " + b'">"' * 400_000 + b">"),
    ("feed-tag", b"<r " + b'">"' * 400_000, None),
    ("quoted", '"a"', "a"),
    ("quoted", '"a""b" c', 'a""b'),
    ("quoted", '""', ""),
    ("quoted", '""""', '""'),
    ("quoted", '"a""', None),
    ("quoted", '"""', None),
    ("quoted", '"a', None),
    ("quoted", '"' + '""' * 30_000, None),
    ("quoted", '"' + '""' * 30_000 + '"', '""' * 30_000),
    ("again", 'a:b c:"d e" f:""', [("a", "", "b"), ("c", "d e", ""), ("f", "", "")]),
    ("again", 'a:"x""y" b:z', [("a", 'x""y', ""), ("b", "", "z")]),
    ("again", 'a:"x""', []),
    ("quick", b'http://a.example/b c:"d e" f:g\r', (b"http://", b"a.example", b"/b", b'c:"d e" f:g')),
    ("quick", b" a.b  c:d ", (b"", b"a.b", b"", b"c:d")),
    ("quick", b"a.b/ c:d", (b"", b"a.b", b"/", b"c:d")),
    ("quick", b"a.b//c/ c:d", (b"", b"a.b", b"//c/", b"c:d")),
    ("quick", b"a.b " + b"c:d " * 20, (b"", b"a.b", b"", (b"c:d " * 20).rstrip())),
    ("quick", b"a.b " + b"c:d " * 21, None),
    ("quick", b"a.b/c/.d c:d", None),
    ("quick", b"a.b/.c c:d", None),
    ("quick", b"a c:d", None),
    ("quick", b"a.1 c:d", None),
    ("quick", b"a..b c:d", None),
    ("quick", b"xn--a.b c:d", None),
    ("quick", b"a.xn--b.c c:d", None),
    ("quick", b"a.xn--b c:d", None),
    ("quick", b"a.b/c?d c:d", None),
    ("quick", b"a.b fun:d", None),
    ("quick", b"a.b d:e", None),
    ("quick", b'a.b c:"d', None),
    ("quick", b"a." * 30_000 + b"1 c:d", None),
]


@pytest.mark.parametrize(
    ("reader", "text", "expected"), [pytest.param(*row, id=f"{row[0]}-{n}") for n, row in enumerate(TABLE)]
)
def test_a_pattern_takes_what_it_took(reader: str, text: str | bytes, expected: object) -> None:
    assert READERS[reader](text) == expected


def _size(found: Any) -> object:
    """Return how much was found: characters of a text, items and characters of a list."""
    if isinstance(found, list):
        return len(found), sum(map(len, found))
    return len(found) if isinstance(found, str | bytes) else found


@pytest.mark.parametrize(
    ("reader", "part", "size"),
    [
        ("plain", "../", None),
        ("plain", "a/", 0),
        ("clean", "http://a.", False),
        ("header", '"\\', None),
        ("header", '""\\', None),
        ("step", b"<a=", 300_000),
        ("step", b"<a=\"'", 500_000),
        ("hostile-attribute", b"a='", (50_000, 300_000)),
        ("hostile-tag", b"<a='\"=", (1, 600_000)),
        ("mif-string", b"`\\", (1, 199_998)),
        ("meta", b"<meta '\"", (100_000, 600_000)),
        ("meta", b"<meta ''", (100_000, 800_000)),
        ("feed-tag", b"<a '\"'", None),
        ("quoted", '"""', 299_998),
        ("quick", b"a.b/", None),
        ("quick", b"a.b c:d ", None),
    ],
)
def test_repeated_a_hundred_thousand_times_it_is_read_once(reader: str, part: Any, size: object) -> None:
    assert _size(READERS[reader](part * 100_000)) == size
