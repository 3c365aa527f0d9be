"""What stands before the root element of XML: declarations, comments and instructions, walked over in one pass."""

import re
from typing import NamedTuple

__all__ = ["Root", "root_of"]

_NAME = re.compile(r"<(?:([\w.-]+):)?([\w.-]+)([^>]*)")
_DOCTYPE = re.compile(r"<!doctype\s+(?:[\w.-]+:)?([\w.-]+)", re.IGNORECASE)
_DECLARATION_PARTS = re.compile(r"\"[^\"]*\"|'[^']*'|[\[\]>]")


class Root(NamedTuple):
    """The root element's start tag: prefix, local name, the attributes as written; *doctype* as declared or ``""``."""

    prefix: str
    name: str
    attributes: str
    doctype: str


def root_of(text: str) -> Root | None:
    """Return the root of the XML that *text* begins, ``None`` when none is found in it."""
    position, doctype = 0, ""
    text = text.removeprefix("\ufeff")
    while True:
        position = _past_blanks(text, position)
        if text.startswith("<?", position):
            position = _past(text, "?>", position)
        elif text.startswith("<!--", position):
            position = _past(text, "-->", position)
        elif found := _DOCTYPE.match(text, position):
            doctype = found[1]
            position = _past_declaration(text, found.end())
        else:
            match = _NAME.match(text, position)
            return Root(match[1] or "", match[2], match[3], doctype) if match else None
        if position < 0:
            return Root("", "", "", doctype) if doctype else None


def _past_blanks(text: str, position: int) -> int:
    while position < len(text) and text[position].isspace():
        position += 1
    return position


def _past(text: str, mark: str, position: int) -> int:
    found = text.find(mark, position)
    return found + len(mark) if found >= 0 else -1


def _past_declaration(text: str, position: int) -> int:
    """Return where a document type declaration ends, its internal subset included; -1 when it does not."""
    inside = 0
    for found in _DECLARATION_PARTS.finditer(text, position):
        if found[0] == "[":
            inside += 1
        elif found[0] == "]":
            inside -= 1
        elif found[0] == ">" and inside <= 0:
            return found.end()
    return -1
