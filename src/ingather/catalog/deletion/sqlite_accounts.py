"""The accounts of sources, as the deletion policy counts them: for replays and metrics."""

from typing import NamedTuple

from ingather.catalog.sqlite_rows import Rows

__all__ = ["SourceAccount", "source_accounts"]

_DAY_S = 86_400.0


class SourceAccount(NamedTuple):
    """A source's documents, and what the deletion policy counts against it (its ``Ledger``)."""

    name: str
    access: str
    documents: int
    deleted_24h: int
    held: int
    waiting: int


def source_accounts(rows: Rows, now_s: float) -> list[SourceAccount]:
    """Return every source's account at *now_s* (wall), as :class:`Deletions` counts it."""
    found = rows.all(
        "select s.name, s.access, s.documents, "
        "(select count(*) from tombstone t where t.source = s.id and t.at > ?1 and t.decided = 0), "
        "(select coalesce(sum(h.urls), 0) from hold h where h.source = s.id and h.closed is null), "
        "(select count(*) from url u where u.source = s.id and u.missing is not null and u.version is not null "
        "and u.held is null) from source s order by s.name",
        (now_s - _DAY_S,),
    )
    return [SourceAccount(*row) for row in found]
