"""The container of an Office Open XML document: parts, their relationships, properties, what hangs on them.

ECMA-376 parts 1 and 2, strict and transitional. Source of the parts is a zip file or one flat
XML file (``pkg:package``). :func:`read` finds the main part, hands it to the reader of its
vocabulary, and in the end collects what no text mentions: links known to relationships only,
embedded documents.
"""

import posixpath
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from importlib import import_module
from typing import Protocol
from urllib.parse import unquote

from ingather.errors import ExtractError
from ingather.extract.documents.draft import Draft
from ingather.extract.documents.package import Member, Package, gather, member_key
from ingather.extract.documents.xmlevents import BrokenXmlError, XmlReader, parse_xml

__all__ = ["Office", "PartSource", "Relationship", "ZipParts", "read_parts"]

_EMBEDDED = ("package", "oleobject")
_LINKING = ("hyperlink", "attachedtemplate", "subdocument", "externallink", "externallinkpath")


class Relationship:
    """One line of a ``.rels`` part: ``kind`` is the last word of its type in lower case; ``told``: some text used it."""

    __slots__ = ("external", "kind", "target", "told")

    def __init__(self, kind: str, target: str, *, external: bool) -> None:
        self.kind = kind
        self.target = target
        self.external = external
        self.told = False


class PartSource(Protocol):
    """Where parts come from; names as in a zip member, found in any case."""

    def names(self) -> list[str]:
        """Return the names of all parts."""

    def chunks(self, name: str) -> Iterable[bytes] | None:
        """Return the bytes of a part, or ``None`` when there is no such part."""


class ZipParts:
    """Parts of a zip container."""

    def __init__(self, package: Package) -> None:
        self._package = package

    def names(self) -> list[str]:
        """Return the names of all parts."""
        return [member.name.replace("\\", "/") for member in self._package]

    def chunks(self, name: str) -> Iterable[bytes] | None:
        """Return the bytes of a part, or ``None`` when there is no such part."""
        member: Member | None = self._package.find(name)
        return None if member is None else self._package.chunks(member)


class _Relationships(XmlReader):
    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, Relationship] = {}
        self.starts = {"Relationship": self._relationship}

    def _relationship(self, attributes: Mapping[str, str]) -> None:
        kind = attributes.get("Type", "").rpartition("/")[2].lower()
        external = attributes.get("TargetMode", "").lower() == "external"
        target = attributes.get("Target", "")
        self.found[attributes.get("Id", "")] = Relationship(kind, target, external=external)


class _ContentTypes(XmlReader):
    def __init__(self) -> None:
        super().__init__()
        self.by_part: dict[str, str] = {}
        self.starts = {"Override": self._override}

    def _override(self, attributes: Mapping[str, str]) -> None:
        self.by_part[member_key(attributes.get("PartName", ""))] = attributes.get("ContentType", "").lower()


class _Properties(XmlReader):
    """core.xml and app.xml: flat lists of elements; custom.xml: named property elements."""

    NAMES: Mapping[str, str] = {
        "title": "title",
        "creator": "author",
        "subject": "subject",
        "keywords": "keywords",
        "description": "description",
        "created": "created",
        "modified": "modified",
        "lastModifiedBy": "last-author",
        "category": "category",
        "contentStatus": "status",
        "language": "language",
        "identifier": "identifier",
        "version": "version",
        "revision": "revision",
        "lastPrinted": "printed",
        "Pages": "pages",
        "Slides": "slides",
        "Words": "words",
        "Characters": "characters",
        "Company": "company",
        "Manager": "manager",
        "Application": "generator",
        "Template": "template",
    }

    def __init__(self, draft: Draft) -> None:
        super().__init__()
        self._draft = draft
        self._name = ""
        self._words: list[str] | None = None
        self.starts = dict.fromkeys(self.NAMES, self._value)
        self.starts["property"] = self._property
        self.ends = {name: partial(self._end, key) for name, key in self.NAMES.items()}
        self.ends["property"] = self._end_property

    def _value(self, _attributes: Mapping[str, str]) -> None:
        self._words = []

    def _property(self, attributes: Mapping[str, str]) -> None:
        self._name = attributes.get("name", "").lower()
        self._words = []

    def text(self, data: str) -> None:
        if self._words is not None:
            self._words.append(data)

    def _end_property(self) -> None:
        self._end(f"custom:{self._name}")

    def _end(self, name: str) -> None:
        if self._words is not None:
            self._draft.meta(name, "".join(self._words))
        self._words = None


