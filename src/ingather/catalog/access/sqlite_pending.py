"""ACLs that were pushed with a URL whose visit is still to come: until then old and new must both permit.

What is shown meanwhile is the document as it was visited before: who may not see it by the ACL of that time does not, because
its new ACL may belong to a new content, and who may not by the new ACL does not at once. A visit that was claimed before the
push ends nothing: what it says of rights is older than the push and takes the place of the old ACL. Where both cannot be asked
in one chain nobody sees the document.
"""

from typing import Final, NamedTuple

import apsw

from ingather.catalog.access.acl_packing import number_of
from ingather.catalog.access.sqlite_access import AccessStore
from ingather.catalog.access.sqlite_acl import BY_POLICY, LISTED, SECURED, WITHHELD
from ingather.catalog.sqlite_apply import Applied, Applier
from ingather.model.acl import Acl, Inheritance
from ingather.model.lifecycle import Outcome
from ingather.model.report import Settled

__all__ = ["PendingAcls", "Rights"]

_CLOSED: Final = BY_POLICY | LISTED | SECURED | WITHHELD
_ANSWERED: Final = frozenset({
    Outcome.INDEXED, Outcome.UNCHANGED, Outcome.DUPLICATE, Outcome.CONVERSION_FAILED,
})  # fmt: skip
"""Outcomes of visits that read the document."""
_WHY: Final = "until it is visited: its old and its new ACL inherit from different ones"
_WHY_CLOSED: Final = "until it is visited: it had no ACL and was not for everybody"


class Rights(NamedTuple):
    """How a URL's rights stand: chain of its ACL, the one that was pushed last, whether it is a document that everybody sees."""

    chain: int | None
    said: int | None
    open: bool


class _Chain(NamedTuple):
    entries: int
    parent: str
    type: int
    problem: str
    source: int
    bound: bool


class _Brought(NamedTuple):
    """The ACL of a URL as it is now: its chain, the source that brought it, and whether by a token."""

    chain: int | None = None
    source: int | None = None
    bound: bool = False


