"""The query language: what people type, to a tree; tolerant in reading, bounded before it runs.

What there is::

    holiday form            both words, in any form
    "holiday form"          these words in this order, next to one another
    -draft                  not this (word, phrase or operator)
    holiday OR vacation     either; OR binds its two neighbours
    site:example.com        on this host, its sub-domains, or below this path (site:example.com/hr)
    filetype:pdf            of this kind
    title:holiday           this word, or "phrase", in the title
    category:Archive:Chat   in this category or one below it (category:"Human Resources:Leave")
    c:partner               this word, or "phrase", inside one value of the metadata class c (names told apart by case)
    c:$++                   any value in class c; -c:$++ none; c:"$++ one two $++" exactly this value
    c:[a b]                 either, in class c
    d<01jan2010             dates and numbers: < <= = >= > (of classes that are that)
    [a b]                   either
    !draft                  as -draft
    +holiday, |holiday      this word, even where some of the words would do

``OR`` is an operator only in capitals and between two terms. There is no way to write a query that
cannot be read: quotes that are not closed end with the query, what is no operator is a word. Only
length and number of clauses are refused. ``docs/reference/query-language.md`` is the users' page.
"""

import re
from collections.abc import Callable, Iterable
from typing import Final

from ingather.errors import QueryError
from ingather.index import (
    AllOf,
    AnyOf,
    Category,
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
from ingather.index.classes import MARK, class_words
from ingather.search.amounts import span_of

__all__ = ["Classes", "parse", "render", "site_of"]

Classes = Callable[[str], str]
"""Says of a name what class it is: ``text``, ``number`` or ``date``; ``""`` = no class."""
_Single = Word | Phrase | Title | Site | FileType | Category | ClassValue | ClassRange
Term = _Single | Obligatory | Not | AnyOf

# A group, a phrase, or a run without blanks and quotes in which an operator may stand before a quote.
_TOKEN: Final = re.compile(
    r"(?P<sign>[-!+|]*)(?:(?P<field>(?i:site|filetype|title|category)):|(?P<name>[A-Za-z0-9]{1,64})(?P<sort><=|>=|[:<>=]))?"
    r'(?:"(?P<phrase>[^"]*)(?:"|\Z)|\[(?P<group>[^\[\]]*)\]|(?P<word>[^\s"]+))'
)
_QUOTES: Final = str.maketrans(
    {"\u201c": '"', "\u201d": '"', "\u201e": '"', "\u201f": '"', "\u00ab": '"', "\u00bb": '"', "\u2033": '"'}
)
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f\u0085\u00a0\u2028\u2029\u3000\ufeff]+")
_SCHEME: Final = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_KINDS: Final = {
    "htm": "html",
    "xhtml": "html",
    "text": "txt",
    "markdown": "md",
    "jpeg": "jpg",
    "word": "docx",
}
_MAX_PEELS: Final = 8
_SIGNS: Final = frozenset("-!+|")
_OPERATORS: Final = frozenset(":<>=")
_WORDLIKE: Final = re.compile(r"[^\W_]")


def parse(query: str, limits: QueryLimits | None = None, classes: Classes = lambda _: "") -> AllOf:
    """Read *query*; *classes* says which names before a colon are metadata classes, the others are plain text.

    Raises:
        QueryError: longer than ``limits.chars`` or of more than ``limits.clauses`` clauses; the text
            is fit for the searcher.
    """
    bounds = limits or QueryLimits()
    if len(query) > bounds.chars:
        raise QueryError(
            f"The query is too long: {len(query):,} characters", hint=f"{bounds.chars:,} is the most"
        )
    terms = _terms(_CONTROL.sub(" ", query.translate(_QUOTES)), classes)
    nodes = _joined(terms)
    number = sum(_clauses(node) for node in nodes)
    if number > bounds.clauses:
        raise QueryError(f"The query has too many words: {number:,}", hint=f"{bounds.clauses:,} is the most")
    return AllOf(tuple(nodes))


def render(node: Node) -> str:
    """Return the query text of a tree that :func:`parse` gave; reading it gives the same tree."""
    match node:
        case Not(AnyOf(nodes)):
            said = f"-[{' '.join(render(n) for n in nodes)}]"
        case Not(inner):
            said = f"-{render(inner)}"
        case Obligatory(inner):
            said = f"+{render(inner)}"
        case AnyOf(nodes):
            said = " OR ".join(render(n) for n in nodes)
        case AllOf(nodes):
            said = " ".join(render(n) for n in nodes)
        case _:
            said = _said(node)
    return said


def _said(node: _Single) -> str:
    match node:
        case Word(text):
            said = text
        case Phrase(text):
            said = f'"{text}"'
        case Title(text):
            said = _after("title", text)
        case Site(value):
            said = f"site:{value}"
        case FileType(value):
            said = f"filetype:{value}"
        case Category(value):
            said = _after("category", value)
        case ClassValue(name, text):
            said = _after(name, text)
        case _:
            said = node.said
    return said


def _after(name: str, text: str) -> str:
    return f'{name}:"{text}"' if " " in text or text.startswith("[") else f"{name}:{text}"


