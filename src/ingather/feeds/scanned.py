"""What the scan of a feed yields: pieces (records, ACLs, memberships) and the tags and text around them."""

from enum import Enum
from typing import NamedTuple

__all__ = ["Broken", "Doctype", "EndTag", "Event", "Piece", "Place", "StartTag", "Text", "TornAt"]


class Place(NamedTuple):
    """Where something begins: line from 1, byte from 0 in the feed's own encoding."""

    line: int
    offset: int


class TornAt(Enum):
    """Why a piece is not whole."""

    END_OF_FEED = "the feed ends inside it"
    NEXT = "its end tag is missing"
    OVERSIZE = "it is larger than the limit"


class Piece(NamedTuple):
    """A record, a free ACL or a membership.

    Attributes:
        kind: ``record``, ``acl`` or ``membership``.
        data: its text in UTF-8; only the beginning when it is oversize.
        opaque: CDATA sections, comments and instructions in *data*, as (start, end).
        place: of its start tag.
        torn: ``None`` = whole.
        hints: it holds or may hold access rights (known only for what is not whole).
    """

    kind: str
    data: bytes
    opaque: tuple[tuple[int, int], ...]
    place: Place
    torn: TornAt | None = None
    hints: bool = False


class StartTag(NamedTuple):
    """A start tag around pieces; *raw* is all of it, *empty*: it closes itself, *sound*: its form is right."""

    name: str
    raw: bytes
    empty: bool
    sound: bool
    place: Place


class EndTag(NamedTuple):
    """An end tag around pieces."""

    name: str
    sound: bool
    place: Place


class Text(NamedTuple):
    """Text around pieces that is more than white space; long text comes in parts."""

    raw: bytes
    cdata: bool
    place: Place


class Doctype(NamedTuple):
    """The document type declaration, whole."""

    raw: bytes
    place: Place


class Broken(NamedTuple):
    """Something between pieces that no XML holds."""

    text: str
    place: Place


Event = Piece | StartTag | EndTag | Text | Doctype | Broken
