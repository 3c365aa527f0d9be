"""What the catalog knows of the changes of pages: hints and their scores, stated expiries, digests; and visits asked for meanwhile."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Final, NamedTuple

import apsw
import msgspec

from ingather.catalog.digests import looks_equal
from ingather.catalog.sqlite_changes import Applied
from ingather.catalog.sqlite_rows import fetch
from ingather.model.lifecycle import State
from ingather.model.report import Report, Row

__all__ = ["Before", "Freshness"]

_EXPIRES: Final = "rd-expires"
_EXPIRES_BYTES: Final = _EXPIRES.encode()
_SHORT_S: Final = 86_400.0
"""A shorter life says how long an answer is fresh, not how long a description lives."""

_decode = msgspec.msgpack.Decoder(dict[str, msgspec.Raw]).decode
_texts = msgspec.msgpack.Decoder(list[str | int]).decode


class Before(NamedTuple):
    """What was known of a page before its visit; wall times and seconds, ``None`` = not said.

    ``same``: the visit found what a person would call the same content, ``None`` = that cannot be told.
    """

    same: bool | None
    promised_s: float | None
    lastmod_s: float | None
    every_s: float | None
    read_s: float | None
    rd_expires_s: float | None


class Freshness:
    """Part of the one writer; every method runs inside the caller's transaction."""

    def __init__(self, db: apsw.Connection) -> None:
        self._cursor = db.cursor()
        self._scores: dict[int, dict[int, tuple[float, float]]] = {}
        self.listed = self.asked_again = False
        self.counts_days = False
        """Whether visits are counted by day: somebody has a budget."""
        self.reload()

    def reload(self) -> None:
        """Read again what is kept in memory."""
        self._scores.clear()
        self.listed = bool(self._cursor.execute("select exists (select 1 from sitemap_entry)").get)
        self.asked_again = bool(self._cursor.execute("select exists (select 1 from again)").get)

    # -- what was known -----------------------------------------------------------------------

    def before(self, report: Report, row: Row) -> Before:
        """Return what was known of a page that was just visited."""
        lastmod_s = every_s = read_s = None
        if self.listed:
            found = self._cursor.execute(
                "select max(e.lastmod), min(e.every), max(s.good) from sitemap_entry e join sitemap s on s.id = e.sitemap "
                "where e.id = ? and s.named = 1",
                (row.id,),
            ).get
            lastmod_s, every_s, read_s = found
        if row.fetched_s is None:
            expires_s = (
                self._stated(report.attributes, report.at_s, report.at_s) if report.described else None
            )
            return Before(None, None, lastmod_s, every_s, read_s, expires_s)
        kept = self._cursor.execute(
            "select u.fresh, u.described, p.digests, p.attrs from url u left join page p on p.id = u.id where u.id = ?",
            (row.id,),
        ).get
        if kept is None:
            return Before(None, None, lastmod_s, every_s, read_s, None)
        promised_s, described_s, digests, attributes = kept
        same = None
        if report.described and row.version is not None and digests and report.digests:
            same = looks_equal(digests, report.digests)
        blob = report.attributes if report.described else attributes or b""
        made_s = report.at_s if report.described else described_s
        return Before(
            same, promised_s, lastmod_s, every_s, read_s, self._expires(row.id, blob, made_s, report.at_s)
        )

    def _expires(self, url_id: int, blob: bytes, made_s: float | None, now_s: float) -> float | None:
        """Return when a description expires by its own words; each visit that finds the page moves that on."""
        own = None if made_s is None else self._stated(blob, made_s, now_s)
        stated = [] if own is None else [own]
        for (layer,) in fetch(self._cursor, "select attrs from layer where id = ?", (url_id,)):
            if (moment := _moment(layer)) is not None:
                stated.append(moment)
        return min(stated, default=None)

    @staticmethod
    def _stated(blob: bytes, made_s: float, now_s: float) -> float | None:
        moment = _moment(blob)
        return None if moment is None or moment - made_s < _SHORT_S else moment + (now_s - made_s)

    # -- scores -------------------------------------------------------------------------------

    def scores(self, host: int) -> Mapping[int, tuple[float, float]]:
        """Return (right, wrong) of each kind of hint of a host."""
        found = self._scores.get(host)
        if found is None:
            if len(self._scores) > 10_000:  # noqa: PLR2004 - a bound
                self._scores.clear()
            found = self._scores[host] = {
                hint: (right, wrong)
                for hint, right, wrong in fetch(
                    self._cursor, "select hint, right, wrong from hint_score where host = ?", (host,)
                )
            }
        return found

    def put_score(self, host: int, hint: int, right: float, wrong: float) -> None:
        """Keep a score."""
        self._cursor.execute(
            "insert or replace into hint_score (host, hint, right, wrong) values (?, ?, ?, ?)",
            (host, hint, right, wrong),
        )
        self._scores.setdefault(host, {})[hint] = (right, wrong)

    # -- days and quiet hosts -----------------------------------------------------------------

    def visited(self, host: int, day: int) -> None:
        """Count a visit to a host on its day."""
        self._cursor.execute(
            "insert into host_day (hkey, day, n) select hkey, ?2, 1 from host where id = ?1 on conflict do update set n = n + 1",
            (host, day),
        )

    def visits_of(self, day: int) -> dict[str, int]:
        """Return the visits of a day by politeness name; what is older is forgotten."""
        self._cursor.execute("delete from host_day where day < ?", (day - 7,))
        return dict(fetch(self._cursor, "select hkey, n from host_day where day = ?", (day,)))

    def pulse(self, host: int) -> tuple[int, int, float]:
        """Return (visits in a row without change, where the sample ends, when it was taken) of a host."""
        rows = fetch(self._cursor, "select quiet, sampled, since from host_pulse where id = ?", (host,))
        return rows[0] if rows else (0, 0, 0.0)

    def put_pulse(self, host: int, quiet: int, sampled: int, since_s: float) -> None:
        """Keep a host's pulse."""
        self._cursor.execute(
            "insert or replace into host_pulse (id, quiet, sampled, since) values (?, ?, ?, ?)",
            (host, quiet, sampled, since_s),
        )

    def as_planned(self, host: int, now_s: float) -> None:
        """A quiet host changed: what was put off there is due as its own interval said."""
        self._cursor.execute(
            "update url set due = max(?2, fetched + wait) where host = ?1 and version is not null and state = 2 "
            "and due > fetched + 1.2 * wait and wait is not null and fetched is not null and coalesce(fresh, 0) < due",
            (host, now_s),
        )

    def due(self, now_s: float, limit: int) -> list[tuple[int, int, int, float | None, bool]]:
        """Return (row, host, source, last visit, whether it was missing then) of URLs whose time has come, the longest due first."""
        return fetch(
            self._cursor,
            "select id, host, source, fetched, missing is not null and version is not null from url where due <= ? and due is not null and state in (2, 3) order by due limit ?",
            (now_s, limit),
        )

    def postpone(self, later: Iterable[tuple[int, float]]) -> None:
        """Plan visits anew: (row, wall time)."""
        self._cursor.executemany("update url set due = ?2 where id = ?1", later)

    def wake(self, ids: Iterable[int]) -> None:
        """Let URLs wait for their visit."""
        self._cursor.executemany("update url set state = 0 where id = ?", [(url_id,) for url_id in ids])

    # -- asked for while it is visited --------------------------------------------------------

    def again(self, ids: Iterable[int], applied: Applied) -> int:
        """Have URLs that are in a gatherer's hands visited once more when that visit is settled; return how many.

        One whose visit was settled in the meantime waits at once.
        """
        count = 0
        for url_id in ids:
            row = self._cursor.execute("select host, state from url where id = ?", (url_id,)).get
            if row is None:
                continue
            count += 1
            if row[1] == State.DONE:
                self._cursor.execute("update url set state = 0 where id = ?", (url_id,))
                applied.wakes(row[0])
            else:
                self._cursor.execute("insert or ignore into again (id) values (?)", (url_id,))
                self.asked_again = True
        return count

    def settled(self, url_id: int, applied: Applied) -> None:
        """A visit was settled: what was asked for meanwhile waits again."""
        if not self.asked_again:
            return
        found = self._cursor.execute("delete from again where id = ? returning id", (url_id,)).get
        if found is None:
            return
        self.asked_again = bool(self._cursor.execute("select exists (select 1 from again)").get)
        host = self._cursor.execute(
            "update url set state = 0 where id = ? and state = 2 returning host", (url_id,)
        ).get
        if host is not None:
            applied.wakes(host)


def _moment(blob: bytes) -> float | None:
    """Return the earliest ``rd-expires`` in packed attributes, ``None`` if there is none that is a time."""
    if _EXPIRES_BYTES not in blob:
        return None
    try:
        values = _texts(_decode(blob).get(_EXPIRES, b"\x90"))
    except msgspec.DecodeError:
        return None
    found: list[float] = []
    for value in values:
        try:
            at = datetime.fromisoformat(value) if isinstance(value, str) else None
        except ValueError:
            continue
        if at is not None and at.tzinfo is not None:
            found.append(at.timestamp())
    return min(found, default=None)
