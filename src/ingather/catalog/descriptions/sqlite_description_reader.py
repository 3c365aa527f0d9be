"""Reading resource descriptions in bulk: walk, choose by database, count; nothing grows with their number."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from ingather.catalog.packing import unpack_attributes
from ingather.catalog.renewal import renew
from ingather.catalog.sqlite_reader import SqliteReader
from ingather.model.description import Attributes, Description

__all__ = ["DescribedRow", "DescriptionReader"]

_GROUP = 200
_raw = msgspec.msgpack.Decoder(dict[str, list[str | int]]).decode

_WALK = (
    "select u.id, h.origin || u.path, s.name, iif(u.acl, 'secure', s.access), coalesce(d.name, 'default'), "
    "u.dup is null and u.held is not 2 from url u join host h on h.id = u.host join source s on s.id = u.source "
    "left join rd_database d on d.id = u.part where u.version is not null"
)


class DescribedRow(NamedTuple):
    """A URL that has a description.

    *access*: ``public`` or ``secure``, its own access list counted in; *shown*: neither a hidden copy nor
    hidden while its deletion waits.
    """

    id: int
    url: str
    source: str
    access: str
    database: str
    shown: bool


class DescriptionReader(SqliteReader):
    """One read-only connection and the segments beside it; one thread at a time."""

    def databases(self) -> dict[str, int]:
        """Return how many descriptions each database has; ``default`` is always there."""
        found = {"default": 0}
        found.update(
            self._rows.all(
                "select coalesce(d.name, 'default'), count(*) from url u left join rd_database d on d.id = u.part "
                "where u.version is not null group by 1 order by 1"
            )
        )
        return found

    def database_names(self) -> list[str]:
        """Return the names of all databases, of those that are empty by now too."""
        return ["default", *(name for (name,) in self._rows.all("select name from rd_database order by 1"))]

    def brought_in(self, ids: Sequence[int]) -> dict[int, float]:
        """Return when the descriptions of *ids* were brought in last, for those that came in no other way.

        What the robot visited, a feed lists, or another layer speaks of is not among them.
        """
        return dict(
            self._rows.among(
                "select u.id, max(u.described, coalesce((select l.at from layer l where l.id = u.id and l.name = 'import'), 0)) "
                "from url u where u.described is not null and u.fetched is null "
                "and not exists (select 1 from fed f where f.id = u.id) and not exists "
                "(select 1 from layer l where l.id = u.id and l.name not in ('import', 'editor', 'classes')) and u.id in ({ids})",
                ids,
            )
        )

    def walk(self, *, after: int = 0) -> Iterator[list[DescribedRow]]:
        """Yield every row that has a description, ascending, in groups."""
        for rows in self._rows.pages(f"{_WALK} and u.id > ? order by u.id limit ?", size=_GROUP, after=after):
            yield [_described(row) for row in rows]

    def described(self, ids: Sequence[int]) -> dict[int, DescribedRow]:
        """Return the rows of *ids* that have a description."""
        rows = self._rows.among(f"{_WALK} and u.id in ({{ids}})", ids)
        return {row[0]: _described(row) for row in rows}

    def descriptions(self, rows: Iterable[DescribedRow]) -> Iterator[tuple[DescribedRow, Description]]:
        """Yield each row with its description, all layers, in the order given."""
        wanted = list(rows)
        ids = [row.id for row in wanted]
        with self._rows.snapshot():
            pages = {
                row[0]: row[1:]
                for row in self._rows.among(
                    "select p.id, p.title, p.attrs, u.described, u.seen from page p join url u on u.id = p.id "
                    "where p.id in ({ids})",
                    ids,
                )
            }
            uppers: dict[int, dict[str, Attributes]] = {}
            for url_id, name, attrs in self._rows.among(
                "select id, name, attrs from layer where id in ({ids})", ids
            ):
                uppers.setdefault(url_id, {})[name] = unpack_attributes(attrs, None)
        cut = [url_id for url_id, page in pages.items() if _lies_in_text(page[1])]
        texts = self.texts(cut) if cut else {}
        for row in wanted:
            page = pages.get(row.id)
            layers: dict[str, Attributes] = {}
            if page is not None:
                title, attrs, described_s, seen_s = page
                attributes = unpack_attributes(attrs, texts.get(row.id))
                renew(attributes, described_s=described_s, seen_s=seen_s)
                if title and "title" not in attributes:
                    attributes["title"] = (title,)
                layers["page"] = attributes
            layers.update(uppers.get(row.id, {}))
            yield row, Description(url=row.url, layers=layers)


def _described(row: tuple[Any, ...]) -> DescribedRow:
    url_id, url, source, access, database, shown = row
    return DescribedRow(url_id, url, source, access, database, bool(shown))


def _lies_in_text(attributes: bytes) -> bool:
    """Whether values of packed *attributes* are lengths of the text's beginning."""
    return any(isinstance(value, int) for values in _raw(attributes).values() for value in values)
