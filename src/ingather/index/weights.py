"""What counts how much in ranking: one table, tried on judged queries (``benchmarks/relevance.py``)."""

from dataclasses import dataclass, fields
from typing import Final

__all__ = ["PLAIN_BM25", "RANKING", "Weights"]


@dataclass(frozen=True, slots=True)
class Weights:
    """Factors of BM25 sums (first group), of BM25 of phrases (second), constant bonuses (third), prior.

    Attributes:
        text: the field in which titles count five times, headings twice, anchors and body once.
        marked: what the page sets off (bold, defined terms, code).
        title: title alone.
        url: words of the URL's path.
        title_phrase: neighbouring words of the query, in that order, in the title.
        phrase: the same anywhere in the text.
        near: the same with up to eight words between them.
        heading: all words of the query in title and headings.
        exact_title: the title, or its part before the site's name, is the query.
        exact_anchor: a link to the document reads as the query.
        boost: for each step by which a document's source raises it.
        prior: factor of ln(1 + pages that link to the document).
    """

    text: float = 1.0
    marked: float = 0.5
    title: float = 0.5
    url: float = 0.5
    title_phrase: float = 4.0
    phrase: float = 0.5
    near: float = 0.5
    heading: float = 4.0
    exact_title: float = 2.0
    exact_anchor: float = 12.0
    boost: float = 0.5
    prior: float = 1.5

    def without(self, *names: str) -> "Weights":
        """Return these weights with the named signals switched off."""
        return Weights(**{f.name: 0.0 if f.name in names else getattr(self, f.name) for f in fields(self)})


RANKING: Final = Weights()
PLAIN_BM25: Final = Weights(text=1.0).without(*(f.name for f in fields(Weights) if f.name != "text"))
"""Nothing but BM25 over the combined text; what ranking is compared with."""
