"""XML as events by local name: expat without entities, external parts, or bottomless nesting.

A document type declaration is passed over: what it names outside is never fetched. Entities that
it declares may not be used, hold one another, or lie outside of the document: that is ``refused``.
A name that nobody declares here (its declaration stands in an external part) gives the character
that HTML knows by it, else nothing.

Strict and transitional Office files, and prefixes of all tastes, differ in names only by
their name space: readers see local names. An attribute of the relationships name space is
``r:id`` whatever its prefix. ``AlternateContent`` gives its first ``Choice``, or else its
``Fallback``, never both.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from html.entities import html5
from xml.parsers import expat

from ingather.errors import ExtractError
from ingather.extract.documents.limits import LimitReachedError

__all__ = ["BrokenXmlError", "EnoughError", "XmlReader", "parse_xml"]

_DEEPEST = 1_000
_REMEMBERED_NAMES = 20_000
_MOST_NAMES = 200_000
_MOST_ELEMENTS = 10_000_000
_NO_ATTRIBUTES: Mapping[str, str] = {}
_OUT_OF_MEMORY = 1
_TAG = re.compile(rb"<(?:[^'\"<>]|'[^'<]*'|\"[^\"<]*\")*")
_REFERENCE = re.compile(rb"&([^;&#\s<>]{1,200});")
_PREDEFINED = frozenset({b"amp", b"lt", b"gt", b"quot", b"apos"})


class BrokenXmlError(Exception):
    """The text is not well-formed from here on; events until here were delivered."""


class EnoughError(Exception):
    """Raised by a reader that has what it wants: the rest is not unpacked, and nothing is wrong."""


class XmlReader:
    """What receives the events; a format's reader fills the tables and overrides what it needs.

    Attributes:
        skipped: local names of elements that are left out with all they hold.
        starts, ends: handlers by local name for the beginning (given the attributes) and end.
    """

    skipped: frozenset[str] = frozenset()

    def __init__(self) -> None:
        self.starts: dict[str, Callable[[Mapping[str, str]], None]] = {}
        self.ends: dict[str, Callable[[], None]] = {}

    def text(self, data: str) -> None:
        """Receive character data."""


class _Names(dict[str, str]):
    """Expanded name -> local name, remembered."""

    met = 0

    def __missing__(self, expanded: str) -> str:
        self.met += 1
        if self.met > _MOST_NAMES:  # each stays in the parser's memory
            raise LimitReachedError("names")
        if len(self) > _REMEMBERED_NAMES:
            self.clear()
        self[expanded] = local = expanded.rpartition(" ")[2]
        return local


class _AttributeNames(_Names):
    """Expanded attribute name -> local name, ``r:`` before those of the relationships name space."""

    def __missing__(self, expanded: str) -> str:
        local = super().__missing__(expanded)
        space = expanded.rpartition(" ")[0]
        if space.endswith("/relationships"):
            self[expanded] = local = f"r:{local}"
        return local


class _Delivery:
    """Between expat and a reader: names, skipping, alternatives, depth."""

    def __init__(self, reader: XmlReader) -> None:
        self.reader = reader
        self.names = _Names()
        self.attribute_names = _AttributeNames()
        self.depth = 0
        self.elements = 0
        self.skipping = 0
        self.chosen: list[bool] = []

    def start(self, expanded: str, attributes: dict[str, str]) -> None:
        self.depth += 1
        self.elements += 1
        if self.depth > _DEEPEST or self.elements > _MOST_ELEMENTS:
            raise LimitReachedError("nesting" if self.depth > _DEEPEST else "elements")
        name = self.names[expanded]
        if self.skipping:
            self.skipping += 1
            return
        if name in self.reader.skipped or self._not_chosen(name):
            self.skipping = 1
            return
        if handler := self.reader.starts.get(name):
            if attributes:
                names = self.attribute_names
                handler({names[key]: value for key, value in attributes.items()})
            else:
                handler(_NO_ATTRIBUTES)

    def _not_chosen(self, name: str) -> bool:
        if name == "AlternateContent":
            self.chosen.append(False)
        elif self.chosen and name in {"Choice", "Fallback"}:
            if self.chosen[-1]:
                return True
            self.chosen[-1] = True
        return False

    def end(self, expanded: str) -> None:
        self.depth -= 1
        if self.skipping:
            self.skipping -= 1
            return
        name = self.names[expanded]
        if name == "AlternateContent" and self.chosen:
            self.chosen.pop()
        if handler := self.reader.ends.get(name):
            handler()

    def text(self, data: str) -> None:
        if not self.skipping:
            self.reader.text(data)


def _refuse(what: str) -> ExtractError:
    return ExtractError(f"the document {what}", reason="refused")


class _Declarations:
    """What a document type declaration may do to its document: nothing; asked for only when there is one."""

    def __init__(self, parser: expat.XMLParserType, delivery: _Delivery) -> None:
        self._parser = parser
        self._delivery = delivery
        self._declared = False

    def open(self, *_declaration: object) -> None:
        """Take part from here on: references are reported from now on, not replaced."""
        parser = self._parser
        parser.EntityDeclHandler = self._declare
        parser.SkippedEntityHandler = self._skipped
        parser.DefaultHandler = _ignore  # as long as there is one expat does not replace references in text

    def _declare(
        self,
        name: str,
        _is_parameter: bool,  # noqa: FBT001
        value: str | None,
        _base: str | None,
        _system_id: str | None,
        _public_id: str | None,
        _notation: str | None,
    ) -> None:
        if value is None:
            raise _refuse(f"declares an entity that lies outside of it: {name[:100]}")
        if any(found not in _PREDEFINED for found in _REFERENCE.findall(value.encode())):
            raise _refuse(f"declares an entity that holds another: {name[:100]}")
        if not self._declared:
            self._declared = True
            self._parser.StartElementHandler = self._start

    def _skipped(self, name: str, is_parameter: bool) -> None:  # noqa: FBT001 (expat's own signature)
        if is_parameter:
            return
        if self._declared:
            raise _refuse(f"uses an entity that it declares: {name[:100]}")
        self._delivery.text(html5.get(f"{name};", " "))

    def _start(self, expanded: str, attributes: dict[str, str]) -> None:
        """Look for references in attributes, where expat replaces them whatever is set."""
        if attributes:
            written = self._parser.GetInputContext() or b""
            # In UTF-16 every other byte of what is looked for is zero.
            tag = _TAG.match(written.replace(b"\0", b"") if b"\0" in written[:2] else written)
            found = _REFERENCE.findall(tag[0]) if tag else ()
            if any(name not in _PREDEFINED for name in found):
                raise _refuse("uses an entity that it declares in an attribute")
        self._delivery.start(expanded, attributes)


def _ignore(_data: str) -> None:
    """Receive what no other handler takes."""


def parse_xml(chunks: Iterable[bytes], reader: XmlReader) -> None:
    """Deliver the events of the XML text in *chunks* to *reader*.

    Raises:
        BrokenXmlError: not well-formed; everything before was delivered.
        ExtractError: ``refused`` for entities that are declared and used, or declared to lie outside.
        LimitReachedError: nested too deeply, or a limit of the reader's own.
        MemoryError: expat ran out of memory.
    """
    delivery = _Delivery(reader)
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.specified_attributes = True  # values that a declaration gives to every element are not in the text
    parser.StartDoctypeDeclHandler = _Declarations(parser, delivery).open
    parser.StartElementHandler = delivery.start
    parser.EndElementHandler = delivery.end
    parser.CharacterDataHandler = delivery.text
    try:
        for chunk in chunks:
            parser.Parse(chunk, False)  # noqa: FBT003 (expat's own signature takes it by position)
        parser.Parse(b"", True)  # noqa: FBT003
    except EnoughError:
        return
    except expat.ExpatError as error:
        if error.code == _OUT_OF_MEMORY:
            raise MemoryError from error
        raise BrokenXmlError(str(error)) from error
    except (UnicodeError, LookupError, ValueError) as error:
        raise BrokenXmlError(str(error)) from error
