"""Sitemaps: lists of URLs that a site wants gathered, in every shape they come in.

XML (``urlset``, ``sitemapindex``, with news and language alternates), plain text with a URL a line, RSS and
Atom (sitemaps.org allows them), each of these in gzip. XML is read strictly, entities off; when it is
broken what a forgiving parser finds is taken, and a remark says so. Bounded in bytes and entries.
"""

import html
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from lxml import etree

from ingather.errors import UrlError
from ingather.extract.charset import decode, header_charset
from ingather.extract.dates import date_value
from ingather.model.url import canonical

__all__ = ["NOTHING", "Sitemap", "SitemapEntry", "SitemapLimits", "read_sitemap"]


@dataclass(frozen=True, slots=True)
class SitemapLimits:
    """The bounds of sitemaps.org: decoded size and entries of one file; *remarks* bounds what is told."""

    decoded_bytes: int = 50 << 20
    entries: int = 50_000
    remarks: int = 50


@dataclass(frozen=True, slots=True)
class SitemapEntry:
    """One URL of a sitemap, or one sitemap of an index.

    Attributes:
        url: canonical.
        lastmod: RFC 3339 UTC, ``""`` if absent or unreadable.
        changefreq: as written, lower case.
        priority: 0 to 1, ``None`` if absent or unreadable.
        news_date: publication date of a news entry, RFC 3339 UTC.
        news_title: its title.
        alternates: (language tag, canonical URL) of translations.
        lastmod_text: ``lastmod`` as written, for whoever compares dates that cannot be read.
    """

    url: str
    lastmod: str = ""
    changefreq: str = ""
    priority: float | None = None
    news_date: str = ""
    news_title: str = ""
    alternates: tuple[tuple[str, str], ...] = ()
    lastmod_text: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Sitemap:
    """What a sitemap says.

    Attributes:
        kind: ``index`` (entries are sitemaps) or ``urls``.
        entries: in order of the file.
        remarks: what was wrong, fit for people.
        truncated: a limit was reached; the rest was not read. Such a file proves no absence.
        malformed: the XML or gzip was broken; entries may be missing.
    """

    kind: str
    entries: tuple[SitemapEntry, ...] = ()
    remarks: tuple[str, ...] = ()
    truncated: bool = False
    malformed: bool = False


@dataclass(slots=True)
class _Reading:
    """The state of one reading."""

    url: str
    limits: SitemapLimits
    kind: str = "urls"
    entries: list[SitemapEntry] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    unsaid: int = 0
    truncated: bool = False
    malformed: bool = False

    def remark(self, text: str) -> None:
        if len(self.remarks) < self.limits.remarks:
            self.remarks.append(text)
        else:
            self.unsaid += 1

    def full(self) -> bool:
        if len(self.entries) < self.limits.entries:
            return False
        if not self.truncated:
            self.truncated = True
            self.remarks.append(f"more than {self.limits.entries} entries: the rest was not read")
        return True

    def done(self) -> Sitemap:
        if not self.entries and not self.remarks:
            self.remarks.append(NOTHING)
        if self.unsaid:
            self.remarks.append(f"{self.unsaid} further remarks")
        return Sitemap(self.kind, tuple(self.entries), tuple(self.remarks), self.truncated, self.malformed)


NOTHING: Final = "lists nothing: no entry was found in it"
"""The remark of a sitemap that is whole and empty."""
_DEFAULT: Final = SitemapLimits()
_GZIP: Final = b"\x1f\x8b"
_FEED_BYTES: Final = 64 << 10
_XML_START: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s*<|\xff\xfe<\x00|\xfe\xff\x00<")
_ABSOLUTE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_ENTITY: Final = re.compile(rb"<!ENTITY", re.IGNORECASE)
_BARE_AMPERSAND: Final = re.compile(
    rb"&(?!(?:#\d+|#[xX][0-9A-Fa-f]+|amp|lt|gt|quot|apos);)([A-Za-z][A-Za-z0-9]{1,30};)?"
)
_ROOTS: Final = {
    "urlset": ("urls", frozenset({"url"})),
    "sitemapindex": ("index", frozenset({"sitemap"})),
    "rss": ("urls", frozenset({"item"})),
    "rdf": ("urls", frozenset({"item"})),
    "channel": ("urls", frozenset({"item"})),
    "feed": ("urls", frozenset({"entry"})),
}
_NONE: Final[frozenset[str]] = frozenset()
_DATES: Final = frozenset({"lastmod", "pubdate", "updated", "date", "modified"})
_NO_LINKS: Final = frozenset({"n/a", "na", "none", "null", "nil", "-", "undefined", "false", "true"})
_LINE_CHARS: Final = 4096
_DATE_CHARS: Final = 1000
_DOCTYPE: Final = b"<!DOCTYPE"


