"""What may be asked of the index: a tree of words and filters, and what comes back.

The search room's language makes these values, the index room turns them into its engine's
queries; neither knows the other's side.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from ingather.index.card import Card

__all__ = [
    "AllOf",
    "AnyOf",
    "Category",
    "ChainFilter",
    "ClassRange",
    "ClassValue",
    "FileType",
    "Filters",
    "Found",
    "Hit",
    "Node",
    "Not",
    "Obligatory",
    "Order",
    "Phrase",
    "Question",
    "Site",
    "Title",
    "Word",
]


@dataclass(frozen=True, slots=True)
class Word:
    """A word as written; one that the analyser takes apart (``e-mail``) is a phrase of its parts."""

    text: str


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words in this order, next to one another."""

    text: str


@dataclass(frozen=True, slots=True)
class Title:
    """A word or phrase in the title."""

    text: str


@dataclass(frozen=True, slots=True)
class Site:
    """A host, a domain with all its hosts, or either with the beginning of a path (whole levels)."""

    value: str


@dataclass(frozen=True, slots=True)
class FileType:
    """A kind of document by its short name: ``pdf``, ``html``."""

    value: str


@dataclass(frozen=True, slots=True)
class Category:
    """A category, with everything below it: ``Archive:Chat``; case does not count."""

    value: str


@dataclass(frozen=True, slots=True)
class ClassValue:
    """Words next to one another inside one value of metadata class *name*.

    ``$++`` as a word of *text* stands for an end of the value: alone it means any value at all, at both ends of the
    words that they are the whole value.
    """

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class ClassRange:
    """A number or date (epoch seconds) of class *name* from *low* on to below *high*; ``None`` = no bound.

    *said* is how it was written, for showing it again.
    """

    name: str
    low: float | None
    high: float | None
    said: str


@dataclass(frozen=True, slots=True)
class Obligatory:
    """What must match also when some words suffice."""

    node: "Word"


@dataclass(frozen=True, slots=True)
class Not:
    """What must not match."""

    node: "Word | Phrase | Title | Site | FileType | Category | ClassValue | ClassRange | AnyOf"


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Alternatives (``OR``)."""

    nodes: "tuple[Node, ...]"


@dataclass(frozen=True, slots=True)
class AllOf:
    """What must match together; order counts for nearness."""

    nodes: "tuple[Node, ...]"


Node = (
    Word
    | Phrase
    | Title
    | Site
    | FileType
    | Category
    | ClassValue
    | ClassRange
    | Obligatory
    | Not
    | AnyOf
    | AllOf
)


@dataclass(frozen=True, slots=True)
class Filters:
    """Choices made beside the query; within one they are alternatives, empty = no restriction.

    ``since_s`` and ``until_s`` are epoch seconds, half open; a document without a date fits neither. ``classes``: (name,
    whole values) of metadata classes that are facets.
    """

    kinds: tuple[str, ...] = ()
    sites: tuple[str, ...] = ()
    since_s: int | None = None
    until_s: int | None = None
    databases: tuple[str, ...] = ()
    classes: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def __bool__(self) -> bool:
        dates = self.since_s is not None or self.until_s is not None
        return bool(self.kinds or self.sites or self.databases or self.classes or dates)


@dataclass(frozen=True, slots=True)
class ChainFilter:
    """The access filter: either ``only`` these chains, or all ``without`` these.

    With ``without``, chains above ``last`` are left out as well (``None`` = none is too new).
    ``rows`` are catalog rows that are left out whatever their chain: revocations that the index has not
    followed yet. ``needs``: the viewer's principals, of which a document that is restricted beside its chain must name one;
    ``None`` = restrictions do not count (operators). ``now_s``: documents that expire until then are left out, ``None`` =
    none. The default lets nothing through.
    """

    only: tuple[int, ...] | None = ()
    without: tuple[int, ...] = ()
    last: int | None = None
    rows: tuple[int, ...] = ()
    needs: tuple[str, ...] | None = ()
    now_s: int | None = None


class Order(StrEnum):
    """How hits are ordered: by rank, or newest first (documents without a date last)."""

    RELEVANCE = "relevance"
    DATE = "date"


@dataclass(frozen=True, slots=True)
class Question:
    """A tree, the choices beside it, who asks, and whether all words must occur.

    ``least`` 0 = every word; otherwise the number of words that must occur at least.
    """

    tree: AllOf
    chains: ChainFilter
    filters: Filters = field(default_factory=Filters)
    least: int = 0


@dataclass(frozen=True, slots=True)
class Hit:
    """One found document; *score* is comparable within one answer only."""

    card: Card
    score: float


@dataclass(frozen=True, slots=True)
class Found:
    """One window of hits; *total* is exact. *facets*: field -> value -> count, most frequent first."""

    total: int
    hits: tuple[Hit, ...] = ()
    facets: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
