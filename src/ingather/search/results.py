"""What searching takes and gives: frozen values, the same for web page, API and command line."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from ingather.access import ANONYMOUS, Visible
from ingather.index import Order
from ingather.search.snippets import Fragment, Segment

__all__ = ["DATE_RANGES", "Facets", "Help", "SearchRequest", "SearchResult", "SearchResults"]

DATE_RANGES: Final[Mapping[str, int]] = {
    "day": 86_400,
    "week": 7 * 86_400,
    "month": 31 * 86_400,
    "year": 366 * 86_400,
}
"""Names of date filters and facets: how old a document may be, in seconds."""


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """One search.

    Attributes:
        query: as typed.
        offset, limit: the window; bounded by ``QueryLimits.window`` and ``QueryLimits.page``.
        kinds, sites: filters; alternatives within one, empty = all. A site may be a domain or host + path.
        date: a name of :data:`DATE_RANGES`, or ``""``.
        since_s, until_s: epoch seconds, half open, instead of *date*.
        order: by relevance or newest first.
        databases: named partitions of descriptions, any of them; empty = all.
        classes: (class, whole value) chosen of facets: alternatives within one class.
        viewer: what the searcher may see; whoever is not known is anonymous.
    """

    query: str
    offset: int = 0
    limit: int = 10
    kinds: tuple[str, ...] = ()
    sites: tuple[str, ...] = ()
    date: str = ""
    since_s: int | None = None
    until_s: int | None = None
    order: Order = Order.RELEVANCE
    viewer: Visible = ANONYMOUS
    databases: tuple[str, ...] = ()
    classes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class SearchResult:
    """One found document.

    Attributes:
        rank: place in the whole answer, from 1.
        id: catalog row.
        url: canonical; ``site`` its host, ``path`` without query.
        title: ``""`` if it has none; ``title_segments`` the same with the found words marked.
        snippet: at most two fragments, in the text's order; empty if the page forbids excerpts.
        kind: short name (``html``, ``pdf``); ``media_type`` in full.
        language: BCP 47 or ``""``.
        date_s: epoch seconds of the document's date, ``None`` if unknown.
        size: bytes of the body.
        score: comparable within one answer only; 0 when ordered by date.
        source: owning source.
        display_url: the address to show and to lead to, if its source gave another than *url*.
        title_original: the page's own title, where external metadata gave another.
        classes: values of metadata classes, by name.
    """

    rank: int
    id: int
    url: str
    title: str
    title_segments: tuple[Segment, ...]
    snippet: tuple[Fragment, ...]
    site: str
    path: str
    kind: str
    media_type: str
    language: str
    date_s: int | None
    size: int
    score: float
    source: str
    display_url: str = ""
    title_original: str = ""
    classes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Facets:
    """Exact counts among all results, each as if its own filter were not set; most frequent first.

    ``dates`` counts by name of :data:`DATE_RANGES`: documents of that age or younger. ``classes`` counts the whole values of
    metadata classes that are facets, by class; ``labels`` says what people see of these names.
    """

    kinds: Mapping[str, int] = field(default_factory=dict)
    sites: Mapping[str, int] = field(default_factory=dict)
    dates: Mapping[str, int] = field(default_factory=dict)
    classes: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Help:
    """What may lead on when little or nothing was found; made of visible documents only.

    Attributes:
        did_you_mean: the query with corrected words, ``""`` if there is nothing to correct.
        unknown: words of the query that no visible document holds.
        without_filters: documents that would be found without the filters.
    """

    did_you_mean: str = ""
    unknown: tuple[str, ...] = ()
    without_filters: int = 0


@dataclass(frozen=True, slots=True)
class SearchResults:
    """The answer.

    Attributes:
        query: the query as understood.
        total: documents found, exact.
        results: the window asked for.
        offset, limit: of the window.
        all_words: ``False`` if no document has all words and these have some.
        facets: counts for filters.
        help: ways on.
        took_ms: milliseconds.
        partial: facets, snippets or help were left out because time was up.
        labels: what people see instead of the names of the results' metadata classes.
    """

    query: str
    total: int
    results: tuple[SearchResult, ...] = ()
    offset: int = 0
    limit: int = 10
    all_words: bool = True
    facets: Facets = field(default_factory=Facets)
    help: Help = field(default_factory=Help)
    took_ms: float = 0.0
    partial: bool = False
    labels: Mapping[str, str] = field(default_factory=dict)
