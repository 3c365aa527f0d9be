"""What RSS and Atom share below a feed or an item: Atom links by relation, dates by name, hints."""

import binascii
from base64 import b64decode
from dataclasses import replace
from typing import Final

from lxml import etree

from ingather.syndication.bases import Bases
from ingather.syndication.collecting import Collector
from ingather.syndication.dates import tidy
from ingather.syndication.links import resolved
from ingather.syndication.names import attribute, text_of

__all__ = ["MODIFIED", "PUBLISHED", "AtomLinks", "dates_of", "feed_link", "flag_hint", "note", "title_of"]

PUBLISHED: Final = (
    "pubdate", "dc:date", "published", "atom:published", "issued", "atom:issued", "dcterms:issued", "dcterms:date",
    "created", "atom:created", "dcterms:created", "dc:issued", "dc:created",
)  # fmt: skip
"""Names of the date of birth, the first that is there counts."""
MODIFIED: Final = (
    "updated", "atom:updated", "dcterms:modified", "modified", "atom:modified", "dc:modified", "lastmod",
)  # fmt: skip
"""Names of the date of change, the first that is there counts."""

_ALTERNATES: Final = frozenset({"", "alternate", "http://www.iana.org/assignments/relation/alternate"})
_FIRST: Final = frozenset({"title", "dc:title", "id"})
_HTML: Final = ("text/html", "application/xhtml+xml")
_IANA: Final = "http://www.iana.org/assignments/relation/"


class AtomLinks:
    """The alternates among an item's ``link`` elements, the first HTML one before all others."""

    def __init__(self) -> None:
        self._html: list[str] = []
        self._rest: list[str] = []
        self.seen: list[str] = []

    def take(self, element: etree._Element, base: str, limit: int) -> None:
        """Look at one element with ``href``; what is no alternate is passed over."""
        rel = (attribute(element, "rel") or "").strip().lower()
        if rel not in _ALTERNATES:
            return
        href = attribute(element, "href")
        if href is None:
            return
        self.seen.append(href)
        link = resolved(href, base, limit)
        if link:
            kind = (attribute(element, "type") or "").partition(";")[0].strip().lower()
            (self._html if kind in _HTML else self._rest).append(link)

    def ordered(self) -> list[str]:
        """Return the alternates, the best first."""
        return self._html + self._rest


def dates_of(found: dict[str, str]) -> tuple[str, str]:
    """Return the texts of (published, modified) among an item's elements by name."""
    published = next((found[name] for name in PUBLISHED if found.get(name)), "")
    modified = next((found[name] for name in MODIFIED if found.get(name)), "")
    return published, modified


def feed_link(collector: Collector, element: etree._Element, bases: Bases) -> None:
    """Take the hint that a feed's own ``link`` element with ``href`` gives."""
    href = attribute(element, "href")
    rels = (attribute(element, "rel") or "").strip().lower()
    if not href or not rels:
        return
    target = resolved(href, bases.of(element), collector.limits.link_chars)
    if not target:
        return
    hints = collector.hints
    for rel in rels.removeprefix(_IANA).split():
        if rel == "hub" and len(hints.hubs) < 20 and target not in hints.hubs:  # noqa: PLR2004 - a bound
            hints = replace(hints, hubs=(*hints.hubs, target))
        elif rel == "self" and not hints.self_url:
            hints = replace(hints, self_url=target)
        elif rel == "next" and not hints.next_url:
            hints = replace(hints, next_url=target)
        elif rel == "prev-archive" and not hints.prev_archive:
            hints = replace(hints, prev_archive=target)
    collector.hints = hints


def flag_hint(collector: Collector, word: str) -> None:
    """Take ``fh:complete`` and ``fh:archive``."""
    if word == "fh:complete":
        collector.hints = replace(collector.hints, complete=True)
    elif word == "fh:archive":
        collector.hints = replace(collector.hints, archive=True)


def note(found: dict[str, str], word: str, text: str) -> None:
    """Keep *text* for *word* if it is not empty: of several dates of one name the last, of titles and ids the first."""
    if (word not in _FIRST or word not in found) and (bare := tidy(text)):
        found[word] = bare


def title_of(element: etree._Element) -> str:
    """Return the text of a title, out of base 64 where it says that it is (``mode="base64"`` of Atom 0.3)."""
    text = text_of(element)
    if (attribute(element, "mode") or "").strip().lower() != "base64":
        return text
    try:
        return b64decode("".join(text.split()), validate=True).decode("utf-8")
    except (binascii.Error, ValueError):
        return text
