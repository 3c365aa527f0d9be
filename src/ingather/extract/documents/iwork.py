"""iWork: Pages, Numbers, Keynote, of 2013 and later (IWA) and of 2005 to 2009 (XML).

The new format is not described in public; what is read is what keeps its shape over all versions: storages of
text (body, headers, notes, text boxes), strings of table cells, names of sheets and tables, comments, addresses of
links. Names of styles and texts of templates stand elsewhere and are left out. Figures in cells are
not read: they lie in packed rows.
"""

import re
from collections.abc import Iterator, Mapping
from functools import partial

from ingather.errors import ExtractError
from ingather.extract.documents.draft import Draft
from ingather.extract.documents.iwa import Fields, fields_of, messages_of
from ingather.extract.documents.package import Member, Package
from ingather.extract.documents.xmlevents import BrokenXmlError, XmlReader, parse_xml

__all__ = ["is_iwork", "read_package"]

_OLD = ("index.apxl", "index.xml")
_LOCKED = (".iwph", ".iwpv2")
_TEMPLATES = (
    "templateslide",
    "masterslide",
    "metadata",
    "objectcontainer",
    "stylesheet",
    "documentstylesheet",
    "themestylesheet",
)
_SHEET = 2
_TEXTS = {2001: 3, 2005: 3, 6001: 8, 3056: 1, _SHEET: 1}
"""Type of message -> field of its text: storages of text, a table's name, a comment, a sheet (in Keynote the show)."""
_LINK, _LINK_URL = 2032, 2
_CELLS, _CELL_ENTRIES, _CELL_STRING = 6005, 3, 3
_VALUES = {
    "title": "title",
    "author": "author",
    "authors": "author",
    "keywords": "keywords",
    "comment": "description",
}
_DIGITS = re.compile(r"(\d+)")
_SEPARATORS = str.maketrans(
    {"\u2028": "\n", "\u2029": "\n", "\x04": "\n", "\x05": "\n", "\ufffc": None, "\r": "\n"}
)


def is_iwork(package: Package) -> bool:
    """Whether the container is a Pages, Numbers or Keynote document."""
    names = (*_OLD, "index/document.iwa", "index.zip")
    return any(name in package for name in names)


def read_package(package: Package, draft: Draft) -> None:
    """Read the document in *package* into *draft*.

    Raises:
        ExtractError: ``encrypted``, ``damaged``.
        LimitReachedError: a limit of the draft's budget.
    """
    if any(name in package for name in _LOCKED):
        raise ExtractError("the document needs a password", reason="encrypted")
    for name in _OLD:
        member = package.find(name)
        if member is not None:
            _read_xml(package, member, draft)
            return
    index = package.find("index.zip")
    if index is not None:
        package = Package(package.read(index), draft.budget)
    slides = any("slide" in member.name.lower() for member in package)
    for member in sorted(_archives(package), key=_order):
        try:
            for message in messages_of(package.read(member), draft.budget):
                _write(message.type, message.body, draft, slides=slides)
        except ExtractError as error:
            if error.reason == "encrypted":
                raise
            draft.flag("partial")


def _archives(package: Package) -> Iterator[Member]:
    for member in package:
        name = member.name.lower().replace("\\", "/").rpartition("/")[2]
        if name.endswith(".iwa") and not name.startswith(_TEMPLATES):
            yield member


def _order(member: Member) -> tuple[bool, list[str | int]]:
    """Put the document itself first, then slides and tables by their numbers."""
    name = member.name.lower()
    parts = [int(part) if part.isdecimal() else part for part in _DIGITS.split(name)]
    return not name.endswith("document.iwa"), parts


def _write(kind: int, body: bytes, draft: Draft, *, slides: bool) -> None:
    if kind in _TEXTS and not (slides and kind == _SHEET):
        for text in _strings(fields_of(body), _TEXTS[kind]):
            draft.block(text.translate(_SEPARATORS), level=2 if kind == _SHEET else 0)
    elif kind == _CELLS:
        for entry in fields_of(body).get(_CELL_ENTRIES, ()):
            for text in _strings(fields_of(entry) if isinstance(entry, bytes) else {}, _CELL_STRING):
                draft.block(text.translate(_SEPARATORS))
    elif kind == _LINK:
        for url in _strings(fields_of(body), _LINK_URL):
            if "://" in url or url.startswith("mailto:"):
                draft.link_once(url)


def _strings(fields: Fields, number: int) -> Iterator[str]:
    for value in fields.get(number, ()):
        if isinstance(value, bytes):
            try:
                yield value.decode("utf-8")
            except UnicodeDecodeError:
                continue  # a message of another shape than expected: no text


class _Old(XmlReader):
    """index.xml and index.apxl: paragraphs, cells, notes; templates and style sheets left out."""

    skipped = frozenset({"stylesheet", "theme", "stylesheet-ref", "anon-styles"})

    def __init__(self, draft: Draft) -> None:
        super().__init__()
        self._draft = draft
        self._open = 0
        self._meta = ""
        self._urls: list[str] = []
        self.starts = {
            "p": self._open_text,
            "br": self._break,
            "lnbr": self._break,
            "tab": self._tab,
            "ct": self._cell,
            "n": self._figure,
            "link": self._open_link,
            "string": self._value,
        }
        self.ends = {"p": self._close_text, "link": self._close_link}
        for name, key in _VALUES.items():
            self.starts[name] = partial(self._open_meta, key)
            self.ends[name] = self._close_meta

    def text(self, data: str) -> None:
        if self._open:
            self._draft.write(data)

    def _open_meta(self, key: str, _attributes: Mapping[str, str]) -> None:
        self._meta = key

    def _close_meta(self) -> None:
        self._meta = ""

    def _value(self, attributes: Mapping[str, str]) -> None:
        if self._meta:
            self._draft.meta(self._meta, attributes.get("string"))

    def _open_text(self, _attributes: Mapping[str, str]) -> None:
        self._open += 1

    def _close_text(self) -> None:
        self._open = max(self._open - 1, 0)
        self._draft.end_block()

    def _break(self, _attributes: Mapping[str, str]) -> None:
        self._draft.write("\n")

    def _tab(self, _attributes: Mapping[str, str]) -> None:
        self._draft.write("\t")

    def _cell(self, attributes: Mapping[str, str]) -> None:
        self._draft.block(attributes.get("s", ""))

    def _figure(self, attributes: Mapping[str, str]) -> None:
        self._draft.block(attributes.get("v", ""))

    def _open_link(self, attributes: Mapping[str, str]) -> None:
        self._urls.append(attributes.get("href", ""))
        self._draft.open_anchor()

    def _close_link(self) -> None:
        if self._urls:
            self._draft.close_anchor(self._urls.pop())


def _read_xml(package: Package, member: Member, draft: Draft) -> None:
    try:
        parse_xml(package.chunks(member), _Old(draft))
    except BrokenXmlError as error:
        if not draft.has_text:
            raise ExtractError("the document is not well-formed", reason="damaged") from error
        draft.flag("partial")
    finally:
        draft.drop_anchors()
        draft.end_block()
