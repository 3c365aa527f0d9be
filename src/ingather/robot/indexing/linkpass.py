"""The link pass: who links here, and what do they call it. Runs when gathering is quiet.

Incoming links are derived from the link blobs, never kept as rows. One pass reads every page's
packed keys and anchor texts and counts, for each document of the index, the public pages that
link to it and their anchor texts. Texts that say nothing new are dropped: those whose words all
stand in the title or the address, and boilerplate (one text that names very many pages). Only
documents whose informative anchors changed get a change row; the counts go into the prior,
an array beside the index.
"""

import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import unquote

import msgspec

from ingather.catalog.packing import unpack_keys
from ingather.index import informative

__all__ = ["LinkReader", "LinkResult", "link_pass"]

_MAX_ANCHORS = 12
_MAX_DISTINCT = 24
_BOILERPLATE_TARGETS = 200
_BOILERPLATE_SHARE = 0.01
_AGREEING = 3
"""Pages that must say the same, where many pages say something."""
_FEW = 3
_WORDS = re.compile(r"\w+")
_decode = msgspec.msgpack.Decoder(list[str]).decode


class LinkReader(Protocol):
    """What the pass reads of the catalog."""

    def keys(self) -> Iterator[tuple[int, int]]:
        """Yield (key, row) of every document of the index."""

    def links_pass(self) -> Iterator[tuple[int, bytes, bytes, int]]:
        """Yield (row, packed keys, anchors, source or 0) of pages of public sources; a source is said of those kept apart."""

    def kept_apart(self) -> Mapping[int, int]:
        """Return the source of every document of a source that is kept apart, by row."""

    def titles(self, ids: Iterable[int]) -> Mapping[int, tuple[str, str]]:
        """Return (title, path) of rows."""

    def inlinks(self) -> Mapping[int, bytes]:
        """Return the packed anchors that are kept per row."""


@dataclass(slots=True)
class LinkResult:
    """Counts for the prior (by row), and rows whose informative anchors changed with their new packed list."""

    counts: "array[int]" = field(default_factory=lambda: array("I"))
    changed: dict[int, tuple[int, bytes]] = field(default_factory=dict)


def link_pass(reader: LinkReader, *, partitions: int = 1) -> LinkResult:
    """Make the pass; *partitions* > 1 bounds memory by reading the links so many times."""
    result = LinkResult()
    for part in range(partitions):
        rows = {key: row for key, row in reader.keys() if row % partitions == part}  # noqa: SIM118 - not a mapping
        _count(reader, rows, result)
    return result


def _count(reader: LinkReader, rows: Mapping[int, int], result: LinkResult) -> None:  # noqa: C901 - one pass, inlined for speed
    inlinks: Counter[int] = Counter()
    texts: dict[int, Counter[str]] = {}
    spread: Counter[str] = Counter()
    find = rows.get
    apart = reader.kept_apart()
    for page, keys, anchors, source in reader.links_pass():
        words = _decode(anchors) if anchors else []
        for key, text in zip(unpack_keys(keys), words, strict=False):
            target = find(key)
            if target is None or target == page or (source and apart.get(target) != source):
                continue
            inlinks[target] += 1
            if text:
                seen = texts.get(target)
                if seen is None:
                    seen = texts[target] = Counter()
                if text in seen:
                    seen[text] += 1
                elif len(seen) < _MAX_DISTINCT:
                    seen[text] = 1
                    spread[text] += 1
    limit = max(_BOILERPLATE_TARGETS, int(len(rows) * _BOILERPLATE_SHARE))
    top = max(rows.values(), default=-1)
    if top >= len(result.counts):
        result.counts.frombytes(bytes((top + 1 - len(result.counts)) * result.counts.itemsize))
    for row, number in inlinks.items():
        result.counts[row] = min(number, 0xFFFFFFFF)
    known = reader.inlinks()
    titles = reader.titles(texts)
    empty = msgspec.msgpack.encode([])
    for row in rows.values():
        title, url = titles.get(row, ("", ""))
        said = _news(texts.get(row), title, url, spread, limit)
        packed = msgspec.msgpack.encode(said)
        if packed != known.get(row, empty):
            result.changed[row] = (inlinks[row], packed)


def _news(texts: Counter[str] | None, title: str, url: str, spread: Counter[str], limit: int) -> list[str]:
    """Return the anchor texts that bring words which neither title, nor address, nor a text before them has."""
    if not texts:
        return []
    have = set(_WORDS.findall(title.casefold()))
    have.update(_WORDS.findall(unquote(url).casefold()))
    kept: list[str] = []
    few = texts.total() <= _FEW
    for text, uses in texts.most_common():
        if uses < _AGREEING and not few:
            break
        words = set(_WORDS.findall(text.casefold()))
        if spread[text] < limit and not have.issuperset(words) and informative((text,)):
            have |= words
            kept.append(text)
    return kept[:_MAX_ANCHORS]
