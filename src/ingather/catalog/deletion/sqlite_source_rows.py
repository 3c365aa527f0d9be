"""The documents of a source for its deletion: piece by piece, and who else names them; then what else is kept for it."""

from collections.abc import Sequence
from typing import Final, NamedTuple

import apsw

from ingather.catalog.sqlite_rows import fetch

__all__ = ["OwnedRow", "SourceRows"]

_SPAN: Final = 20_000
"""Rows of URLs that one piece looks through: there is no index by source, for nothing else asks so."""
_ENTRIES: Final = 5_000

_OWNED: Final = (
    "select u.id, h.origin || u.path, u.host, coalesce((select f.content from fed f where f.id = u.id), 0) "
    "from url u join host h on h.id = u.host where u.id > ?1 and u.id <= ?2 and u.source = ?3 and u.version is not null "
    "order by u.id limit ?4"
)

# A web feed names it; a feed or sitemap source lists it; the sitemap of a site does.
_NAMED: Final = (
    "select c.id, c.source, c.rank from ("
    "select f.id as id, f.source as source, 3 as rank from fed f where f.web = 1 and f.content = 0 and f.id in ({ids}) union "
    "select l.id, r.source, iif(s.kind = 'rss', 2, 1) from rss_listing l indexed by rss_listing_id join rss_feed r on r.id = l.feed "
    "join source s on s.id = r.source where l.listed = 1 and r.configured = 1 and l.id in ({ids}) union "
    "select e.id, m.source, 0 from sitemap_entry e join sitemap m on m.id = e.sitemap where m.named = 1 and e.id in ({ids})"
    ") c join source s on s.id = c.source where c.source != ?1 and s.disabled is null order by c.id, c.rank, c.source desc"
)


class OwnedRow(NamedTuple):
    """A document of a source; ``pushed``: its content came with a feed. ``host`` is a row of ``host``."""

    id: int
    url: str
    host: int
    pushed: bool


class SourceRows:
    """Part of the one writer; every method runs inside the caller's transaction."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db
        self._cursor = db.cursor()

    def owned(self, source: int, after: int, limit: int) -> tuple[list[OwnedRow], int]:
        """Return up to *limit* documents of a source above row *after*, and the last row that was looked at, 0 = there are no more.

        One call looks through a bounded number of rows, so that it may find none and yet not be the last.
        """
        top = int(self._cursor.execute("select coalesce(max(id), 0) from url").get)
        end = min(after + _SPAN, top)
        rows = [
            OwnedRow(number, url, host, bool(pushed))
            for number, url, host, pushed in fetch(self._cursor, _OWNED, (after, end, source, limit))
        ]
        if len(rows) == limit:
            return rows, rows[-1].id
        return rows, 0 if end >= top else end

    def heirs(self, source: int, rows: Sequence[int]) -> dict[int, int]:
        """Return who else names documents of a source: row to the source that comes first by the rules of ownership.

        Pushed lists come before feeds of sites, these before sitemaps of a source of their own, these before those of a site;
        of two alike the elder. Sources that are disabled name nothing.
        """
        if not rows:
            return {}
        ids = ",".join(str(int(row)) for row in rows)
        found = fetch(self._cursor, _NAMED.replace("{ids}", ids), (source,))
        return {row: heir for row, heir, _ in found}  # the last of a row counts

    def due_at(self, row: int, at_s: float | None) -> None:
        """Plan the next look at a buried URL: for when its source is enabled again."""
        self._cursor.execute("update url set due = ?2, fresh = null where id = ?1", (row, at_s))

    def forget_feeds(self, source: int, limit: int) -> int:
        """Forget what pushed feeds list for a source, *limit* URLs at most; return how many."""
        self._cursor.execute(
            "delete from fed where id in (select id from fed where source = ? limit ?)", (source, limit)
        )
        return int(self._db.changes())

    def forget_others(self, source: int) -> None:
        """A source is no longer among the others that name a URL."""
        self._cursor.execute("delete from fed_other where source = ?", (source,))

    def forget_sitemaps(self, source: int) -> tuple[int, bool]:
        """Forget what the sitemaps of a source list, piece by piece, then the sitemaps.

        Returns:
            How many sitemaps went, and whether nothing is left.
        """
        self._cursor.execute(
            "delete from sitemap_entry where (sitemap, url) in (select e.sitemap, e.url from sitemap m join sitemap_entry e "
            "on e.sitemap = m.id where m.source = ? limit ?)",
            (source, _ENTRIES),
        )
        if self._db.changes():
            return 0, False
        self._cursor.execute(
            "delete from sitemap_voucher where sitemap in (select id from sitemap where source = ?)",
            (source,),
        )
        self._cursor.execute("delete from sitemap where source = ?", (source,))
        return int(self._db.changes()), True
