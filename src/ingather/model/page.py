"""What reading a document gave, the same shape for HTML, plain text and converted files."""

from dataclasses import dataclass, field
from typing import NamedTuple

__all__ = ["Converted", "Heading", "Link", "Page", "PageDate"]


class Link(NamedTuple):
    """One link: canonical absolute URL, anchor text (white space folded), ``rel`` tokens lower case.

    ``kind`` is the element or relation that made it: ``a``, ``area``, ``next``, ``alternate``,
    ``frame``, ``iframe``, ``refresh``, ``document`` (links inside PDF, Office, mail).
    """

    url: str
    text: str = ""
    rel: str = ""
    kind: str = "a"


class Heading(NamedTuple):
    """A heading: level 1 to 6 and its text."""

    level: int
    text: str


@dataclass(frozen=True, slots=True)
class PageDate:
    """The document's own date, RFC 3339 UTC, and what said so (``meta:NAME``, ``json-ld``, ``time``, ``last-modified``)."""

    value: str
    source: str


@dataclass(slots=True)
class Page:
    """A document as read; not frozen only because making it is the hot path.

    Attributes:
        url: canonical URL of the document; ``base`` is what its links were resolved against.
        media_type: what the bytes are taken for (``text/html``).
        charset: WHATWG encoding name, and ``charset_source`` what said so.
        title: title text, folded.
        text: visible text; blocks are separated by a line feed, lines have no blanks at their ends, no
            line is empty; where the source breaks a line inside a block, so does the text.
        headings: in document order.
        links: in document order, canonical, without fragments, each target once (with the first words
            found for it, and with ``nofollow`` only if every link to it has that); links of a page-level or
            ``rel`` nofollow are present and marked (``rel``), obeying is the filter's business.
        metas: META names (``property`` and ``itemprop`` too) lower case -> values in order; http-equiv likewise.
        pragmas: those names in ``metas`` that only ``http-equiv`` gave.
        marked: text of dt, strong, b, th, em, code (for ranking), folded, space separated; whole paragraphs left out.
        robots: page-level directives in force for our agent: subset of
            noindex nofollow noarchive nosnippet (``none`` expanded), META and X-Robots-Tag united.
        canonical: canonical link target or ``""``.
        language: BCP 47 or ``""``; ``language_source``: ``html``, ``header``, ``meta``, ``detected``.
        feeds: autodiscovered RSS/Atom URLs.
        cut: links that lost session or campaign parameters: their URL to the absolute ones before (``model.url.whole_url``).
        date: best date found or ``None``; never "now".
        flags: remarks such as ``text-truncated``, ``links-truncated``, ``converted``, ``conversion-failed:REASON``,
            ``suspect-html``, ``unread`` (no reader here for this type: it is a converter's).
    """

    url: str = ""
    base: str = ""
    media_type: str = ""
    charset: str = ""
    charset_source: str = ""
    title: str = ""
    text: str = ""
    headings: list[Heading] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    metas: dict[str, list[str]] = field(default_factory=dict)
    pragmas: frozenset[str] = frozenset()
    marked: str = ""
    robots: frozenset[str] = frozenset()
    canonical: str = ""
    language: str = ""
    language_source: str = ""
    feeds: list[str] = field(default_factory=list)
    date: PageDate | None = None
    flags: list[str] = field(default_factory=list)
    cut: dict[str, list[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Converted:
    """A converted document: text, links and what it says about itself.

    Attributes:
        text: plain text, paragraphs by line feeds.
        html: the same as HTML for readers that want structure, ``""`` if the reader gives none.
        links: (URL as written, anchor text).
        parts: (name, bytes) of attachments and members that were not read into the text.
        metadata: ``title``, ``author``, ``subject``, ``keywords``, ``created``, ``modified`` (RFC 3339), ``language``,
            ``pages`` and whatever else the format declares, as text.
        flags: ``cut``, ``encrypted``, ``partial``, ...
    """

    text: str
    html: str = ""
    links: tuple[tuple[str, str], ...] = ()
    parts: tuple[tuple[str, bytes], ...] = ()
    metadata: dict[str, str] = field(default_factory=dict)
    flags: tuple[str, ...] = ()
