"""Atom 1.0 (RFC 4287) and 0.3, with tombstones (RFC 6721) and paging (RFC 5005)."""

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
from ingather.syndication.names import Vocabulary, attribute, namespace_of, text_of

__all__ = ["read_atom"]

_DATES: Final = frozenset({*PUBLISHED, *MODIFIED})


def read_atom(root: etree._Element, collector: Collector, bases: Bases) -> None:
    """Read the entries below *root* (``feed``, or ``entry`` alone) into *collector*.

    Only children of an entry speak for it: what stands in its ``source`` is another feed's.

    Raises:
        TooManyItemsError: from *collector*.
    """
    reader = _Atom(collector, bases, Vocabulary(frozenset({namespace_of(str(root.tag))} - {""}), atom=True))
    if reader.word(root) == "entry":
        reader.entry(root)
        return
    for child in root:
        reader.below_feed(child)


class _Atom:
    def __init__(self, collector: Collector, bases: Bases, vocabulary: Vocabulary) -> None:
        self._to = collector
        self._bases = bases
        self._words = vocabulary
        self._chars = collector.limits.link_chars

    def word(self, element: etree._Element) -> str:
        return self._words.word(str(element.tag))

    def below_feed(self, element: etree._Element) -> None:
        word = self.word(element)
        if word == "entry":
            self.entry(element)
        elif word == "link":
            feed_link(self._to, element, self._bases)
        elif word in {"title", "dc:title"}:
            self._to.title = self._to.title or tidy(title_of(element))
        elif word == "at:deleted-entry":
            links = AtomLinks()
            for child in element:
                if self.word(child) == "link":
                    links.take(child, self._bases.of(child), self._chars)
            best = links.ordered()
            self._to.bury(attribute(element, "ref"), attribute(element, "when"), best[0] if best else "")
        else:
            flag_hint(self._to, word)

    def entry(self, entry: etree._Element) -> None:
        found = Candidates()
        texts: dict[str, str] = {}
        links = AtomLinks()
        for child in entry:
            word = self.word(child)
            if word == "link":
                self._link(child, links, found)
            elif word == "id":
                note(texts, word, text_of(child))
                found.identity = found.identity or absolute(text_of(child), self._chars)
            elif word == "content":
                source = attribute(child, "src")
                if source:
                    found.content = found.content or resolved(source, self._bases.of(child), self._chars)
            elif word == "feedburner:origlink":
                found.original = found.original or resolved(
                    text_of(child), self._bases.of(child), self._chars
                )
            elif word in {"title", "dc:title"} or word in _DATES:
                note(texts, word, title_of(child) if word == "title" else text_of(child))
        found.links = [("link", link) for link in links.ordered()]
        found.seen += [*links.seen, texts.get("id", "")]
        published, modified = dates_of(texts)
        self._to.add(
            found,
            published=published,
            modified=modified,
            guid=texts.get("id", ""),
            title=texts.get("title") or texts.get("dc:title", ""),
        )

    def _link(self, child: etree._Element, links: AtomLinks, found: Candidates) -> None:
        if attribute(child, "href") is not None:
            links.take(child, self._bases.of(child), self._chars)
        elif attribute(child, "rel") is None:  # RSS's way of writing it, seen in Atom
            text = text_of(child)
            found.seen.append(text)
            found.alternates.append(resolved(text, self._bases.of(child), self._chars))
