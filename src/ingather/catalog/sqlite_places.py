"""Places of bodies and texts as rows name them: what compaction needs, and compaction in idle time.

Looking through the rows happens on a connection of its own, so that the writer goes on; only
the moving itself is one short transaction of the writer. A row that names another place by then was
visited meanwhile and is left alone.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path

from ingather.catalog.bodies import Compaction, Places, SegmentWriter, reclaim
from ingather.catalog.bodies.folder import segments
from ingather.catalog.sqlite_changes import Applied
from ingather.catalog.sqlite_open import open_reader
from ingather.catalog.sqlite_rows import Rows
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.errors import CatalogError
from ingather.model.report import Stored

__all__ = ["Job", "SqlitePlaces", "compact_bodies"]

Job = Callable[[CatalogWriter, Applied], object]
"""Work for the writer's thread, in a transaction of its own."""

_PLACE = "coalesce(off, 0), coalesce(len, 0), coalesce(toff, 0), coalesce(tlen, 0)"


class SqlitePlaces:
    """The rows that name places; belongs to the thread that compacts.

    Args:
        rows: a reader's connection.
        commit: runs a job in a durable transaction of the one writer and returns after it.
        now_s: wall time, for pages that have to be fetched again.
    """

    def __init__(self, rows: Rows, commit: Callable[[Job], object], *, now_s: float) -> None:
        self._rows = rows
        self._commit = commit
        self._now_s = now_s
        self._ids: dict[Stored, list[int]] = {}

    def live_bytes(self) -> Mapping[int, int]:
        """Return for each segment the sum of lengths that rows name; reads every row once."""
        return dict(
            self._rows.all(
                "select seg, sum(coalesce(len, 0) + coalesce(tlen, 0)) from url where seg is not null group by seg"
            )
        )

    def live_places(self, segment: int) -> Iterable[Stored]:
        """Return every place in *segment* that a row names; their rows are remembered for :meth:`move_places`."""
        found: defaultdict[Stored, list[int]] = defaultdict(list)
        for url_id, *place in self._rows.all(f"select id, {_PLACE} from url where seg = ?", (segment,)):  # noqa: S608
            found[Stored(segment, *place)].append(url_id)
        self._ids = dict(found)
        return list(self._ids)

    def move_places(self, moved: Mapping[Stored, Stored], lost: Collection[Stored]) -> None:
        """In one transaction: rows that still name a key of *moved* name its value, those in *lost* nothing.

        Pages of *lost* places are fetched again. Durable when it returns.

        Raises:
            CatalogError: nothing was moved; also when a row names the segment at a place that was not
                there before, since the file must not go then.
        """
        ids, now_s = self._ids, self._now_s
        emptied = {place.segment for place in (*moved, *lost)}

        def job(writer: CatalogWriter, applied: Applied) -> None:
            writer.registry.move_places(
                (url_id, old, new) for old, new in moved.items() for url_id in ids[old]
            )
            writer.registry.forget_bodies(
                (url_id for old in lost for url_id in ids[old]),
                now_s,
                applied,
                at={i: old for old in lost for i in ids[old]},
            )
            for segment in emptied:
                if writer.registry.names_segment(segment):
                    raise CatalogError(
                        f"segment {segment} is written to while it is compacted", hint="it is left as it is"
                    )

        self._commit(job)


def compact_bodies(  # noqa: PLR0913 - what, where, by whom, and how far
    folder: Path,
    database: Path,
    commit: Callable[[Job], object],
    writer: SegmentWriter,
    *,
    below: int,
    now_s: float,
    share: float = 0.5,
) -> list[Compaction]:
    """Give back the dead space of segments in which it passes *share*; for idle time, in a thread of its own.

    Args:
        folder: the home's folder of bodies.
        database: the catalog's file.
        commit: runs a job in a durable transaction of the one writer and returns after it.
        writer: the keeper's own segment writer.
        below: only segments with a smaller number are touched: the smallest of what each living gatherer
            has last reported in (or the newest number when it was started). What it has yet to
            report lies in that segment or in later ones.
        now_s: wall time.
        share: between 0 and 1.

    Raises:
        DiskFullError: no room for the copies; segments done before are done, this one is as it was.
        CatalogError: a file or the rows could not be read or changed; the same holds.
    """
    rows = Rows(open_reader(database), database)
    try:
        places = SqlitePlaces(rows, commit, now_s=now_s)
        busy = [number for number in segments(folder) if number >= below]
        return reclaim(folder, places, writer, busy=busy, share=share)
    finally:
        rows.close()


_proof: type[Places] = SqlitePlaces