def read_sitemap(
    body: bytes, *, url: str, content_type: str | None, limits: SitemapLimits = _DEFAULT
) -> Sitemap:
    """Read a sitemap of any kind; never raises for what is in it.

    Args:
        body: as it arrived; gzip inside is undone here, one layer.
        url: where it was found; relative entries, which the protocol forbids, resolve against it.
        content_type: the header as received; the bytes decide, only its charset counts.
        limits: see :class:`SitemapLimits`.
    """
    reading = _Reading(url, limits)
    if body.startswith(_GZIP):
        body = _gunzip(body, reading)
    if len(body) > limits.decoded_bytes:
        body = body[: limits.decoded_bytes]
        reading.truncated = True
        reading.remark(f"larger than {limits.decoded_bytes} bytes: the rest was not read")
    if _XML_START.match(body):
        _read_xml(body, reading, header_charset(content_type) if content_type else None)
    else:
        _read_lines(body, reading, content_type)
    return reading.done()


def _gunzip(body: bytes, reading: _Reading) -> bytes:
    """Undo one layer of gzip, all members, bounded."""
    parts: list[bytes] = []
    room = reading.limits.decoded_bytes + 1
    rest = body
    try:
        while rest.startswith(_GZIP) and room > 0:
            member = zlib.decompressobj(31)
            part = member.decompress(rest, room)
            parts.append(part)
            room -= len(part)
            if not member.eof and room > 0:
                reading.malformed = True
                reading.remark("the gzip data end too early")
                break
            rest = member.unused_data
    except zlib.error as error:
        reading.malformed = True
        reading.remark(f"broken gzip data: {error}")
    return b"".join(parts)


def _read_lines(body: bytes, reading: _Reading, content_type: str | None) -> None:
    text, _ = decode(body, content_type=content_type or "text/plain")
    lines = text.splitlines()
    if reading.malformed and lines and text[-1:] not in {"\n", "\r"}:
        lines.pop()  # the gzip data ended inside it
    for number, line in enumerate(lines, start=1):
        word = line.strip().lstrip("\ufeff")
        if not word or word.startswith("#"):
            continue
        if reading.full():
            return
        if len(word) > _LINE_CHARS or not _ABSOLUTE.match(word):
            reading.remark(f"line {number} is not a URL")
            continue
        _add(reading, {"loc": word}, f"line {number}")


def _read_xml(body: bytes, reading: _Reading, charset: str | None) -> None:
    if _ENTITY.search(body) or (b"\x00" in body[:64] and b"<\x00!\x00E\x00N\x00T\x00" in body):
        reading.malformed = True
        reading.remark("declares entities: refused")
        return
    encoding = None if body.lstrip().startswith(b"<?xml") or b"\x00" in body[:4] else charset
    # With a DOCTYPE names that nobody declared are no error to lxml, and a URL would change.
    undeclared = _DOCTYPE in body and _BARE_AMPERSAND.search(body) is not None
    try:
        if not undeclared:
            _take(body, reading, recover=False, encoding=encoding)
            return
        trouble = "refers to entities that it does not declare"
    except etree.XMLSyntaxError as error:
        trouble = f"not well-formed: {error.msg}"
    reading.malformed = True
    reading.entries.clear()
    reading.remark(trouble)
    mended = _BARE_AMPERSAND.sub(_reference, body)
    try:
        _take(mended, reading, recover=True, encoding=encoding)
    except etree.XMLSyntaxError as again:
        reading.remark(f"beyond repair: {again.msg}")


def _reference(found: re.Match[bytes]) -> bytes:
    """Make of a reference that XML does not know its character, if HTML knows it, else text."""
    name = found[1]
    if name is None:
        return b"&amp;"
    written = f"&{name.decode('ascii')}"
    characters = html.unescape(written)
    return b"&amp;" + name if characters == written else "".join(f"&#{ord(c)};" for c in characters).encode()


def _take(body: bytes, reading: _Reading, *, recover: bool, encoding: str | None) -> None:
    parser = etree.XMLPullParser(
        events=("start", "end"),
        recover=recover,
        encoding=encoding,
        resolve_entities=False,
        no_network=True,
        huge_tree=True,
        load_dtd=False,
        remove_comments=True,
        remove_pis=True,
    )
    state = _State(reading)
    for start in range(0, len(body), _FEED_BYTES):
        parser.feed(body[start : start + _FEED_BYTES])
        if not state.take(parser.read_events()):
            return
    state.cut = recover
    parser.close()
    state.take(parser.read_events())


