"""Bytes to text, in the HTML standard's order: byte order mark, header, prescan, then a guess.

HTML standard, sections 13.2.3.1 to 13.2.3.5. For text that is no markup the prescan is left out.
"""

import re
from functools import lru_cache
from typing import Final, NamedTuple

from ingather.extract.labels import decode_as, encoding_of

__all__ = ["Decoded", "Encoding", "choose_encoding", "decode", "header_charset"]

_PRESCAN_BYTES: Final = 1024
_LATE_META_BYTES: Final = 32 * 1024
_BOMS: Final = ((b"\xef\xbb\xbf", "utf-8"), (b"\xfe\xff", "utf-16be"), (b"\xff\xfe", "utf-16le"))
_MARKUP: Final = re.compile(r"\s*(?:text/html|[^;]*xml)\s*(?:;|$)", re.IGNORECASE)
_CHARSET_PARAMETER: Final = re.compile(
    r"charset\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s;\"']+))", re.IGNORECASE
)

# One step of the prescan: a comment, a meta tag, another tag with its attributes, a declaration.
_STEP: Final = re.compile(
    rb"""<(?: !(?=--)(?s:.*?)-->
           | (?P<meta>[mM][eE][tT][aA])(?=[\t\n\f\r\x20/])
           | (?P<raw>script|style|title|textarea)(?=[\t\n\f\r\x20/>])
           | /?[a-zA-Z](?: [^>=]++ | =[\t\n\f\r\x20]*+(?:"[^"]*+"|'[^']*+') | = )*
           | [!/?][^>]*+ )""",
    re.VERBOSE | re.IGNORECASE,
)
_ATTRIBUTE: Final = re.compile(
    rb"""[\t\n\f\r\x20/]*+ (?P<name>[^>\t\n\f\r\x20/][^=>\t\n\f\r\x20/]*+)
         (?: [\t\n\f\r\x20]*+ = [\t\n\f\r\x20]*+
             (?: "(?P<double>[^"]*)" | '(?P<single>[^']*)' | (?P<bare>[^\t\n\f\r\x20>"'][^\t\n\f\r\x20>]*+)? ) )?""",
    re.VERBOSE,
)
_XML_DECLARATION: Final = re.compile(
    rb"<\?xml[^>]*?encoding[\x00-\x20]*=[\x00-\x20]*(?:\"([^\">\s]+)\"|'([^'>\s]+)')"
)
_RAW_END: Final = re.compile(rb"</(?:script|style|title|textarea)", re.IGNORECASE)


class Encoding(NamedTuple):
    """What the bytes are decoded with.

    Attributes:
        name: the standard's name, lower case: ``utf-8``, ``windows-1252``.
        source: ``bom``, ``header``, ``meta``, ``xml`` or ``guess``.
        skip: bytes of the byte order mark.
    """

    name: str
    source: str
    skip: int = 0


class Decoded(NamedTuple):
    """Text, and the name of the encoding that it was in (WHATWG)."""

    text: str
    encoding: str


def decode(body: bytes, *, content_type: str | None = None) -> Decoded:
    """Return the text of *body* and the name of its encoding.

    Args:
        body: what arrived, content encoding removed.
        content_type: the header as received, ``None`` if there was none; the prescan looks into
            markup and into what has no declared type.

    Never fails: what cannot be decoded becomes U+FFFD.
    """
    markup = not content_type or _MARKUP.match(content_type) is not None
    encoding = choose_encoding(body, content_type=content_type, markup=markup)
    return Decoded(decode_as(body[encoding.skip :], encoding.name), encoding.name)


def choose_encoding(body: bytes, *, content_type: str | None, markup: bool) -> Encoding:
    """Decide how to decode *body* (HTML standard, section 13.2.3.2); *markup*: look for ``<meta charset>``."""
    for mark, name in _BOMS:
        if body.startswith(mark):
            return Encoding(name, "bom", len(mark))
    declared = header_charset(content_type) if content_type else None
    if declared is not None:
        return Encoding(declared, "header")
    if markup:
        found = _prescan(body)
        if found is not None:
            return found
    from ingather.extract.guessing import guess

    return Encoding(guess(body), "guess")


@lru_cache(maxsize=512)
def header_charset(content_type: str) -> str | None:
    """Return the encoding that a Content-Type header (or a meta's content) names, ``None`` if none that is known."""
    match = _CHARSET_PARAMETER.search(content_type)
    return encoding_of(match[1] or match[2] or match[3] or "") if match else None


def _prescan(body: bytes) -> Encoding | None:
    """Look for a declaration inside the document, as the standard's prescan and its late cousin do."""
    if body.startswith(b"<\x00?\x00x\x00"):
        return Encoding("utf-16le", "xml")
    if body.startswith(b"\x00<\x00?\x00x"):
        return Encoding("utf-16be", "xml")
    name = _meta_encoding(body[:_PRESCAN_BYTES], skip_raw=False)
    if name is None:
        declaration = _XML_DECLARATION.match(body, 0, _PRESCAN_BYTES)
        if declaration:
            label = (declaration[1] or declaration[2]).decode("latin-1")
            name = encoding_of(label)
            if name is not None:
                return Encoding("utf-8" if name.startswith("utf-16") else name, "xml")
        # A meta further down changes the encoding while the page is parsed (section 13.2.3.5).
        if len(body) > _PRESCAN_BYTES:
            name = _meta_encoding(body[:_LATE_META_BYTES], skip_raw=True)
    return None if name is None else Encoding(name, "meta")


def _meta_encoding(head: bytes, *, skip_raw: bool) -> str | None:
    position = 0
    while True:
        step = _STEP.search(head, position)
        if step is None:
            return None
        position = step.end()
        if step["meta"]:
            attributes: dict[str, str] = {}
            while match := _ATTRIBUTE.match(head, position):
                position = match.end()
                value = match["double"] or match["single"] or match["bare"] or b""
                attributes.setdefault(_word(match["name"]), _word(value))
            name = _meta_charset(attributes)
            if name is not None and position < len(head):
                return name
        elif step["raw"] and skip_raw:
            end = _RAW_END.search(head, position)
            if end is None:
                return None
            position = end.end()


def _word(part: bytes) -> str:
    return part.lower().decode("latin-1")


def _meta_charset(attributes: dict[str, str]) -> str | None:
    label = attributes.get("charset")
    if label is not None:
        name = encoding_of(label)
    elif attributes.get("http-equiv") == "content-type":
        name = header_charset(attributes.get("content", ""))
    else:
        return None
    if name in {"utf-16le", "utf-16be"}:
        return "utf-8"
    return "windows-1252" if name == "x-user-defined" else name
