"""Crawler traps in the catalog: what a scan reads, what it keeps, what people decided."""

import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import apsw
import msgspec
from xxhash import xxh3_64_intdigest

from ingather.catalog.sqlite_open import open_reader
from ingather.catalog.sqlite_rows import Rows

__all__ = ["TrapReader", "TrapRow", "TrapStore", "Walked"]

_WINDOW: Final = 5_000
_FORGOTTEN_S: Final = 90 * 86_400.0
_DIGITS: Final = re.compile(r"[0-9]+")
_COLUMNS: Final = "id, kind, place, origin, state, first, last, urls, visited, contents, why, examples, pattern, excluded, good, advice, by, decided"
_encode: Final = msgspec.msgpack.Encoder().encode
_decode: Final = msgspec.msgpack.Decoder(list[str]).decode


class Walked(NamedTuple):
    """A URL as a scan for traps reads it; ``content`` 0 = none is known."""

    host: int
    path: str
    visited: bool
    content: int
    described: bool


class TrapRow(NamedTuple):
    """A trap as it is kept; times are wall seconds, ``state`` is ``open``, ``dismissed`` or ``published``."""

    id: int
    kind: str
    place: str
    origin: str
    state: str
    first_s: float
    last_s: float
    urls: int
    visited: int
    contents: int
    why: str
    examples: tuple[str, ...]
    pattern: str
    excluded: int
    good: int
    advice: str
    by: str
    decided_s: float | None


class TrapReader:
    """One read-only connection; one thread at a time.

    Raises:
        CatalogError: the catalog cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self._rows = Rows(open_reader(path), path)

    def close(self) -> None:
        """Close the connection."""
        self._rows.close()

    def newest(self) -> int:
        """Return the newest URL's row."""
        return int(self._rows.value("select coalesce(max(id), 0) from url"))

    def hosts(self, least: int) -> dict[int, str]:
        """Return the origins (by row) of hosts with *least* URLs or more."""
        rows = self._rows.all(
            "select h.id, h.origin from budget b join host h on h.id = b.host where b.kind = 'host' and b.n >= ? order by h.id",
            (least,),
        )
        return {row[0]: row[1] for row in rows}

    def walk(self, hosts: Collection[int]) -> Iterator[Walked]:
        """Yield the URLs of *hosts* that are not denied before any visit, in order of discovery."""
        last = self.newest()
        for start in range(0, last, _WINDOW):
            for host, path, outcome, digest, size, near, title, version in self._rows.all(
                "select u.host, u.path, u.outcome, u.digest, coalesce(u.size, 0), coalesce(g.near, f.near), "
                "iif(f.near is null, p.title, ''), u.version is not null "
                "from url u left join fingerprint f on f.id = u.id left join near n on n.id = u.id "
                "left join fingerprint g on g.id = n.head left join page p on p.id = u.id and f.near is null "
                "where u.id > ? and u.id <= ? and u.state != 1 order by u.id",
                (start, min(start + _WINDOW, last)),
            ):
                if host in hosts:
                    visited = outcome in (0, 1, 2, 12, 13, 16, 17) and digest is not None
                    content = _content(near, title, size, digest) if visited else 0
                    yield Walked(host, path, visited, content, bool(version))

    def traps(self, state: str = "") -> list[TrapRow]:
        """Return traps, those with most URLs first; of one *state*, ``""`` = all."""
        rows = self._rows.all(
            f"select {_COLUMNS} from trap where ?1 = '' or state = ?1 order by state = 'open' desc, urls desc, id",  # noqa: S608 - constants
            (state,),
        )
        return [_trap(row) for row in rows]

    def trap(self, number: int) -> TrapRow | None:
        """Return one trap."""
        row = self._rows.one(f"select {_COLUMNS} from trap where id = ?", (number,))  # noqa: S608 - constants
        return None if row is None else _trap(row)


class TrapStore:
    """Part of the one writer; every method runs inside the caller's transaction."""

    def __init__(self, db: apsw.Connection) -> None:
        self._cursor = db.cursor()

    def put(self, trap: TrapRow) -> int | None:
        """Keep what a scan found; return its number if it is new, ``None`` if it was known: what people decided stands."""
        known = self._cursor.execute(
            "select id from trap where kind = ? and place = ?", (trap.kind, trap.place)
        ).get
        values = (
            trap.urls, trap.visited, trap.contents, trap.why, _encode(trap.examples), trap.pattern, trap.excluded, trap.good,
            trap.advice, trap.last_s,
        )  # fmt: skip
        if known is not None:
            self._cursor.execute(
                "update trap set urls = ?1, visited = ?2, contents = ?3, why = ?4, examples = ?5, pattern = iif(state = 'published', pattern, ?6), "
                "excluded = ?7, good = ?8, advice = ?9, last = ?10 where id = ?11",
                (*values, known),
            )
            return None
        made: int = self._cursor.execute(
            "insert into trap (kind, place, origin, state, first, last, urls, visited, contents, why, examples, pattern, excluded, good, advice) "
            "values (?, ?, ?, 'open', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) returning id",
            (trap.kind, trap.place, trap.origin, trap.first_s, trap.last_s, *values[:-1]),
        ).get
        return made

    def decide(self, number: int, state: str, by: str, now_s: float) -> bool:
        """Note what a person decided about a trap; return whether there is one of that number."""
        rows = self._cursor.execute(
            "update trap set state = ?, by = ?, decided = ? where id = ? returning id",
            (state, by, now_s, number),
        ).fetchall()
        return bool(rows)

    def forget(self, now_s: float) -> None:
        """Forget open traps that no scan has seen for ninety days."""
        self._cursor.execute("delete from trap where state = 'open' and last < ?", (now_s - _FORGOTTEN_S,))


def _content(near: int | None, title: str | None, size: int, digest: bytes) -> int:
    """Return what a page's content is, as a number: equal for pages that show nothing new."""
    if near is not None:
        return near & (1 << 64) - 1 or 1
    if title is not None:
        return (
            xxh3_64_intdigest(f"{_DIGITS.sub('', title)} {size >> 6}".encode("utf-8", "surrogatepass")) or 1
        )
    return xxh3_64_intdigest(digest) or 1


def _trap(row: tuple[Any, ...]) -> TrapRow:
    return TrapRow._make((*row[:11], tuple(_decode(row[11])), *row[12:]))
