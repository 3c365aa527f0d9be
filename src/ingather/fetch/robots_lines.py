"""The lines of a robots.txt: where they end, which directive each one is, what was odd about it.

Follows Google's parser where RFC 9309 leaves room: directive names count by their beginning
and in any case, a few misspellings are accepted, a missing colon is when exactly two words
stand in the line, a line is read up to 16,663 bytes.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

__all__ = ["FAST_KINDS", "LineEvent", "LineKind", "clean_value", "explain_lines", "read_line", "split_lines"]

MAX_BYTES = 2 << 20
MAX_LINE = 16_663
BLANKS = " \t\v\f\r\n"


class LineKind(IntEnum):
    """What a line is."""

    DISALLOW = 0
    ALLOW = 1
    USER_AGENT = 2
    SITEMAP = 3
    CRAWL_DELAY = 4
    UNKNOWN = 5
    """A directive that nobody here knows; it does not end a group (RFC 9309 2.2.4)."""
    INVALID = 6
    """Text without a colon."""
    EMPTY = 7
    """Nothing, or a comment."""


FAST_KINDS: dict[str, int] = {  # plain numbers: comparing members of an enum costs a line's whole reading
    spelling + blank: int(kind)
    for kind, names in {
        LineKind.DISALLOW: ("Disallow", "disallow", "DISALLOW"),
        LineKind.ALLOW: ("Allow", "allow", "ALLOW"),
        LineKind.USER_AGENT: ("User-agent", "User-Agent", "user-agent", "USER-AGENT"),
        LineKind.SITEMAP: ("Sitemap", "sitemap", "SITEMAP"),
        LineKind.CRAWL_DELAY: ("Crawl-delay", "Crawl-Delay", "crawl-delay"),
    }.items()
    for spelling in names
    for blank in ("", " ")
}
"""Usual spellings, looked up before any closer reading."""

_Names = tuple[tuple[LineKind, tuple[str, ...]], ...]
_RIGHT: _Names = (
    (LineKind.DISALLOW, ("disallow",)),
    (LineKind.ALLOW, ("allow",)),
    (LineKind.USER_AGENT, ("user-agent",)),
    (LineKind.SITEMAP, ("sitemap",)),
    (LineKind.CRAWL_DELAY, ("crawl-delay",)),
)
_MISSPELT: _Names = (
    (LineKind.DISALLOW, ("dissallow", "dissalow", "disalow", "diasllow", "disallaw", "desallow")),
    (LineKind.USER_AGENT, ("useragent", "user agent")),
    (LineKind.SITEMAP, ("site-map",)),
    (LineKind.CRAWL_DELAY, ("crawldelay", "crawl delay")),
)
_MARKUP = re.compile(r"(?:[ \t]*</?(?:br|p|pre|div|li|td|span)[ \t]*/?>)+[ \t]*\Z", re.IGNORECASE)
_MARKUP_SPAN = 256
_WORDS = re.compile(r"[^ \t]+")
_TWO = 2


@dataclass(frozen=True, slots=True)
class LineEvent:
    """One line as it was read: *number* from 1, *value* as it counts, *remarks* for people."""

    number: int
    kind: LineKind
    text: str
    value: str = ""
    remarks: tuple[str, ...] = ()


def split_lines(body: bytes) -> list[str]:
    """Split at LF, CR and CRLF; each character of a line stands for one byte of UTF-8.

    A byte order mark (also a part of one) is dropped, UTF-16 is turned into UTF-8, NULs are
    dropped. What begins beyond 2 MiB is not read; a line is kept up to 16,663 bytes.
    """
    if body[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        body = body[: 2 * MAX_BYTES].decode("utf-16", "replace").encode("utf-8", "replace")
    for mark in (b"\xef\xbb\xbf", b"\xef\xbb", b"\xef"):
        if body.startswith(mark):
            body = body[len(mark) :]
            break
    if len(body) > MAX_BYTES:
        ends = (body.find(end, MAX_BYTES, MAX_BYTES + MAX_LINE) for end in (b"\n", b"\r"))
        body = body[: min((end for end in ends if end >= 0), default=MAX_BYTES)]
    text = body.decode("latin-1")
    if "\0" in text:
        text = text.replace("\0", "")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    if max(map(len, lines)) > MAX_LINE:
        lines = [line[:MAX_LINE] for line in lines]
    return lines


def read_line(line: str) -> tuple[LineKind, str]:
    """Read one line closely: its kind, and its value without comment and blanks."""
    kind, value, _ = _read(line)
    return kind, value


def clean_value(value: str) -> str:
    """Take comment, blanks and the markup of an HTML page off a value."""
    if "#" in value:
        value = value[: value.index("#")]
    value = value.strip(BLANKS)
    if value.endswith(">"):
        markup = _MARKUP.search(value, max(0, len(value) - _MARKUP_SPAN))
        if markup:
            value = value[: markup.start()].strip(BLANKS)
    return value


def explain_lines(lines: list[str]) -> Iterator[LineEvent]:
    """Tell what was made of each line."""
    in_group = False
    for number, line in enumerate(lines, 1):
        kind, value, remarks = _read(line)
        if kind is LineKind.USER_AGENT:
            in_group = True
        elif kind in {LineKind.ALLOW, LineKind.DISALLOW, LineKind.CRAWL_DELAY} and not in_group:
            remarks.append("before any user-agent: ignored")
        if len(line) >= MAX_LINE:
            remarks.append(f"only {MAX_LINE} bytes of the line were read")
        if kind <= LineKind.ALLOW and not value.isascii():
            remarks.append("compared with bytes beyond ASCII percent-encoded")
        text = line.strip(BLANKS).encode("latin-1").decode("utf-8", "replace")
        told = value.encode("latin-1").decode("utf-8", "replace")
        yield LineEvent(number, kind, text, told, tuple(remarks))


def _read(line: str) -> tuple[LineKind, str, list[str]]:
    remarks: list[str] = []
    text = line[: line.index("#")] if "#" in line else line
    text = text.strip(BLANKS)
    if not text:
        return LineKind.EMPTY, "", remarks
    key, colon, value = text.partition(":")
    key = key.strip(BLANKS)
    if not colon or (" " in key and _kind_of(key.split(None, 1)[0])[0] <= LineKind.ALLOW):
        # "Disallow /x": no colon; "Disallow /x:y": the colon is part of the path.
        words = _WORDS.findall(text, 0, MAX_LINE)
        if len(words) != _TWO:
            return LineKind.INVALID, text, remarks
        key, value = words
        remarks.append("no colon after the directive")
    if not key:
        return LineKind.INVALID, text, remarks
    kind, misspelt = _kind_of(key)
    if misspelt:
        remarks.append(f"misspelt directive {key!r} accepted")
    cleaned = clean_value(value)
    if cleaned != value.strip(BLANKS):
        remarks.append("markup after the value ignored")
    return kind, cleaned, remarks


def _kind_of(key: str) -> tuple[LineKind, bool]:
    """Name the directive that *key* begins with, and whether it is misspelt."""
    low = key[:16].lower()
    for kind, names in _RIGHT:
        if low.startswith(names):
            return kind, False
    for kind, names in _MISSPELT:
        if low.startswith(names):
            return kind, True
    return LineKind.UNKNOWN, False
