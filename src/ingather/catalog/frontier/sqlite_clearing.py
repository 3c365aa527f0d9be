"""Clearing what the robot knows: its pool and the states of URLs go, resource descriptions and the index stay.

A URL stays when something hangs on it that no visit makes: a description, a layer that somebody wrote, an ACL, a
tombstone, a held deletion, a pushed feed or a web feed that names it. What stays and can be visited is due at once.
The newest row always stays, so that row numbers are never given twice.
"""

import json
from collections import Counter
from collections.abc import Sequence

import apsw

from ingather.catalog.frontier.sqlite_budget import BudgetKey, Budgets, budget_keys
from ingather.catalog.sqlite_changes import Applied
from ingather.catalog.sqlite_rows import fetch
from ingather.model.lifecycle import State

__all__ = ["Clearing"]

_FREE = """
  from url u where u.id > ?1 and u.version is null and u.acl = 0 and u.held is null and u.state != 3
  and u.id < (select max(id) from url)
  and not exists (select 1 from layer x where x.id = u.id) and not exists (select 1 from tombstone x where x.id = u.id)
  and not exists (select 1 from hold_item x where x.id = u.id) and not exists (select 1 from fed x where x.id = u.id)
  and not exists (select 1 from fed_other x where x.id = u.id) and not exists (select 1 from rss_feed x where x.url = u.id)
  and not exists (select 1 from rss_page x where x.url = u.id) and not exists (select 1 from rss_document x where x.id = u.id)
  and not exists (select 1 from sitemap x where x.url = u.id)
  order by u.id limit ?2
"""
_HANGING = ("page", "inlink", "carry", "redirected")
"""Tables by row of a URL that say nothing without it."""
_FED = """(select 1 from fed x where x.id = url.id and x.content)"""
_RSS = """(select 1 from rss_document x where x.id = url.id union all select 1 from rss_feed x where x.url = url.id
  union all select 1 from rss_page x where x.url = url.id union all select 1 from sitemap x where x.url = url.id and url.version is null)"""


class Clearing:
    """Part of the one writer; every method runs inside the caller's transaction, in the order of the class."""

    def __init__(self, db: apsw.Connection, budgets: Budgets) -> None:
        self._db = db
        self._cursor = db.cursor()
        self._budgets = budgets

    def forget(self, after: int, limit: int) -> tuple[int, int]:
        """Forget at most *limit* URLs behind row *after*; return (last row, how many), 0 of them = that was all."""
        rows = fetch(self._cursor, f"select u.id {_FREE}", (after, limit))
        for table in ("url", *_HANGING):
            self._cursor.executemany(f"delete from {table} where id = ?", rows)  # noqa: S608 - constants
        return (rows[-1][0] if rows else after), len(rows)

    def renew(self, after: int, limit: int, now_s: float) -> tuple[int, int]:
        """Forget what is known of the visits of at most *limit* URLs that stay; return as :meth:`forget` does.

        What web feeds list, and what feeds brought the content of, keeps its clocks.
        """
        rows = fetch(
            self._cursor,
            f"select id from url where id > ?1 and state in (0, 2, 4) and not exists {_FED} and not exists {_RSS} "  # noqa: S608 - constants
            "order by id limit ?2",
            (after, limit),
        )
        self._cursor.executemany(
            "update url set state = ?1, due = ?2, intent = 0, outcome = null, status = null, verdict = null, wait = null, "
            "missing = null, fails = 0, strikes = 0, etag = null, lastmod = null, detail = null, hist = null where id = ?3",
            [(int(State.DONE), now_s, row[0]) for row in rows],
        )
        return (rows[-1][0] if rows else after), len(rows)

    def end(self, now_s: float) -> None:
        """Let nothing point at what is gone, count budgets anew, end the run that was under way."""
        for column in ("parent", "target"):
            self._cursor.execute(
                f"update url set {column} = null where {column} is not null "  # noqa: S608 - constants
                f"and {column} not in (select id from url)"
            )
        self._cursor.execute("delete from digest where head not in (select id from url)")
        counts: Counter[BudgetKey] = Counter()
        for host, path, state in self._cursor.execute("select host, path, state from url"):
            keys = ((host, "excluded", ""),) if state == State.EXCLUDED else budget_keys(host, path)
            counts.update(keys)
        self._db.execute("delete from budget")
        self._db.executemany(
            "insert into budget (host, kind, name, n) values (?, ?, ?, ?)",
            ((*key, n) for key, n in counts.items()),
        )
        self._budgets.reload()
        self._db.execute("delete from run_count")
        for table in ("again", "hint_score", "host_pulse"):
            self._db.execute(f"delete from {table}")  # noqa: S608 - constants
        # What was forgotten of what sitemaps list is taken in again.
        self._db.execute("update sitemap_entry set id = null, state = 0")
        self._db.execute(
            "update run set ended = ?, detail = 'ended: the robot was cleared' where ended is null", (now_s,)
        )

    def forget_runs(self, keep: int) -> None:
        """Forget all but the last *keep* runs."""
        self._db.execute("delete from run where id <= (select max(id) from run) - ?", (keep,))

    def revisit(self, sources: Sequence[str], applied: Applied) -> int:
        """Put every visited URL of *sources* into the frontier; return how many.

        What web feeds list has clocks of its own, tombstones have theirs.
        """
        rows = fetch(
            self._cursor,
            "update url set state = 0 where state = 2 and due is not null "  # noqa: S608 - constants
            f"and source in (select s.id from source s join json_each(?) j on s.name = j.value collate nocase) and not exists {_RSS} "
            "returning host",
            (json.dumps(list(sources)),),
        )
        for (host,) in rows:
            applied.wakes(host)
        return len(rows)

    def forget_refusals(self) -> int:
        """Forget of hosts that our own gate refused to ask for robots.txt that it was out of reach, with the wait; return how many."""
        self._cursor.execute(
            "update host set robots_kind = '', robots_body = null, robots_at = 0, robots_since = 0, robots_detail = '', not_before = 0, "
            "back_offs = 0 where robots_kind = 'unreachable' and robots_detail like 'refused-address%'"
        )
        return int(self._db.changes())

    def try_refused(self, after: int, span: int, applied: Applied) -> tuple[int, int]:
        """Let URLs that our own gate refused wait for a visit, of the *span* rows behind row *after*.

        What web feeds list has clocks of its own.

        Returns:
            The last row that was looked at, -1 = there are no more, and how many wait.
        """
        top = int(self._cursor.execute("select coalesce(max(id), 0) from url").get)
        rows = fetch(
            self._cursor,
            "update url set state = 0, due = null, fails = 0 where id > ?1 and id <= ?2 and state in (2, 3) and outcome in (6, 11) "  # noqa: S608 - constants
            f"and detail like '%refused-address%' and not exists {_FED} and not exists {_RSS} returning host",
            (after, after + span),
        )
        for (host,) in rows:
            applied.wakes(host)
        return (after + span if after + span < top else -1), len(rows)

    def visit_now(self, url_id: int, applied: Applied) -> State:
        """Put a visited URL into the frontier; return the state that it had."""
        host, state = self._cursor.execute("select host, state from url where id = ?", (url_id,)).get
        if state == State.DONE:
            self._cursor.execute("update url set state = 0 where id = ?", (url_id,))
            applied.wakes(host)
        return State(state)
