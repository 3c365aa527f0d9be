"""What filter-by-max has let pass in this run, so that a restart goes on counting where it stood."""

from collections.abc import Iterable

import apsw

from ingather.catalog.sqlite_rows import Rows

__all__ = ["RunCounts"]


class RunCounts:
    """Statements of the one writer; inside the caller's transaction where they write."""

    def __init__(self, db: apsw.Connection, rows: Rows) -> None:
        self._db = db
        self._rows = rows

    def add(self, passed: Iterable[tuple[int, int]]) -> None:
        """Keep what was let pass: (what is counted, key)."""
        self._db.executemany("insert or ignore into run_count (what, key) values (?, ?)", passed)

    def all(self) -> list[tuple[int, int]]:
        """Return everything that was let pass in this run."""
        return [(int(what), int(key)) for what, key in self._rows.all("select what, key from run_count")]

    def forget(self) -> None:
        """Begin with nothing: a new run."""
        self._db.execute("delete from run_count")
