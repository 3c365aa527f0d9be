"""The query language: what people type, to a tree; tolerant in reading, bounded before it runs.

    holiday form            both words, in any form
    "holiday form"          these words in this order, next to one another
    -draft                  not this (word, phrase or operator)
    holiday OR vacation     either; OR binds its two neighbours
    site:example.com        on this host, its sub-domains, or below this path (site:example.com/hr)
    filetype:pdf            of this kind
    title:holiday           this word, or "phrase", in the title
    category:Archive:Chat   in this category or one below it (category:"Human Resources:Leave")

``OR`` is an operator only in capitals and between two terms. There is no way to write a query that
cannot be read: quotes that are not closed end with the query, what is no operator is a word. Only
length and number of clauses are refused. ``docs/reference/query-language.md`` is the users' page.
"""

import re
from typing import Final

from ingather.errors import QueryError
from ingather.index import AllOf, AnyOf, Category, FileType, Node, Not, Phrase, QueryLimits, Site, Title, Word

__all__ = ["parse", "render", "site_of"]

Term = Word | Phrase | Title | Site | FileType | Category | Not | AnyOf

# A phrase, or a run without blanks and quotes in which an operator may stand before a quote.
_TOKEN: Final = re.compile(
    r"(?P<minus>-*)(?:(?P<field>site|filetype|title|category):)?"
    r'(?:"(?P<phrase>[^"]*)(?:"|\Z)|(?P<word>[^\s"]+))',
    re.IGNORECASE,
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
_WORDLIKE: Final = re.compile(r"[^\W_]")


def parse(query: str, limits: QueryLimits | None = None) -> AllOf:
    """Read *query*.

    Raises:
        QueryError: longer than ``limits.chars`` or of more than ``limits.clauses`` clauses; the text
            is fit for the searcher.
    """
    bounds = limits or QueryLimits()
    if len(query) > bounds.chars:
        raise QueryError(
            f"The query is too long: {len(query):,} characters", hint=f"{bounds.chars:,} is the most"
        )
    terms = _terms(_CONTROL.sub(" ", query.translate(_QUOTES)))
    nodes = _joined(terms)
    number = sum(_clauses(node) for node in nodes)
    if number > bounds.clauses:
        raise QueryError(f"The query has too many words: {number:,}", hint=f"{bounds.clauses:,} is the most")
    return AllOf(tuple(nodes))


def render(node: Node) -> str:
    """Return the query text of a tree that :func:`parse` gave; reading it gives the same tree."""
    match node:
        case Word(text):
            said = text
        case Phrase(text):
            said = f'"{text}"'
        case Title(text):
            said = f'title:"{text}"' if " " in text else f"title:{text}"
        case Site(value):
            said = f"site:{value}"
        case Category(value):
            said = f'category:"{value}"' if " " in value else f"category:{value}"
        case FileType(value):
            said = f"filetype:{value}"
        case Not(inner):
            said = f"-{render(inner)}"
        case AnyOf(nodes):
            said = " OR ".join(render(n) for n in nodes)
        case _:
            said = " ".join(render(n) for n in node.nodes)
    return said


def _terms(text: str) -> list[Term | None]:
    """Return the terms in order; ``None`` stands for an ``OR``."""
    found: list[Term | None] = []
    for token in _TOKEN.finditer(text):
        word, phrase, field = token["word"], token["phrase"], (token["field"] or "").lower()
        if word == "OR" and not field and not token["minus"]:
            found.append(None)
            continue
        term = _term(field, word, phrase)
        if term is not None:
            found.append(Not(term) if token["minus"] else term)
    return found


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
            found.append(AnyOf((*before.nodes, term) if isinstance(before, AnyOf) else (before, term)))
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
