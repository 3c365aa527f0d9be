"""``xml:base``: the innermost one that holds for an element, resolved outwards (XML Base, RFC 3986)."""

from typing import Final

from lxml import etree

from ingather.syndication.links import rebased

__all__ = ["Bases"]

_BASE: Final = "{http://www.w3.org/XML/1998/namespace}base"


class Bases:
    """Bases of one document; costs nothing where nobody writes ``xml:base``.

    Args:
        url: of the document as it was retrieved.
        used: the document has such an attribute somewhere.
    """

    def __init__(self, url: str, *, used: bool) -> None:
        self._url = url
        self._used = used
        self._known: dict[etree._Element, str] = {}

    def of(self, element: etree._Element) -> str:
        """Return the base of references in *element*, its own ``xml:base`` included."""
        if not self._used:
            return self._url
        known = self._known.get(element)
        if known is not None:
            return known
        parent = element.getparent()
        base = self._url if parent is None else self.of(parent)
        own = element.get(_BASE)
        base = base if own is None else rebased(base, own)
        if len(element):  # leaves are asked once
            self._known[element] = base
        return base
