"""Why a document is not simply as open as its source, marked on its row (``url.acl``, a sum).

* :data:`LISTED`: some layer has an access list of the description's own (``readacl``): ``url.listed`` is the chain that it
  makes. One that cannot be read, is empty, or stands beside an ACL lets nobody see the document: who wrote it did not
  mean everybody.
* :data:`CHAINED`: its URL has an ACL (``sqlite_access``), which decides.
* :data:`SECURED`: its authmethod, the credentials that it was fetched with or its host's word say that it is not for
  everybody; without an ACL nobody sees it.
* :data:`BY_POLICY`: it has no ACL of its own, and a policy rule names its URL (``url.policy`` is the chain).
* :data:`WITHHELD`: its host refuses it to us, or what the host says of its rights cannot be received. Nobody sees it,
  whatever its ACL says, until it is answered as it should be.

A marked row is in no group of equal bodies: it must neither stand for a public copy nor hide behind one. Its links are
not counted and its anchors not shown.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import apsw
import msgspec

from ingather.catalog.likeness.sqlite_duplicates import Duplicates
from ingather.catalog.packing import unpack_keys
from ingather.catalog.sqlite_changes import Applied, ChangeLog
from ingather.catalog.sqlite_names import Names
from ingather.catalog.sqlite_rows import fetch
from ingather.model.change import ChangeKind

__all__ = [
    "BY_POLICY",
    "CHAINED",
    "LISTED",
    "READACL",
    "SECURED",
    "WITHHELD",
    "AccessLists",
    "has_list",
    "no_rules",
]

READACL: Final = "readacl"
LISTED: Final = 1
CHAINED: Final = 2
SECURED: Final = 4
BY_POLICY: Final = 8
WITHHELD: Final = 16

_MARK: Final = READACL.encode()
_NO_ANCHORS: Final = b"\x90"
_names_of = msgspec.msgpack.Decoder(dict[str, msgspec.Raw]).decode
_values_of = msgspec.msgpack.Decoder(list[str]).decode


def has_list(attributes: bytes) -> bool:
    """Whether packed *attributes* name an access list; cheap for those without."""
    return _MARK in attributes and READACL in _names_of(attributes)


def _list_of(attributes: bytes) -> list[str]:
    """Return the values of the access list in *attributes*; what is no list of texts is an empty one."""
    try:
        return _values_of(_names_of(attributes)[READACL])
    except msgspec.DecodeError:
        return []


def no_rules(_url: str) -> None:
    """Stand for a policy without rules: no URL has a chain of them."""


class AccessLists:
    """Part of the one writer; every method runs inside the caller's transaction."""

    def __init__(self, db: apsw.Connection, names: Names, duplicates: Duplicates, log: ChangeLog) -> None:
        self._cursor = db.cursor()
        self._names = names
        self._duplicates = duplicates
        self._log = log
        self._some: bool | None = None
        self.policy: Callable[[str], int | None] | None = None
        """Gives the chain of the policy rules that match a URL; ``None`` = no rules are at hand, rows keep theirs."""
        self.readacl: Callable[[Sequence[Sequence[str]]], int | None] | None = None
        """Gives the chain of the lists of a description, layer by layer; ``None`` = nobody here can read them."""

        self.rescue: Callable[[int, int], None] | None = None
        """Told of (chain of an ACL, chain of policy rules) of a document that has both; ``None`` = rules rescue nothing."""

    def reload(self) -> None:
        """Forget what was not committed."""
        self._some = None

    def marks(self, url_id: int, page: bytes, *, known: int, placed: bool = False) -> int:
        """Return the marks of a row with this page layer; *known* are those that it has. *placed*: :meth:`place` was just asked."""
        listed = has_list(page) or (
            bool(known & LISTED) and any(has_list(blob) for blob in self._upper(url_id).values())
        )
        chained = CHAINED if self._has_acl(url_id) else 0
        ruled = self._ruled(url_id, known, placed=placed)
        if chained and ruled and self.rescue is not None:
            own, policy = self._cursor.execute(
                "select a.chain, u.policy from url u join host h on h.id = u.host join acl a on a.url = h.origin || u.path "
                "and (a.bound = 0 or a.source = u.source) where u.id = ?",
                (url_id,),
            ).get
            self.rescue(own, policy)
        return (known & (SECURED | WITHHELD)) | (LISTED if listed else 0) | chained | ruled

    def place(self, url_id: int, *, bare: bool = False) -> bool:
        """Give a row the chain of its policy rules, else of its source; return whether that is another one than it had.

        *bare*: the caller has seen that it has none.
        """
        if self.policy is None:
            return False
        if self._unruled():  # every page comes by here
            if bare or self._cursor.execute("select policy from url where id = ?", (url_id,)).get is None:
                return False
            self._cursor.execute("update url set policy = null where id = ?", (url_id,))
            return True
        url, before, source = self._cursor.execute(
            "select h.origin || u.path, u.policy, u.source from url u join host h on h.id = u.host where u.id = ?",
            (url_id,),
        ).get
        chain = self.policy(url)
        if chain is None:
            chain = self._names.default_acl(source)
        if chain == before:
            return False
        self._cursor.execute("update url set policy = ? where id = ?", (chain, url_id))
        return True

    def use_default(self, source: int, chain: int | None) -> None:
        """Let *chain* decide about what is placed from now on and has none of its own, nor a rule's."""
        if self._names.default_acl(source) != chain:
            self._names.set_default_acl(source, chain)

    def _unruled(self) -> bool:
        return self.policy is no_rules and not self._names.has_default_acls

    def relist(self, url_id: int, page: bytes, *, known: int) -> bool:
        """Give a row with this page layer the chain of its access lists; return whether that is another one than it had."""
        if not (known & LISTED or has_list(page)):
            return False
        blobs = [page, *self._upper(url_id).values()]
        lists = [_list_of(blob) for blob in blobs if has_list(blob)]
        chain = self.readacl(lists) if lists and self.readacl is not None else None
        if chain == self._cursor.execute("select listed from url where id = ?", (url_id,)).get:
            return False
        self._cursor.execute("update url set listed = ? where id = ?", (chain, url_id))
        return True

    def _ruled(self, url_id: int, known: int, *, placed: bool) -> int:
        if self.policy is None:
            return known & BY_POLICY
        if not placed:
            self.place(url_id)
        if self._unruled():
            return 0
        found = self._cursor.execute("select policy is not null from url where id = ?", (url_id,)).get
        return BY_POLICY if found else 0

    def write(self, url_id: int, marks: int, applied: Applied, *, known: int) -> None:
        """Write the marks, if they are others than *known*; what a page says of others that is hidden from now on goes."""
        if marks and not known:
            self._unsay(url_id, applied)
        if marks != known:
            self._cursor.execute("update url set acl = ? where id = ?", (marks, url_id))

    def secured(self, url_id: int) -> bool:
        """Whether a row is marked :data:`SECURED`."""
        known = self._cursor.execute("select acl from url where id = ?", (url_id,)).get
        return bool((known or 0) & SECURED)

    def noticed(self) -> None:
        """Note that there is an ACL now."""
        self._some = True

    def renew(
        self, url_id: int, applied: Applied, *, secured: bool | None = None, withheld: bool | None = None
    ) -> bool:
        """Look again, mark the row, and take it out of its group if it is restricted by now; return whether it moved.

        *secured* and *withheld* change those marks; ``None`` leaves them. If the marks changed the index learns of the row.
        """
        row = self._cursor.execute(
            "select u.acl, u.digest, u.source, coalesce(p.attrs, x'80') from url u left join page p on p.id = u.id where u.id = ?",
            (url_id,),
        ).get
        if row is None:
            return False
        known, digest, source, page = row
        placed = self.place(url_id)
        placed = self.relist(url_id, page, known=known | LISTED) or placed
        before = known if secured is None else (known & ~SECURED) | (SECURED if secured else 0)
        if withheld is not None:
            before = (before & ~WITHHELD) | (WITHHELD if withheld else 0)
        marks = self.marks(url_id, page, known=before | LISTED)
        if marks == known and not placed:
            return False
        self.write(url_id, marks, applied, known=known)
        if marks and not known:
            self._duplicates.leave(url_id, digest, self._names.audience(source), applied)
            self._cursor.execute("update url set grouped = 0, dup = null where id = ?", (url_id,))
        self.moved(url_id, applied)
        return True

    def moved(self, url_id: int, applied: Applied) -> None:
        """A document's rights changed: the index learns of it, and until it has, the catalog is asked."""
        shown = self._cursor.execute(
            "select version is not null and dup is null and held is not 2 from url where id = ?", (url_id,)
        ).get
        if shown:
            sequence = self._log.append(url_id, ChangeKind.PUT, applied)
            self._cursor.execute("insert into acl_moved (seq, id) values (?, ?)", (sequence, url_id))

    def has_both(self, url_id: int) -> bool:
        """Whether a row has an ACL of its own and stands under policy rules."""
        both = CHAINED | BY_POLICY
        return bool(
            self._cursor.execute("select acl & ? = ? from url where id = ?", (both, both, url_id)).get
        )

    def _unsay(self, url_id: int, applied: Applied) -> None:
        """Forget what the pages that *url_id* links to are called, by anybody: the next link pass finds the others again."""
        links = self._cursor.execute("select out from page where id = ?", (url_id,)).get
        for key in unpack_keys(links or b""):
            target = self._cursor.execute(
                "select u.id, version is not null and dup is null and held is not 2 from url u join inlink i on i.id = u.id "
                "where u.key = ? and i.anchors != ?",
                (key, _NO_ANCHORS),
            ).get
            if target is not None:
                self._cursor.execute("delete from inlink where id = ?", (target[0],))
                if target[1]:
                    self._log.append(target[0], ChangeKind.PUT, applied)

    def _has_acl(self, url_id: int) -> bool:
        if self._some is None:
            self._some = bool(self._cursor.execute("select exists (select 1 from acl)").get)
        if not self._some:
            return False
        found = self._cursor.execute(
            "select exists (select 1 from url u join host h on h.id = u.host join acl a on a.url = h.origin || u.path "
            "where u.id = ? and a.chain is not null and (a.bound = 0 or a.source = u.source))",
            (url_id,),
        ).get
        return bool(found)

    def _upper(self, url_id: int) -> Mapping[str, bytes]:
        return dict(fetch(self._cursor, "select name, attrs from layer where id = ?", (url_id,)))