def _terms(text: str, classes: Classes) -> list[Term | None]:
    """Return the terms in order; ``None`` stands for an ``OR``."""
    found: list[Term | None] = []
    for token in _TOKEN.finditer(text):
        if token["word"] == "OR" and not (token["field"] or token["name"] or token["sign"]):
            found.append(None)
            continue
        sign = token["sign"]
        for term in _token(token, classes):
            if "-" in sign or "!" in sign:
                found.append(Not(term))
            else:
                found.append(Obligatory(term) if sign and isinstance(term, Word) else term)
            sign = ""
    return found


def _token(token: re.Match[str], classes: Classes) -> list[_Single | AnyOf]:
    """Return what a token stands for, mostly one term; its sign belongs to the first."""
    name, field = token["name"], (token["field"] or "").lower()
    word, phrase, group = token["word"], token["phrase"], token["group"]
    if name:
        return _named(token, classes)
    if group is not None:
        if field:
            return _group(
                [_term(field, p["word"], p["phrase"] or p["group"]) for p in _TOKEN.finditer(group)]
            )
        return _group([term for piece in _TOKEN.finditer(group) for term in _token(piece, classes)])
    return _some(_term(field, word, phrase))


def _named(token: re.Match[str], classes: Classes) -> list[_Single | AnyOf]:
    """Return what stands behind a name: of the class, or plain text if there is no such class."""
    name, sort, word, group = token["name"], token["sort"], token["word"], token["group"]
    kind = classes(name)
    if kind and sort == ":":
        if group is None:
            return _some(_value(name, kind, word if word is not None else token["phrase"]))
        pieces = (
            piece["word"] or piece["phrase"] or piece["group"] or "" for piece in _TOKEN.finditer(group)
        )
        return _group([_value(name, kind, piece) for piece in pieces])
    if kind in {"number", "date"} and word and (span := span_of(word, sort, kind)) is not None:
        return [ClassRange(name, *span, said=f"{name}{sort}{word}")]
    if word is not None:
        return _some(_term("", f"{name}{sort}{word}", None))
    if group is not None:
        words = f"{name}{sort}{group}".split()
        return [term for one in words if (term := _term("", one, None)) is not None]
    return [*_some(_term("", f"{name}{sort}", None)), *_some(_term("", None, token["phrase"]))]


def _value(name: str, kind: str, text: str) -> ClassValue | ClassRange | None:
    said = " ".join(text.split())
    if kind in {"number", "date"} and (span := span_of(said, "=", kind)) is not None:
        return ClassRange(name, *span, said=f"{name}:{said}")
    words = [word for word in said.split() if word == MARK or class_words(word)]
    return ClassValue(name, " ".join(words)) if words else None


def _some(term: _Single | None) -> list[_Single | AnyOf]:
    return [] if term is None else [term]


def _group(terms: Iterable[_Single | AnyOf | None]) -> list[_Single | AnyOf]:
    flat = tuple(
        n for term in terms if term is not None for n in (term.nodes if isinstance(term, AnyOf) else (term,))
    )
    return [AnyOf(flat)] if len(flat) > 1 else list(flat)  # type: ignore[arg-type]


def _term(
    field: str, word: str | None, phrase: str | None
) -> Word | Phrase | Title | Site | FileType | Category | None:
    said = " ".join((word if word is not None else phrase or "").split())
    if field == "site":
        value = site_of(said)
        return Site(value) if value else None
    if field == "filetype":
        value = said.strip(".").lower()
        return FileType(_KINDS.get(value, value)) if value and " " not in value else None
    if field == "category":
        levels = [" ".join(level.split()) for level in said.split(":")]
        levels = [level for level in levels if _WORDLIKE.search(level)]
        return Category(":".join(levels)) if levels else None
    if not _WORDLIKE.search(said):
        return None
    if field == "title":
        return Title(said)
    if word is not None and said.startswith(
        "["
    ):  # a group that is none, and must not become one beside others
        said = said.lstrip("[")
        if said == "OR" or said[0] in _SIGNS or not _OPERATORS.isdisjoint(said):
            word = None  # alone it would be read as more than a word
    return Word(said) if word is not None else Phrase(said)


def site_of(said: str) -> str:
    """Return *said* as hosts are written in the index, ``""`` if it cannot be one."""
    for _ in range(_MAX_PEELS):
        value = _site_once(said)
        if value == said:
            return value
        said = value
    return ""


def _site_once(said: str) -> str:
    value = _SCHEME.sub("", said, count=1).partition("?")[0].partition("#")[0].strip("/.* ")
    if not value or re.search(r"\s", value):
        return ""
    host, slash, path = value.partition("/")
    if not host.isascii():
        try:
            host = host.encode("idna").decode("ascii")
        except UnicodeError:
            return ""
    return host.lower() + slash + path


def _joined(terms: list[Term | None]) -> list[Term]:
    """Bind the neighbours of each ``OR``; one without two neighbours is passed over."""
    found: list[Term] = []
    either = False
    for term in terms:
        if term is None:
            either = bool(found)
        elif either and not isinstance(term, Not) and not isinstance(found[-1], Not):
            before = found.pop()
            sides = (side.nodes if isinstance(side, AnyOf) else (side,) for side in (before, term))
            found.append(AnyOf(tuple(node for side in sides for node in side)))
            either = False
        else:
            found.append(term)
            either = False
    return found


def _clauses(node: Term) -> int:
    match node:
        case Not(inner):
            return _clauses(inner)
        case AnyOf(nodes):
            return sum(_clauses(n) for n in nodes if not isinstance(n, AllOf))
        case Phrase(text) | Title(text):
            return max(1, len(text.split()))
        case _:
            return 1
