"""What a document is: its bytes decide, its name and declared type only settle what bytes leave open."""

import re
from collections.abc import Callable
from enum import StrEnum

from ingather.extract.documents.dbase import is_dbase
from ingather.extract.documents.prolog import root_of

__all__ = ["Kind", "kind_of"]

_HEAD = 4096
_PDF_WITHIN = 1024
_TAR_MARK_AT = 257


class Kind(StrEnum):
    """The families of documents that there is a reader for, and ``UNREADABLE`` for those there is none."""

    ZIP = "zip"
    """Any zip container: Office Open XML, OpenDocument, EPUB, an archive."""
    COMPOUND = "compound"
    """An OLE compound file: old Office, msg, an encrypted new one."""
    PDF = "pdf"
    RTF = "rtf"
    MAIL = "mail"
    MBOX = "mbox"
    MIF = "mif"
    HTML = "html"
    XML = "xml"
    CSV = "csv"
    TEXT = "text"
    TAR = "tar"
    GZIP = "gzip"
    BZIP2 = "bzip2"
    XZ = "xz"
    DBASE = "dbase"
    FOREIGN = "foreign"
    """Left to the general library."""
    UNREADABLE = "unreadable"
    """Pictures, sound, video, programs."""


_MAGIC: tuple[tuple[bytes, Kind], ...] = (
    (b"PK\x03\x04", Kind.ZIP),
    (b"PK\x05\x06", Kind.ZIP),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", Kind.COMPOUND),
    (b"{\\rt", Kind.RTF),
    (b"<MIFFile", Kind.MIF),
    (b"\x1f\x8b", Kind.GZIP),
    (b"BZh", Kind.BZIP2),
    (b"\xfd7zXZ\x00", Kind.XZ),
    (b"7z\xbc\xaf\x27\x1c", Kind.FOREIGN),
    (b"\x89PNG", Kind.UNREADABLE),
    (b"GIF8", Kind.UNREADABLE),
    (b"\xff\xd8\xff", Kind.UNREADABLE),
    (b"II*\x00", Kind.UNREADABLE),
    (b"MM\x00*", Kind.UNREADABLE),
    (b"RIFF", Kind.UNREADABLE),
    (b"OggS", Kind.UNREADABLE),
    (b"ID3", Kind.UNREADABLE),
    (b"fLaC", Kind.UNREADABLE),
    (b"\x7fELF", Kind.UNREADABLE),
    (b"MZ", Kind.UNREADABLE),
    (b"\xca\xfe\xba\xbe", Kind.UNREADABLE),
    (b"Rar!\x1a\x07", Kind.UNREADABLE),
    (b"SQLite format 3\x00", Kind.UNREADABLE),
    (b"wOFF", Kind.UNREADABLE),
    (b"wOF2", Kind.UNREADABLE),
    (b"\x00\x01\x00\x00\x00", Kind.UNREADABLE),
)

_WORDS = frozenset({b"RIFF", b"OggS", b"ID3", b"fLaC", b"MZ", b"wOFF", b"wOF2"})
"""Marks that begin words, too: they count only in what is no text."""

_PDF_LINE = re.compile(rb"[\r\n]%PDF-\d")
_HTML = re.compile(
    rb"<(?:!doctype\s+html|html|head|body|title|script|table|div|h1|p|a|br|font|style|center|meta|iframe|b)[\s>/]",
    re.IGNORECASE,
)
_DOCTYPE_HTML = re.compile(rb"<!doctype\s+html", re.IGNORECASE)
_MAIL_HEADER = re.compile(rb"([A-Za-z][A-Za-z0-9-]{1,60}):[ \t]?[^\r\n]*\r?\n(?:[ \t][^\r\n]*\r?\n)*")
_MAIL_NAMES = frozenset(
    b"received return-path message-id mime-version delivered-to from to subject date reply-to x-mailer"
    b" content-type references in-reply-to cc sender".split()
)
_MAIL_PROOF = frozenset(b"received return-path message-id mime-version delivered-to from".split())
_FEWEST_MAIL_HEADERS = 2
_MBOX = re.compile(rb"From \S+ .{0,40}\d\d:\d\d")
_CONTROL = re.compile(rb"[\x00-\x06\x0e-\x1a\x1c-\x1f]")
_BOMS_16 = (b"\xff\xfe", b"\xfe\xff")

