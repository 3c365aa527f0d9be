"""Slips of markup that can be put right without guessing, so that the strict tier can try once more.

Bare ampersands, names of HTML characters, control characters, prefixes nobody declared, what stands before the
document. Nothing here closes an element or makes up a value.
"""

import html
import re
from functools import lru_cache
from typing import Final

from ingather.syndication.names import PREFIXES
from ingather.syndication.verbatim import markup, parts

__all__ = ["mended", "open_item", "outside_items"]

_BARE: Final = re.compile(r"&(?!(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});)")
_NAMED: Final = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)[#A-Za-z][A-Za-z0-9]{0,30};")
_FORBIDDEN: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_DECLARATION: Final = re.compile(r"<\?xml[^>]{0,200}\?>", re.IGNORECASE)
_DOCTYPE: Final = re.compile(r"<!DOCTYPE[^\[>]{0,1000}>", re.IGNORECASE)
_ROOT: Final = re.compile(r"<(?![?!])[^\s<>/]+")
_PREFIXED: Final = re.compile(r"(?:</?|\s)([A-Za-z_][\w.-]*):[A-Za-z_]")
_ITEM: Final = re.compile(r"<(/?)(?:[A-Za-z][\w.-]*:)?(?:item|entry)(?=[\s/>])[^<>]*(/?)>", re.IGNORECASE)
_END: Final = re.compile(r"</(?:[A-Za-z][\w.-]*:)?(?:rss|rdf|feed|channel|entry)\s*>\s*\Z", re.IGNORECASE)
_FINAL_CHARS: Final = 2000
_MAX_PREFIXES: Final = 50
_TAG: Final = re.compile(r"<[^<>]*>")
_QUOTED: Final = re.compile(r"\"[^\"]*\"|'[^']*'")


def mended(text: str) -> str:
    """Return *text* with its declaration and DOCTYPE taken off and the slips mended."""
    root = _ROOT.search(text)
    if root is None:
        return text
    head = _DOCTYPE.sub("", _DECLARATION.sub("", text[: root.start()]))
    first = head.find("<")
    body = (head[first:] if first >= 0 else "") + text[root.start() :]
    body = _FORBIDDEN.sub("", body)
    body = "".join(part if verbatim else _references(part) for verbatim, part in parts(body))
    return _declare_prefixes(body)


def _references(part: str) -> str:
    return _NAMED.sub(_reference, _BARE.sub("&amp;", part))


@lru_cache(1024)
def _character(written: str) -> str:
    """Return what a reference stands for as XML writes it; a name that HTML does not know is text."""
    character = html.unescape(written)
    if character == written:
        return f"&amp;{written[1:]}"
    return "" if _FORBIDDEN.search(character) else "".join(f"&#{ord(c)};" for c in character)


def _reference(found: re.Match[str]) -> str:
    return _character(found[0])


def _declare_prefixes(text: str) -> str:
    """Declare on the root every prefix that is used and declared nowhere."""
    bare = markup(text)
    used = {prefix for tag in _TAG.finditer(bare) for prefix in _PREFIXED.findall(_QUOTED.sub("", tag[0]))}
    missing = sorted(prefix for prefix in used - {"xml", "xmlns"} if f"xmlns:{prefix}" not in bare)
    root = _ROOT.search(text)
    if not missing or root is None or len(missing) > _MAX_PREFIXES:
        return text
    declared = "".join(
        f' xmlns:{prefix}="{PREFIXES.get(prefix.lower(), "urn:x-undeclared:" + prefix)}"'
        for prefix in missing
    )
    return text[: root.end()] + declared + text[root.end() :]


def open_item(text: str) -> tuple[int, bool]:
    """Return how many items begin in *text*, and whether the document ends inside the last of them."""
    bare = markup(text)
    cut = bare.find("<![CDATA[")
    number, depth = 0, 0
    for found in _ITEM.finditer(bare if cut < 0 else bare[:cut]):
        if found[1]:
            depth = 0
        else:
            number += 1
            depth = 0 if found[2] else 1
    ended = _END.search(bare[-_FINAL_CHARS:]) is not None
    return number, (cut >= 0 or not ended) and depth > 0


def outside_items(text: str) -> str:
    """Return the markup of *text* that stands in no item; of an item that does not end all that follows it is taken away."""
    bare = markup(text)
    kept: list[str] = []
    begin, inside = 0, False
    for found in _ITEM.finditer(bare):
        if found[1] and inside:
            begin, inside = found.end(), False
        elif not found[1] and not inside:
            kept.append(bare[begin : found.start()])
            begin, inside = found.end(), not found[2]
    if not inside:
        kept.append(bare[begin:])
    return "".join(kept)
