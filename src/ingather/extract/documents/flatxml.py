"""XML without a container: flat Office packages, Word and Excel 2003, flat OpenDocument, and any other XML.

The root element decides. XML of an unknown vocabulary gives its character data.
"""

import base64
import binascii
import re
from collections.abc import Callable, Iterable, Mapping

from ingather.errors import ExtractError
from ingather.extract.documents.draft import Draft
from ingather.extract.documents.ooxml import Office, read_parts
from ingather.extract.documents.opendocument import ListStyles, MetaReader, TextReader
from ingather.extract.documents.package import member_key
from ingather.extract.documents.prolog import root_of
from ingather.extract.documents.wordprocessing import StoryReader
from ingather.extract.documents.xmlevents import BrokenXmlError, XmlReader, parse_xml
from ingather.extract.labels import codec_of

__all__ = ["read"]

_PART = re.compile(r"<(?:\w+:)?part\b([^>]*)>")
_PART_END = re.compile(r"</(?:\w+:)?part\s*>")
_PART_NAME = re.compile(r"\b(?:\w+:)?name\s*=\s*[\"']([^\"']*)[\"']")
_XML_DATA = re.compile(r"\A\s*<(?:\w+:)?xmlData\b[^>]*>(.*)</(?:\w+:)?xmlData\s*>\s*\Z", re.DOTALL)
_BINARY_DATA = re.compile(r"\A\s*<(?:\w+:)?binaryData\b[^>]*>(.*)</(?:\w+:)?binaryData\s*>\s*\Z", re.DOTALL)
_CHUNK = 64 * 1024
_DECLARED = re.compile(rb"(<\?xml\s[^>]{0,200}?encoding\s*=\s*[\"'])([A-Za-z0-9._:-]{1,40})")
_KNOWN_ENCODINGS = frozenset({b"utf-8", b"utf-16", b"iso-8859-1", b"us-ascii", b"ascii"})


def read(body: bytes, draft: Draft, _name: str, _content_type: str | None) -> None:
    """Read an XML document into *draft*.

    Raises:
        ExtractError: ``damaged``, ``refused`` (entities, see ``xmlevents``).
        LimitReachedError: a limit of the draft's budget.
    """
    body = _readable(body)
    root = root_of(_start(body))
    name = root.name if root else ""
    space = root.attributes if root else ""
    if name == "package" and "schemas.microsoft.com/office/2006/xmlPackage" in space:
        text = _decoded(body)
        if not read_parts(_FlatParts(text), draft):
            raise ExtractError("the flat package holds no document", reason="damaged")
    elif name == "wordDocument":
        _parse(body, StoryReader(Office(_NoParts(), draft), ""), draft)
    elif name == "document" and "opendocument" in space:
        _parse(body, MetaReader(draft), draft)
        styles = ListStyles()
        _parse(body, styles, draft)
        _parse(body, TextReader(draft, styles), draft)
    elif name == "Workbook" and "office:spreadsheet" in space:
        _parse(body, _Workbook2003(draft), draft)
    else:
        _parse(body, _AnyXml(draft), draft)


def _readable(body: bytes) -> bytes:
    """Turn an encoding of several bytes a character that the parser does not know (GB 18030, Shift JIS) into UTF-8."""
    declared = _DECLARED.match(body)
    if declared is None or declared[2].lower() in _KNOWN_ENCODINGS:
        return body
    found = codec_of(declared[2].decode("ascii", "replace"))
    if not found or found == "-":
        return body
    text = body.decode(found, "replace")
    return (declared[1].decode() + "utf-8" + text[declared.end(2) :]).encode("utf-8", "replace")


def _start(body: bytes) -> str:
    return _decoded(body[:8192])


def _decoded(body: bytes) -> str:
    if body.startswith((b"\xff\xfe", b"\xfe\xff")):
        return body.decode("utf-16", "replace")
    return body.decode("utf-8", "replace").removeprefix("\ufeff")


def _parse(body: bytes, reader: XmlReader, draft: Draft) -> None:
    try:
        parse_xml((body[at : at + _CHUNK] for at in range(0, len(body), _CHUNK)), reader)
    except BrokenXmlError as error:
        if not draft.has_text:
            raise ExtractError("the document is not well-formed", reason="damaged") from error
        draft.flag("partial")
    finally:
        draft.drop_anchors()
        draft.end_block()