class PendingAcls:
    """Part of the one writer; every method runs inside the caller's transaction."""

    def __init__(self, db: apsw.Connection, applier: Applier, access: AccessStore) -> None:
        self._cursor = db.cursor()
        self._applier, self._access = applier, access
        self.some = False
        """Whether any ACL is pending; visits ask nothing else then."""
        self.reload()

    def reload(self) -> None:
        """Read again what is kept in memory."""
        self.some = bool(self._cursor.execute("select exists (select 1 from acl_pending)").get)

    def rights(self, url_id: int, url: str) -> Rights:
        """Return how the rights of a URL stand."""
        chain = self._access.chain_of(url)
        pending = self._pending(url_id)
        described = self._cursor.execute("select version is not null from url where id = ?", (url_id,)).get
        return Rights(chain, chain if pending is None else pending[1], not described or self._is_open(url_id))

    def hold(self, url_id: int, url: str, before: Rights, applied: Applied) -> None:
        """Let the ACL that *url* has by now count together with the one before, until its next visit.

        *before*: how its rights stood before the ACL was put; of an earlier push that is pending too, the older ones count.
        """
        pending = self._pending(url_id)
        old, is_open = (before.chain, before.open) if pending is None else (pending[0], pending[2])
        now = self._now(url)
        pushed = now.chain
        if pending is None and old == pushed and (is_open or old is not None):
            return
        self._cursor.execute(
            "insert or replace into acl_pending (id, before, pushed, open) values (?, ?, ?, ?)",
            (url_id, old, pushed, is_open),
        )
        self.some = True
        self._both(url_id, url, now, applied)

    def renew(self, url_id: int, url: str, applied: Applied) -> None:
        """An ACL that is pending was replaced by another that was pushed, or was taken away."""
        if self._pending(url_id) is not None:
            self.hold(url_id, url, Rights(None, None, open=True), applied)

    def end(self, url_id: int, url: str, applied: Applied) -> None:
        """The document is as new as its ACL: what was pushed counts alone."""
        pending = self._pending(url_id)
        if pending is None:
            return
        now = self._now(url)
        self._access.put_chain(url, pending[1], now.source, applied, bound=now.bound)
        self.forget(url_id)

    def forget(self, url_id: int) -> None:
        """Nothing is pending any more for a URL; its ACL stays as it is."""
        if self.some:
            self._cursor.execute("delete from acl_pending where id = ?", (url_id,))
            self._access.put_chain(_together(url_id), None, None, None)
            self.reload()

    def visited(self, item: Settled, applied: Applied) -> str | None:
        """A visit is about to be settled; call before the head of its answer is obeyed.

        Returns:
            The URL, if the visit was claimed before the push: then :meth:`visited_before` is due behind its head.
        """
        pending = self._pending(item.row.id)
        if pending is None:
            return None
        url, asked = self._cursor.execute(
            "select h.origin || u.path, u.asked from url u join host h on h.id = u.host where u.id = ?",
            (item.row.id,),
        ).get
        controls = item.report.controls
        if asked <= item.row.asked:
            speaks = controls is not None and (controls.acl is not None or controls.no_acl)
            if speaks or item.report.outcome in _ANSWERED:
                self.end(item.row.id, url, applied)
            return None
        if controls is None:
            return None
        now = self._now(url)
        self._access.put_chain(url, pending[0], now.source, applied, bound=now.bound)
        return str(url)

    def visited_before(self, url_id: int, url: str, applied: Applied) -> None:
        """The head of an older visit's answer was obeyed: it says who might see the document before the push."""
        pending = self._pending(url_id)
        if pending is None:
            return
        now = self._now(url)
        self._cursor.execute(
            "update acl_pending set before = ?, open = ? where id = ?",
            (now.chain, self._is_open(url_id), url_id),
        )
        self._both(url_id, url, now, applied)

    # -- chains -------------------------------------------------------------------------------

    def _pending(self, url_id: int) -> tuple[int | None, int | None, bool] | None:
        if not self.some:
            return None
        found = self._cursor.execute(
            "select before, pushed, open from acl_pending where id = ?", (url_id,)
        ).fetchone()
        return None if found is None else (found[0], found[1], bool(found[2]))

    def _is_open(self, url_id: int) -> bool:
        """Whether everybody sees a document as long as it has no ACL."""
        marks, source = self._cursor.execute("select acl, source from url where id = ?", (url_id,)).get
        return not marks & _CLOSED and self._applier.names.access(source) == "public"

    def _now(self, url: str) -> _Brought:
        found = self._cursor.execute("select chain, source, bound from acl where url = ?", (url,)).fetchone()
        return _Brought(*found) if found is not None else _Brought()

    def _both(self, url_id: int, url: str, now: _Brought, applied: Applied) -> None:
        """Let both ACLs decide."""
        pending = self._pending(url_id)
        assert pending is not None  # noqa: S101 - written just now
        self._access.put_chain(url, self._joined(url_id, url, *pending), now.source, applied, bound=now.bound)

    def _joined(self, url_id: int, url: str, old: int | None, new: int | None, is_open: bool) -> int | None:  # noqa: FBT001
        if old is None:
            return new if is_open else self._access.chain(Acl(url, problem=_WHY_CLOSED))
        if new is None or old == new:
            return old
        before, pushed = self._chain(old), self._chain(new)
        if before.problem or pushed.problem:
            return new if pushed.problem else old
        above, below = (
            (before, pushed) if not pushed.parent or pushed.parent == before.parent else (pushed, before)
        )
        if (below.parent and below.parent != above.parent) or (above.parent and self._access.rescues):
            return self._access.chain(Acl(url, problem=_WHY))
        both = number_of(Inheritance.AND_BOTH_PERMIT)
        upper = self._access.chain_from(
            above.entries, above.parent, both, source=above.source, bound=above.bound
        )
        self._access.put_chain(_together(url_id), upper, None, None)
        return self._access.chain_from(
            below.entries, _together(url_id), pushed.type, source=below.source, bound=below.bound
        )

    def _chain(self, number: int) -> _Chain:
        return _Chain(
            *self._cursor.execute(
                "select entries, parent, type, problem, source, bound from acl_chain where id = ?", (number,)
            ).get
        )


def _together(url_id: int) -> str:
    """Return under which name the ACL is kept that must permit, too."""
    return f"pending:{url_id}"
