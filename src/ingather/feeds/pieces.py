"""One record or ACL: parsed strictly, and if that fails repaired where the slip is a known one.

Source: GSA feeds specification, section 6. Known slips: a ``meta`` that is not closed (it is empty by definition), control
characters, bytes that the charset does not have. Nothing else is guessed, and nothing outside the piece is touched.
"""

import codecs
import re
from typing import Final, NamedTuple

from lxml import etree

from ingather.feeds.references import Settled, settle
from ingather.feeds.scanned import Piece

__all__ = ["GUESSED", "Parsed", "lift", "parse_piece", "parse_tag", "raw_url"]

GUESSED: Final = "\ue0f3\ue0f4\ue0f3"
"""Stands before a character that repair guessed or where it took one out."""

_GUESSED: Final = GUESSED.encode()
_META_PART: Final = rb"(?:[^<>\"']++|\"[^\"<]*+\"|'[^'<]*+')"
# A repeated group takes memory for each round: a tag of more parts is none that somebody forgot to close.
_META: Final = re.compile(
    rb"<(meta)(?=[\s/>])(" + _META_PART + rb"{0,4096})(?!" + _META_PART + rb")>?|</meta\s*+>", re.IGNORECASE
)
_CONTROL: Final = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]|\xef\xbf[\xbe\xbf]")
_BAD_NUMBER: Final = re.compile(rb"&#(?:0*([0-9]{1,8})|x0*([0-9A-Fa-f]{1,8}));")
_TAGS: Final = re.compile(rb"<[^>]*>?")
_BIG: Final = 1 << 20
_ATTRIBUTES_A_TAG: Final = 8
_URL: Final = re.compile(rb"\surl\s*=\s*(?:\"([^\"<>]{0,20000})\"|'([^'<>]{0,20000})')", re.IGNORECASE)
_ENCODED: Final = re.compile(
    rb"<content\s[^<>]*?encoding\s*=\s*[\"']\s*(?i:base64)\w*\s*[\"'][^<>]*+>([^<&]*+)</content"
)
_HEAD: Final = 64 * 1024
_BARE: Final = re.compile(rb"&(?!(?:[A-Za-z_:][\w.:-]*|#[0-9]+|#x[0-9A-Fa-f]+);)")


class Parsed(NamedTuple):
    """What became of a piece.

    Attributes:
        element: ``None`` = it cannot be read; *trouble* says why, *line* where (in the piece, from 0).
        repaired: what was repaired, in words.
        settled: its references.
    """

    element: etree._Element | None
    trouble: str
    line: int
    repaired: tuple[str, ...]
    settled: Settled


_PARSER: Final = etree.XMLParser(
    encoding="utf-8",
    remove_comments=True,
    remove_pis=True,
    resolve_entities=False,
    no_network=True,
    load_dtd=False,
    huge_tree=True,
)


def parse_piece(piece: Piece, *, spaces: tuple[tuple[str, str], ...] = (), tags: int) -> Parsed:
    """Parse *piece*, which is whole.

    Args:
        piece: as the scanner cut it.
        spaces: name space declarations around it.
        tags: how many tags it may have.
    """
    settled = settle(piece.data, piece.opaque)
    if _too_many(piece, tags):
        return Parsed(None, "it has too many tags or attributes", 0, (), settled)
    try:
        return Parsed(_element(settled.data, spaces), "", 0, (), settled)
    except etree.XMLSyntaxError as error:
        fault = error
    data, repaired = _repair(piece, settled)
    if repaired:
        try:
            return Parsed(_element(data, spaces), "", 0, repaired, settled)
        except etree.XMLSyntaxError as error:
            fault = error
    if _BARE.search(_outside(piece)):
        trouble = "'&' that begins no reference (write &amp;)"
    else:
        trouble = str(fault.msg).partition(", line ")[0]
    return Parsed(None, trouble, max((fault.position or (1, 0))[0] - 1, 0), repaired, settled)


def lift(piece: Piece) -> tuple[Piece, bytes]:
    """Take the base64 out of a large *piece*, so that its megabytes go through no tree; ``b""`` = there is none to take."""
    if len(piece.data) < _BIG or piece.data.count(b"<content") != 1:
        return piece, b""
    match = _ENCODED.search(piece.data)
    if match is None or any(start <= match.start() < end for start, end in piece.opaque):
        return piece, b""
    start, end = match.span(1)
    cut = end - start
    opaque = tuple((a - cut, b - cut) if a >= end else (a, b) for a, b in piece.opaque)
    data = piece.data[:start] + piece.data[end:]
    return piece._replace(data=data, opaque=opaque), piece.data[start:end]


