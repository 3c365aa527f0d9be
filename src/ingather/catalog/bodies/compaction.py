"""Getting dead space back: live records move to a new segment, then the old file goes.

Three steps, and a kill between any two of them is harmless:

1. :func:`compact` copies the live records and makes the copies durable. Killed here: rows still name
   the old places; ``cut_tails`` cuts the copies, which nobody acknowledged.
2. The caller moves all rows in one transaction. Killed here: rows name the new places; nobody
   acknowledges the old segment any more, ``cut_tails`` deletes it.
3. :func:`drop` deletes the old file. Readers that hold it open can finish.

:func:`reclaim` does all three for every segment that is worth it.
"""

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple, Protocol

from msgspec.structs import astuple

from ingather.catalog.bodies.folder import segment_name, segments
from ingather.catalog.bodies.reader import SegmentReader, response_of, text_of
from ingather.catalog.bodies.segment import SegmentWriter
from ingather.catalog.bodies.warc import BadRecordError, epoch, inflate, parse
from ingather.errors import CatalogDamagedError, CatalogError
from ingather.model.report import Stored

__all__ = ["Compaction", "Places", "compact", "dead_space", "drop", "plan", "reclaim"]

_OPENING = 512
"""No opening record is longer: it is not dead space, or a segment of one small record never came to rest."""


class Compaction(NamedTuple):
    """What :func:`compact` did: places that moved (old to new), and live ones that are damaged.

    A row with a damaged place is not to be moved: the caller forgets its place (and has the page
    fetched again) in the same transaction, since :func:`drop` takes the bytes away.
    """

    moved: Mapping[Stored, Stored]
    damaged: Mapping[Stored, str]


class Places(Protocol):
    """The rows that name places, as :func:`reclaim` needs them; the catalog's writer in practice."""

    def live_bytes(self) -> Mapping[int, int]:
        """Return for each segment the sum of lengths (bodies and texts) that rows name."""

    def live_places(self, segment: int) -> Iterable[Stored]:
        """Return every place in *segment* that a row names."""

    def move_places(self, moved: Mapping[Stored, Stored], lost: Collection[Stored]) -> None:
        """In one transaction: rows that still name a key of *moved* name its value, those in *lost* nothing.

        Returns when it is durable. A row that names another place by now is left alone.
        """


def reclaim(
    folder: Path, places: Places, writer: SegmentWriter, *, busy: Collection[int] = (), share: float = 0.5
) -> list[Compaction]:
    """Compact every segment in which dead space passes *share*, one after the other.

    Args:
        folder: the home's folder of bodies.
        places: the rows.
        writer: the keeper's own; its segments are never compacted while it writes them.
        busy: segments of other writers that are still appended to.
        share: between 0 and 1.

    Raises:
        DiskFullError: no room for the copies; segments done before are done, this one is as it was.
        CatalogError: a file or the rows could not be changed; the same holds.
    """
    done = []
    for segment in plan(
        folder, dead_space(folder, places.live_bytes()), busy={*busy, writer.segment}, share=share
    ):
        found = compact(folder, segment, places.live_places(segment), writer)
        places.move_places(found.moved, found.damaged.keys())
        drop(folder, segment)
        done.append(found)
    return done


def dead_space(folder: Path, live: Mapping[int, int]) -> dict[int, int]:
    """Return the bytes of each segment in *folder* that no row names, but for its opening record.

    Args:
        folder: the home's folder of bodies.
        live: segment number to the sum of lengths (bodies and texts) that rows name; absent = 0.

    Raises:
        CatalogError: the folder or a file cannot be looked at.
    """
    dead = {}
    for number, path in segments(folder).items():
        try:
            size = path.stat().st_size
        except OSError as error:
            raise CatalogError(f"cannot look at {path}: {error.strerror}") from error
        dead[number] = max(0, size - live.get(number, 0) - _OPENING)
    return dead


def plan(
    folder: Path, dead: Mapping[int, int], *, busy: Collection[int] = (), share: float = 0.5
) -> list[int]:
    """Name the segments in which dead space passes *share* of the file, the most wasteful first.

    Args:
        folder: the home's folder of bodies.
        dead: segment number to dead bytes, as :func:`dead_space` gives them.
        busy: segments that a writer still appends to; never named.
        share: between 0 and 1.

    Raises:
        CatalogError: the folder or a file cannot be looked at.
    """
    worth = []
    for number, path in segments(folder).items():
        if number in busy or number not in dead:
            continue
        try:
            size = path.stat().st_size
        except OSError as error:
            raise CatalogError(f"cannot look at {path}: {error.strerror}") from error
        if dead[number] > share * size:
            worth.append((-dead[number], number))
    return [number for _, number in sorted(worth)]


def compact(folder: Path, segment: int, live: Iterable[Stored], writer: SegmentWriter) -> Compaction:
    """Copy the *live* records of *segment* through *writer* and make the copies durable.

    Compressed members are copied as they are, each verified first. *writer* must not be writing
    *segment* itself. The old file is not touched.

    Args:
        folder: the home's folder of bodies.
        segment: the segment to be emptied.
        live: every place in it that a row names (a length may be 0); order does not matter.
        writer: where to; one that belongs to the keeper.

    Raises:
        DiskFullError: no room for the copies; rows keep their old places.
        CatalogError: the copies could not be written; rows keep their old places.
    """
    moved: dict[Stored, Stored] = {}
    damaged: dict[Stored, str] = {}
    with SegmentReader(folder, max_open=1) as reader:
        for place in sorted(set(live), key=astuple):
            if place.segment != segment:
                raise CatalogError(f"a place of segment {place.segment} among those of segment {segment}")
            try:
                response, conversion, at_s = _members(reader, place)
            except (BadRecordError, CatalogDamagedError) as error:
                damaged[place] = str(error)
                continue
            moved[place] = writer.copy(response, conversion, at_s=at_s)
    writer.sync()
    return Compaction(moved, damaged)


def drop(folder: Path, segment: int) -> int:
    """Delete an emptied segment, after the transaction that moved its rows; return its size.

    A segment that is gone already is no error and gives 0.

    Raises:
        CatalogError: the file cannot be deleted.
    """
    path = folder / segment_name(segment)
    try:
        size = path.stat().st_size
        path.unlink()
    except FileNotFoundError:
        return 0
    except OSError as error:
        raise CatalogError(f"cannot delete {path}: {error.strerror}") from error
    return size


def _members(reader: SegmentReader, place: Stored) -> tuple[bytes, bytes, float]:
    response = conversion = b""
    at_s = 0.0
    if place.length:
        response = reader.member(place.segment, place.offset, place.length)
        at_s = response_of(parse(inflate(response))).at_s
    if place.text_length:
        conversion = reader.member(place.segment, place.text_offset, place.text_length)
        record = parse(inflate(conversion))
        text_of(record)
        at_s = at_s or epoch(record.fields.get("warc-date", ""))
    return response, conversion, at_s