class Office:
    """One Office document: its parts, read at most once each.

    Attributes:
        main: name of the part that everything hangs on; what it may not hold refuses the document.
        refusal: why a part beside it was left out, the last one.
    """

    def __init__(self, source: PartSource, draft: Draft) -> None:
        self.draft = draft
        self._source = source
        self._names = {member_key(name): name for name in source.names()}
        self._relationships: dict[str, dict[str, Relationship]] = {}
        self._read: set[str] = set()
        self.main = ""
        self.refusal: ExtractError | None = None
        types = _ContentTypes()
        self.parse("[Content_Types].xml", types, again=True)
        self._types = types.by_part

    # --- parts --------------------------------------------------------------------------------

    def has(self, part: str) -> bool:
        """Whether there is a part of this name."""
        return member_key(part) in self._names

    def content_type(self, part: str) -> str:
        """Return the declared type of *part* in lower case, or ``""``."""
        return self._types.get(member_key(part), "")

    def names(self) -> list[str]:
        """Return the names of all parts."""
        return list(self._names.values())

    def names_under(self, folder: str) -> list[str]:
        """Return the names of the parts in *folder*, in order of the container."""
        prefix = member_key(folder) + "/"
        return [name for key, name in self._names.items() if key.startswith(prefix)]

    def data(self, part: str) -> bytes | None:
        """Return all bytes of *part*, ``None`` when it is missing or cannot be unpacked."""
        chunks = self._source.chunks(part)
        if chunks is None:
            return None
        try:
            return gather(chunks, self.draft.budget)
        except ExtractError:
            self.draft.flag("partial")
            return None

    def seen(self, part: str) -> bool:
        """Whether *part* was read before; marks it as read."""
        key = member_key(part)
        if key in self._read:
            return True
        self._read.add(key)
        return False

    def parse(self, part: str, reader: XmlReader, *, again: bool = False, lenient: bool = False) -> bool:
        """Give the XML of *part* to *reader*, once unless *again*; ``False`` when missing, read before or broken.

        A broken part keeps what was read before the break, and flags the document ``partial``
        unless *lenient* (legacy drawings are broken by custom).
        """
        anchors = self.draft.open_anchors
        chunks = self._source.chunks(part)
        if chunks is None or (not again and self.seen(part)):
            return False
        try:
            parse_xml(chunks, reader)
        except BrokenXmlError:
            if not lenient:
                self.draft.flag("partial")
            return False
        except ExtractError as error:
            if lenient:
                return False
            if error.reason == "encrypted" or (error.reason == "refused" and part == self.main):
                raise
            self.refusal = error
            self.draft.flag("partial")
            return False
        finally:
            self.draft.drop_anchors(anchors)
        return True

    # --- relationships ------------------------------------------------------------------------

    def relationships(self, part: str) -> dict[str, Relationship]:
        """Return the relationships of *part* (``""`` for the package) by id, targets as part names."""
        key = member_key(part)
        if key not in self._relationships:
            folder, name = posixpath.split(part)
            reader = _Relationships()
            self.parse(posixpath.join(folder, "_rels", f"{name}.rels"), reader, again=True)
            for relationship in reader.found.values():
                if not relationship.external:
                    relationship.target = _resolve(folder, relationship.target)
            self._relationships[key] = reader.found
        return self._relationships[key]

    def targets(self, part: str, *kinds: str) -> list[str]:
        """Return the parts that *part* points at by relationships of *kinds* (lower case)."""
        return [r.target for r in self.relationships(part).values() if r.kind in kinds and not r.external]

    def url(self, part: str, identity: str, fragment: str = "") -> str:
        """Return the external target of relationship *identity* of *part*, with *fragment*, or ``""``."""
        relationship = self.relationships(part).get(identity)
        if relationship is None or not relationship.external:
            return ""
        relationship.told = True
        if fragment and "#" not in relationship.target:
            return f"{relationship.target}#{fragment}"
        return relationship.target

    # --- what hangs on the document -------------------------------------------------------------

    def read_properties(self) -> None:
        """Read core, extended and custom properties into the metadata."""
        for part in self.targets("", "core-properties", "extended-properties", "custom-properties"):
            self.parse(part, _Properties(self.draft))
        for part in ("docProps/core.xml", "docProps/app.xml", "docProps/custom.xml"):
            self.parse(part, _Properties(self.draft))

    def read_leftovers(self) -> None:
        """Add links that only relationships know and read embedded documents; the last step."""
        for key, name in list(self._names.items()):
            if not key.endswith(".rels"):
                continue
            folder, rels = posixpath.split(name)
            owner = posixpath.join(posixpath.dirname(folder), rels[: -len(".rels")])
            for relationship in self.relationships(owner).values():
                if relationship.external and relationship.kind in _LINKING and not relationship.told:
                    self.draft.link_once(relationship.target)
                elif relationship.kind in _EMBEDDED and not relationship.external:
                    self.embed(relationship.target)

    def embed(self, part: str) -> None:
        """Read an embedded document into the text and hand its bytes on, once."""
        if self.seen(part):
            return
        data = self.data(part)
        if data:
            self.draft.embed(posixpath.basename(part), data, self.content_type(part) or None)


