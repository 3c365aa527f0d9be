"""Which descriptions have an access list of their own (``readacl``), marked on their rows (``url.acl``).

Until such lists are read, a document with one is shown to nobody: any value in any layer counts, also an
empty or broken one, because who wrote it did not mean everybody. Such a row is in no group of equal bodies:
it must neither stand for a public copy nor hide behind one.
"""

from collections.abc import Mapping

import apsw
import msgspec

from ingather.catalog.sqlite_changes import Applied
from ingather.catalog.sqlite_duplicates import Duplicates
from ingather.catalog.sqlite_names import Names
from ingather.catalog.sqlite_rows import fetch

__all__ = ["READACL", "AccessLists", "has_list"]

READACL = "readacl"
_MARK = READACL.encode()
_names_of = msgspec.msgpack.Decoder(dict[str, msgspec.Raw]).decode


def has_list(attributes: bytes) -> bool:
    """Whether packed *attributes* name an access list; cheap for those without."""
    return _MARK in attributes and READACL in _names_of(attributes)


class AccessLists:
    """Part of the one writer; every method runs inside the caller's transaction."""

    def __init__(self, db: apsw.Connection, names: Names, duplicates: Duplicates) -> None:
        self._cursor = db.cursor()
        self._names = names
        self._duplicates = duplicates

    def restricted(self, url_id: int, page: bytes, *, known: int) -> bool:
        """Whether a row with this page layer has a list in any layer; *known* is its mark so far."""
        if has_list(page):
            return True
        return bool(known) and any(has_list(blob) for blob in self._upper(url_id).values())

    def mark(self, url_id: int, *, restricted: bool) -> None:
        """Write the mark."""
        self._cursor.execute("update url set acl = ? where id = ?", (int(restricted), url_id))

    def renew(self, url_id: int, applied: Applied) -> None:
        """Read the layers again, mark the row, and take it out of its group if it is restricted by now."""
        row = self._cursor.execute(
            "select u.acl, u.digest, u.source, coalesce(p.attrs, x'80') from url u left join page p on p.id = u.id where u.id = ?",
            (url_id,),
        ).get
        if row is None:
            return
        known, digest, source, page = row
        restricted = has_list(page) or any(has_list(blob) for blob in self._upper(url_id).values())
        if restricted == bool(known):
            return
        self.mark(url_id, restricted=restricted)
        if restricted:
            self._duplicates.leave(url_id, digest, self._names.audience(source), applied)
            self._cursor.execute("update url set grouped = 0, dup = null where id = ?", (url_id,))

    def _upper(self, url_id: int) -> Mapping[str, bytes]:
        return dict(fetch(self._cursor, "select name, attrs from layer where id = ?", (url_id,)))
