"""RSS 0.90 to 2.0, and 1.1, with and without RDF: items wherever they stand, links and dates by the rules."""

from dataclasses import replace
from typing import Final

from lxml import etree

from ingather.syndication.bases import Bases
from ingather.syndication.collecting import Collector
from ingather.syndication.dates import tidy
from ingather.syndication.links import Candidates, absolute, resolved
from ingather.syndication.marks import (
    MODIFIED,
    PUBLISHED,
    AtomLinks,
    dates_of,
    feed_link,
    flag_hint,
    note,
    title_of,
)
from ingather.syndication.names import Vocabulary, attribute, local_name, namespace_of, text_of

__all__ = ["read_rss"]

_DATES: Final = frozenset({*PUBLISHED, *MODIFIED})
_DAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MIDNIGHT: Final = 24
_LONGEST_TTL: Final = 60 * 24 * 366
_ABOUT: Final = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}about"
_RESOURCE: Final = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}resource"


def read_rss(root: etree._Element, collector: Collector, bases: Bases) -> None:
    """Read the items below *root* (``rss``, ``RDF`` or ``channel``) into *collector*.

    Raises:
        TooManyItemsError: from *collector*.
    """
    channels = [root] if local_name(root.tag) == "channel" else []
    channels += [child for child in root if local_name(child.tag) == "channel"]
    own = {namespace_of(str(element.tag)) for element in (root, *channels)}
    for child in (*root, *(inner for channel in channels for inner in channel)):
        if local_name(child.tag) == "item":
            own.add(namespace_of(str(child.tag)))
            break
    reader = _Rss(collector, bases, Vocabulary(frozenset(own - {""}), atom=False))
    for channel in channels:
        for child in channel:
            reader.below_channel(child)
    if root not in channels:
        for child in root:
            if child not in channels:
                reader.item_or_tombstone(child)


class _Rss:
    def __init__(self, collector: Collector, bases: Bases, vocabulary: Vocabulary) -> None:
        self._to = collector
        self._bases = bases
        self._words = vocabulary
        self._chars = collector.limits.link_chars

    def item_or_tombstone(self, element: etree._Element) -> bool:
        word = self._words.word(str(element.tag))
        if word == "item":
            self._item(element)
        elif word == "at:deleted-entry":
            self._to.bury(attribute(element, "ref"), attribute(element, "when"))
        else:
            return False
        return True

    def below_channel(self, element: etree._Element) -> None:
        if self.item_or_tombstone(element):
            return
        word = self._words.word(str(element.tag))
        hints = self._to.hints
        if word == "items":  # RSS 1.1 has its items in there, RSS 1.0 a list of their names
            for child in element:
                self.item_or_tombstone(child)
        elif word in {"title", "dc:title"}:
            self._to.title = self._to.title or tidy(title_of(element))
        elif word == "ttl" and hints.ttl_minutes is None:
            self._to.hints = replace(hints, ttl_minutes=_number(text_of(element), _LONGEST_TTL))
        elif word == "skiphours":
            hours = {
                _number(text_of(child), _MIDNIGHT) for child in element if local_name(child.tag) == "hour"
            }
            self._to.hints = replace(
                hints, skip_hours=hints.skip_hours | {hour % _MIDNIGHT for hour in hours if hour is not None}
            )
        elif word == "skipdays":
            names = {tidy(text_of(child)).lower() for child in element if local_name(child.tag) == "day"}
            days = {number for number, name in enumerate(_DAYS) if name in names}
            self._to.hints = replace(hints, skip_days=hints.skip_days | days)
        elif word in {"link", "atom:link"}:
            feed_link(self._to, element, self._bases)
        else:
            flag_hint(self._to, word)

    def _item(self, item: etree._Element) -> None:
        found = Candidates()
        texts: dict[str, str] = {}
        links: list[str] = []
        atom = AtomLinks()
        guid = ""
        for child in item:
            word = self._words.word(str(child.tag))
            if word == "link":
                self._link(child, found, links, atom)
            elif word == "atom:link":
                atom.take(child, self._bases.of(child), self._chars)
            elif word == "guid":
                guid = guid or text_of(child).strip()
                if (attribute(child, "isPermaLink") or "true").strip().lower() != "false":
                    found.guid = found.guid or absolute(text_of(child), self._chars)
                found.seen.append(guid)
            elif word == "feedburner:origlink":
                found.original = found.original or resolved(
                    text_of(child), self._bases.of(child), self._chars
                )
            elif word in {"title", "dc:title"} or word in _DATES:
                note(texts, word, title_of(child) if word == "title" else text_of(child))
        about = item.get(_ABOUT) or attribute(item, "rdf:about") or attribute(item, "about")
        if about:
            found.about = absolute(about, self._chars)
            found.seen.append(about)
        # Of several links the last: so do the readers that people test their feeds with.
        found.links = [("link", link) for link in reversed(links)]
        found.alternates = atom.ordered()
        found.seen += atom.seen
        published, modified = dates_of(texts)
        self._to.add(
            found,
            published=published,
            modified=modified,
            guid=guid or about or "",
            title=texts.get("title") or texts.get("dc:title", ""),
        )

    def _link(self, child: etree._Element, found: Candidates, links: list[str], atom: AtomLinks) -> None:
        """Take an item's link: its text, as RSS has it, else what stands in an attribute."""
        base = self._bases.of(child)
        for text in (text_of(child), child.get(_RESOURCE) or ""):
            if text.strip():
                found.seen.append(text)
                links.append(resolved(text, base, self._chars))
        atom.take(child, base, self._chars)


def _number(text: str, most: int) -> int | None:
    bare = text.strip()
    return min(int(bare), most) if bare.isascii() and bare.isdigit() and len(bare) <= 9 else None  # noqa: PLR2004
