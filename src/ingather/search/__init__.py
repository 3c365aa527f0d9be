"""Search: from what people type to results that they may see.

A query's journey: ``language`` reads it into a tree (tolerant, bounded), ``service`` lays the
viewer's access filter around it and asks the index, first for documents with all the words and,
only when there is none, for documents with some. The best candidates come back ranked; facets are
counted, ``finding`` says where the words stand in the kept texts and ``snippets`` cuts and marks excerpts, ``suggestions`` corrects words
out of the titles that the viewer may see. ``results`` are the values that come out, ``json_form``
is how the API and the command line write them.
"""

from ingather.index import Order, QueryLimits
from ingather.search.json_form import date_form, results_form
from ingather.search.language import parse, render
from ingather.search.results import DATE_RANGES, Facets, Help, SearchRequest, SearchResult, SearchResults
from ingather.search.service import SearchService, Texts
from ingather.search.snippets import Fragment, Highlighter, Segment

__all__ = [
    "DATE_RANGES",
    "Facets",
    "Fragment",
    "Help",
    "Highlighter",
    "Order",
    "QueryLimits",
    "SearchRequest",
    "SearchResult",
    "SearchResults",
    "SearchService",
    "Segment",
    "Texts",
    "date_form",
    "parse",
    "render",
    "results_form",
]