def _resolve(folder: str, target: str) -> str:
    target = unquote(target.replace("\\", "/").partition("#")[0])
    if target.startswith("/"):
        return target.lstrip("/")
    return posixpath.normpath(posixpath.join(folder, target))


def read_parts(source: PartSource, draft: Draft) -> bool:
    """Read an Office Open XML document; ``False`` when *source* holds none.

    Raises:
        ExtractError: ``damaged`` when nothing of its main part can be read, ``refused``.
        LimitReachedError: a limit of the draft's budget.
    """
    office = Office(source, draft)
    main = _main_part(office)
    if main is None:
        return False
    office.main = main
    office.read_properties()
    kind = _vocabulary(office, main)
    module = _READERS.get(kind)
    if module is None:
        return False
    read_document: Callable[[Office, str], None] = import_module(f"{__package__}.{module}").read_document
    read_document(office, main)
    if not draft.has_text and "partial" in draft.flags:
        if office.refusal is not None:
            raise office.refusal
        raise ExtractError("the document's main part cannot be read", reason="damaged")
    office.read_leftovers()
    return True


_READERS = {
    "word": "wordprocessing",
    "excel": "spreadsheet",
    "excel-binary": "xlsb",
    "powerpoint": "presentation",
    "pages": "drawnpages",
}
_VOCABULARIES = (
    ("word", "wordprocessingml", "word/"),
    ("excel-binary", "sheet.binary", ".bin"),
    ("excel", "spreadsheetml", "xl/"),
    ("excel", "ms-excel", "xl/"),
    ("word", "ms-word", "word/"),
    ("powerpoint", "presentationml", "ppt/"),
    ("powerpoint", "ms-powerpoint", "ppt/"),
    ("pages", "ms-visio", "visio/"),
    ("pages", "fixeddocumentsequence", ".fdseq"),
)
_MAIN_KINDS = ("officedocument", "document", "fixedrepresentation")
_USUAL_MAIN = ("word/document.xml", "xl/workbook.xml", "xl/workbook.bin", "ppt/presentation.xml")


def _main_part(office: Office) -> str | None:
    for part in office.targets("", *_MAIN_KINDS):
        if office.has(part):
            return part
    return next((part for part in _USUAL_MAIN if office.has(part)), None)


def _vocabulary(office: Office, main: str) -> str:
    declared = office.content_type(main)
    for kind, word, _ in _VOCABULARIES:
        if word in declared:
            return kind
    key = member_key(main)
    for kind, _, place in _VOCABULARIES:
        if key.startswith(place) or key.endswith(place):
            return kind
    return ""
