"""A look at HTML before it is parsed: would it stall the parser? Linear, a few microseconds a page.

The HTML standard's own algorithms are quadratic in places: each attribute of a tag is compared with
all before it (80,000 on one tag cost Lexbor 14 s), and block elements look through the stack of open
elements (40,000 nested ones 2 s). Such a page is not refused; it is read in a converter, where it
may take its time and die alone.

What ordinary pages pay is a few searches; whole pages are tokenised only when these leave a doubt, or
when they are so large that it no longer matters. A tag that hides its end behind quoted ``>`` signs in
every few kilobytes is found above four megabytes only; below it costs its process a time that the keeper bounds.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

__all__ = ["SuspectLimits", "suspect_reason"]


@dataclass(frozen=True, slots=True)
class SuspectLimits:
    """What a gatherer parses itself: *attributes* on one tag (2,000 cost 7 ms), *open_elements* (8,000 cost 75 ms)."""

    attributes: int = 2_000
    open_elements: int = 8_000


_DEFAULT: Final = SuspectLimits()
# Below these sizes even the worst page takes less than 30 ms (attributes) and 400 ms (nesting).
_SMALL_BYTES: Final = 16 << 10
_SHALLOW_BYTES: Final = 96 << 10
_LARGE_BYTES: Final = 4 << 20
_WINDOW_BYTES: Final = 4096
_CHUNK_BYTES: Final = 32 << 10

_TAG: Final = re.compile(rb"<(/?)([a-zA-Z][^\s/>]*+)")
_ATTRIBUTE: Final = re.compile(
    rb"[\s/]*+[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:\"[^\"]*+\"|'[^']*+'|[^\s>\"'][^\s>]*+|[\"'][^\s>]*+)?)?"
)
# Some of a tag up to its end. Bounded, for each round of a repeated group takes memory until the match is over.
_TAG_PART: Final = re.compile(rb"(?:[^>\"'=]++|=\s*+(?:\"[^\"]*+\"|'[^']*+')?|[\"']){1,256}")
_TAG_START: Final = re.compile(rb"<[a-zA-Z]")
# Closed by their like or never open: they do not pile up.
_FLAT: Final = frozenset(
    b"area base br col embed hr img input link meta param source track wbr li p dd dt td th tr tbody thead tfoot "
    b"option optgroup rp rt colgroup caption html head body frame keygen basefont bgsound script style title".split()
)


def suspect_reason(html: bytes, limits: SuspectLimits = _DEFAULT) -> str | None:
    """Say why *html* should be read in a converter, ``None`` for an ordinary page.

    Returns ``attributes`` (too many on one tag) or ``nesting`` (too many open elements).
    """
    size = len(html)
    if size <= _SMALL_BYTES:
        return None
    if b"\x00" in html:  # UTF-16 and its like
        html = html.replace(b"\x00", b"")
        size = len(html)
    if _has_crowded_tag(html, size, limits.attributes):
        return "attributes"
    if (
        size > _SHALLOW_BYTES
        and html.count(b"<") > limits.open_elements
        and _is_deep(html, limits.open_elements)
    ):
        return "nesting"
    return None


def _has_crowded_tag(html: bytes, size: int, limit: int) -> bool:
    find = html.find
    place = 0
    while place < size:
        if find(b">", place, place + _WINDOW_BYTES) < 0:
            # A window without an end of a tag: long text, a script, or the inside of a long tag.
            start = html.rfind(b"<", 0, place + _WINDOW_BYTES)
            if start >= 0 and _attributes_reach(html, start, limit):
                return True
            end = find(b">", place)
            if end < 0:
                return False
            place = end
        else:
            place += _WINDOW_BYTES
    return size > _LARGE_BYTES and any(
        end - start > _WINDOW_BYTES and _attributes_reach(html, start, limit)
        for start, end in _whole_tags(html)
    )


def _whole_tags(html: bytes) -> Iterator[tuple[int, int]]:
    """Yield where each tag begins, and where its ``>`` stands or the page ends."""
    end = 0
    while tag := _TAG_START.search(html, end):
        end = tag.end()
        while part := _TAG_PART.match(html, end):
            end = part.end()
        yield tag.start(), end


def _attributes_reach(html: bytes, start: int, limit: int) -> bool:
    """Tell whether the tag at *start* has more than *limit* attributes."""
    tag = _TAG.match(html, start)
    if tag is None:
        return False
    place = tag.end()
    for _ in range(limit + 1):
        attribute = _ATTRIBUTE.match(html, place)
        if attribute is None:
            return False
        place = attribute.end()
    return True


def _is_deep(html: bytes, limit: int) -> bool:
    """Bound the number of open elements from above by counting, exactly only if the bound is passed."""
    open_elements = 0
    for start in range(0, len(html), _CHUNK_BYTES):
        chunk = html[start : start + _CHUNK_BYTES + 1]
        ends = chunk.count(b"</")
        starts = chunk.count(b"<", 0, _CHUNK_BYTES) - ends
        if open_elements + starts > limit:
            return _depth_passes(html, limit)
        open_elements = max(0, open_elements + starts - ends)
    return False


def _depth_passes(html: bytes, limit: int) -> bool:
    depth = 0
    for tag in _TAG.finditer(html):
        if tag[2].lower() in _FLAT:
            continue
        if tag[1]:
            depth = max(0, depth - 1)
        else:
            depth += 1
            if depth > limit:
                return True
    return False
