"""Visiting again now: which URLs a person means, and how they come to wait."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import apsw

from ingather.catalog.sqlite_changes import Applied
from ingather.catalog.sqlite_reader import SqliteReader
from ingather.catalog.sqlite_rows import fetch
from ingather.model.lifecycle import Outcome, State
from ingather.model.source_name import same_source

__all__ = ["FAILED", "RecheckReader", "Rechecks", "Woken"]

_FIRST: Final = 10
"""What is asked for goes so many places ahead in its host's queue, until its visit is settled."""
_BY_HAND: Final = 2
_PAGE: Final = 2_000
FAILED: Final = (
    Outcome.NOT_FOUND, Outcome.REFUSED, Outcome.BACK_OFF, Outcome.SERVER_ERROR, Outcome.FAILED, Outcome.ROBOTS_UNREACHABLE,
    Outcome.CONVERSION_FAILED,
)  # fmt: skip
"""Outcomes of visits that failed."""
_OPEN: Final = (
    "state in (0, 2, 3) and not exists (select 1 from fed f where f.id = url.id and f.content) "
    "and not exists (select 1 from rss_document d where d.id = url.id) and not exists (select 1 from rss_feed r where r.url = url.id) "
    "and not exists (select 1 from sitemap m where m.url = url.id and url.version is null)"
)
"""What is visited by its own schedule: neither what feeds bring or list, nor a feed or a sitemap itself."""


@dataclass(slots=True)
class Woken:
    """What became of URLs that somebody wants visited again.

    Attributes:
        due: how many wait now, and did not before.
        waiting: rows that waited before, or are in a gatherer's hands.
        left: why others are left as they are: reason to how many.
        hosts: where something waits.
    """

    due: int = 0
    waiting: list[int] = field(default_factory=list)
    left: dict[str, int] = field(default_factory=dict)
    hosts: set[int] = field(default_factory=set)


class Rechecks:
    """Part of the one writer; every method runs inside the caller's transaction."""

    def __init__(self, db: apsw.Connection) -> None:
        self._cursor = db.cursor()

    def wake(self, ids: Iterable[int], applied: Applied) -> Woken:
        """Let URLs wait for a visit, ahead of the others of their hosts. Neither robots.txt nor any delay is passed over."""
        done = Woken()
        for url_id in ids:
            self._wake(url_id, done, applied)
        return done

    def _wake(self, url_id: int, done: Woken, applied: Applied) -> None:
        rows = fetch(
            self._cursor,
            f"select host, state, prio, {_OPEN}, (select decided from tombstone t where t.id = url.id) from url where id = ?",  # noqa: S608 - constants
            (url_id,),
        )
        if not rows:
            return
        host, state, priority, ours, decided = rows[0]
        why = ""
        if state == State.EXCLUDED:
            why = "excluded by the rules (robot add judges them anew)"
        elif state == State.QUARANTINED:
            why = "in quarantine"
        elif state == State.GONE and decided == _BY_HAND:
            why = "removed by hand (undelete brings them back)"
        elif not ours:
            why = "brought or listed by feeds, whose clocks count"
        if why:
            done.left[why] = done.left.get(why, 0) + 1
            return
        done.hosts.add(host)
        self._cursor.execute(
            "update url set state = 0, prio = ? where id = ?",
            (priority - _FIRST if priority >= 0 else priority, url_id),
        )
        if state == State.WAITING:
            done.waiting.append(url_id)
        else:
            done.due += 1
            applied.wakes(host)


class RecheckReader(SqliteReader):
    """Finds what is meant; a connection of its own, in groups."""

    def source_names(self) -> list[str]:
        """Return the names of all sources."""
        return [row[0] for row in self._rows.all("select name from source order by name")]

    def rows_of(self, urls: Sequence[str]) -> dict[str, int]:
        """Return the rows of those canonical *urls* that are known."""
        found = {url: self.find(url) for url in urls}
        return {url: record.id for url, record in found.items() if record is not None}

    def at_prefix(self, origin: str, path: str) -> Iterator[int]:
        """Yield the rows of an origin below a path."""
        for host in self._rows.all("select id from host where origin = ?", (origin,)):
            yield from self._pages(
                "host = ? and path >= ? and path < ?", (host[0], path, path + "\U0010ffff")
            )

    def at_host(self, name: str) -> Iterator[int]:
        """Yield the rows of an origin, or of all origins of a host's name."""
        for host in self._rows.all("select id from host where origin = ?1 or hkey = ?1 order by id", (name,)):
            yield from self._pages("host = ?", (host[0],))

    def failed(self, source: str) -> Iterator[int]:
        """Yield the rows whose last visit failed, of a source or of all (``""``)."""
        outcomes = ", ".join(str(int(outcome)) for outcome in FAILED)
        where = f"(outcome in ({outcomes}) or fails > 0)"
        for url_id, owner in self._owned(where):
            if not source or same_source(owner, source):
                yield url_id

    def of_source(self, source: str) -> Iterator[int]:
        """Yield the rows of a source."""
        yield from self._pages("source in (select id from source where name = ? collate nocase)", (source,))

    def in_source(self, ids: Sequence[int], source: str) -> list[int]:
        """Return those of *ids* that belong to a source."""
        owned = dict(
            self._rows.among(
                "select u.id, s.name from url u join source s on s.id = u.source where u.id in ({ids})", ids
            )
        )
        return [url_id for url_id in ids if same_source(owned.get(url_id, ""), source)]

    def _owned(self, where: str) -> Iterator[tuple[int, str]]:
        names = dict(self._rows.all("select id, name from source"))
        after = 0
        while True:
            rows = self._rows.all(
                f"select id, source from url where {where} and id > ? and {_OPEN} order by id limit ?",  # noqa: S608 - constants
                (after, _PAGE),
            )
            if not rows:
                return
            for url_id, source in rows:
                yield url_id, names.get(source, "")
            after = rows[-1][0]

    def _pages(self, where: str, values: tuple[Any, ...]) -> Iterator[int]:
        after = 0
        while True:
            rows = self._rows.all(
                f"select id from url where {where} and id > ? and {_OPEN} order by id limit ?",  # noqa: S608 - constants
                (*values, after, _PAGE),
            )
            if not rows:
                return
            yield from (row[0] for row in rows)
            after = rows[-1][0]
