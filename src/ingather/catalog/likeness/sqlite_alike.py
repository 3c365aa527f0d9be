"""What one page is like, for explain and for reports."""

from typing import Any, Final

from ingather.catalog.sqlite_rows import Rows

__all__ = ["group_of", "likeness_of"]

_MOST: Final = 5_000
_SHOWN: Final = 20
_URL: Final = "h.origin || u.path"


def group_of(rows: Rows, head: int) -> list[tuple[str, int]]:
    """Return (URL, bits) of the members of a group of near-duplicates, its head first with 0; empty = there is no such group."""
    found = rows.all(
        f"select {_URL}, n.bits from near n join url u on u.id = n.id join host h on h.id = u.host where n.head = ? "  # noqa: S608 - constants
        "order by n.bits, n.id limit ?",
        (head, _MOST),
    )
    if not found:
        return []
    first = rows.value(
        f"select {_URL} from url u join host h on h.id = u.host where u.id = ?",  # noqa: S608 - constants
        (head,),
    )
    return [(first or "", 0), *((row[0], row[1]) for row in found)]


def likeness_of(rows: Rows, url_id: int) -> dict[str, Any]:
    """Return what explain says of a row: ``fingerprint``, ``near`` (head, bits, count, members), ``canonical`` (url, verdict, shown_as)."""
    mark = rows.value("select near from fingerprint where id = ?", (url_id,))
    head, bits = rows.one("select head, bits from near where id = ?", (url_id,)) or (url_id, 0)
    members = group_of(rows, head)
    named = rows.one(
        f"select c.url, c.verdict, (select {_URL} from url u join host h on h.id = u.host where u.id = x.behind) "  # noqa: S608 - constants
        "from canonical c join url x on x.id = c.id where c.id = ?",
        (url_id,),
    )
    return {
        "fingerprint": None if mark is None else f"{mark & (1 << 64) - 1:016x}",
        "near": None
        if not members
        else {
            "head": members[0][0],
            "bits": bits,
            "count": len(members),
            "members": [url for url, _ in members[:_SHOWN]],
        },
        "canonical": None if named is None else {"url": named[0], "verdict": named[1], "shown_as": named[2]},
    }
