"""The query language: any text is a query; only its size is refused."""

import math
from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ingather.errors import QueryError
from ingather.index import (
    AllOf,
    AnyOf,
    ClassRange,
    ClassValue,
    FileType,
    Node,
    Not,
    Obligatory,
    Phrase,
    QueryLimits,
    Site,
    Title,
    Word,
)
from ingather.search import parse, render

PIECES = st.sampled_from(
    [
        "holiday",
        "form",
        '"holiday form"',
        "-draft",
        "OR",
        "or",
        "site:",
        "site:Example.com/hr/",
        "filetype:PDF",
        "title:",
        'title:"a b"',
        '"',
        "-",
        "--x",
        "(a",
        "b)",
        "site:http://http://x",
        "入門",
        '-"x y"',
        "title:-q",
        "-OR",
        "site:ü.。",
        "filetype:.htm",
        '"OR"',
        "a:b",
        "site:*.x.y",
        "\x00",
        "\u3000",
        'title:"',
        "-site:a",
        "„x“",
        "[a b]",
        "[",
        "]",
        "-[",
        "c:x",
        'c:"x y"',
        "c:$++",
        "!c:[x y]",
        "+must",
        "|must",
        "d<01jan2010",
        "n>=2.5",
        "d:2010",
        "u:x",
        'u:"x y"',
        "u:[x y]",
        "title:[a b]",
        "C:",
    ]
)
QUERIES = st.one_of(
    st.lists(PIECES, max_size=12).map(" ".join),
    st.lists(PIECES, max_size=8).map("".join),
    st.text(max_size=80),
)


def known(name: str) -> str:
    return {"c": "text", "C": "text", "d": "date", "n": "number", "site": "text"}.get(name, "")


def tree(*nodes: Node) -> AllOf:
    return AllOf(nodes)


@pytest.mark.parametrize(
    ("query", "nodes"),
    [
        ("holiday form", (Word("holiday"), Word("form"))),
        ('"holiday  form"', (Phrase("holiday form"),)),
        ("“holiday form”", (Phrase("holiday form"),)),
        ('"not closed', (Phrase("not closed"),)),
        ("-draft", (Not(Word("draft")),)),
        ('-"first draft"', (Not(Phrase("first draft")),)),
        ("e-mail", (Word("e-mail"),)),
        ("a OR b c", (AnyOf((Word("a"), Word("b"))), Word("c"))),
        ("a OR b OR c", (AnyOf((Word("a"), Word("b"), Word("c"))),)),
        ("a or b", (Word("a"), Word("or"), Word("b"))),
        ("OR a OR", (Word("a"),)),
        ("a OR OR b", (AnyOf((Word("a"), Word("b"))),)),
        ("a OR -b", (Word("a"), Not(Word("b")))),
        ("site:Example.COM", (Site("example.com"),)),
        ("site:https://Example.com/HR/?x#y", (Site("example.com/HR"),)),
        ("site:bücher.example", (Site("xn--bcher-kva.example"),)),
        ("-site:example.com", (Not(Site("example.com")),)),
        ("site:", (Word("site:"),)),
        ('site:"a b"', ()),
        ("filetype:.PDF", (FileType("pdf"),)),
        ("filetype:htm", (FileType("html"),)),
        ("FileType:pdf", (FileType("pdf"),)),
        ("title:holiday", (Title("holiday"),)),
        ('title:"holiday form"', (Title("holiday form"),)),
        ("(a OR b) c", (AnyOf((Word("(a"), Word("b)"))), Word("c"))),
        ("chain:0 key:*", (Word("chain:0"), Word("key:*"))),
        ("+++ & -", ()),
        ("   ", ()),
    ],
)
def test_queries_are_read_as_people_mean_them(query: str, nodes: tuple[Node, ...]) -> None:
    assert parse(query) == tree(*nodes)


@given(QUERIES)
@example("--SITE:0")
@example('title: "x"')
@example("[-0")
@example("[site:0")
@example("a [OR b")
def test_what_is_read_can_be_written_and_read_again(query: str) -> None:
    read = parse(query)
    assert parse(render(read)) == read
    read = parse(query, classes=known)
    assert parse(render(read), classes=known) == read


def day(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("query", "nodes"),
    [
        ("c:partner", (ClassValue("c", "partner"),)),
        ("C:partner", (ClassValue("C", "partner"),)),
        ("u:partner", (Word("u:partner"),)),
        ('u:"a b"', (Word("u:"), Phrase("a b"))),
        ('c:"knowledge  science"', (ClassValue("c", "knowledge science"),)),
        ("c:$++", (ClassValue("c", "$++"),)),
        ("-c:$++", (Not(ClassValue("c", "$++")),)),
        ('c:"$++ a b $++"', (ClassValue("c", "$++ a b $++"),)),
        ("c:...", ()),
        ("!draft", (Not(Word("draft")),)),
        ("+a |b", (Obligatory(Word("a")), Obligatory(Word("b")))),
        ('+"a b"', (Phrase("a b"),)),
        ("[a b]", (AnyOf((Word("a"), Word("b"))),)),
        ('[a "b c" c:d]', (AnyOf((Word("a"), Phrase("b c"), ClassValue("c", "d"))),)),
        ("-[a b]", (Not(AnyOf((Word("a"), Word("b")))),)),
        ("c:[x y]", (AnyOf((ClassValue("c", "x"), ClassValue("c", "y"))),)),
        ("a OR [b c]", (AnyOf((Word("a"), Word("b"), Word("c"))),)),
        ("[a", (Word("a"),)),
        ("site:example.com", (Site("example.com"),)),
        ("d<01jan2010", (ClassRange("d", None, day("2010-01-01"), "d<01jan2010"),)),
        ("d<=2010", (ClassRange("d", None, day("2011-01-01"), "d<=2010"),)),
        ("d>=20100131", (ClassRange("d", day("2010-01-31"), None, "d>=20100131"),)),
        ("-d=feb2012", (Not(ClassRange("d", day("2012-02-01"), day("2012-03-01"), "d=feb2012")),)),
        ("d:20040101", (ClassRange("d", day("2004-01-01"), day("2004-01-02"), "d:20040101"),)),
        ("d<soon", (Word("d<soon"),)),
        ("d<20100231", (Word("d<20100231"),)),
        ("n>2.5", (ClassRange("n", math.nextafter(2.5, 9), None, "n>2.5"),)),
        ("c<3", (Word("c<3"),)),
        ("d:9999", (ClassRange("d", day("9999-01-01"), None, "d:9999"),)),
    ],
)
def test_classes_and_the_operators_of_the_original(query: str, nodes: tuple[Node, ...]) -> None:
    assert parse(query, classes=known) == tree(*nodes)


def test_a_query_may_be_2048_characters_long_and_no_longer() -> None:
    assert len(parse("x" * 2048).nodes) == 1
    with pytest.raises(QueryError, match="too long: 2,049 characters; 2,048 is the most"):
        parse("x" * 2049)


def test_a_query_may_have_256_clauses_and_no_more() -> None:
    assert len(parse(" ".join(f"w{n}" for n in range(256))).nodes) == 256
    for query in (
        " ".join("w" * 257),
        '"' + " ".join("w" * 257) + '"',
        " OR ".join("w" * 257),
        " -".join("w" * 258),
    ):
        with pytest.raises(QueryError, match="too many words"):
            parse(query)
    with pytest.raises(QueryError):
        parse("a b c", QueryLimits(clauses=2))
