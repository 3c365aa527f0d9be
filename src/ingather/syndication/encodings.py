"""The bytes of a feed as text: byte order mark, its own declaration, the header, UTF-8.

The declaration goes before the header: servers give one charset to all their files. Strict first; what
does not decode is decoded once more with every slip mended, and the caller is told.
"""

import codecs
import re
from typing import Final, NamedTuple

from ingather.extract.charset import header_charset
from ingather.extract.labels import codec_of

__all__ = ["Decoded", "decode_listing"]

_BOMS: Final = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\x00\x00", "utf-32-le"),
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_WIDE: Final = (
    (re.compile(rb"(?:[\t\n\r ]\x00\x00\x00)*[<{\[]\x00\x00\x00"), "utf-32-le"),
    (re.compile(rb"(?:\x00\x00\x00[\t\n\r ])*\x00\x00\x00[<{\[]"), "utf-32-be"),
    (re.compile(rb"(?:[\t\n\r ]\x00)*[<{\[]\x00"), "utf-16-le"),
    (re.compile(rb"(?:\x00[\t\n\r ])*\x00[<{\[]"), "utf-16-be"),
)
_EBCDIC: Final = b"\x4c\x6f\xa7\x94"
_DECLARED: Final = re.compile(
    r"[\x00-\x20\ufeff]*<\?xml[^>]*?encoding\s*=\s*[\"']\s*([^\"'>]{1,60}?)\s*[\"']"
)
# Quotation marks are not the same byte in all of that family.
_DECLARED_EBCDIC: Final = re.compile(r"<\?xml[^>]*?encoding\s*=\s*.\s*([A-Za-z0-9._:-]{1,60})")
_WIDE_LABEL: Final = re.compile(r"(?:utf-?16|utf-?32|ucs-?[24]|iso-10646-ucs-[24]|unicode).*", re.IGNORECASE)
_HEAD: Final = 1024
# The web's table has no line for these, feeds were seen with them.
_MORE: Final = {
    "hz-gb-2312": "hz", "iso-2022-kr": "iso2022_kr", "x-sjis-0213": "shift_jisx0213", "utf-7": "",
    "unicode-1-1-utf-7": "",
}  # fmt: skip


class Decoded(NamedTuple):
    """The text of a document, without byte order mark; ``broken`` says in words what did not decode, else ``""``."""

    text: str
    broken: str


def _by_windows(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    wrong = error.object[error.start : error.end]
    return wrong.decode("cp1252", "replace"), error.end


codecs.register_error("ingather-listing", _by_windows)


def decode_listing(body: bytes, content_type: str | None) -> Decoded:
    """Return the text of *body*. Never fails."""
    for mark, codec in _BOMS:
        if body.startswith(mark):
            return _decode(body[len(mark) :], codec)
    for form, codec in _WIDE:
        if form.match(body):
            return _decode(body, codec)
    head = body[:_HEAD]
    if body.startswith(_EBCDIC):
        found = _DECLARED_EBCDIC.match(head.decode("cp037"))
        return _decode(body, (found and _codec(found[1])) or "cp037")
    declared = _DECLARED.match(head.decode("latin-1"))
    said = header_charset(content_type) if content_type else None
    remark = ""
    if declared:
        label = declared[1]
        if not _WIDE_LABEL.fullmatch(label):
            codec = _codec(label)
            if codec:
                first = _decode(body, codec)
                if not first.broken or not said or codec_of(said) in {None, codec}:
                    return first
                second = _decode(body, codec_of(said) or "utf-8")  # the declaration lies: the header may not
                return Decoded(second.text, first.broken)
            remark = f"declares the encoding {label!r}, which is not known"
        else:
            remark = f"declares {label}, which its bytes are not"
    codec = (codec_of(said) if said else None) or "utf-8"
    read = _decode(body, codec)
    return Decoded(read.text, read.broken or remark)


def _codec(label: str) -> str:
    """Return the Python codec for a label, ``""`` if nobody knows it or it is no encoding of text."""
    low = label.strip().lower()
    web = codec_of(low)
    if web is not None and web != "-":
        return web
    if low in _MORE:
        return _MORE[low]
    try:
        found = codecs.lookup(low)
    except (LookupError, ValueError):
        return ""
    return found.name if getattr(found, "_is_text_encoding", True) and found.name not in _NO_WIRE else ""


_NO_WIRE: Final = frozenset(
    {"idna", "punycode", "raw-unicode-escape", "unicode-escape", "undefined", "mbcs", "oem", "utf-7"}
)


def _decode(body: bytes, codec: str) -> Decoded:
    try:
        return Decoded(body.decode(codec), "")
    except (UnicodeError, LookupError):
        pass
    if codec == "cp1252":  # five bytes that windows-1252 leaves free are controls in ISO 8859-1
        return Decoded(body.decode("latin-1"), "")
    name = codec.upper()
    if codec == "utf-8":
        return Decoded(body.decode("utf-8", "ingather-listing"), "has bytes that are not UTF-8")
    return Decoded(body.decode(codec, "replace"), f"has bytes that are not {name}")
