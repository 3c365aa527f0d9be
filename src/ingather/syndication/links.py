"""The link rule: which of an item's addresses is the link that is fetched."""

from dataclasses import dataclass, field
from typing import Final

import can_ada
from ingather.syndication.dates import tidy

__all__ = ["Candidates", "absolute", "rebased", "resolved"]

_SCHEMES: Final = ("http:", "https:")
_NO_LINKS: Final = frozenset({"n/a", "na", "none", "null", "nil", "-", "undefined", "false", "true"})


def resolved(text: str | None, base: str, limit: int = 8192) -> str:
    """Return *text* as an absolute http(s) URL without fragment, resolved against *base*; ``""`` if it is none.

    Line breaks inside an address, and the blanks around them, are not part of it. Text with blanks that has no scheme is
    prose, and so are words such as ``N/A``.
    """
    if not text:
        return ""
    bare = text.strip()
    if "\n" in bare or "\r" in bare:
        bare = "".join(part.strip() for part in bare.splitlines())
    if not bare or len(bare) > limit or bare[0] == "#" or bare.lower() in _NO_LINKS:
        return ""
    if not bare.lower().startswith(("http://", "https://")) and len(bare.split(None, 1)) > 1:
        return ""
    try:
        url = can_ada.parse(base) + bare if base else can_ada.parse(bare)
    except (ValueError, TypeError):
        return ""
    if url.protocol not in _SCHEMES or not url.hostname:
        return ""
    href: str = url.href
    return href.partition("#")[0]


def absolute(text: str | None, limit: int = 8192) -> str:
    """Return *text* as :func:`resolved` does, but only if it is absolute as it stands."""
    bare = text.strip() if text else ""
    return resolved(bare, "", limit) if bare.lower().startswith(("http://", "https://")) else ""


def rebased(base: str, reference: str) -> str:
    """Return the base that ``xml:base="reference"`` makes of *base*; what is no URL changes nothing."""
    try:
        url = can_ada.parse(base) + reference.strip() if base else can_ada.parse(reference.strip())
    except (ValueError, TypeError):
        return base
    href: str = url.href
    return href


@dataclass(slots=True)
class Candidates:
    """The addresses that one item gives, each resolved already or ``""``.

    Attributes:
        original: ``feedburner:origLink``.
        links: the format's own links with their names, the best first.
        alternates: Atom links in an RSS item, the best first.
        guid: a permalink that is absolute.
        about: ``rdf:about``.
        content: Atom's ``content@src``.
        identity: an ``id`` that is an http(s) URL.
        seen: what was written and could not be used, for the reason.
    """

    original: str = ""
    links: list[tuple[str, str]] = field(default_factory=list)
    alternates: list[str] = field(default_factory=list)
    guid: str = ""
    about: str = ""
    content: str = ""
    identity: str = ""
    seen: list[str] = field(default_factory=list)

    def choose(self) -> tuple[str, str]:
        """Return the link and the name of the rule that gave it, two empty texts if no rule did."""
        if self.original:
            return self.original, "origLink"
        for name, link in self.links:
            if link:
                return link, name
        for link in self.alternates:
            if link:
                return link, "atom:link"
        for name, link in (
            ("guid", self.guid),
            ("rdf:about", self.about),
            ("content@src", self.content),
            ("id", self.identity),
        ):
            if link:
                return link, name
        return "", ""

    def reason(self) -> str:
        """Say why there is no link."""
        written = next((tidy(text)[:200] for text in self.seen if text and text.strip()), "")
        return f"no http(s) link: {written}" if written else "no link"
