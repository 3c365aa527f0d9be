"""What reports read of the catalog by an index: runs and their figures, hosts, what waits, groups of equal bodies.

Each call is one statement over an index or a page of one, so that nothing keeps the write-ahead log from being emptied
while the robot writes. What needs a look at every URL is in :mod:`ingather.catalog.reports.sqlite_report_walks`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from ingather.catalog.reports.sqlite_report_walks import ReportWalks
from ingather.catalog.reports.sqlite_runs import Run, run_of
from ingather.catalog.sqlite_open import open_reader, schema_version
from ingather.catalog.sqlite_rows import Rows

__all__ = ["Directive", "Group", "HostRow", "ReportReader", "Waiting"]

_PAGE: Final = 1_000
_LISTED: Final = 5_000
_HOST: Final = (
    "select h.id, h.origin, h.robots_kind, h.not_before, h.delay, coalesce(f.visits, 0), coalesce(f.ms, 0), "
    "coalesce(f.slowest, 0), coalesce(f.bytes, 0), coalesce(f.errors, 0), f.first, f.last, coalesce(f.address, ''), "
    "coalesce((select b.n from budget b where b.host = h.id and b.kind = 'host' and b.name = ''), 0), "
    "coalesce((select b.n from budget b where b.host = h.id and b.kind = 'excluded' and b.name = ''), 0) "
    "from host h left join host_figure f on f.id = h.id"
)


class Directive(NamedTuple):
    """Who denied: category of the reason, ``file:line`` or ``robots.txt:LINE``, reason, version of the configuration."""

    category: str
    place: str
    reason: str
    version: int


class HostRow(NamedTuple):
    """An origin: politeness and robots state, and what its visits cost so far; times are wall seconds.

    ``urls`` that were found and let in, ``excluded`` ones that are kept; ``ms`` of all visits together.
    """

    id: int
    origin: str
    robots: str
    not_before_s: float
    delay_s: float
    visits: int
    ms: int
    slowest_ms: int
    bytes: int
    errors: int
    first_s: float | None
    last_s: float | None
    address: str
    urls: int
    excluded: int


class Waiting(NamedTuple):
    """What waits of an origin: how much, from when on it may be asked, its delay, the next URL, whether it was ever asked, its source."""

    host: int
    origin: str
    urls: int
    not_before_s: float
    delay_s: float
    next_url: str
    asked: bool
    source: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """Equal bodies: MD5 in hex, the one that is shown, how many stand behind it, a few of those."""

    digest: str
    head: str
    count: int
    members: tuple[str, ...]


class ReportReader(ReportWalks):
    """One read-only connection; one thread at a time.

    Raises:
        CatalogError: the catalog cannot be read; there is none yet.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._db = open_reader(path)
        super().__init__(Rows(self._db, path))

    def close(self) -> None:
        """Close the connection."""
        self._rows.close()

    # -- runs ---------------------------------------------------------------------------------

    def runs(self, limit: int, before: int = 0) -> list[Run]:
        """Return runs, newest first; *before* = only those with smaller numbers, 0 = all."""
        found = self._rows.all(
            "select id, kind, started, ended, detail from run where ?1 = 0 or id < ?1 order by id desc limit ?2",
            (before, limit),
        )
        return [run_of(row) for row in found]

    def run(self, number: int) -> Run | None:
        """Return one run; 0 = the newest."""
        found = self._rows.one(
            "select id, kind, started, ended, detail from run where ?1 = 0 or id = ?1 order by id desc limit 1",
            (number,),
        )
        return None if found is None else run_of(found)

    def figures(self, run: int) -> dict[str, dict[str, int]]:
        """Return the figures of a run: what (``visits``, ``outcome``, ``error``, ``rds``, ``excluded``, ``refused``) to names to counts."""
        found: dict[str, dict[str, int]] = {}
        for what, name, count in self._rows.all(
            "select what, name, n from run_figure where run = ? order by what, name", (run,)
        ):
            found.setdefault(what, {})[name] = count
        return found

    def directives(self, ids: Sequence[int]) -> dict[int, Directive]:
        """Return who is meant by rows of directives."""
        rows = self._rows.among(
            "select id, category, place, reason, version from directive where id in ({ids})", ids
        )
        return {row[0]: Directive(*row[1:]) for row in rows}

    # -- hosts --------------------------------------------------------------------------------

    def hosts(self, after: int = 0) -> Iterator[HostRow]:
        """Yield all origins that were found, in that order, from behind row *after*."""
        for rows in self._rows.pages(
            f"{_HOST} where h.id > ? order by h.id limit ?", size=_PAGE, after=after
        ):
            yield from (HostRow(*row) for row in rows)

    def slowest_hosts(self, limit: int) -> list[HostRow]:
        """Return the hosts with the largest mean time a visit."""
        rows = self._rows.all(
            f"{_HOST} where f.visits > 0 order by f.ms * 1.0 / f.visits desc, h.origin limit ?", (limit,)
        )
        return [HostRow(*row) for row in rows]

    def robots_files(self) -> Iterator[tuple[int, str, bytes]]:
        """Yield (host, origin, robots.txt) of the hosts whose robots.txt may ask for a delay."""
        for rows in self._rows.pages(
            "select id, origin, robots_body from host where id > ? and robots_kind = 'rules' and robots_body is not null "
            "and instr(lower(cast(robots_body as text)), 'delay') > 0 order by id limit ?",
            size=100,
        ):
            yield from ((row[0], row[1], row[2]) for row in rows)

    def unreachable_robots(self, limit: int) -> list[tuple[int, str, float, str]]:
        """Return (host, origin, since, why) of hosts whose robots.txt cannot be had; the longest first."""
        rows = self._rows.all(
            "select id, origin, robots_since, robots_detail from host where robots_kind = 'unreachable' "
            "order by robots_since, origin limit ?",
            (limit,),
        )
        return [(row[0], row[1], row[2], row[3]) for row in rows]

    def waiting_at(self, host: int) -> int:
        """Return how many URLs of a host wait."""
        return int(self._rows.value("select count(*) from url where host = ? and state = 0", (host,)))

    # -- what is next -------------------------------------------------------------------------

    def queue(self, limit: int) -> list[Waiting]:
        """Return the origins at which most waits."""
        rows = self._rows.all(
            "select w.host, h.origin, w.n, h.not_before, h.delay, coalesce((select h.origin || u.path from url u where u.host = w.host "
            "and u.state = 0 order by u.prio, u.id limit 1), ''), exists (select 1 from host_figure f where f.id = w.host), "
            "coalesce((select s.name from url u join source s on s.id = u.source where u.host = w.host and u.state = 0 "
            "order by u.prio, u.id limit 1), '') "
            "from (select host, count(*) as n from url where state = 0 group by host) w join host h on h.id = w.host "
            "order by w.n desc, h.origin limit ?",
            (limit,),
        )
        return [Waiting(*row) for row in rows]

    def visits_of(self, day: int) -> dict[str, int]:
        """Return the visits of a day (from 1970, UTC) by politeness name, if they are counted."""
        return dict(self._rows.all("select hkey, n from host_day where day = ?", (day,)))

    def waiting_of(self, host: int) -> Iterator[tuple[int, str, int, int]]:
        """Yield (row, URL, depth, priority) of what waits at a host, in the order in which it will be asked for."""
        priority, last = -1_000, 0
        while rows := self._rows.all(
            "select u.id, h.origin || u.path, u.depth, u.prio from url u join host h on h.id = u.host "
            "where u.host = ?1 and u.state = 0 and (u.prio, u.id) > (?2, ?3) order by u.prio, u.id limit ?4",
            (host, priority, last, _PAGE),
        ):
            yield from ((row[0], row[1], row[2], row[3]) for row in rows)
            last, priority = rows[-1][0], rows[-1][3]

    def rechecks(self, limit: int, until_s: float | None = None) -> list[tuple[str, float, float | None]]:
        """Return (URL, due, last visit) of the next visits that are planned, soonest first."""
        rows = self._rows.all(
            "select h.origin || u.path, u.due, u.fetched from url u join host h on h.id = u.host "
            "where u.due is not null and u.state in (2, 3) and (?1 is null or u.due <= ?1) order by u.due limit ?2",
            (until_s, limit),
        )
        return [(row[0], row[1], row[2]) for row in rows]

    def host_of(self, name: str) -> list[int]:
        """Return the rows of an origin, or of a politeness name (``www.example.org``), ascending."""
        rows = self._rows.all("select id from host where origin = ?1 or hkey = ?1 order by id", (name,))
        return [row[0] for row in rows]

    def origins(self, ids: Sequence[int]) -> dict[int, str]:
        """Return the origins of hosts."""
        return {
            row[0]: row[1] for row in self._rows.among("select id, origin from host where id in ({ids})", ids)
        }

    # -- documents ----------------------------------------------------------------------------

    def groups(self, limit: int, members: int) -> list[Group]:
        """Return the largest groups of equal bodies, with at most *members* of those that stand behind the head."""
        found = []
        for digest, audience, count in self._rows.all(
            "select digest, dup, count(*) as n from url where dup is not null group by digest, dup order by n desc, digest limit ?",
            (limit,),
        ):
            head = self._rows.value(
                "select h.origin || u.path from digest g join url u on u.id = g.head join host h on h.id = u.host "
                "where g.md5 = ? and g.class = ?",
                (digest, audience),
            )
            rows = self._rows.all(
                "select h.origin || u.path from url u join host h on h.id = u.host where u.digest = ? and u.dup = ? limit ?",
                (digest, audience, members),
            )
            found.append(
                Group(
                    digest.hex() if digest else "", head or "", count, tuple(sorted(row[0] for row in rows))
                )
            )
        return found

    def group_members(self, digest: bytes) -> list[tuple[str, int]]:
        """Return (URL, depth) of what stands behind the heads of a group of equal bodies; the first thousands."""
        rows = self._rows.all(
            "select h.origin || u.path, u.depth from url u join host h on h.id = u.host "
            "where u.digest = ? and u.dup is not null limit ?",
            (digest, _LISTED),
        )
        return sorted((row[0], row[1]) for row in rows)

    def listed(self, feed: int, after: int = 0) -> Iterator[tuple[Any, ...]]:
        """Yield (row, URL, described, duplicate, held, state, outcome, status, detail, reason) of what a feed lists now."""
        for rows in self._rows.pages(
            f"select l.id, h.origin || u.path, u.version is not null, u.dup is not null, coalesce(u.held, 0), u.state, u.outcome, u.status, "  # noqa: S608 - a number
            "coalesce(u.detail, ''), coalesce(d.reason, '') from rss_listing l join url u on u.id = l.id join host h on h.id = u.host "
            f"left join directive d on d.id = u.verdict where l.feed = {int(feed)} and l.listed = 1 and l.id > ? order by l.id limit ?",
            size=_PAGE,
            after=after,
        ):
            yield from rows

    def sitemaps(self) -> list[tuple[Any, ...]]:
        """Return (number, URL, source, kind, listed, last good list, next poll, error) of the sitemaps of sites that something names."""
        return list(
            self._rows.all(
                "select m.id, h.origin || u.path, s.name, m.kind, m.listed, m.good, m.due, m.error from sitemap m join url u on u.id = m.url "
                "join host h on h.id = u.host join source s on s.id = m.source where m.named = 1 order by m.id"
            )
        )

    def sitemap_entries(self, sitemap: int) -> Iterator[tuple[Any, ...]]:
        """Yield (row, URL, described, duplicate, held, state, outcome, status, detail, reason, entry's state) of what a sitemap lists."""
        last = ""
        while rows := self._rows.all(
            "select e.id, e.url, u.version is not null, u.dup is not null, coalesce(u.held, 0), coalesce(u.state, 0), u.outcome, u.status, "
            "coalesce(u.detail, ''), coalesce(d.reason, ''), e.state from sitemap_entry e left join url u on u.id = e.id "
            "left join directive d on d.id = u.verdict where e.sitemap = ? and e.url > ? order by e.url limit ?",
            (sitemap, last, _PAGE),
        ):
            yield from rows
            last = rows[-1][1]

    def unlisted(self, after: int = 0) -> Iterator[tuple[int, str, float | None]]:
        """Yield (row, URL, last visit) of shown documents that no sitemap lists, at hosts of which sitemaps list some."""
        for rows in self._rows.pages(
            "select u.id, h.origin || u.path, u.fetched from url u join host h on h.id = u.host where u.id > ? and u.version is not null "
            "and u.dup is null and u.held is not 2 and not exists (select 1 from sitemap_entry e where e.id = u.id) "
            "and u.host in (select distinct x.host from sitemap_entry e join url x on x.id = e.id) order by u.id limit ?",
            size=_PAGE,
            after=after,
        ):
            yield from ((row[0], row[1], row[2]) for row in rows)

    def changes_after(self, sequence: int, limit: int) -> list[tuple[int, str, int]]:
        """Return (number, URL, kind) of changes above *sequence*, ascending."""
        rows = self._rows.all(
            "select c.seq, h.origin || u.path, c.kind from change c join url u on u.id = c.id join host h on h.id = u.host "
            "where c.seq > ? order by c.seq limit ?",
            (sequence, limit),
        )
        return [(row[0], row[1], row[2]) for row in rows]

    def last_change(self) -> int:
        """Return the newest change's number."""
        return int(self._rows.value("select coalesce(max(seq), 0) from change"))

    def refusals(self, limit: int) -> list[tuple[str, str, str, int, int]]:
        """Return (origin, kind, name, URLs, refused) of the budgets that refused most."""
        rows = self._rows.all(
            "select h.origin, b.kind, b.name, b.n, b.refused from budget b join host h on h.id = b.host where b.refused > 0 "
            "order by b.refused desc, h.origin, b.kind, b.name limit ?",
            (limit,),
        )
        return [(row[0], row[1], row[2], row[3], row[4]) for row in rows]

    # -- the catalog itself -------------------------------------------------------------------

    def database(self) -> dict[str, int]:
        """Return figures of the file: its schema, its pages, and how much of each kind it has.

        ``urls`` and ``changes`` are spans of numbers: counting them would read them all.
        """
        value = self._rows.value
        return {
            "schema": schema_version(self._db),
            "page_bytes": value("pragma page_size"),
            "pages": value("pragma page_count"),
            "free_pages": value("pragma freelist_count"),
            "urls": value("select coalesce(max(id), 0) from url"),
            "hosts": value("select count(*) from host"),
            "documents": value("select coalesce(sum(documents), 0) from source"),
            "tombstones": value("select count(*) from tombstone"),
            "changes": value("select coalesce(max(seq) - min(seq) + 1, 0) from change"),
            "held": value("select count(*) from hold_item"),
            "runs": value("select count(*) from run"),
        }

    def sources(self) -> list[tuple[str, str, str, int, float | None]]:
        """Return (name, kind, access, documents, disabled since) of the sources."""
        rows = self._rows.all("select name, kind, access, documents, disabled from source order by name")
        return [(row[0], row[1], row[2], row[3], row[4]) for row in rows]

    def databases(self) -> list[str]:
        """Return the names of the databases of resource descriptions."""
        return ["default"] + [row[0] for row in self._rows.all("select name from rd_database order by name")]

    def waiting(self) -> int:
        """Return how many URLs wait."""
        return int(self._rows.value("select count(*) from url where state = 0"))
