"""External metadata in the catalog: versions of all layers, records of the API, and which documents a prefix touches.

A version is the texts of all layers with the switches by which they were read. Texts are kept once; a publication says
that a version came into force. Between a publication and the end of its pass over the documents the number of the
version before is remembered, so that a pass that was cut off is made again from its beginning.
"""

import hashlib
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import apsw
import msgspec

from ingather.catalog.sqlite_changes import Applied, ChangeLog
from ingather.catalog.sqlite_rows import Rows, fetch
from ingather.catalog.sqlite_versions import Publication
from ingather.model.change import ChangeKind

__all__ = ["OverlayReader", "OverlayRecord", "OverlayStore", "Touched"]

_BEFORE: Final = "overlay-pass-from"
_UNHIDDEN: Final = "overlay-unhidden"
_KEPT_VERSIONS: Final = 100
_decode_texts = msgspec.msgpack.Decoder(dict[str, int]).decode


class Touched(NamedTuple):
    """A described document in a range: row, stripped URL, source, whether the index has it, its path as it is."""

    id: int
    key: str
    source: str
    shown: bool
    path: str


@dataclass(frozen=True, slots=True)
class OverlayRecord:
    """A record of the API: its prefix as the line has it, the line, when (wall seconds) and by whom it was set."""

    prefix: str
    line: str
    at_s: float
    author: str


