"""Reports that must look at every URL: walks over windows of rows, each a statement of its own.

A window is a span of row numbers, not of hits, so that no statement runs long whatever it looks for and whatever the
robot writes meanwhile. Totals are kept for a bounded number of groups; what is beyond is counted together.
"""

import heapq
from collections import Counter
from collections.abc import Collection, Iterator
from typing import Final, NamedTuple

from ingather.catalog.packing import raw_visits, unpack_keys
from ingather.catalog.sqlite_rows import Rows
from ingather.model.error_class import ERRORS, error_class
from ingather.model.lifecycle import Outcome

__all__ = ["MOST_GROUPS", "OTHERS", "UNKEPT", "ReportWalks", "TroubledUrl"]

OTHERS: Final = 0
"""Host of what is beyond the groups that are kept apart."""
UNKEPT: Final = "(others)"

_WINDOW: Final = 20_000
_LINK_WINDOW: Final = 2_000
"""Links of pages are long."""
MOST_GROUPS: Final = 200_000
_MOST_KEYS: Final = 1_000_000
_REMEMBERED: Final = 12
_ERRORS: Final = ", ".join(str(int(outcome)) for outcome in sorted(ERRORS))
_KIND: Final = "iif(u.outcome = 11, substr(u.detail, 1, instr(u.detail || ':', ':') - 1), '')"
_DESCRIBED: Final = frozenset({int(Outcome.INDEXED), int(Outcome.CONVERSION_FAILED), int(Outcome.DUPLICATE)})
_UNCHANGED: Final = int(Outcome.UNCHANGED)
_URL: Final = "h.origin || u.path"


class TroubledUrl(NamedTuple):
    """A URL whose last visit went wrong; ``since_s`` = its first 404 in a row, times are wall seconds."""

    id: int
    url: str
    error: str
    status: int
    detail: str
    fetched_s: float | None
    due_s: float | None
    fails: int


