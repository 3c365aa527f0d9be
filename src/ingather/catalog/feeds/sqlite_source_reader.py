"""Sources as they stand: what each owns, what feeds brought for it, what is held. For people and programs that ask."""

from pathlib import Path
from typing import Any, Final

from ingather.catalog.sqlite_open import open_reader
from ingather.catalog.sqlite_rows import Rows

__all__ = ["SourceReader"]

_SOURCES: Final = (
    "select s.id, s.name, s.kind, s.access, s.documents, s.disabled, "
    "(select count(*) from fed f where f.source = s.id), (select count(*) from fed f where f.source = s.id and f.content), "
    "(select count(*) from hold_item i join hold h on h.id = i.hold where h.source = s.id and h.closed is null), "
    "(select count(*) from acl a where a.source = s.id and a.chain is not null) from source s order by s.name"
)
_SOURCE_NAMES: Final = (
    "id",
    "name",
    "kind",
    "access",
    "documents",
    "disabled",
    "listed",
    "pushed",
    "held",
    "acls",
)
_FEEDS: Final = (
    "select datasource, count(*), sum(state < 2), sum(case when state < 2 then max(estimate - done, 0) else 0 end), sum(rejected), "
    "max(received) from feed where kind = 'documents' group by datasource order by datasource"
)
_FEED_NAMES: Final = ("datasource", "feeds", "open", "backlog", "rejected", "last")
_STATES: Final = "select state, count(*) from url where source = ? group by state order by state"


# outcomes 6 and 11, as in the reader of receipts
_UNREACHED: Final = (
    "select u.detail, count(*) from fed f join url u on u.id = f.id where u.source = ? and u.outcome in (6, 11) "
    "and u.detail like '%refused-address%' group by u.detail order by 2 desc, 1 limit ?"
)

# whoever names a URL that another source owns: feeds that were pushed (the last, and those before it), feeds that sites publish
_CONFLICTS: Final = (
    "select c.id, h.origin || u.path, o.name, s.name from ("
    "select x.id as id, x.source as source from fed_other x join url u on u.id = x.id where x.source != u.source union "
    "select f.id, f.source from fed f join url u on u.id = f.id where f.source != u.source union "
    "select l.id, f.source from rss_listing l join rss_feed f on f.id = l.feed join url u on u.id = l.id where f.source != u.source"
    ") c join url u on u.id = c.id join host h on h.id = u.host join source o on o.id = u.source join source s on s.id = c.source "
    "where c.id > ?2 and (?1 = '' or o.name = ?1 collate nocase or s.name = ?1 collate nocase) order by c.id, s.name limit ?3"
)


class SourceReader:
    """One read-only connection; one thread at a time. Raises :class:`CatalogError` as all readers."""

    def __init__(self, path: Path) -> None:
        self._rows = Rows(open_reader(path), path)

    def close(self) -> None:
        """Close the connection."""
        self._rows.close()

    def sources(self) -> list[dict[str, Any]]:
        """Return every source as columns by name: ``listed`` URLs that feeds name, ``pushed`` with content, ``held`` deletions."""
        return [dict(zip(_SOURCE_NAMES, row, strict=True)) for row in self._rows.all(_SOURCES, ())]

    def feeds(self) -> list[dict[str, Any]]:
        """Return what each data source pushed: ``feeds``, how many are ``open``, ``backlog`` in records, ``last`` in wall time."""
        return [dict(zip(_FEED_NAMES, row, strict=True)) for row in self._rows.all(_FEEDS, ())]

    def states(self, source: int) -> dict[int, int]:
        """Return how many URLs of a source are in each state; reads all URLs."""
        return {int(state): int(count) for state, count in self._rows.all(_STATES, (source,))}

    def also(self, source: int) -> int:
        """Return how many URLs of others a source lists, too; reads all such listings."""
        return int(self._rows.value("select count(*) from fed_other where source = ?", (source,)))

    def unreached(self, source: int, most: int) -> list[tuple[str, int]]:
        """Return why URLs that feeds list for a source may not be fetched for their address, and how many; the *most* frequent."""
        return [(str(why), int(count)) for why, count in self._rows.all(_UNREACHED, (source, most))]

    def conflicts(self, source: str, *, after: int, limit: int) -> list[tuple[int, str, str, str]]:
        """Return (row, URL, owner, who names it, too), by row behind *after*; *source*: as one of both, ``""`` = any. Reads all listings.

        A row comes whole or on the next page, for the next page begins behind the last row: so there may be a few less than *limit*
        (more, where one row alone has as many).
        """
        rows = self._rows.all(_CONFLICTS, (source, after, limit + 1))
        if len(rows) > limit:
            cut = rows[limit][0]
            rows = [row for row in rows if row[0] < cut] or self._rows.all(_CONFLICTS, (source, cut - 1, -1))
            rows = [row for row in rows if row[0] <= cut]
        return [(int(row), str(url), str(owner), str(other)) for row, url, owner, other in rows]

    def ended(self, datasource: str) -> list[int]:
        """Return the feeds of a data source that are at their end."""
        return [
            number
            for (number,) in self._rows.all(
                "select id from feed where datasource = ? collate nocase and kind = 'documents' and state >= 2 order by id",
                (datasource,),
            )
        ]
