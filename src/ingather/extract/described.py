"""What a page says of itself in other vocabularies becomes attributes, by one table.

Open Graph, Dublin Core, schema.org (JSON-LD), citation and press METAs: kind of document, author, dates, section. A
META that bears the attribute's own name goes before all of them.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from ingather.extract.dates import date_value

__all__ = ["SOURCES", "described"]

SOURCES: Final[Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    "document-type": (("og:type", "dcterms.type", "dc.type", "dc:type"), ("@type",)),
    "author": (
        ("dcterms.creator", "dc.creator", "dc:creator", "article:author", "book:author", "citation_author", "parsely-author", "sailthru.author"),
        ("author", "creator"),
    ),
    "published": (
        ("article:published_time", "og:published_time", "dcterms.issued", "dc.date.issued", "dcterms.created", "dc.date.created",
         "citation_publication_date", "datepublished", "parsely-pub-date", "sailthru.date"),
        ("datePublished", "uploadDate", "dateCreated"),
    ),
    "modified": (
        ("article:modified_time", "og:updated_time", "dcterms.modified", "dc.date.modified", "datemodified"),
        ("dateModified",),
    ),
    "section": (("article:section", "parsely-section", "dcterms.subject"), ("articleSection",)),
}  # fmt: skip
"""Attribute -> names of METAs, keys of JSON-LD; the first that says something counts."""

_DATES: Final = frozenset({"published", "modified"})
_KNOWN: Final = frozenset(name for metas, _ in SOURCES.values() for name in metas)
_FURNITURE: Final = frozenset(
    {
        "BreadcrumbList",
        "ListItem",
        "Organization",
        "WebSite",
        "SearchAction",
        "ImageObject",
        "Person",
        "SiteNavigationElement",
        "WPHeader",
        "WPFooter",
        "EntryPoint",
        "PropertyValueSpecification",
        "ContactPoint",
        "PostalAddress",
    }
)
"""Types that speak of the site or of parts of the page: such nodes describe no document."""
_MOST_NODES, _MOST_VALUES, _LONGEST = 500, 20, 500
_LARGEST_BLOCK: Final = 200_000


def described(metas: Mapping[str, Sequence[str]], json_ld: Sequence[str]) -> dict[str, list[str]]:
    """Return the attributes that *metas* do not have under their own names, with their values.

    Args:
        metas: META names in lower case, as the page has them.
        json_ld: blocks of JSON-LD; one that is broken or longer than 200,000 characters says nothing.
    """
    if not json_ld and _KNOWN.isdisjoint(metas):
        return {}
    nodes = list(_documents(json_ld)) if json_ld else []
    found: dict[str, list[str]] = {}
    for attribute, (names, keys) in SOURCES.items():
        if any(metas.get(attribute, ())):
            continue
        values = next((told for name in names if (told := _clean(metas.get(name, ()), attribute))), [])
        if not values:
            values = next(
                (
                    told
                    for node in nodes
                    for key in keys
                    if (told := _clean(_texts(node.get(key)), attribute))
                ),
                [],
            )
        if values:
            found[attribute] = values
    return found


def _clean(values: Sequence[str], attribute: str) -> list[str]:
    kept: dict[str, None] = {}
    for value in values[:_MOST_VALUES]:
        text = " ".join(value.split())[:_LONGEST]
        if attribute in _DATES:
            text = date_value(text)
        elif attribute == "author" and text.startswith(("http://", "https://")):
            continue  # the address of a profile is no name
        if text:
            kept[text] = None
    return list(kept)


def _texts(value: object) -> list[str]:
    """Return the texts of a JSON-LD value: as it is, the ``name`` of a thing, those of a list."""
    found = []
    for one in value[:_MOST_VALUES] if isinstance(value, list) else [value]:
        named = one.get("name", one.get("@value")) if isinstance(one, dict) else one
        if isinstance(named, str):
            found.append(named)
    return found


def _documents(blocks: Sequence[str]) -> Iterator[dict[str, object]]:
    """Yield the nodes that describe the document: those of the top and of ``@graph``, ``mainEntity``."""
    for block in blocks:
        if len(block) > _LARGEST_BLOCK:
            continue
        try:
            waiting = [json.loads(block)]
        except (ValueError, RecursionError):
            continue
        for _ in range(_MOST_NODES):
            if not waiting:
                break
            node = waiting.pop(0)
            if isinstance(node, list):
                waiting += node
            elif isinstance(node, dict):
                if not _FURNITURE.intersection(_texts(node.get("@type"))):
                    yield node
                waiting += [node[key] for key in ("@graph", "mainEntity", "mainEntityOfPage") if key in node]
