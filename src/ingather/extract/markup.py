"""What a walk over a page finds, how much of it, and the few rules that both walks share."""

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, NamedTuple

from ingather.model.page import Heading

__all__ = ["Anchor", "Document", "Relation", "fold", "media_type_of", "note_meta", "note_relation"]

ANCHOR_CHARS: Final = 512
META_CHARS: Final = 16 * 1024
TIME_CHARS: Final = 64
HEADING_CHARS: Final = 1000
MARKED_CHARS: Final = 200
SPARE_CHARS: Final = 64 * 1024
MOST_TARGETS: Final = 100_000
MOST_METAS: Final = 1_000
MOST_VALUES: Final = 100
MOST_BLOCKS: Final = 20
BLOCK_CHARS: Final = 1 << 20
TAG_BYTES: Final = 4096
_DOCUMENTS: Final = frozenset({"canonical", "alternate", "feed", "next"})


Anchor = tuple[str, str, str, str]
"""A link as the page has it: target as written (fragment cut), text, ``rel`` lower case, the element's name."""


class Relation(NamedTuple):
    """A ``<link>`` to another document: target as written, title, ``rel`` lower case, media type."""

    href: str
    title: str
    rel: str
    type: str


@dataclass(slots=True)
class Document:
    """What the walk found; everything as written, white space folded."""

    title: str = ""
    text: str = ""
    base: str = ""
    language: str = ""
    anchors: list[Anchor] = field(default_factory=list)
    relations: list[Relation] = field(default_factory=list)
    headings: list[Heading] = field(default_factory=list)
    metas: dict[str, list[str]] = field(default_factory=dict)
    pragmas: dict[str, list[str]] = field(default_factory=dict)
    marked: str = ""
    json_ld: list[str] = field(default_factory=list)
    times: list[str] = field(default_factory=list)
    titled: bool = False


def fold(text: str) -> str:
    """Return *text* with each run of white space as one space and none at the ends."""
    return " ".join(text.split())


def note_meta(found: Document, pragma: str, name: str, content: str) -> None:
    """Keep the value of a ``<meta>``: under *pragma* (its ``http-equiv``), under *name*, or both; ``""`` is none."""
    if len(found.metas) + len(found.pragmas) >= MOST_METAS:
        return
    content = content[:META_CHARS]
    if pragma:
        _append(found.pragmas, pragma, content)
    if name:
        _append(found.metas, name, content)


def _append(told: dict[str, list[str]], name: str, content: str) -> None:
    values = told.setdefault(name.strip().lower(), [])
    if len(values) < MOST_VALUES:
        values.append(content)


def note_relation(found: Document, href: str, title: str, rel: str, media_type: str) -> None:
    """Keep a ``<link>`` if its *rel* speaks of documents; all as written."""
    words = _followed(rel)
    if words:
        found.relations.append(Relation(href, fold(title), words, media_type_of(media_type)))


@lru_cache(maxsize=256)
def _followed(rel: str) -> str:
    """Return *rel* folded and in lower case if it speaks of documents, else ``""``."""
    words = rel.lower().split()
    return "" if "stylesheet" in words or _DOCUMENTS.isdisjoint(words) else " ".join(words)


def media_type_of(written: str) -> str:
    """Return a media type without its parameters, in lower case."""
    return written.partition(";")[0].strip().lower()