class _NoParts:
    """A document that is one part."""

    def names(self) -> list[str]:
        return []

    def chunks(self, name: str) -> Iterable[bytes] | None:
        return None


class _FlatParts:
    """The parts of ``pkg:package``: XML as it stands, the rest in base 64."""

    def __init__(self, text: str) -> None:
        self._parts: dict[str, tuple[str, str]] = {}
        position = 0
        while (opening := _PART.search(text, position)) and (end := _PART_END.search(text, opening.end())):
            if name := _PART_NAME.search(opening[1]):
                content = text[opening.end() : end.start()]
                self._parts.setdefault(member_key(name[1]), (name[1].lstrip("/"), content))
            position = end.end()

    def names(self) -> list[str]:
        return [name for name, _ in self._parts.values()]

    def chunks(self, name: str) -> Iterable[bytes] | None:
        _, content = self._parts.get(member_key(name), ("", None))
        if content is None:
            return None
        if match := _XML_DATA.match(content):
            return [match[1].encode()]
        if match := _BINARY_DATA.match(content):
            try:
                return [base64.b64decode(match[1], validate=False)]
            except binascii.Error:
                return None
        return None


class _Workbook2003(XmlReader):
    """SpreadsheetML of Excel 2003: worksheets of rows of cells of data."""

    skipped = frozenset({"Styles", "DocumentProperties", "WorksheetOptions", "ExcelWorkbook"})

    def __init__(self, draft: Draft) -> None:
        super().__init__()
        self._draft = draft
        self._in_data = False
        self._url = ""
        self.starts = {"Worksheet": self._sheet, "Cell": self._open_cell, "Data": self._open_data}
        self.ends = {"Cell": self._close_cell, "Data": self._close_data, "Row": draft.end_block}

    def text(self, data: str) -> None:
        if self._in_data:
            self._draft.write(data)

    def _sheet(self, attributes: Mapping[str, str]) -> None:
        self._draft.block(attributes.get("Name", ""), level=2)

    def _open_cell(self, attributes: Mapping[str, str]) -> None:
        self._url = attributes.get("HRef", "")
        self._draft.open_anchor()

    def _close_cell(self) -> None:
        self._draft.close_anchor(self._url)
        self._draft.write("\t")

    def _open_data(self, _attributes: Mapping[str, str]) -> None:
        self._in_data = True

    def _close_data(self) -> None:
        self._in_data = False


class _EveryElement(dict[str, Callable[[], None]]):
    """A table of handlers that has the same one for every name but those that it lists."""

    def __init__(self, handler: Callable[[], None], others: Mapping[str, Callable[[], None]]) -> None:
        super().__init__(others)
        self._handler = handler

    def get(self, name: str, _default: object = None) -> Callable[[], None]:
        return super().get(name, self._handler)


class _AnyXml(XmlReader):
    """Character data; an element's end is a break between words, a line in the file a line here.

    The first element called ``title`` names the document, as in DocBook, DITA, SVG, TEI.
    """

    def __init__(self, draft: Draft) -> None:
        super().__init__()
        self._draft = draft
        self._title: list[str] | None = None
        self.starts = {
            "title": self._open_title,
            "a": self._link,
            "link": self._link,
            "ulink": self._link,
            "xref": self._link,
        }
        self.ends = _EveryElement(self._end, {"title": self._close_title})

    def _end(self) -> None:
        self._draft.write(" ")

    def text(self, data: str) -> None:
        if self._title is not None:
            self._title.append(data)
        self._draft.write(data)

    def _open_title(self, _attributes: Mapping[str, str]) -> None:
        if "title" not in self._draft.metadata:
            self._title = []

    def _close_title(self) -> None:
        if self._title is not None:
            self._draft.meta("title", "".join(self._title))
        self._title = None
        self._end()

    def _link(self, attributes: Mapping[str, str]) -> None:
        """Take the web addresses that DocBook, DITA and SVG point at."""
        url = attributes.get("href") or attributes.get("url") or ""
        if "://" in url:
            self._draft.link_once(url)
