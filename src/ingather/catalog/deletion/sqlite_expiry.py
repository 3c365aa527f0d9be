"""Descriptions whose page the last visit did not find, and those that nobody visits: candidates for expiry."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from ingather.catalog.sqlite_reader import SqliteReader

__all__ = ["ExpiryReader", "Unfound"]

_GROUP: Final = 1_000
_UNFOUND: Final = (
    "select u.id, u.source, s.name, u.seen, u.fetched, u.missing from url u join source s on s.id = u.source "
    "where u.id > ? and u.version is not null and u.held is null and s.disabled is null and s.kind = 'site' "
    "and (u.fetched is null or u.fetched > coalesce(u.seen, u.described, 0)) "
    "and not exists (select 1 from fed f where f.id = u.id and f.content) "
    "and not exists (select 1 from rss_document d where d.id = u.id) order by u.id limit ?"
)


class Unfound(NamedTuple):
    """A described row; ``seen_s``: last visit that found it, ``fetched_s``: last visit, ``missing_s``: first 404 in a row (wall, ``None`` = none)."""

    id: int
    source: int
    source_name: str
    seen_s: float | None
    fetched_s: float | None
    missing_s: float | None


class ExpiryReader(SqliteReader):
    """A reader that walks the whole catalog; nothing is held between groups of rows."""

    def unfound(self) -> Iterator[list[Unfound]]:
        """Yield described rows that their last visit did not find or that had none, in groups.

        What feeds bring or list, what is held already, and what belongs to a source that is disabled is not among them.
        """
        for rows in self._rows.pages(_UNFOUND, size=_GROUP):
            yield [Unfound(*row) for row in rows]
