"""What an answer of ``/api/v1/search`` says, as values.

Members that a later server adds are ignored; one that is missing, or of another type, makes the answer unreadable. The
members and their meaning stand in ``docs/reference/search-api-json.md``.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

__all__ = ["Answer", "ClassFacet", "Excerpt", "Facet", "Facets", "Found", "Help", "Segment", "answer_of"]

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of text, and whether it is a found word."""

    text: str
    marked: bool

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A piece of a document's text around found words; ``str()`` of it is that text.

    Attributes:
        segments: the text, cut at the found words.
        start: offset of its first character in the document's text.
        before, after: text was left out on that side.
    """

    segments: tuple[Segment, ...]
    start: int
    before: bool
    after: bool

    def __str__(self) -> str:
        return "".join(map(str, self.segments))


@dataclass(frozen=True, slots=True)
class Found:
    """One document that was found.

    Attributes:
        rank: its place in the whole answer, from 1.
        url: its canonical URL.
        display_url: the address to show and to lead to.
        title: plain text, ``""`` if there is none.
        title_segments: the title with the found words marked.
        excerpts: at most two, in the text's order.
        site, path: host, and path without query.
        kind: short name of the type (``pdf``).
        media_type: the type in full.
        language: BCP 47, ``""`` if unknown.
        date: its own date in UTC, ``None`` if unknown.
        size: bytes.
        score: comparable within one answer only.
        source: the source that owns it.
        title_original: the page's own title where external metadata gave another, else ``""``.
        classes: values of metadata classes.
    """

    rank: int
    url: str
    display_url: str
    title: str
    title_segments: tuple[Segment, ...]
    excerpts: tuple[Excerpt, ...]
    site: str
    path: str
    kind: str
    media_type: str
    language: str
    date: datetime | None
    size: int
    score: float
    source: str
    title_original: str
    classes: Mapping[str, tuple[str, ...]]

    @property
    def snippet(self) -> str:
        """The excerpts as one text, with an ellipsis where text was left out between them."""
        return " … ".join(map(str, self.excerpts))


@dataclass(frozen=True, slots=True)
class Facet:
    """A value that narrows the answer, and how many documents have it."""

    value: str
    count: int


@dataclass(frozen=True, slots=True)
class ClassFacet:
    """The values of a metadata class, and what people call it."""

    label: str
    values: tuple[Facet, ...]


@dataclass(frozen=True, slots=True)
class Facets:
    """What can be chosen next: types, sites, spans of time, and values of metadata classes by class."""

    kinds: tuple[Facet, ...]
    sites: tuple[Facet, ...]
    dates: tuple[Facet, ...]
    classes: Mapping[str, ClassFacet]


@dataclass(frozen=True, slots=True)
class Help:
    """What to do about an answer without results.

    Attributes:
        did_you_mean: the query with misspelt words corrected, ``""`` if there is nothing to correct.
        unknown: words that no document holds.
        without_filters: documents that would be found without the chosen filters.
    """

    did_you_mean: str
    unknown: tuple[str, ...]
    without_filters: int


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one question.

    Attributes:
        query: the query as it was understood.
        total: documents found, exact.
        offset, limit: the window of this answer.
        all_words: ``False``: no document has all words of the query, these have some.
        results: the documents of the window, best first.
        facets, help: see there.
        took_ms: milliseconds that the server spent.
        partial: facets, excerpts or help were left out because time was up.
    """

    query: str
    total: int
    offset: int
    limit: int
    all_words: bool
    results: tuple[Found, ...]
    facets: Facets
    help: Help
    took_ms: float
    partial: bool


def answer_of(form: Any) -> Answer:
    """Make values of an answer that was read as JSON.

    Raises:
        ValueError: it is none; the text names the member.
    """
    facets, help_ = _of(form, "facets", dict), _of(form, "help", dict)
    return Answer(
        _of(form, "query", str),
        _of(form, "total", int),
        _of(form, "offset", int),
        _of(form, "limit", int),
        _of(form, "all_words", bool),
        _each(form, "results", _found),
        Facets(
            _each(facets, "kinds", _facet),
            _each(facets, "sites", _facet),
            _each(facets, "dates", _facet),
            {
                name: ClassFacet(_of(one, "label", str), _each(one, "values", _facet))
                for name, one in _of(facets, "classes", dict).items()
            },
        ),
        Help(
            _of(help_, "did_you_mean", str),
            _texts(help_.get("unknown"), "unknown"),
            _of(help_, "without_filters", int),
        ),
        _number(form, "took_ms"),
        _of(form, "partial", bool),
    )


def _found(form: Any) -> Found:
    return Found(
        _of(form, "rank", int),
        _of(form, "url", str),
        _of(form, "display_url", str),
        _of(form, "title", str),
        _each(form, "title_segments", _segment),
        _each(form, "snippet", _excerpt),
        _of(form, "site", str),
        _of(form, "path", str),
        _of(form, "kind", str),
        _of(form, "media_type", str),
        _of(form, "language", str),
        None if form.get("date") is None else datetime.fromisoformat(_of(form, "date", str)),
        _of(form, "size", int),
        _number(form, "score"),
        _of(form, "source", str),
        _of(form, "title_original", str),
        {name: _texts(values, name) for name, values in _of(form, "classes", dict).items()},
    )


def _excerpt(form: Any) -> Excerpt:
    return Excerpt(
        _each(form, "segments", _segment),
        _of(form, "start", int),
        _of(form, "before", bool),
        _of(form, "after", bool),
    )


def _segment(form: Any) -> Segment:
    return Segment(_of(form, "text", str), _of(form, "marked", bool))


def _facet(form: Any) -> Facet:
    return Facet(_of(form, "value", str), _of(form, "count", int))


def _of(form: Any, name: str, kind: type[_T]) -> _T:
    value = form.get(name) if isinstance(form, dict) else None
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise ValueError(f"the member {name} is missing, or it is of another type")
    return value


def _number(form: Any, name: str) -> float:
    value = form.get(name)
    return float(value) if isinstance(value, float) else float(_of(form, name, int))


def _each(form: Any, name: str, read: Callable[[Any], _T]) -> tuple[_T, ...]:
    return tuple(read(one) for one in _of(form, name, list))


def _texts(values: Any, name: str) -> tuple[str, ...]:
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise ValueError(f"the member {name} is no list of texts")
    return tuple(values)
