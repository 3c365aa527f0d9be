"""What a feed that is not well-formed says of itself, read tag by tag: the hints and tombstones that feedparser does not give.

Only whole elements outside the items count, and verbatim parts never do. Linear: all that is looked for has a longest form.
"""

import html
import re
from dataclasses import replace
from itertools import islice
from typing import Final

from ingather.syndication.collecting import Collector
from ingather.syndication.dates import tidy
from ingather.syndication.links import resolved
from ingather.syndication.mending import outside_items

__all__ = ["take_rough_hints"]

_DAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MIDNIGHT: Final = 24
_SPACES: Final = {
    "at": ("http://purl.org/atompub/tombstones/1.0",),
    "fh": ("http://purl.org/syndication/history/1.0",),
}
_BLOCK: Final = re.compile(r"<(skiphours|skipdays)(?:\s[^<>]*)?>", re.IGNORECASE)
_BLOCKS: Final = 20
_BLOCK_CHARS: Final = 4000
_LEAF: Final = re.compile(r"<(hour|day)(?:\s[^<>]*)?>([^<>]*)</\1\s*>", re.IGNORECASE)
_TAG: Final = re.compile(r"<(/?)([A-Za-z_][\w.-]*):(deleted-entry|complete|archive)([^<>]*)>", re.IGNORECASE)
_LINK: Final = re.compile(r"<(?:[A-Za-z_][\w.-]*:)?link\s([^<>]*)>", re.IGNORECASE)
_ATTRIBUTE: Final = re.compile(r"([\w:.-]{1,100})\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_DECLARED: Final = re.compile(r"xmlns:([A-Za-z_][\w.-]*)\s*=\s*[\"']([^\"'<>]*)[\"']")
_LONGEST: Final = 20_000
_ALTERNATES: Final = frozenset({"", "alternate", "http://www.iana.org/assignments/relation/alternate"})


def take_rough_hints(text: str, to: Collector, *, whole: bool) -> None:
    """Add skip hours and days, ``fh:complete``, ``fh:archive`` and deleted entries of *text* to what *to* has.

    Args:
        text: mended.
        to: gets them.
        whole: no item of the document was lost; else it is not believed that it is complete.

    Raises:
        TooManyItemsError: more tombstones than items may be.
    """
    outside = outside_items(text)
    hours, days = set(to.hints.skip_hours), set(to.hints.skip_days)
    for block in islice(_BLOCK.finditer(outside), _BLOCKS):
        inner, closed, _ = outside[block.end() : block.end() + _BLOCK_CHARS].partition(f"</{block[1]}")
        for leaf in _LEAF.finditer(inner if closed else ""):
            bare = tidy(leaf[2]).lower()
            if leaf[1].lower() == "day":
                days |= {number for number, name in enumerate(_DAYS) if name == bare}
            elif bare.isascii() and bare.isdigit() and int(bare[:9]) <= _MIDNIGHT:
                hours.add(int(bare) % _MIDNIGHT)
    flags = {"complete": to.hints.complete, "archive": to.hints.archive}
    prefixes = _prefixes(text)
    for tag in _TAG.finditer(outside):
        name, space = tag[3].lower(), prefixes.get(tag[2], tag[2].lower())
        if tag[1]:
            continue
        if name == "deleted-entry" and space == "at":
            found = _attributes(tag[4])
            if found.get("ref"):
                to.bury(found["ref"], found.get("when"), _link(outside, tag, to))
        elif name in flags and space == "fh":
            flags[name] = name != "complete" or whole
    to.hints = replace(
        to.hints,
        skip_hours=frozenset(hours),
        skip_days=frozenset(days),
        complete=flags["complete"],
        archive=flags["archive"],
    )


def _prefixes(text: str) -> dict[str, str]:
    """Return the prefixes that the document binds, to our names of the namespaces; ``""`` for all others."""
    known = {space: name for name, spaces in _SPACES.items() for space in spaces}
    return {
        found[1]: known.get(html.unescape(found[2]).strip().rstrip("/#"), "")
        for found in _DECLARED.finditer(text)
    }


def _attributes(text: str) -> dict[str, str]:
    return {
        found[1].lower(): html.unescape(found[2] if found[2] is not None else found[3])
        for found in _ATTRIBUTE.finditer(text)
    }


def _link(outside: str, tag: re.Match[str], to: Collector) -> str:
    """Return the first alternate inside a deleted entry, ``""`` if it has none or does not end."""
    if tag[4].endswith("/"):
        return ""
    end = outside.find(f"</{tag[2]}:{tag[3]}", tag.end(), tag.end() + _LONGEST)
    for found in _LINK.finditer(outside, tag.end(), max(end, tag.end())):
        said = _attributes(found[1])
        if said.get("rel", "").strip().lower() in _ALTERNATES and "href" in said:
            return resolved(said["href"], to.url, to.limits.link_chars)
    return ""
