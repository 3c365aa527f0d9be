"""The index: documents in, ranked documents out; the only room that speaks tantivy.

A document's journey: ``mapping`` makes the index document out of the catalog's record, its
description, the kept text and the anchors that lead to it, and nothing else does. ``languages``
decides into which language slots its words go, ``tantivy_analysers`` how words become terms; ``anchors``
chooses the link texts worth keeping; ``classes`` has the terms of metadata classes; ``laying`` fills in its metadata classes, with what external metadata lays over the page; ``tantivy_schema`` names the fields, ``card`` is what a result shows. ``tantivy_writer`` puts it, and commits it together with the last sequence of the change
log that was applied. How often others link to it stands beside the index in ``prior``, replaced
whole by each link pass, so that a new link never re-indexes the page that it leads to.

A question's journey: the tree of ``question`` (made by the search room's own language) comes to
``tantivy_reader``, which has ``tantivy_clauses`` turn it into a query with the rank signals of
``weights``, within the bounds of ``limits`` and with the access filter inside, and
brings back candidates, exact counts and facets.

``folder`` is the place on disk: generations side by side, one of them current, rebuilt beside and
swapped. ``check`` finds damaged files by their checksums and compares the index with the catalog.
"""

from ingather.index.anchors import informative
from ingather.index.card import Card
from ingather.index.check import Damage, Difference, compare, damage
from ingather.index.folder import IndexFolder, Rebuild
from ingather.index.languages import clean, exact, is_cjk, nfc, slot_of
from ingather.index.laying import MOST_NEEDS, lay
from ingather.index.limits import QueryLimits
from ingather.index.mapping import PageFacts, ShownRow, document, kind_of, page_document
from ingather.index.prior import PRIOR_NAME, counts, read_prior, write_prior
from ingather.index.question import (
    AllOf,
    AnyOf,
    Category,
    ChainFilter,
    ClassRange,
    ClassValue,
    FileType,
    Filters,
    Found,
    Hit,
    Node,
    Not,
    Obligatory,
    Order,
    Phrase,
    Question,
    Site,
    Title,
    Word,
)
from ingather.index.tantivy_analysers import terms
from ingather.index.tantivy_clauses import Clauses, Compiled
from ingather.index.tantivy_reader import Snapshot, TantivyReader
from ingather.index.tantivy_writer import TantivyWriter
from ingather.index.weights import PLAIN_BM25, RANKING, Weights

__all__ = [
    "MOST_NEEDS",
    "PLAIN_BM25",
    "PRIOR_NAME",
    "RANKING",
    "AllOf",
    "AnyOf",
    "Card",
    "Category",
    "ChainFilter",
    "ClassRange",
    "ClassValue",
    "Clauses",
    "Compiled",
    "Damage",
    "Difference",
    "FileType",
    "Filters",
    "Found",
    "Hit",
    "IndexFolder",
    "Node",
    "Not",
    "Obligatory",
    "Order",
    "PageFacts",
    "Phrase",
    "QueryLimits",
    "Question",
    "Rebuild",
    "ShownRow",
    "Site",
    "Snapshot",
    "TantivyReader",
    "TantivyWriter",
    "Title",
    "Weights",
    "Word",
    "clean",
    "compare",
    "counts",
    "damage",
    "document",
    "exact",
    "informative",
    "is_cjk",
    "kind_of",
    "lay",
    "nfc",
    "page_document",
    "read_prior",
    "slot_of",
    "terms",
    "write_prior",
]