def parse_tag(raw: bytes) -> etree._Element | None:
    """Return the element that the start tag *raw* makes, ``None`` if it is no tag."""
    data = settle(raw, ()).data
    try:
        return _element(data if data.endswith(b"/>") else data[:-1] + b"/>", ())
    except etree.XMLSyntaxError:
        return None


def raw_url(data: bytes) -> str:
    """Return the ``url`` attribute of a start tag that need not be whole, as written; ``""`` if there is none."""
    match = _URL.search(data[:_HEAD].partition(b">")[0])
    found = (match[1] or match[2] or b"") if match else b""
    return found.decode("utf-8", "replace").strip()


def _element(data: bytes, spaces: tuple[tuple[str, str], ...]) -> etree._Element:
    if not spaces:
        return etree.fromstring(data, _PARSER)
    declared = "".join(f' xmlns:{prefix}="{name}"' for prefix, name in spaces)
    return etree.fromstring(b"<f" + declared.encode() + b">" + data + b"</f>", _PARSER)[0]


def _outside(piece: Piece) -> bytes:
    """Return *piece* without CDATA, comments and instructions."""
    parts: list[bytes] = []
    at = 0
    for start, end in piece.opaque:
        parts.append(piece.data[at:start])
        at = end
    parts.append(piece.data[at:])
    return b" ".join(parts)


def _too_many(piece: Piece, most: int) -> bool:
    """Whether the element would take memory out of proportion. Small pieces cannot."""
    if len(piece.data) < _BIG:
        return False
    attributes = 0
    for tags, match in enumerate(_TAGS.finditer(_outside(piece)), start=1):
        attributes += match.group().count(b"=")
        if tags > most or attributes > most * _ATTRIBUTES_A_TAG:
            return True
    return False


def _repair(piece: Piece, settled: Settled) -> tuple[bytes, tuple[str, ...]]:
    """Return the text of *piece* with its known slips repaired, and what they were."""
    repaired: list[str] = []
    data, opaque = settled.data, piece.opaque
    if settled.resolved or settled.lost:
        opaque = tuple(match.span() for match in _OPAQUE.finditer(data))
    parts: list[bytes] = []
    at = 0
    for start, end in opaque:
        parts += (_META.sub(_closed, data[at:start]), data[start:end])
        at = end
    parts.append(_META.sub(_closed, data[at:]))
    made = b"".join(parts)
    if made != data:
        repaired.append("meta elements that are not closed")
    data, count = _CONTROL.subn(_GUESSED, made)
    if count:
        repaired.append("control characters")
    made = _BAD_NUMBER.sub(_legal, data)
    if made != data:
        repaired.append("references to control characters")
    try:
        made.decode()
    except UnicodeDecodeError:
        repaired.append("bytes outside the charset")
        made = made.decode("utf-8", "ingather-guess").encode()
    return made, tuple(repaired)


_OPAQUE: Final = re.compile(rb"<!\[CDATA\[.*?\]\]>|<!--.*?-->|<\?.*?\?>", re.DOTALL)


def _closed(match: re.Match[bytes]) -> bytes:
    if match[1] is None:
        return b""
    attributes = match[2].rstrip()
    return b"<" + match[1] + attributes.removesuffix(b"/") + b"/>"


def _legal(match: re.Match[bytes]) -> bytes:
    code = int(match[1]) if match[1] else int(match[2], 16)
    return match[0] if any(first <= code <= last for first, last in _LEGAL_CODES) else _GUESSED


_LEGAL_CODES: Final = ((9, 10), (13, 13), (0x20, 0xD7FF), (0xE000, 0xFFFD), (0x10000, 0x10FFFF))


def _guess(error: UnicodeError) -> tuple[str, int]:
    """Take bytes that are no UTF-8 for what Windows means by them, behind a mark."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    data, at = error.object, error.start
    # A surrogate is our own sign (``encoding``) for bytes that mean nothing in the feed's encoding.
    if data[at] == _SURROGATE:
        return f"{GUESSED}\ufffd", error.end
    if _SURROGATE in data[max(at - 2, 0) : at] and data[at] & 0xC0 == 0x80:  # noqa: PLR2004
        return "", error.end
    return GUESSED + data[at : error.end].decode("cp1252", "replace"), error.end


_SURROGATE: Final = 0xED
codecs.register_error("ingather-guess", _guess)
