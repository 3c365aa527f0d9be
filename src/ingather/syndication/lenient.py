"""The lenient tier: feedparser on mended bytes, each of its answers held against our own rules.

It may take long on hostile bytes, so it belongs into a process with limits; never is it given a
string, which it would open as a URL or a file.
"""

import re
from dataclasses import replace
from typing import Any, Final

from ingather.syndication.collecting import Collector
from ingather.syndication.links import Candidates, absolute, resolved
from ingather.syndication.listing import Hints, ListingLimits
from ingather.syndication.mending import open_item
from ingather.syndication.rough import take_rough_hints
from ingather.syndication.strict import RefusedError

__all__ = ["read_leniently"]

_CHANGES: Final = re.compile(r"<(?:[\w.-]+:)?(?:updated|modified)[\s>]", re.IGNORECASE)
_TAG: Final = re.compile(r"<(/?)([A-Za-z][^\s<>/]*)[^<>]*?(/?)>")
_ALTERNATES: Final = frozenset({"", "alternate", "http://www.iana.org/assignments/relation/alternate"})
_HTML: Final = ("text/html", "application/xhtml+xml")
_VOID: Final = frozenset(
    [
        "area",
        "base",
        "br",
        "col",
        "embed",
        "hr",
        "img",
        "input",
        "link",
        "meta",
        "param",
        "source",
        "track",
        "wbr",
        "p",
        "li",
    ]
)
_ITEMS: Final = frozenset({"item", "entry"})
_DEEP: Final = 5000
_TAGS: Final = 400_000  # ten seconds of feedparser; 10,000 items with forty tags each
_UNKNOWN: Final = ("", "cdf")


def read_leniently(text: str, *, url: str, limits: ListingLimits) -> Collector:
    """Read what is not well-formed.

    The last item of a document that ends inside it is dropped, and so is a link that is none by our rules.

    Raises:
        RefusedError: no feed, or nested so deep that reading it would take minutes.
        TooManyItemsError: more items than one document may list.
    """
    import feedparser  # a tenth of a second

    if text.count("<") > _TAGS:
        raise RefusedError("refused: not well-formed, with more tags than are read leniently")
    if _depth(text) > _DEEP:
        raise RefusedError("refused: elements nested too deep")
    found = feedparser.parse(
        text.encode("utf-8", "replace"),
        sanitize_html=False,
        resolve_relative_uris=False,
        response_headers={"content-type": "application/xml; charset=utf-8", "content-location": url},
    )
    version = str(found.get("version") or "")
    entries = list(found.entries)
    if version in _UNKNOWN and not entries:
        raise RefusedError("not a feed")
    atom = version.startswith("atom")
    kind = "atom" if atom else "rdf" if version in {"rss10", "rss090"} else "rss"
    number, cut = open_item(text)
    whole = not cut and number <= len(entries)
    to = Collector(url, limits, kind, version, str(found.feed.get("title") or ""))
    if cut and entries:
        entries = entries[: max(0, min(len(entries), number) - 1)]
        to.remarks.append("ends inside an item: that item is left out")
    elif number > len(entries):
        to.remarks.append(f"{number - len(entries)} of {number} items could not be read")
    to.hints = _hints(found.feed, limits)
    take_rough_hints(text, to, whole=whole)
    changes = _CHANGES.search(text) is not None
    for entry in entries:
        _entry(entry, to, atom=atom, changes=changes)
    return to


def _entry(entry: Any, to: Collector, *, atom: bool, changes: bool) -> None:
    chars = to.limits.link_chars
    guid = str(entry.get("id") or "")
    html: list[str] = []
    rest: list[str] = []
    for link in entry.get("links") or ():
        if str(link.get("rel") or "").lower() in _ALTERNATES and link.get("href"):
            target = absolute(str(link["href"]), chars)
            (html if str(link.get("type") or "").lower() in _HTML else rest).append(target)
    named = str(entry.get("link") or "")
    # feedparser gives the id for a link where there is none: that one comes last in the rule, and only a permalink.
    permalink = bool(entry.get("guidislink"))
    own = "" if named == guid else resolved(named, to.url, chars)
    found = Candidates(
        original=absolute(str(entry.get("feedburner_origlink") or ""), chars),
        links=[("link", link) for link in ([*html, *rest, own] if atom else [own])],
        alternates=[] if atom else [*html, *rest],
        guid=absolute(guid, chars) if permalink and not atom else "",
        content=_content(entry, chars) if atom else "",
        identity=absolute(guid, chars) if atom else "",
        seen=[named, guid],
    )
    if named == guid and not atom and not permalink and absolute(guid, chars) not in {*html, *rest}:
        found.alternates = []
    published = str(entry.get("published") or entry.get("created") or "")
    modified = str(entry.get("updated") or "") if "updated" in entry.keys() else ""  # noqa: SIM118 - it invents one
    if modified and not published and not atom and not changes:
        published, modified = modified, ""  # feedparser calls dc:date a change; the date rule does not
    to.add(found, published=published, modified=modified, guid=guid, title=str(entry.get("title") or ""))


def _content(entry: Any, chars: int) -> str:
    for content in entry.get("content") or ():
        source = absolute(str(content.get("src") or ""), chars)
        if source:
            return source
    return ""


def _hints(feed: Any, limits: ListingLimits) -> Hints:
    hints = Hints()
    ttl = str(feed.get("ttl") or "").strip()
    if ttl.isascii() and ttl.isdigit() and len(ttl) <= 6:  # noqa: PLR2004 - a bound
        hints = replace(hints, ttl_minutes=int(ttl))
    for link in feed.get("links") or ():
        rel, target = (
            str(link.get("rel") or "").lower(),
            absolute(str(link.get("href") or ""), limits.link_chars),
        )
        if target and rel == "hub":
            hints = replace(hints, hubs=(*hints.hubs, target)[:20])
        elif target and rel == "next":
            hints = replace(hints, next_url=hints.next_url or target)
        elif target and rel == "prev-archive":
            hints = replace(hints, prev_archive=hints.prev_archive or target)
        elif target and rel == "self":
            hints = replace(hints, self_url=hints.self_url or target)
    return hints


def _depth(text: str) -> int:
    """Return how deep elements are nested, those aside that HTML leaves open; the end of an item closes all in it."""
    depth = deepest = item = 0
    for found in _TAG.finditer(text):
        name = found[2].lower()
        if found[3] or name in _VOID:
            continue
        if not found[1]:
            if name in _ITEMS:
                item = depth
            depth += 1
            deepest = max(deepest, depth)
        else:
            depth = item if name in _ITEMS else max(0, depth - 1)
    return deepest
