"""Which pushed URL a found link means: links lose session and campaign parameters, what feeds name keeps them.

A link is asked for without those parameters, unless feeds name a URL that differs from it by nothing else: then the link
means that one. Of several the link means the one that stands on the page, letter for letter; else the one that was pushed
first, so that the answer does not change with every push and no second document is made of what was pushed.
"""

from collections.abc import Iterator, Sequence

import apsw
import msgspec

from ingather.catalog.packing import pack_keys, unpack_keys
from ingather.catalog.sqlite_rows import fetch
from ingather.model.report import Discovery, Report

__all__ = ["PushedUrls"]

_OF_SHORT = (
    "select u.key, h.origin, u.path, u.id from pushed_short p join fed f on f.id = p.id join url u on u.id = p.id "
    "join host h on h.id = u.host where p.short = ? order by p.id"
)
_FIRST_OF = (
    "select p.short, u.key, min(p.id) from pushed_short p join fed f on f.id = p.id join url u on u.id = p.id "
    "where p.short in (select value from json_each(?1)) and not exists "
    "(select 1 from url x join fed g on g.id = x.id where x.key = p.short) group by p.short"
)


class PushedUrls:
    """Part of the one writer; every method runs inside the caller's transaction."""

    def __init__(self, db: apsw.Connection) -> None:
        self._cursor = db.cursor()
        self.some = False
        """Whether feeds name any URL with parameters that links lose; without, nothing here is to be asked."""

    def reload(self) -> None:
        """Look whether there is any."""
        self.some = bool(self._cursor.execute("select exists (select 1 from pushed_short)").get)

    def note(self, url_id: int, short: int) -> None:
        """A feed names row *url_id*, to which links with the key *short* lead."""
        self._cursor.execute(
            "insert into pushed_short (short, id) values (?, ?) on conflict do nothing", (short, url_id)
        )
        self.some = True

    def forget(self, url_id: int) -> None:
        """No feed names row *url_id* any more."""
        if self.some:
            self._cursor.execute("delete from pushed_short where id = ?", (url_id,))

    def meant(self, found: Discovery, *, but: int | None = None) -> Iterator[Discovery]:
        """Yield what the link *found* means: itself, or the pushed URLs that it is cut from.

        *but*: a row that it does not mean, because it redirects there.
        """
        pushed = [row for row in fetch(self._cursor, _OF_SHORT, (found.key,)) if row[3] != but]
        if (
            not pushed
            or self._cursor.execute(
                "select exists (select 1 from url u join fed f on f.id = u.id where u.key = ?)", (found.key,)
            ).get
        ):
            yield found
            return
        wholes = {key for key, _ in found.wholes}
        for key, origin, path, _ in [row for row in pushed if row[0] in wholes] or pushed[:1]:
            yield msgspec.structs.replace(found, key=key, origin=origin, path=path, wholes=[])

    def first(self, short: int) -> int | None:
        """Return the row of the pushed URL that a URL with the key *short* means, which has no row itself."""
        found: int | None = None
        if self.some:
            row = self._cursor.execute(_OF_SHORT, (short,)).fetchone()
            found = None if row is None else int(row[3])
        return found

    def links(self, report: Report) -> Report:
        """Return *report* with links that lead to what was pushed."""
        keys = unpack_keys(report.links)
        listed = msgspec.json.encode(sorted(set(keys))).decode()
        instead = {short: key for short, key, _ in fetch(self._cursor, _FIRST_OF, (listed,))}
        if not instead:
            return report
        led: Sequence[int] = [instead.get(key, key) for key in keys]
        return msgspec.structs.replace(report, links=pack_keys(led))
