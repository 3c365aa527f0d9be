"""Reading what pages are like: for the pass that groups them, for reports and for explain."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from ingather.catalog.likeness.sqlite_alike import group_of
from ingather.catalog.likeness.sqlite_likeness import PUBLIC, SHOWN
from ingather.catalog.sqlite_open import open_reader
from ingather.catalog.sqlite_reader_more import PageExtra
from ingather.catalog.sqlite_rows import Rows

__all__ = ["Alike", "CanonicalRow", "LikenessReader", "NearGroup", "Side"]

_PAGE: Final = 2_000
_URL: Final = "h.origin || u.path"
_extra: Final = msgspec.msgpack.Decoder(PageExtra).decode


class Alike(NamedTuple):
    """A page with a fingerprint: what its group's head is chosen by."""

    id: int
    near: int
    url: str
    inlinks: int
    source: int
    public: bool
    named: int


class Side(NamedTuple):
    """One end of a canonical link.

    Attributes:
        id: its row, 0 = the URL is not known.
        url: its address.
        shown: it has a description that readers may see.
        public: everybody may.
        title, language, near: of its description; ``near`` 0 = it has no fingerprint.
        names: row of the URL that its own canonical link names, 0 = none.
        state: how its last visit ended, in words.
    """

    id: int
    url: str
    shown: bool = False
    public: bool = False
    title: str = ""
    language: str = ""
    near: int = 0
    names: int = 0
    outcome: int | None = None
    status: int = 0


class CanonicalRow(NamedTuple):
    """A page that names another as its canonical address, and that other."""

    page: Side
    target: Side
    behind: int | None
    verdict: str | None


class NearGroup(NamedTuple):
    """A group of near-duplicates: its head and how many are near to it."""

    head: int
    url: str
    others: int
    members: tuple[str, ...]


class LikenessReader:
    """One read-only connection; one thread at a time.

    Raises:
        CatalogError: the catalog cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._rows = Rows(open_reader(path), path)

    def close(self) -> None:
        """Close the connection."""
        self._rows.close()

    # -- for the pass -------------------------------------------------------------------------

    def alike(self) -> Iterator[Alike]:
        """Yield every shown page that has a fingerprint, by row."""
        # Most pages name themselves, or nothing: those who name others are counted once, not looked for page by page.
        by_others = dict(
            self._rows.all(
                "select c.target, count(*) from canonical c cross join url u on u.id = c.id where c.target != u.key group by c.target"
            )
        )
        for rows in self._rows.pages(
            f"select f.id, f.near, {_URL}, coalesce(i.n, 0), u.source, {PUBLIC.format(u='u')}, "  # noqa: S608 - constants
            "u.key, c.target is u.key "
            "from fingerprint f join url u on u.id = f.id join host h on h.id = u.host left join inlink i on i.id = f.id "
            f"left join canonical c on c.id = f.id where f.id > ? and {SHOWN.format(u='u')} order by f.id limit ?",
            size=_PAGE,
        ):
            for row in rows:
                named = row[7] + by_others.get(row[6], 0)
                yield Alike(row[0], row[1], row[2], row[3], row[4], bool(row[5]), named)

    def near(self) -> dict[int, tuple[int, int]]:
        """Return the groups that are kept: row to (head, bits)."""
        return {row[0]: (row[1], row[2]) for row in self._rows.all("select id, head, bits from near")}

    def canonicals(self) -> Iterator[CanonicalRow]:
        """Yield every page that names another address as its own, with what is known of that."""
        for rows in self._rows.pages(
            "select c.id, coalesce(t.id, 0), c.url, u.behind, c.verdict from canonical c join url u on u.id = c.id "
            "left join url t on t.key = c.target where c.id > ? order by c.id limit ?",
            size=_PAGE,
        ):
            sides = self._sides([number for row in rows for number in row[:2] if number])
            for page, target, url, behind, verdict in rows:
                if page in sides:
                    yield CanonicalRow(sides[page], sides.get(target, Side(0, url)), behind, verdict)

    def _sides(self, ids: list[int]) -> dict[int, Side]:
        found = {}
        for row in self._rows.among(
            f"select u.id, {_URL}, {SHOWN.format(u='u')}, {PUBLIC.format(u='u')}, coalesce(p.title, ''), p.extra, "  # noqa: S608 - constants
            "coalesce(f.near, 0), coalesce((select x.id from canonical c join url x on x.key = c.target where c.id = u.id), 0), "
            "u.outcome, coalesce(u.status, 0) from url u join host h on h.id = u.host left join page p on p.id = u.id "
            "left join fingerprint f on f.id = u.id where u.id in ({ids})",
            sorted(set(ids)),
        ):
            language = _extra(row[5]).language if row[5] else ""
            found[row[0]] = Side(row[0], row[1], bool(row[2]), bool(row[3]), row[4], language, *row[6:])
        return found

    # -- for people ---------------------------------------------------------------------------

    def groups(self, limit: int, members: int) -> list[NearGroup]:
        """Return the largest groups of near-duplicates with at most *members* of those behind their heads."""
        found = []
        for head, count, url in self._rows.all(
            f"select n.head, n.n, {_URL} from (select head, count(*) as n from near group by head) n "  # noqa: S608 - constants
            "join url u on u.id = n.head join host h on h.id = u.host order by n.n desc, n.head limit ?",
            (limit,),
        ):
            rows = self._rows.all(
                f"select {_URL} from near n join url u on u.id = n.id join host h on h.id = u.host where n.head = ? order by n.id limit ?",  # noqa: S608 - constants
                (head, members),
            )
            found.append(NearGroup(head, url, count, tuple(row[0] for row in rows)))
        return found

    def group_of(self, head: int) -> list[tuple[str, int]]:
        """Return (URL, bits) of the members of a group, its head first with 0; empty = there is no such group."""
        return group_of(self._rows, head)

    def ignored(self, after: int = 0) -> Iterator[tuple[int, str, str, str | None]]:
        """Yield (row, URL, canonical URL, verdict) of pages that name another address as their own."""
        for rows in self._rows.pages(
            f"select c.id, {_URL}, c.url, c.verdict from canonical c join url u on u.id = c.id join host h on h.id = u.host "  # noqa: S608 - constants
            "where c.id > ? order by c.id limit ?",
            size=_PAGE,
            after=after,
        ):
            yield from rows