class OverlayReader:
    """Reading, on any connection; belongs to one thread at a time."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def in_force(self) -> int:
        """Return the version that was published last, 0 before the first."""
        return int(self._rows.value("select version from overlay_publication order by id desc limit 1") or 0)

    def publications(self) -> list[Publication]:
        """Return what came into force, newest first."""
        found = self._rows.all("select version, at, author, note from overlay_publication order by id desc")
        return [Publication(int(v), float(at), str(author), str(note)) for v, at, author, note in found]

    def texts(self, number: int) -> dict[str, bytes] | None:
        """Return layer -> text of version *number*, ``None`` if it is not kept."""
        packed = self._rows.value("select texts from overlay_version where id = ?", (number,))
        if packed is None:
            return None
        found = {}
        for layer, text in _decode_texts(packed).items():
            body = self._rows.value("select body from overlay_text where id = ?", (text,))
            found[layer] = zlib.decompress(body)
        return found

    def records(self) -> list[OverlayRecord]:
        """Return the records of the API, by prefix."""
        rows = self._rows.all("select prefix, line, at, author from overlay_record order by prefix")
        return [OverlayRecord(*row) for row in rows]

    def pass_from(self) -> int | None:
        """Return the version before that of the pass that is under way, ``None`` if there is none."""
        kept = self._rows.value("select value from meta where name = ?", (_BEFORE,))
        return None if kept is None else int(kept)

    def host(self, origin: str) -> int | None:
        """Return the row of an origin, ``None`` if there is none."""
        found: int | None = self._rows.value("select id from host where origin = ?", (origin,))
        return found

    def below(self, origin: str, path: str, *, after: str = "", limit: int = 1_000) -> list[Touched]:
        """Return described documents whose path begins with *path*, by path, those above *after*.

        Of a default page the stripped form may not begin so any more; that is for the caller to see.
        """
        host = self.host(origin)
        low, strict = (after, ">") if after else (path, ">=")
        return self._touched(
            f"u.host = ?1 and u.version is not null and u.path {strict} ?2 and u.path < ?3 order by u.path limit ?4",
            (host, low, _beyond(path), limit),
        )

    def at(self, origin: str, path: str) -> list[Touched]:
        """Return the described documents whose stripped path is *path*."""
        host = self.host(origin)
        return [
            *self._touched("u.host = ?1 and u.version is not null and u.path = ?2", (host, path)),
            *self._touched("u.host = ?1 and u.version is not null and u.bare = ?2", (host, path)),
        ]

    def everything(self, *, after: int, limit: int = 1_000) -> list[Touched]:
        """Return the described documents above row *after*, ascending."""
        return self._touched("u.version is not null and u.id > ?1 order by u.id limit ?2", (after, limit))

    def count(self, origin: str, path: str, *, exact: bool, source: str = "") -> int:
        """Return how many described documents (of *source*) a prefix touches."""
        high = f"{path}\x01" if exact else _beyond(path)
        values = (self.host(origin), path, high, source)
        return int(self._rows.value(_COUNT, values)) + int(self._rows.value(_COUNT_BARE, values))

    def touches(self, origin: str, path: str, *, exact: bool, source: str = "") -> bool:
        """Return whether a prefix touches any described document (of *source*)."""
        values = (self.host(origin), path, f"{path}\x01" if exact else _beyond(path), source)
        return bool(self._rows.value(_ANY, values) or self._rows.value(_ANY_BARE, values))

    def changed_after(self, seq: int, sources: Sequence[str]) -> list[tuple[int, Touched]]:
        """Return (change, document) of the described documents of *sources* that changed above *seq*, ascending."""
        named = ",".join("?" * len(sources))
        rows = self._rows.all(f"{_CHANGED} and s.name in ({named}) order by c.seq", (seq, *sources))
        return [(r[0], Touched(r[1], r[2] + r[3], r[4], bool(r[5]), r[6])) for r in rows]

    def unhidden(self) -> bytes:
        """Return the stripped URLs that do not expire, with blanks between them."""
        kept = self._rows.value("select value from meta where name = ?", (_UNHIDDEN,))
        return kept if isinstance(kept, bytes) else b""

    def _touched(self, where: str, values: tuple[Any, ...]) -> list[Touched]:
        rows = self._rows.all(f"{_TOUCHED} where {where}", values)
        return [Touched(r[0], r[1] + r[2], r[3], bool(r[4]), r[5]) for r in rows]


_PLAIN: Final = (
    "from url where host = ?1 and version is not null and path >= ?2 and path < ?3 and bare is null "
    "and (?4 = '' or source in (select id from source where name = ?4 collate nocase))"
)
_BARE: Final = (
    "from url where host = ?1 and version is not null and bare is not null and bare >= ?2 and bare < ?3 "
    "and (?4 = '' or source in (select id from source where name = ?4 collate nocase))"
)
_COUNT, _COUNT_BARE = f"select count(*) {_PLAIN}", f"select count(*) {_BARE}"
_ANY, _ANY_BARE = f"select exists (select 1 {_PLAIN})", f"select exists (select 1 {_BARE})"
_ROW: Final = "u.id, h.origin, coalesce(u.bare, u.path), s.name, u.version is not null and u.dup is null and u.held is not 2, u.path"
_JOINED: Final = "join host h on h.id = u.host join source s on s.id = u.source"
_TOUCHED: Final = f"select {_ROW} from url u {_JOINED}"  # noqa: S608 - constants
_CHANGED: Final = (
    f"select c.seq, {_ROW} from change c join url u on u.id = c.id {_JOINED} "  # noqa: S608 - constants
    "where c.seq > ? and u.version is not null"
)


class OverlayStore(OverlayReader):
    """Part of the one writer; every method that writes runs inside the caller's transaction."""

    def __init__(self, db: apsw.Connection, rows: Rows, log: ChangeLog) -> None:
        super().__init__(rows)
        self._db = db
        self._cursor = db.cursor()
        self._log = log

    def publish(
        self, texts: Mapping[str, bytes], now_s: float, *, author: str = "", note: str = ""
    ) -> tuple[int, bool]:
        """Put *texts* into force; return the version's number, and whether that is another one than before.

        A pass over the documents is then under way, until :meth:`end_pass`.
        """
        before = self.in_force()
        number = self._keep(texts, now_s)
        if number == before:
            return number, False
        self._cursor.execute(
            "insert into overlay_publication (version, at, author, note) values (?, ?, ?, ?)",
            (number, now_s, author, note),
        )
        self._cursor.execute(
            "insert into meta (name, value) values (?, ?) on conflict (name) do nothing",
            (_BEFORE, str(before).encode()),
        )
        self._forget()
        return number, True

    def end_pass(self) -> None:
        """Every document that another version touches differently has its change."""
        self._cursor.execute("delete from meta where name = ?", (_BEFORE,))

    def changed(self, ids: Iterable[int], applied: Applied) -> int:
        """Have the index make *ids* anew; return how many."""
        count = 0
        for url_id in ids:
            self._log.append(url_id, ChangeKind.PUT, applied)
            count += 1
        return count

    def put_record(self, prefix: str, line: str, now_s: float, author: str) -> bool:
        """Set the record of *prefix*; return whether that changed anything."""
        self._cursor.execute(
            "insert into overlay_record (prefix, line, at, author) values (?1, ?2, ?3, ?4) "
            "on conflict (prefix) do update set line = ?2, at = ?3, author = ?4 where line != ?2",
            (prefix, line, now_s, author),
        )
        return bool(self._db.changes())

    def delete_record(self, prefix: str) -> bool:
        """Take the record of *prefix* away; return whether there was one."""
        self._cursor.execute("delete from overlay_record where prefix = ?", (prefix,))
        return bool(self._db.changes())

    def clear_records(self) -> None:
        """Take all records of the API away."""
        self._cursor.execute("delete from overlay_record")

    def set_unhidden(self, keys: Iterable[str]) -> None:
        """Keep the stripped URLs that do not expire."""
        self._cursor.execute(
            "insert into meta (name, value) values (?1, ?2) on conflict (name) do update set value = ?2",
            (_UNHIDDEN, " ".join(sorted(set(keys))).encode()),
        )

    def event(self, kind: str, subject: str, detail: str) -> None:
        """Note what operators should know."""
        self._log.event(kind, subject, detail)

    def _keep(self, texts: Mapping[str, bytes], now_s: float) -> int:
        digests = {layer: hashlib.sha256(body).digest() for layer, body in texts.items()}
        whole = hashlib.sha256(
            b"".join(name.encode() + b"\0" + digests[name] for name in sorted(digests))
        ).hexdigest()
        known = self._cursor.execute("select id from overlay_version where digest = ?", (whole,)).get
        if known is not None:
            return int(known)
        rows = {}
        for layer, digest in digests.items():
            found = self._cursor.execute("select id from overlay_text where digest = ?", (digest,)).get
            if found is None:
                self._cursor.execute(
                    "insert into overlay_text (digest, body) values (?, ?)",
                    (digest, zlib.compress(texts[layer], 1)),
                )
                found = self._db.last_insert_rowid()
            rows[layer] = int(found)
        self._cursor.execute(
            "insert into overlay_version (digest, at, texts) values (?, ?, ?)",
            (whole, now_s, msgspec.msgpack.encode(rows)),
        )
        return self._db.last_insert_rowid()

    def _forget(self) -> None:
        """Forget the oldest versions, and texts that no version has any more."""
        rows = fetch(self._cursor, "select id, texts from overlay_version order by id desc")
        last = {
            row[0]
            for row in fetch(
                self._cursor, "select version from overlay_publication order by id desc limit 100"
            )
        }
        old = [number for number, _ in rows[_KEPT_VERSIONS:] if number not in last]
        if not old:
            return
        for number in old:
            self._cursor.execute("delete from overlay_version where id = ?", (number,))
        used = {
            text for number, packed in rows if number not in old for text in _decode_texts(packed).values()
        }
        for (text,) in fetch(self._cursor, "select id from overlay_text"):
            if text not in used:
                self._cursor.execute("delete from overlay_text where id = ?", (text,))


def _beyond(path: str) -> str:
    """Return the first text behind all that begin with *path*: canonical paths are ASCII."""
    return path[:-1] + chr(ord(path[-1]) + 1)