# What the general library reads and bytes alone do not tell.
_FOREIGN_EXTENSIONS = frozenset({"ipynb"})
_CSV_EXTENSIONS = frozenset({"csv", "tsv", "tab"})
_CSV_TYPES = frozenset({"text/csv", "text/tab-separated-values"})
_MAIL_EXTENSIONS = frozenset({"eml", "mht", "mhtml", "mime"})
_MAIL_TYPES = frozenset({"message/rfc822", "multipart/related", "message/global"})
_HTML_EXTENSIONS = frozenset({"html", "htm", "xhtml", "xht"})
_HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})


def kind_of(body: bytes, *, name: str | None = None, content_type: str | None = None) -> Kind:
    """Return the family that *body* belongs to.

    Args:
        body: the whole document.
        name: its file name or URL path; only the extension is looked at.
        content_type: as declared, parameters allowed.
    """
    head = body[:_HEAD]
    binary = _CONTROL.search(head) is not None
    for magic, kind in _MAGIC:
        if head.startswith(magic) and (binary or magic not in _WORDS):
            return kind
    if _is_pdf(body):
        return Kind.PDF
    if binary and head[4:8] == b"ftyp":
        return Kind.UNREADABLE
    if head[_TAR_MARK_AT : _TAR_MARK_AT + 5] == b"ustar":
        return Kind.TAR
    if binary and is_dbase(body):
        return Kind.DBASE
    extension = (name or "").rpartition(".")[2].lower()
    declared = (content_type or "").partition(";")[0].strip().lower()
    return _kind_of_text(head, extension, declared)


def _is_pdf(body: bytes) -> bool:
    """The mark may come late; but a text may speak of it, within a line and without objects behind it."""
    if body.startswith(b"%PDF-"):
        return True
    head = body[:_PDF_WITHIN]
    return b"%PDF-" in head and (_PDF_LINE.search(head) is not None or b" obj" in body)


def _kind_of_text(head: bytes, extension: str, declared: str) -> Kind:
    if head.startswith(_BOMS_16):
        encoding = "utf-16-le" if head.startswith(_BOMS_16[0]) else "utf-16-be"
        head = head[2:].decode(encoding, "ignore").encode()
    elif _CONTROL.search(head):
        return Kind.FOREIGN if extension in _FOREIGN_EXTENSIONS else Kind.UNREADABLE
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"<") and not start.startswith(b"<MIFFile"):
        return _kind_of_markup(start, extension, declared)
    return next(kind for kind, fits in _TEXTS if fits(start, extension, declared))


def _is_html(start: bytes, extension: str, declared: str) -> bool:
    return declared in _HTML_TYPES or extension in _HTML_EXTENSIONS or _HTML.search(start[:1024]) is not None


def _kind_of_markup(start: bytes, extension: str, declared: str) -> Kind:
    root = root_of(start.decode("latin-1"))
    if root and (root.name or root.doctype).lower() == "html":
        return Kind.HTML
    if start.startswith(b"<?xml") or (root and root.doctype):
        return Kind.HTML if root and root.doctype.lower() == "html" else Kind.XML
    if _HTML.match(start) or _DOCTYPE_HTML.search(start):
        return Kind.HTML
    if declared in _HTML_TYPES or extension in _HTML_EXTENSIONS:
        return Kind.HTML
    return Kind.XML if root else Kind.TEXT


def _is_mail(start: bytes, extension: str, declared: str) -> bool:
    names: set[bytes] = set()
    position = 0
    while match := _MAIL_HEADER.match(start, position):
        names.add(match[1].lower())
        position = match.end()
    if declared in _MAIL_TYPES or extension in _MAIL_EXTENSIONS:
        return bool(names)
    return len(names & _MAIL_NAMES) >= _FEWEST_MAIL_HEADERS and bool(names & _MAIL_PROOF)


_TEXTS: tuple[tuple[Kind, Callable[[bytes, str, str], object]], ...] = (
    (Kind.RTF, lambda start, _extension, _declared: start.startswith(b"{\\rt")),
    (Kind.MIF, lambda start, _extension, _declared: start.startswith(b"<MIFFile")),
    (Kind.MBOX, lambda start, _extension, _declared: _MBOX.match(start)),
    (Kind.MAIL, _is_mail),
    (Kind.FOREIGN, lambda _start, extension, _declared: extension in _FOREIGN_EXTENSIONS),
    (Kind.CSV, lambda _start, extension, declared: declared in _CSV_TYPES or extension in _CSV_EXTENSIONS),
    (Kind.HTML, _is_html),
    (Kind.TEXT, lambda _start, _extension, _declared: True),
)
"""What text may be, in order of certainty."""
