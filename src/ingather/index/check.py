"""Is the index whole, and does it hold exactly what the catalog says?

tantivy notices truncated and missing files at open, but a flipped byte opens and searches
without a word. Every one of its files ends with a footer that carries a CRC-32 of the rest:
JSON, its length and a magic number, both 32-bit little endian.
"""

import json
import struct
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

__all__ = ["Damage", "Difference", "compare", "damage"]

_META: Final = "meta.json"
_MAGIC: Final = 1337
_TAIL: Final = struct.Struct("<II")
_MAX_FOOTER_BYTES: Final = 4096
_TOLD: Final = 5
_CHUNK_BYTES: Final = 1 << 20
_PARTS: Final = ("term", "idx", "pos", "fieldnorm", "fast", "store")


@dataclass(frozen=True, slots=True)
class Damage:
    """A file of the index that is not as written, and in what way."""

    file: Path
    reason: str

    def __str__(self) -> str:
        return f"{self.file}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Difference:
    """Where index and catalog differ: catalog rows, ascending; at most *kept* of each are listed.

    ``missing`` should be in the index and are not, ``surplus`` are and should not, ``repeated``
    are there more than once. The three counts are exact.
    """

    indexed: int
    expected: int
    missing: tuple[int, ...] = ()
    surplus: tuple[int, ...] = ()
    repeated: tuple[int, ...] = ()
    missing_count: int = 0
    surplus_count: int = 0
    repeated_count: int = 0

    @property
    def equal(self) -> bool:
        """Whether the index holds exactly the expected documents, each once."""
        return not (self.missing_count or self.surplus_count or self.repeated_count)

    def __str__(self) -> str:
        if self.equal:
            return f"the index holds exactly the {self.expected} documents of the catalog"
        found = (
            ("missing", self.missing_count, self.missing),
            ("too many", self.surplus_count, self.surplus),
            ("repeated", self.repeated_count, self.repeated),
        )
        return "; ".join(
            f"{count} {what} (rows {', '.join(map(str, rows[:_TOLD]))}{', ...' if count > _TOLD else ''})"
            for what, count, rows in found
            if count
        )


class _Deletes(msgspec.Struct):
    opstamp: int


class _Segment(msgspec.Struct):
    segment_id: str
    deletes: _Deletes | None = None


class _Meta(msgspec.Struct):
    segments: list[_Segment]


def damage(generation: Path) -> list[Damage]:
    """Return what is broken among the files of one index folder; reads every byte (about 1 GB/s)."""
    listed, found = _files(generation)
    if found:
        return found
    for name in listed:
        reason = _broken(generation / name)
        if reason:
            found.append(Damage(generation / name, reason))
    if found:
        # A merge may have replaced the segment meanwhile: only what is still listed counts.
        still, worse = _files(generation)
        return worse or [d for d in found if d.file.name in still]
    return found


def compare(indexed: Iterable[tuple[int, int]], expected: Iterable[int], *, kept: int = 100) -> Difference:
    """Compare (row, times) of the index with the *expected* rows; both ascending, read once, not kept.

    *expected* are the rows that readers may find: described, not deleted, and of a chain other
    than 0 (what is shown to nobody is not indexed).
    """
    missing: list[int] = []
    surplus: list[int] = []
    repeated: list[int] = []
    tally = [0, 0, 0]
    have_count = want_count = 0

    def note(which: int, to: list[int], row: int) -> None:
        tally[which] += 1
        if len(to) < kept:
            to.append(row)

    wanted = iter(expected)
    want = next(wanted, None)
    for have, times in indexed:
        have_count += times
        while want is not None and want < have:
            want_count += 1
            note(0, missing, want)
            want = next(wanted, None)
        if want == have:
            want_count += 1
            want = next(wanted, None)
        else:
            note(1, surplus, have)
        if times > 1:
            note(2, repeated, have)
    while want is not None:
        want_count += 1
        note(0, missing, want)
        want = next(wanted, None)
    return Difference(have_count, want_count, tuple(missing), tuple(surplus), tuple(repeated), *tally)


def _files(generation: Path) -> tuple[list[str], list[Damage]]:
    place = generation / _META
    try:
        meta = msgspec.json.decode(place.read_bytes(), type=_Meta)
    except FileNotFoundError:
        return [], [Damage(place, "is missing")]
    except (OSError, msgspec.MsgspecError) as error:
        return [], [Damage(place, f"cannot be read: {error}")]
    return list(_named(meta)), []


def _named(meta: _Meta) -> Iterator[str]:
    for segment in meta.segments:
        name = segment.segment_id.replace("-", "")
        for part in _PARTS:
            yield f"{name}.{part}"
        if segment.deletes is not None:
            yield f"{name}.{segment.deletes.opstamp}.del"


def _broken(place: Path) -> str:
    """Return why the file is not as written, ``""`` if it is."""
    try:
        with place.open("rb") as source:
            return _unlike(source)
    except FileNotFoundError:
        return "is missing"
    except OSError as error:
        return f"cannot be read: {error.strerror or error}"
    except (ValueError, KeyError, TypeError):
        return "has a broken footer"


def _unlike(source: BinaryIO) -> str:
    size = source.seek(0, 2)
    if size < _TAIL.size:
        return "is cut short"
    source.seek(size - _TAIL.size)
    length, magic = _TAIL.unpack(source.read(_TAIL.size))
    start = size - _TAIL.size - length
    if magic != _MAGIC or length > _MAX_FOOTER_BYTES or start < 0:
        return "has no footer: it is cut short or overwritten"
    source.seek(start)
    want = json.loads(source.read(length))["crc"]
    source.seek(0)
    crc, left = 0, start
    while left and (chunk := source.read(min(_CHUNK_BYTES, left))):
        crc = zlib.crc32(chunk, crc)
        left -= len(chunk)
    return "" if crc == want and not left else "its checksum does not fit"
