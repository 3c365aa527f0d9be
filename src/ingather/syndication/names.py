"""Element names of feeds: namespace and local name to one short word, whatever the spelling.

``link``, ``atom:link``, ``dc:date``: the vocabulary is fixed, the prefixes of the document do not matter.
"""

from typing import Final

from lxml import etree

__all__ = ["PREFIXES", "Vocabulary", "attribute", "local_name", "namespace_of", "text_of"]

_ATOM: Final = ("http://www.w3.org/2005/Atom", "http://purl.org/atom/ns")
_SPACES: Final = {
    "dc": ("http://purl.org/dc/elements/1.1", "http://purl.org/dc/elements/1.0", "http://purl.org/dc"),
    "dcterms": ("http://purl.org/dc/terms",),
    "feedburner": ("http://rssnamespace.org/feedburner/ext/1.0",),
    "rdf": ("http://www.w3.org/1999/02/22-rdf-syntax-ns", "http://www.w3.org/TR/WD-rdf-syntax"),
    "fh": ("http://purl.org/syndication/history/1.0",),
    "at": ("http://purl.org/atompub/tombstones/1.0",),
    "media": ("http://search.yahoo.com/mrss", "http://search.yahoo.com/mrss/"),
    "content": ("http://purl.org/rss/1.0/modules/content",),
    "sy": ("http://purl.org/rss/1.0/modules/syndication",),
    "itunes": ("http://www.itunes.com/dtds/podcast-1.0.dtd",),
    "xlink": ("http://www.w3.org/1999/xlink",),
}
_RSS: Final = (
    "http://purl.org/rss/1.0", "http://my.netscape.com/rdf/simple/0.9", "http://channel.netscape.com/rdf/simple/0.9",
    "http://backend.userland.com/rss2", "http://backend.userland.com/rss", "http://blogs.law.harvard.edu/tech/rss",
    "http://purl.org/net/rss1.1", "http://backend.userland.com/rss091", "http://backend.userland.com/rss092",
)  # fmt: skip


def _key(space: str) -> str:
    return space.strip().lower().rstrip("/#")


_KNOWN: Final = {
    **{_key(space): prefix for prefix, spaces in _SPACES.items() for space in spaces},
    **{_key(space): "atom" for space in _ATOM},
    **{_key(space): "" for space in _RSS},
}

PREFIXES: Final = {
    "atom": _ATOM[0],
    "a10": _ATOM[0],
    **{prefix: spaces[0] for prefix, spaces in _SPACES.items()},
}
"""Prefix -> namespace, for documents that use a prefix and declare none."""


def namespace_of(tag: str) -> str:
    """Return the namespace of an lxml tag, ``""`` for none."""
    return tag[1:].partition("}")[0] if tag.startswith("{") else ""


def local_name(tag: object) -> str:
    """Return the local name of an lxml tag, lower case."""
    return str(tag).rpartition("}")[2].lower()


class Vocabulary:
    """Names of one document's elements.

    Args:
        own: namespaces whose elements are the format's own (those of the root, the channel, the item);
            elements of no namespace and of the known RSS namespaces always are.
        atom: the format is Atom: its namespaces are the format's own.
    """

    def __init__(self, own: frozenset[str], *, atom: bool) -> None:
        self._own = own
        self._atom = atom
        self._words: dict[str, str] = {}

    def word(self, tag: str) -> str:
        """Return ``name`` for the format's own elements, ``prefix:name`` for known others, ``?`` for the rest."""
        found = self._words.get(tag)
        if found is None:
            found = self._words[tag] = self._classify(tag) if len(self._words) < 4096 else "?"  # noqa: PLR2004 - a bound
        return found

    def _classify(self, tag: str) -> str:
        space, local = namespace_of(tag), local_name(tag)
        if not space:
            return local
        prefix = _KNOWN.get(_key(space))
        if prefix == "" or (prefix == "atom" and self._atom):
            return local
        if space in self._own and (prefix is None or prefix == "atom"):
            return local
        return "?" if prefix is None else f"{prefix}:{local}"


def attribute(element: etree._Element, name: str) -> str | None:
    """Return an attribute of no namespace, in any case of letters."""
    value = element.get(name)
    if value is None and len(element.attrib):
        low = name.lower()
        for key in element.attrib.keys():  # noqa: SIM118 - lxml looks for each value of items() from the first attribute on
            if str(key).lower() == low:
                return element.get(key)
    return value


def text_of(element: etree._Element) -> str:
    """Return the text of *element* with that of its children."""
    if len(element):
        return "".join(element.itertext())
    return element.text or ""
