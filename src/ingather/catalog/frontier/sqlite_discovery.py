"""Discovering: URLs that pages link to become rows, or meet the rows that are there.

Depth is the smallest over all known paths. A path that is better than what is known (nearer, or
with more room below its starting point's limit) is carried down the links that are kept, and
what only depth had excluded waits again.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import apsw

from ingather.catalog.frontier.sqlite_budget import BudgetKey, Budgets
from ingather.catalog.likeness.sqlite_duplicates import HIDDEN, Duplicates
from ingather.catalog.packing import unpack_keys
from ingather.catalog.reports.sqlite_figures import Figures
from ingather.catalog.sqlite_changes import Applied, ChangeLog
from ingather.catalog.sqlite_names import Names
from ingather.catalog.sqlite_rows import fetch
from ingather.catalog.statements import SQL
from ingather.model.lifecycle import State
from ingather.model.report import Discovery
from ingather.model.verdict import Exclusion

__all__ = ["BY_HAND", "Discoveries"]

BY_HAND = 2
"""``tombstone.decided`` of what an operator removed: only an operator brings it back."""

_RETURN_S = 86_400.0
_NO_LIMIT = -1
_PUT_OFF = 200
"""Pages that wait for their cascade, taken up at a time."""


@dataclass(slots=True)
class _Known:
    """A row as the statements ``url_by_key`` and ``url_by_id`` give it."""

    id: int
    host: int
    path: str
    depth: int
    limit: int | None
    state: int
    verdict: int | None
    source: int
    hops: int
    fetched_s: float | None
    duplicate: int | None


class _Path(NamedTuple):
    """A way to a URL: depth, limit of its starting point, page that links, redirects on the way, priority."""

    depth: int
    limit: int | None
    parent: int | None
    hops: int = 1 << 30
    priority: int = 1 << 30


class Discoveries:
    """Part of the one writer; every method runs inside the caller's transaction."""

    def __init__(  # noqa: PLR0913 - the parts of the writer
        self,
        db: apsw.Connection,
        names: Names,
        budgets: Budgets,
        duplicates: Duplicates,
        log: ChangeLog,
        *,
        figures: Figures,
    ) -> None:
        self._db = db
        self._cursor = db.cursor()
        self._names = names
        self._budgets = budgets
        self._duplicates = duplicates
        self._log = log
        self._figures = figures
        self._insert = SQL["discover_url"]
        self.carry_links = 10_000
        """Links that one transaction looks at to carry better paths; what is left waits in the table ``carry``."""
        self._waiting = False

    def reload(self) -> None:
        """See whether a cascade waits to go on."""
        self._waiting = self._cursor.execute("select exists (select 1 from carry)").get == 1

    def discover(self, found: Discovery, parent: int | None, applied: Applied) -> int | None:
        """Add one URL or meet the row that is there.

        Args:
            found: the URL, judged by the MetaData filters.
            parent: row of the page that links to it; ``None`` = a starting point, which somebody asked for.
            applied: takes what this does.

        Returns:
            Its row, or ``None``: a budget refused it, or it was removed by hand.
        """
        names, path, denial = self._names, found.path, found.denial
        if names.has_removed and names.is_removed(found.origin + path):
            if parent is None:
                applied.refused.append((found.origin + path, "removed"))
            known = self._by_key(found.key)
            if known is not None:  # its depth stays true, should it come back
                self._take(known, _Path(found.depth, found.max_depth, parent, found.hops), applied)
            return None
        host = names.host(found.origin)
        full = self._refused(found, host)
        if full is not None:
            known = self._by_key(found.key)
            if known is not None:
                return self._meet(found, known, host, parent, applied)
            self._refuse(found, host, full, applied)
            return None
        state, outcome, verdict = (0, None, None) if denial is None else (1, 3, names.directive(denial))
        self._cursor.execute(
            self._insert,
            (found.key, host, path, names.source(found.source), found.depth, found.max_depth, parent, state,
             found.priority, found.hops, verdict, outcome, None if verdict is None else self._figures.run),
        )  # fmt: skip
        if not self._db.changes():
            if denial is None:
                self._budgets.release(host, path)
            known = self._by_key(found.key)
            return None if known is None else self._meet(found, known, host, parent, applied)
        applied.new_urls += 1
        if verdict is None:
            applied.wakes(host)
        else:
            self._budgets.count_excluded(host, 1)
            self._figures.excluded(verdict)
        return self._db.last_insert_rowid()

    def _refused(self, found: Discovery, host: int) -> BudgetKey | None:
        """Return the counter that has no room for a URL, if it should be new; else what is to be visited is charged."""
        if found.denial is None:
            return self._budgets.charge(host, found.path, found.source)
        return None if self._budgets.keeps_excluded(host) else (host, "excluded", "")

    def _refuse(self, found: Discovery, host: int, full: BudgetKey, applied: Applied) -> None:
        """Note that there was no room; of URLs that are denied anyway their number is enough."""
        if found.denial is None:
            limit = self._budgets.refuse(full)
            applied.refused.append((found.origin + found.path, limit))
            self._figures.refused(limit)
        else:
            self._budgets.refuse_excluded(host)

    def _by_key(self, key: int) -> _Known | None:
        row = self._cursor.execute(SQL["url_by_key"], (key,)).get
        return None if row is None else _Known(*row)

    def _by_id(self, url_id: int) -> _Known | None:
        row = self._cursor.execute(SQL["url_by_id"], (url_id,)).get
        return None if row is None else _Known(*row)

    # -- known already ------------------------------------------------------------------------

    def _meet(
        self, found: Discovery, known: _Known, host: int, parent: int | None, applied: Applied
    ) -> int | None:
        """A link to a known URL: nothing, unless the path is better or the page is to be looked at again."""
        if known.host != host or known.path != found.path:
            self._log.event(
                "key-collision", found.origin + found.path, f"same key as URL {known.id}; not gathered"
            )
            return None
        source = self._names.source(found.source)
        if source != known.source and found.denial is None:
            self._narrow(known, source, applied)
        depth = known.depth
        path = _Path(found.depth, found.max_depth, parent, found.hops, found.priority)
        self._take(known, path, applied)
        if self._names.is_fed(known.source) and self._is_listed(known.id):
            return known.id  # who looks after it says when it is visited
        if known.state == State.EXCLUDED:
            if found.denial is None:
                self._reopen(known, applied, charge=True)
            elif known.depth < depth:
                self._cursor.execute(
                    "update url set verdict = ? where id = ?", (self._names.directive(found.denial), known.id)
                )
        elif known.state == State.GONE and self._returns(known, asked=parent is None):
            self._reopen(known, applied, charge=False)
        return known.id

    def _is_listed(self, url_id: int) -> bool:
        """Whether a source of web feeds looks after a URL, or polls it."""
        return bool(
            self._cursor.execute(
                "select exists (select 1 from rss_document where id = ?1) or exists (select 1 from rss_feed where url = ?1)",
                (url_id,),
            ).get
        )

    def _take(self, known: _Known, path: _Path, applied: Applied) -> None:
        if self._offer(known, path, applied):
            self.carry(known.id, known.depth, known.limit, applied)

    def _offer(self, known: _Known, path: _Path, applied: Applied) -> bool:
        """Take a path if it is better; return whether what is below a page whose links are known gains by it."""
        depth, limit = _better(known.depth, known.limit, path.depth, path.limit)
        nearer = depth < known.depth
        gains = nearer or limit != known.limit
        hops = min(known.hops, path.hops)
        if not gains and hops == known.hops:
            return False
        parent = path.parent if nearer else self._parent(known.id)
        self._cursor.execute(SQL["offer_path"], (known.id, depth, limit, hops, parent, path.priority))
        known.depth, known.limit = depth, limit
        if nearer and known.duplicate is not None:
            self._duplicates.nearer(known.id, applied)
        return gains and known.fetched_s is not None

    def _parent(self, url_id: int) -> int | None:
        found: int | None = self._cursor.execute("select parent from url where id = ?", (url_id,)).get
        return found

    def carry(self, url_id: int, depth: int, limit: int | None, applied: Applied) -> None:
        """Carry a better path to page *url_id* down the links and redirects that are kept of it.

        Nearest first, so that each row below is written once; a redirect's target is as near as its origin.
        Beyond ``carry_links`` the rest of the cascade is put off to :meth:`carry_on`, in the same transaction.
        """
        self._carry(deque([(url_id, depth, limit)]), applied)

    def carry_on(self, applied: Applied) -> bool:
        """Go on with what earlier transactions put off, within this one's share; return whether some is left."""
        while self._waiting and applied.carried < self.carry_links:
            rows = fetch(
                self._cursor,
                "select c.id, u.depth, u.maxdepth from carry c join url u on u.id = c.id order by c.depth, c.id limit ?",
                (_PUT_OFF,),
            )
            self._waiting = bool(rows)
            self._cursor.executemany("delete from carry where id = ?", [row[:1] for row in rows])
            self._carry(deque(rows), applied)
        return self._waiting

    def _put_off(self, queue: Iterable[tuple[int, int, int | None]]) -> None:
        self._waiting = True
        self._cursor.executemany(
            "insert into carry (id, depth) values (?1, ?2) on conflict do update set depth = min(depth, ?2)",
            [row[:2] for row in queue],
        )

    def _carry(self, queue: deque[tuple[int, int, int | None]], applied: Applied) -> None:
        while queue:
            if applied.carried >= self.carry_links:
                self._put_off(queue)
                return
            page, depth, limit = queue.popleft()
            row = self._cursor.execute(
                "select coalesce(p.out, x''), u.target from url u left join page p on p.id = u.id where u.id = ?",
                (page,),
            ).get
            if row is None:
                continue
            links, target = row
            if (
                target is not None
                and (child := self._by_id(target)) is not None
                and self._inherit(child, _Path(depth, limit, page), applied)
            ):
                queue.appendleft((child.id, child.depth, child.limit))
            keys = unpack_keys(links)
            applied.carried += 1 + len(keys)
            for key in keys:
                if (child := self._by_key(key)) is not None and self._inherit(
                    child, _Path(depth + 1, limit, page), applied
                ):
                    queue.append((child.id, child.depth, child.limit))

    def _inherit(self, child: _Known, path: _Path, applied: Applied) -> bool:
        before = child.depth, child.limit
        gains = self._offer(child, path, applied)
        if (
            before != (child.depth, child.limit)
            and child.state == State.EXCLUDED
            and (child.limit is None or child.limit == _NO_LIMIT or child.depth <= child.limit)
            and self._names.category(child.verdict) == Exclusion.DEPTH
        ):
            self._reopen(child, applied, charge=True)
        return gains

    def _returns(self, known: _Known, *, asked: bool) -> bool:
        """Whether a tombstone is looked at again: asked for, or linked anew a day after the last look."""
        row = self._cursor.execute("select at, decided from tombstone where id = ?", (known.id,)).get
        if row is None or row[1] == BY_HAND:
            return False
        return asked or self._log.now_s - max(row[0], known.fetched_s or 0.0) > _RETURN_S

    def _reopen(self, known: _Known, applied: Applied, *, charge: bool) -> None:
        """Let an excluded or buried URL wait for a visit, if its budgets allow."""
        if charge and not self.admit(known.id, known.host, known.path, known.source, applied):
            return
        self._cursor.execute(
            "update url set state = 0, outcome = iif(state = 1, null, outcome), verdict = null where id = ?",
            (known.id,),
        )
        if known.state == State.EXCLUDED:
            self._budgets.count_excluded(known.host, -1)
        known.state = State.WAITING
        applied.wakes(known.host)

    def admit(self, url_id: int, host: int, path: str, source: int, applied: Applied) -> bool:
        """Charge the budgets for a known URL that was denied so far; a refusal is noted."""
        full = self._budgets.charge(host, path, self._names.source_name(source))
        if full is None:
            return True
        url = self._cursor.execute(
            "select h.origin || u.path from url u join host h on h.id = u.host where u.id = ?", (url_id,)
        ).get
        applied.refused.append((url, self._budgets.refuse(full)))
        return False

    def _narrow(self, known: _Known, source: int, applied: Applied) -> None:
        """A public URL that belongs to a secure source by now moves there at once; never the other way."""
        names, before = self._names, known.source
        if names.access(before) != "public" or names.access(source) == "public":
            return
        digest, version, held = self._cursor.execute(
            "select digest, version, held from url where id = ?", (known.id,)
        ).get
        self._duplicates.leave(known.id, digest, names.audience(before), applied)
        self._cursor.execute(
            "update url set source = ?, dup = null, policy = null where id = ?", (source, known.id)
        )
        known.source, known.duplicate = source, None
        if version is not None:
            names.count(before, -1)
            names.count(source, 1)
            if held != HIDDEN:
                behind = self._log.sequence
                self._duplicates.rejoin(known.id, applied)
                self._cursor.execute(
                    "insert into acl_moved (seq, id) select seq, id from change where seq > ?", (behind,)
                )


def _better(depth: int, limit: int | None, other: int, other_limit: int | None) -> tuple[int, int | None]:
    """Join two paths to one URL: the smaller depth, and the more generous room below a limit.

    Limits count from the starting point; the answer counts from the smaller depth. ``None`` is the
    default, which only the filters know: against a written limit the nearer path speaks.
    """
    nearest = min(depth, other)
    if limit is None or other_limit is None:
        return nearest, other_limit if other < depth else limit
    if _NO_LIMIT in (limit, other_limit):
        return nearest, _NO_LIMIT
    return nearest, nearest + max(limit - depth, other_limit - other)
