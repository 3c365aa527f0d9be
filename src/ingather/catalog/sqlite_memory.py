"""Small values that must survive a restart, under names; and when runs last knew the time."""

import apsw

from ingather.catalog.sqlite_rows import Rows

__all__ = ["Memory", "sqlite_version"]


def sqlite_version() -> str:
    """Return the version of the SQLite that is spoken here."""
    return str(apsw.sqlite_lib_version())


class Memory:
    """Statements of the one writer; inside the caller's transaction where they write."""

    def __init__(self, db: apsw.Connection, rows: Rows) -> None:
        self._db = db
        self._rows = rows

    def remember(self, name: str, value: bytes) -> None:
        """Keep *value* under *name*."""
        self._db.execute(
            "insert into meta (name, value) values (?, ?) on conflict (name) do update set value = excluded.value",
            (name, value),
        )

    def recall(self, name: str) -> bytes:
        """Return the value kept under *name*, empty if there is none."""
        value = self._rows.value("select value from meta where name = ?", (name,))
        return value if isinstance(value, bytes) else b""

    def last_run_s(self) -> float | None:
        """Return the latest wall time that runs remember, ``None`` before the first."""
        row = self._rows.one("select max(started), max(ended) from run") or ()
        return max((float(value) for value in row if value is not None), default=None)
