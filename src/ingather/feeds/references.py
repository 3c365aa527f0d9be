"""Entity references that XML does not know: found, resolved or marked.

A parser that sees a document type declaration with an external subset drops references that nobody declared, without a
word; a denial of ``M&uuml;ller`` would become one of ``Mller``. So they are settled before anything is parsed: names that HTML
knows become their character, others a mark that is looked for in what the parser gives.
"""

import re
from html.entities import html5
from typing import Final, NamedTuple

__all__ = ["LOST", "Settled", "resolve_text", "settle"]

LOST: Final = "\ue0f1\ue0f2\ue0f1"
"""Stands in a text where a reference was that nobody can resolve."""

_FOREIGN: Final = re.compile(
    rb"&(?!(?:lt|gt|amp|quot|apos|#[0-9]{1,8}|#x[0-9A-Fa-f]{1,8});)([A-Za-z_:\x80-\xff][\w.:\x80-\xff-]{0,250});"
)
_IN_TEXT: Final = re.compile(r"&(#[0-9]{1,8}|#x[0-9A-Fa-f]{1,8}|[A-Za-z][A-Za-z0-9]{0,60});")
_LOST_BYTES: Final = LOST.encode()
_MOST_NAMED: Final = 20
_LAST_CODE: Final = 0x10FFFF


class Settled(NamedTuple):
    """A text whose references XML knows.

    Attributes:
        data: the text.
        resolved: names that became characters, each once, in order.
        lost: names that are :data:`LOST` now.
    """

    data: bytes
    resolved: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()


def settle(data: bytes, opaque: tuple[tuple[int, int], ...]) -> Settled:
    """Settle the references of *data* (UTF-8) outside its *opaque* stretches."""
    if b"&" not in data or _FOREIGN.search(data) is None:
        return Settled(data)
    resolved: dict[str, None] = {}
    lost: dict[str, None] = {}

    def replace(match: re.Match[bytes]) -> bytes:
        name = match[1].decode("utf-8", "replace")
        value = html5.get(f"{name};")
        if value is None:
            if len(lost) < _MOST_NAMED:
                lost[name] = None
            return _LOST_BYTES
        if len(resolved) < _MOST_NAMED:
            resolved[name] = None
        return "".join(f"&#{ord(character)};" for character in value).encode("ascii")

    parts: list[bytes] = []
    at = 0
    for start, end in opaque:
        parts += (_FOREIGN.sub(replace, data[at:start]), data[start:end])
        at = end
    parts.append(_FOREIGN.sub(replace, data[at:]))
    return Settled(b"".join(parts), tuple(resolved), tuple(lost))


def resolve_text(text: str) -> str:
    """Return *text* with its references resolved; those that cannot be stay as they are written."""

    def replace(match: re.Match[str]) -> str:
        name = match[1]
        if not name.startswith("#"):
            return html5.get(f"{name};", match[0])
        code = int(f"0{name}".replace("#", ""), 16) if name[1] == "x" else int(name[1:])
        return chr(code) if 0 < code <= _LAST_CODE and not 0xD800 <= code < 0xE000 else match[0]  # noqa: PLR2004

    return _IN_TEXT.sub(replace, text) if "&" in text else text
