"""Configuration versions: what every file said, and which version was in force when, by whom.

A version is a text; equal texts are one version, whenever they are published. Verdicts name the
version, so an old verdict can be read against its lines. A publication says that a version came
into force. A version that was never published is a text that somebody's publication wrote over.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import apsw
import msgspec

from ingather.catalog.sqlite_rows import Rows

__all__ = ["KeptVersion", "Publication", "Versions"]


@dataclass(frozen=True, slots=True)
class Publication:
    """A version came into force at wall time *at_s*; *author* and *note* may be empty."""

    version: int
    at_s: float
    author: str
    note: str


@dataclass(frozen=True, slots=True)
class KeptVersion:
    """A version: its number, the digest of all files together, when it was first kept, the files' names."""

    number: int
    digest: str
    at_s: float
    names: tuple[str, ...]


class Versions:
    """Reading and, on the writer's connection and inside its transaction, writing."""

    def __init__(self, rows: Rows, db: apsw.Connection | None = None) -> None:
        self._rows = rows
        self._db = db

    # -- writing ------------------------------------------------------------------------------

    def keep(self, digest: str, files: Mapping[str, str | bytes], now_s: float) -> int:
        """Keep a text; return its number, an old one if these files were kept before."""
        found = self._rows.value("select id from config_version where digest = ?", (digest,))
        if found is not None:
            return int(found)
        db = self._writing()
        db.execute(
            "insert into config_version (digest, at, files) values (?, ?, ?)",
            (digest, now_s, msgspec.msgpack.encode(dict(files))),
        )
        return db.last_insert_rowid()

    def publish(
        self, digest: str, files: Mapping[str, str | bytes], now_s: float, *, author: str = "", note: str = ""
    ) -> int:
        """Put a text into force; return its number. Nothing is added when it is in force already."""
        number = self.keep(digest, files, now_s)
        if number != self.in_force():
            self._writing().execute(
                "insert into publication (version, at, author, note) values (?, ?, ?, ?)",
                (number, now_s, author, note),
            )
        return number

    def _writing(self) -> apsw.Connection:
        if self._db is None:
            msg = "these versions were opened for reading"
            raise RuntimeError(msg)
        return self._db

    # -- reading ------------------------------------------------------------------------------

    def in_force(self) -> int:
        """Return the version that was published last, 0 before the first."""
        return int(self._rows.value("select version from publication order by id desc limit 1") or 0)

    def publications(self) -> list[Publication]:
        """Return what came into force, newest first."""
        found = self._rows.all("select version, at, author, note from publication order by id desc")
        return [Publication(int(v), float(at), str(author), str(note)) for v, at, author, note in found]

    def all(self) -> list[KeptVersion]:
        """Return every version that is kept, newest first."""
        found = self._rows.all("select id, digest, at, files from config_version order by id desc")
        return [
            KeptVersion(int(number), str(digest), float(at), tuple(sorted(_files(packed))))
            for number, digest, at, packed in found
        ]

    def files(self, number: int) -> dict[str, bytes] | None:
        """Return name -> bytes of version *number*, ``None`` if there is none."""
        packed = self._rows.value("select files from config_version where id = ?", (number,))
        return None if packed is None else _files(packed)


def _files(packed: bytes) -> dict[str, bytes]:
    kept: dict[str, str | bytes] = msgspec.msgpack.decode(packed)
    return {name: body.encode() if isinstance(body, str) else body for name, body in kept.items()}
