"""EPUB: the package document says who wrote what and in which order; its pages are read as pages are.

EPUB 3.3 (and 2.0.1). Without a usable package document all XHTML members are read by name.
"""

import posixpath
from collections.abc import Mapping
from functools import partial
from urllib.parse import unquote

from ingather.errors import ExtractError
from ingather.extract.documents.draft import Draft
from ingather.extract.documents.markup import page_of, write_page
from ingather.extract.documents.package import Package
from ingather.extract.documents.xmlevents import BrokenXmlError, XmlReader, parse_xml

__all__ = ["read_package"]

_PAGES = (".xhtml", ".html", ".htm", ".xml")
_PAGE_TYPES = frozenset(
    {"application/xhtml+xml", "text/html", "application/x-dtbook+xml", "text/x-oeb1-document"}
)
_METADATA = {
    "title": "title",
    "creator": "author",
    "subject": "keywords",
    "description": "description",
    "language": "language",
    "date": "created",
    "publisher": "publisher",
    "identifier": "identifier",
    "rights": "rights",
    "contributor": "contributor",
}


class _Container(XmlReader):
    def __init__(self) -> None:
        super().__init__()
        self.package = ""
        self.starts = {"rootfile": self._root}

    def _root(self, attributes: Mapping[str, str]) -> None:
        self.package = self.package or attributes.get("full-path", "")


class _PackageDocument(XmlReader):
    def __init__(self, draft: Draft) -> None:
        super().__init__()
        self._draft = draft
        self._words: list[str] | None = None
        self._property = ""
        self.manifest: dict[str, tuple[str, str]] = {}
        self.spine: list[str] = []
        self.starts = {"item": self._item, "itemref": self._reference, "meta": self._meta}
        for name, key in _METADATA.items():
            self.starts[name] = self._open
            self.ends[name] = partial(self._close, key)
        self.ends["meta"] = self._close_meta

    def text(self, data: str) -> None:
        """Take the values of the metadata elements."""
        if self._words is not None:
            self._words.append(data)

    def _open(self, _attributes: Mapping[str, str]) -> None:
        self._words = []

    def _close(self, key: str) -> None:
        self._draft.meta(key, "".join(self._words or ()))
        self._words = None

    def _meta(self, attributes: Mapping[str, str]) -> None:
        self._property = attributes.get("property", "")
        self._words = []

    def _close_meta(self) -> None:
        if self._property == "dcterms:modified":
            self._draft.meta("modified", "".join(self._words or ()))
        self._words = None

    def _item(self, attributes: Mapping[str, str]) -> None:
        self.manifest[attributes.get("id", "")] = (
            attributes.get("href", ""),
            attributes.get("media-type", ""),
        )

    def _reference(self, attributes: Mapping[str, str]) -> None:
        self.spine.append(attributes.get("idref", ""))


def read_package(package: Package, draft: Draft) -> None:
    """Read the book in *package* into *draft*.

    Raises:
        ExtractError: ``encrypted`` (rights management), ``damaged``.
        LimitReachedError: a limit of the draft's budget.
    """
    locked = 0
    pages = _spine(package, draft) or _by_name(package)
    for page in pages:
        try:
            data = package.read(page)
        except ExtractError as error:
            locked += error.reason == "encrypted"
            draft.flag("partial")
            continue
        write_page(page_of(data, "application/xhtml+xml"), draft)
    if not draft.has_text:
        if locked or "meta-inf/rights.xml" in package:
            raise ExtractError("the book needs a key", reason="encrypted")
        if not pages:
            raise ExtractError("the book has no pages", reason="damaged")


def _spine(package: Package, draft: Draft) -> list[str]:
    container = _Container()
    _parse(package, "META-INF/container.xml", container)
    document = _PackageDocument(draft)
    _parse(package, container.package, document)
    folder = posixpath.dirname(container.package)
    pages = []
    for identity in document.spine:
        href, media_type = document.manifest.get(identity, ("", ""))
        place = posixpath.normpath(posixpath.join(folder, unquote(href.partition("#")[0])))
        if href and media_type in _PAGE_TYPES and place in package and place not in pages:
            pages.append(place)
    return pages


def _by_name(package: Package) -> list[str]:
    names = [member.name for member in package]
    return sorted(
        name for name in names if name.lower().endswith(_PAGES) and not name.lower().startswith("meta-inf")
    )


def _parse(package: Package, name: str, reader: XmlReader) -> None:
    member = package.find(name)
    if member is None:
        return
    try:
        parse_xml(package.chunks(member), reader)
    except (BrokenXmlError, ExtractError):
        return  # the pages themselves are found by name then
