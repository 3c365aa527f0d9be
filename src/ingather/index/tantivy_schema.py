"""The fields of the index, and the mark by which a folder of another schema is known.

Each text family has a field per language slot (:mod:`ingather.index.languages`):

* ``text_S``: title three times, anchors, META, body. It is the one field in which the body
  stands, so the body is tokenised once; words and phrases match here. Separate values lie apart
  by one position, so that no phrase crosses them.
* ``title_S``, ``head_S`` (headings), ``marked_S`` (what the page itself sets off).

Beside them, whatever the language:

* ``key`` (catalog row in hexadecimal: what a replacement deletes by; raw text, because deleting
  by a number deletes nothing and says nothing), ``doc`` (the row as number), ``chain``;
* ``kind``, ``site``, ``lang``, ``source``, ``slot``, ``database`` (facets and filters), ``place`` (host, its
  parent domains, host + path levels, for ``site:``), ``date``, ``size``; ``newest`` (date, then a
  hash of the URL: what dates are ordered by) and ``tie`` (orders equal scores);
* ``url`` (its words), ``exact`` (whole titles ``t:``, anchors ``a:``, categories ``c:``, steps of its source's boost ``r:``),
  ``title_words`` (unstemmed, for suggestions), ``meta`` (RD attributes by name);
* ``class`` (words of metadata classes, ``act_w``), ``value`` (whole values, for facets), ``amount`` (numbers and
  dates of classes): :mod:`ingather.index.classes`; ``expires`` (from when on a document is not shown) and ``need``
  (of whom a searcher must be one, whatever the chain says): :mod:`ingather.index.tantivy_fence`;
* ``card``: all that a result shows, stored; ``sequence``: on the marker document alone.
"""

import hashlib
from pathlib import Path
from typing import Final

from tantivy import Index, Schema, SchemaBuilder

from ingather.index.languages import PLAIN, SLOTS
from ingather.index.tantivy_analysers import TERMS

__all__ = [
    "FAMILIES",
    "MARKER_KEY",
    "MOST_BOOST",
    "RESTRICTED",
    "SCHEMA_MARK",
    "boost_term",
    "build",
    "create",
    "key_of",
    "need_term",
]

FAMILIES: Final = {"text": "position", "title": "position", "head": "basic", "marked": "freq"}
"""Text families and what is kept of their terms: positions only where phrases are asked."""
MARKER_KEY: Final = "sequence"
"""Key of the one document that is none: it carries the last applied sequence of the change log."""
MOST_BOOST: Final = 4
"""Steps by which a source can raise a document."""

RESTRICTED: Final = "*"
"""What stands in each list of principals of whom a searcher must be one; no principal is written so."""

_VERSION: Final = 4


def build() -> Schema:
    """Return the schema."""
    builder = SchemaBuilder()
    for slot in SLOTS:
        for family, option in FAMILIES.items():
            builder.add_text_field(f"{family}_{slot}", tokenizer_name=slot, index_option=option)
    for name in ("key", "place", "exact"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    for name in ("kind", "site", "lang", "source", "slot", "database"):
        builder.add_text_field(name, fast=True, tokenizer_name="raw", index_option="basic")
    for name in ("doc", "chain"):
        builder.add_unsigned_field(name, indexed=True, fast=True)
    builder.add_text_field("class", tokenizer_name=TERMS, index_option="position")
    builder.add_text_field("value", fast=True, tokenizer_name="raw", index_option="basic")
    for name in ("amount", "need"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    builder.add_unsigned_field("size", fast=True)
    builder.add_integer_field("expires", fast=True)
    builder.add_integer_field("date", fast=True)
    builder.add_integer_field("newest", fast=True)
    builder.add_float_field("tie", fast=True)
    builder.add_text_field("url", tokenizer_name=PLAIN, index_option="freq")
    builder.add_text_field("title_words", tokenizer_name=PLAIN, index_option="basic")
    builder.add_json_field("meta", tokenizer_name=PLAIN, index_option="position")
    builder.add_bytes_field("card", stored=True)
    builder.add_unsigned_field("sequence", stored=True)
    return builder.build()


def create(generation: Path) -> None:
    """Make an empty index in the existing folder *generation*.

    Raises:
        ValueError: it cannot be made there.
    """
    Index(build(), path=str(generation), reuse=False)


def boost_term(steps: int) -> str:
    """Return the term of a document that its source raises by *steps*."""
    return f"r:{steps}"


def need_term(number: int, need: str) -> str:
    """Return the term of *need* in a document's list *number* of principals."""
    return f"{number}:{need}"


def key_of(row: int) -> str:
    """Return the key of catalog row *row*; keys sort as rows do."""
    return f"{row:012x}"


SCHEMA_MARK: Final = hashlib.sha256(f"{_VERSION} {SLOTS} {sorted(FAMILIES.items())}".encode()).hexdigest()[
    :16
]
"""Written beside each generation; another mark means: rebuild. Raise ``_VERSION`` with every change here."""