class _State:
    """Follows the elements: which entry is open, what it has told so far."""

    def __init__(self, reading: _Reading) -> None:
        self.reading = reading
        self.path: list[str] = []
        self.containers = _NONE
        self.entry: dict[str, str] | None = None
        self.alternates: list[tuple[str, str]] = []
        self.depth = 0
        self.cut = False
        """The document has ended: what closes now was cut, and half a URL is the URL of something else."""

    def take(self, events: Iterator[tuple[str, etree._Element]]) -> bool:
        """Handle *events*; ``False`` when there is no room or nothing to be had from this document."""
        for event, element in events:
            name = _local(element)
            if event == "start":
                if not self._start(name):
                    return False
            else:
                self._end(name, element)
                if self.reading.truncated and self.reading.full():
                    return False
        return True

    def _start(self, name: str) -> bool:
        if not self.path:
            kind, self.containers = _ROOTS.get(name, ("", _NONE))
            if not kind:
                self.reading.malformed = True
                self.reading.remark(f"<{name[:40]}> is not a sitemap")
                return False
            self.reading.kind = kind
        elif name in self.containers and self.entry is None:
            self.entry, self.alternates, self.depth = {}, [], len(self.path)
        self.path.append(name)
        return True

    def _end(self, name: str, element: etree._Element) -> None:
        if self.path:
            self.path.pop()
        entry = self.entry
        if entry is None:
            return
        if len(self.path) == self.depth:
            if not self.cut and "loc" not in entry and _ABSOLUTE.match(bare := (element.text or "").strip()):
                entry["loc"] = bare  # <sitemap>URL</sitemap>
            self._close(entry)
            self.entry = None
            element.clear()
            while element.getprevious() is not None and (parent := element.getparent()) is not None:
                del parent[0]
        elif not self.cut:
            self._value(entry, name, element, self.path[-1] if self.path else "")

    def _value(self, entry: dict[str, str], name: str, element: etree._Element, parent: str) -> None:
        inside = parent in self.containers
        if name == "loc" and inside:
            if "loc" in entry:  # a forgotten end tag: a new entry begins
                self._close(entry)
                entry.clear()
                self.alternates = []
            entry["loc"] = "".join(element.itertext()).strip()
        elif name == "link" and inside:
            self._link(entry, element)
        elif name == "guid" and inside and _is_permalink(element):
            entry.setdefault("guid", _text(element))
        elif name in _DATES and inside:
            entry.setdefault("lastmod", _text(element))
        elif name in {"changefreq", "priority"} and inside:
            entry[name] = _text(element)
        elif name == "publication_date" and parent == "news":
            entry["news_date"] = _text(element)
        elif name == "title" and parent == "news":
            entry["news_title"] = _text(element)

    def _link(self, entry: dict[str, str], element: etree._Element) -> None:
        href, rel = element.get("href"), element.get("rel", "alternate")
        language = element.get("hreflang")
        if href is None:
            entry.setdefault("loc", _text(element))
        elif language is not None and rel == "alternate":
            self.alternates.append((language, href.strip()))
        elif rel == "alternate":
            entry.setdefault("loc", href.strip())

    def _close(self, entry: dict[str, str]) -> None:
        if "guid" in entry and not _is_link(entry.get("loc", "")):
            entry["loc"] = entry["guid"]
        if not self.reading.full():
            _add(self.reading, entry, f"entry {len(self.reading.entries) + 1}", self.alternates)


def _add(
    reading: _Reading, told: dict[str, str], place: str, alternates: list[tuple[str, str]] | None = None
) -> None:
    """Make an entry of what was told; one without a usable URL is a remark."""
    location = told.get("loc", "")
    if not location:
        reading.remark(f"{place} has no URL")
        return
    try:
        url = canonical(location, reading.url)
    except UrlError as error:
        reading.remark(f"{place}: {error.text}")
        return
    pairs = []
    for language, href in alternates or ():
        try:
            pairs.append((language, canonical(href, reading.url)))
        except UrlError:
            reading.remark(f"{place}: the alternate for {language} is not a URL")
    reading.entries.append(
        SitemapEntry(
            url,
            date_value(told.get("lastmod", "")),
            told.get("changefreq", "").lower(),
            _priority(told.get("priority", "")),
            date_value(told.get("news_date", "")),
            told.get("news_title", ""),
            tuple(pairs),
            told.get("lastmod", "")[:_DATE_CHARS],
        )
    )


def _is_permalink(element: etree._Element) -> bool:
    """Whether a ``guid`` is an address: it says nothing else, in any case of letters, and is absolute."""
    said = next(
        (str(value) for key, value in element.attrib.items() if str(key).lower() == "ispermalink"), "true"
    )
    return said.strip().lower() != "false" and _ABSOLUTE.match(_text(element)) is not None


def _is_link(text: str) -> bool:
    return bool(text) and text.lower() not in _NO_LINKS


def _priority(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 <= value <= 1 else None


def _text(element: etree._Element) -> str:
    return " ".join("".join(element.itertext()).split())


def _local(element: etree._Element) -> str:
    return str(element.tag).rpartition("}")[2].lower()