class ReportWalks:
    """Part of the reports' reader."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def _windows(self, after: int = 0) -> Iterator[tuple[int, int]]:
        last = int(self._rows.value("select coalesce(max(id), 0) from url"))
        for start in range(after, last, _WINDOW):
            yield start, min(start + _WINDOW, last)

    # -- what went wrong ----------------------------------------------------------------------

    def errors(self) -> Counter[tuple[int, str]]:
        """Count URLs whose last visit went wrong, by (host, class)."""
        found: Counter[tuple[int, str]] = Counter()
        for window in self._windows():
            for host, outcome, status, kind, count in self._rows.all(
                f"select u.host, u.outcome, coalesce(u.status, 0), coalesce({_KIND}, ''), count(*) from url u "  # noqa: S608 - constants
                f"where u.id > ? and u.id <= ? and u.outcome in ({_ERRORS}) group by 1, 2, 3, 4",
                window,
            ):
                _count(found, host, error_class(Outcome(outcome), status, kind), count)
        return found

    def error_urls(
        self, *, error: str = "", hosts: Collection[int] | None = None, after: int = 0
    ) -> Iterator[TroubledUrl]:
        """Yield the URLs whose last visit went wrong, of one class, of some *hosts*; from behind row *after*."""
        for window in self._windows(after):
            for row in self._rows.all(
                f"select u.id, {_URL}, u.outcome, coalesce(u.status, 0), coalesce(u.detail, ''), u.fetched, u.due, u.fails, u.host "  # noqa: S608 - constants
                f"from url u join host h on h.id = u.host where u.id > ? and u.id <= ? and u.outcome in ({_ERRORS}) order by u.id",
                window,
            ):
                named = error_class(Outcome(row[2]), row[3], row[4])
                if (not error or named == error) and (hosts is None or row[8] in hosts):
                    yield TroubledUrl(row[0], row[1], named, *row[3:8])

    def closed_by_robots(self) -> Counter[tuple[int, str]]:
        """Count URLs that robots.txt keeps us from, by (host, reason)."""
        counted: Counter[tuple[int, int]] = Counter()
        for window in self._windows():
            for host, verdict, count in self._rows.all(
                "select host, coalesce(verdict, 0), count(*) from url where id > ? and id <= ? and outcome = 5 group by 1, 2",
                window,
            ):
                key = (host, verdict)
                counted[key if key in counted or len(counted) < MOST_GROUPS else (OTHERS, 0)] += count
        reasons = dict(
            self._rows.among(
                "select id, reason from directive where id in ({ids})",
                sorted({verdict for _, verdict in counted}),
            )
        )
        found: Counter[tuple[int, str]] = Counter()
        for (host, verdict), count in counted.items():
            found[host, reasons.get(verdict, "robots.txt forbids it")] += count
        return found

    def robots_urls(
        self, hosts: Collection[int] | None = None, *, after: int = 0
    ) -> Iterator[tuple[int, str, str, float | None]]:
        """Yield (row, URL, line of robots.txt, last look) of the URLs that robots.txt keeps us from."""
        for window in self._windows(after):
            for row in self._rows.all(
                f"select u.id, {_URL}, coalesce(d.reason, u.detail, ''), u.fetched, u.host from url u join host h on h.id = u.host "  # noqa: S608 - constants
                "left join directive d on d.id = u.verdict where u.id > ? and u.id <= ? and u.outcome = 5 order by u.id",
                window,
            ):
                if hosts is None or row[4] in hosts:
                    yield row[0], row[1], row[2], row[3]

    # -- what runs did ------------------------------------------------------------------------

    def denied(
        self, run: int, directives: Collection[int], *, began_s: float, ended_s: float, after: int = 0
    ) -> Iterator[tuple[int, str, int]]:
        """Yield (row, URL, directive) of what *directives* denied in a run, each URL once.

        A URL that later runs settled again is found by its remembered visits.
        """
        wanted = frozenset(directives)
        for window in self._windows(after):
            for url_id, url, last, verdict, history in self._rows.all(
                f"select u.id, {_URL}, u.run, coalesce(u.verdict, 0), u.hist from url u join host h on h.id = u.host "  # noqa: S608 - constants
                "where u.id > ?1 and u.id <= ?2 and (u.run = ?3 and u.verdict is not null and u.outcome in (2, 3, 5, 16) "
                "or u.run > ?3 and u.hist is not null) order by u.id",
                (*window, run),
            ):
                if last == run and verdict in wanted:
                    yield url_id, url, verdict
                    continue
                for at_s, _, _, _, directive in raw_visits(history):
                    if directive in wanted and began_s <= at_s <= ended_s:
                        yield url_id, url, directive
                        break

    def failed(
        self, run: int, *, began_s: float, ended_s: float, after: int = 0
    ) -> Iterator[tuple[int, str, str, str]]:
        """Yield (row, URL, class, detail) of the URLs at which a run failed; those behind equal bytes have the class ``duplicate``.

        Of URLs that later runs settled again outcome and status alone are known, and no copies.
        """
        for window in self._windows(after):
            for url_id, url, last, outcome, status, detail, history in self._rows.all(
                f"select u.id, {_URL}, u.run, u.outcome, coalesce(u.status, 0), coalesce(u.detail, ''), u.hist "  # noqa: S608 - constants
                "from url u join host h on h.id = u.host where u.id > ?1 and u.id <= ?2 "
                f"and (u.run = ?3 and u.outcome in ({_ERRORS}, 12) or u.run > ?3 and u.hist is not null) order by u.id",
                (*window, run),
            ):
                if last == run:
                    yield url_id, url, error_class(Outcome(outcome), status, detail) or "duplicate", detail
                    continue
                for at_s, then, code, *_ in raw_visits(history):
                    named = error_class(Outcome(then), code, "") if began_s <= at_s <= ended_s else ""
                    if named:
                        yield url_id, url, named, ""
                        break

    def descriptions(
        self, what: str, began_s: float, ended_s: float, *, after: int = 0
    ) -> Iterator[tuple[int, str]]:
        """Yield (row, URL) of the resource descriptions that became ``new``, ``changed`` or ``unchanged`` within a span of wall time."""
        for window in self._windows(after):
            found = [
                url_id
                for url_id, history in self._rows.all(
                    "select id, hist from url where id > ? and id <= ? and fetched >= ? and hist is not null order by id",
                    (*window, began_s),
                )
                if _became(history, began_s, ended_s) == what
            ]
            urls = dict(
                self._rows.among(
                    f"select u.id, {_URL} from url u join host h on h.id = u.host where u.id in ({{ids}})",  # noqa: S608 - constants
                    found,
                )
            )
            yield from ((url_id, urls[url_id]) for url_id in found if url_id in urls)

    def removed(
        self, run: int, began_s: float, ended_s: float, *, after: int = 0
    ) -> Iterator[tuple[int, str, str]]:
        """Yield (row, URL, reason) of the resource descriptions that a run removed and that are gone still.

        The span of wall time is for tombstones that name no run.
        """
        for rows in self._rows.pages(
            f"select t.id, {_URL}, t.reason, t.at, t.run from tombstone t join url u on u.id = t.id join host h on h.id = u.host "  # noqa: S608 - constants
            "where t.id > ? and t.version is not null order by t.id limit ?",
            size=_WINDOW,
            after=after,
        ):
            for url_id, url, reason, at_s, by in rows:
                if by == run or (by is None and began_s <= at_s <= ended_s):
                    yield url_id, url, reason

    # -- documents ----------------------------------------------------------------------------

    def largest(self, limit: int) -> list[tuple[int, str, str, float | None]]:
        """Return (bytes, URL, media type as its row's page says it, last visit) of the largest documents."""
        kept: list[tuple[int, int]] = []
        for window in self._windows():
            found = self._rows.all(
                "select size, -id from url where id > ? and id <= ? and size is not null and version is not null "
                "order by size desc, id limit ?",
                (*window, limit),
            )
            kept = heapq.nlargest(limit, [*kept, *((row[0], row[1]) for row in found)])
        rows = {
            row[0]: row
            for row in self._rows.among(
                f"select u.id, {_URL}, s.name, u.fetched from url u join host h on h.id = u.host join source s on s.id = u.source "  # noqa: S608 - constants
                "where u.id in ({ids})",
                [-number for _, number in kept],
            )
        }
        return [(size, rows[-n][1], rows[-n][2], rows[-n][3]) for size, n in kept if -n in rows]

    def orphans(self, after: int = 0) -> Iterator[tuple[int, str, float | None, float | None]]:
        """Yield (row, URL, last visit, next visit) of documents to which no link leads any more.

        Links, redirects, feeds and starting points count as ways. Keys of documents are held in memory, a million
        at a time; for each such part the links of all pages are read once.
        """
        documents = int(self._rows.value("select coalesce(sum(documents), 0) from source"))
        parts = max(-(-documents // _MOST_KEYS), 1)
        ids = sorted(row for part in range(parts) for row in self._unlinked(part, parts) if row > after)
        for start in range(0, len(ids), _WINDOW):
            group = ids[start : start + _WINDOW]
            rows = self._rows.among(
                f"select u.id, {_URL}, u.fetched, u.due from url u join host h on h.id = u.host where u.id in ({{ids}})",  # noqa: S608 - constants
                group,
            )
            yield from sorted((row[0], row[1], row[2], row[3]) for row in rows)

    def _unlinked(self, part: int, parts: int) -> list[int]:
        left: set[int] = set()
        for window in self._windows():
            left.update(
                key
                for (key,) in self._rows.all(
                    "select u.key from url u where u.id > ? and u.id <= ? and u.version is not null and u.id % ? = ? "
                    "and u.parent is not null and not exists (select 1 from fed x where x.id = u.id) "
                    "and not exists (select 1 from rss_document x where x.id = u.id) "
                    "and not exists (select 1 from rss_feed x where x.url = u.id)",
                    (*window, parts, part),
                )
            )
        for window in self._windows():
            for (key,) in self._rows.all(
                "select t.key from url u join url t on t.id = u.target where u.id > ? and u.id <= ? and u.target is not null "
                "and u.target != u.id",
                window,
            ):
                left.discard(key)
        last = int(self._rows.value("select coalesce(max(id), 0) from url"))
        for start in range(0, last, _LINK_WINDOW):
            for own, out in self._rows.all(
                "select u.key, p.out from page p join url u on u.id = p.id where p.id > ? and p.id <= ? and p.out != x'' and u.state != 3",
                (start, start + _LINK_WINDOW),
            ):
                linked = unpack_keys(out)
                if own in left and own in linked:
                    left.difference_update(key for key in linked if key != own)
                else:
                    left.difference_update(linked)
        return [row[0] for row in self._rows.among("select id from url where key in ({ids})", list(left))]


def _became(history: bytes, began_s: float, ended_s: float) -> str:
    """Return what became of a description within a span of time, by the visits that its row remembers."""
    unchanged = described = before = False
    visits = 0
    for at_s, outcome, *_ in raw_visits(history):
        visits += 1
        if at_s < began_s:
            before = before or outcome in _DESCRIBED or outcome == _UNCHANGED
        elif at_s <= ended_s:
            described = described or outcome in _DESCRIBED
            unchanged = unchanged or outcome == _UNCHANGED
    if described:
        return "changed" if before or visits == _REMEMBERED else "new"
    return "unchanged" if unchanged else ""


def _count(found: Counter[tuple[int, str]], host: int, name: str, count: int) -> None:
    key = (host, name)
    found[key if key in found or len(found) < MOST_GROUPS else (OTHERS, UNKEPT)] += count
