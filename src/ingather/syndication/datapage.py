"""Document data XML as the robot takes it: the page that stands for it, and its fields as external metadata of the document.

A source of kind ``sitemap`` may list addresses of such documents in place of pages; ``doc_url`` is then where people are led to.
"""

import re
from collections.abc import Iterator
from typing import Final

from ingather.extract import read_page
from ingather.extract.hostile import suspect_reason
from ingather.model.controls import Controls
from ingather.model.page import Page, PageDate
from ingather.syndication.dates import listing_date, tidy
from ingather.syndication.esdocument import NAMESPACE, EsDocument
from ingather.syndication.links import absolute

__all__ = ["data_controls", "data_page", "is_document_data"]

_HEAD: Final = 4096
_ROOT: Final = re.compile(rb"<(?:[\w.-]+:)?esdocument[\s>/]")
_DATES: Final = ("doc_modified", "doc_created", "system_location_modified")
_DEPENDENCIES: Final = "es_dependencies"
_READ_APART: Final = frozenset({"doc_title", "doc_body", "doc_url"})


def is_document_data(body: bytes) -> bool:
    """Tell, at a glance, whether *body* is document data XML."""
    head = body[:_HEAD]
    return _ROOT.search(head) is not None and NAMESPACE.encode() in head


def data_page(document: EsDocument, url: str) -> Page:
    """Return the page that *document*, found at canonical *url*, stands for: title, text and date of its fields."""
    page = Page(url=url, base=url, media_type="text/xml", charset="utf-8", charset_source="xml")
    page.title = tidy(next(_values(document, "doc_title"), ""))
    page.text = "\n".join(_text(value) for value in _values(document, "doc_body"))
    for name in _DATES:
        date = listing_date(tidy(next(_values(document, name), "")))
        if date.endswith("Z"):
            page.date = PageDate(date, f"field:{name}")
            break
    return page


def data_controls(document: EsDocument) -> Controls:
    """Return its other fields, every value, as external metadata of the document, and ``doc_url`` as the address that people are shown."""
    pairs = [
        (name, value)
        for name in document.fields
        if name not in _READ_APART
        for value in _values(document, name)
    ]
    pairs += [(_DEPENDENCIES, dependency) for dependency in document.dependencies]
    shown = absolute(next(_values(document, "doc_url"), ""))
    return Controls(metadata=tuple(pairs), display_url=shown, heeded=True)


def _text(value: str) -> str:
    """Return what a reader sees of a body, which may be HTML."""
    body = value.encode("utf-8", "replace")
    if "<" not in value or suspect_reason(body):
        return value
    return read_page(body, url="about:blank", content_type="text/html; charset=utf-8").text


def _values(document: EsDocument, name: str) -> Iterator[str]:
    return (value for value in document.fields.get(name, ()) if value)
