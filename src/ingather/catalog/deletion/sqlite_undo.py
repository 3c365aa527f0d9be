"""Undoing deletions: by URL or prefix, by run, by reason, by hold. Runs inside the caller's transaction."""

from collections import Counter
from typing import Final

import apsw

from ingather.catalog.deletion.sqlite_evidence import Evidence
from ingather.catalog.sqlite_apply import Applier
from ingather.catalog.sqlite_changes import Applied
from ingather.catalog.sqlite_rows import fetch
from ingather.model.decided import By, Undo
from ingather.model.lifecycle import State

__all__ = ["MATCHING", "Undoing", "matching_values", "rows_below"]

MATCHING: Final = (
    "(t.decided != 2 or ?5 is not null) and (?1 is null or t.run = ?1) and (?2 = '' or instr(lower(t.reason), lower(?2)) > 0) "
    "and (?3 is null or t.hold = ?3) and (?4 = '' or t.source in (select s.id from source s where s.name = ?4 collate nocase)) "
    "and (?5 is null or t.decision = ?5)"
)
"""Tombstones ``t`` that an :class:`Undo` means, with the values of :func:`matching_values`."""


_STONES: Final = (
    "select t.id, t.source, t.reason, t.version, h.origin || u.path from tombstone t join url u on u.id = t.id "  # noqa: S608 - constant
    f"join host h on h.id = u.host where t.id > ?6 and {MATCHING} order by t.id limit ?7"
)


def matching_values(wanted: Undo) -> tuple[int | str | None, ...]:
    """Return the first five values of a statement with :data:`MATCHING`."""
    return wanted.run, wanted.reason, wanted.hold, wanted.source, wanted.decision


def rows_below(cursor: apsw.Cursor, prefix: str, *, exact: bool) -> list[tuple[int, int | None]]:
    """Return (row, version) of the URL *prefix*, or of everything that starts so."""
    scheme, _, rest = prefix.partition("://")
    authority, _, path = rest.partition("/")
    host = cursor.execute("select id from host where origin = ?", (f"{scheme}://{authority}",)).get
    if host is None:
        return []
    wanted = f"/{path}"
    return fetch(
        cursor,
        "select id, version from url where host = ?1 and iif(?3, path = ?2, substr(path, 1, length(?2)) = ?2) order by id",
        (host, wanted, exact),
    )


class Undoing:
    """Part of the one writer."""

    def __init__(self, db: apsw.Connection, applier: Applier, evidence: Evidence) -> None:
        self._cursor = db.cursor()
        self._applier = applier
        self._evidence = evidence

    def below(self, prefix: str, now_s: float, applied: Applied, *, exact: bool, by: By) -> int:
        """Undo tombstones at or below *prefix*, and quarantines; return how many URLs came back."""
        back: Counter[tuple[int, str]] = Counter()
        for url_id, _ in rows_below(self._cursor, prefix, exact=exact):
            row = self._cursor.execute(
                "select u.source, coalesce(t.reason, '') from url u left join tombstone t on t.id = u.id where u.id = ?",
                (url_id,),
            ).get
            if self._undelete(url_id, applied):
                back[row] += 1
        self._note("undelete" if exact else "undo", prefix, back, by, now_s)
        return back.total()

    def matching(  # noqa: PLR0913 - what, from where on, who, when
        self, wanted: Undo, after: int, limit: int, applied: Applied, *, by: By, at_s: float
    ) -> tuple[int, int]:
        """Undo up to *limit* tombstones behind row *after*; return how many came back, and the last row, 0 = no more."""
        rows = fetch(
            self._cursor,
            _STONES,
            (*matching_values(wanted), after, limit),
        )
        back: Counter[tuple[int, str]] = Counter()
        names = self._applier.names
        for url_id, source, reason, version, url in rows:
            if names.has_removed and names.is_removed(url):
                continue  # a person does not want it, whatever else deleted it
            # Of one decision the documents are counted; the URLs that never were one come back beside them.
            if self._undelete(url_id, applied) and (version is not None or wanted.decision is None):
                back[source, reason] += 1
        self._note("undo", str(wanted), back, by, at_s)
        return back.total(), rows[-1][0] if len(rows) == limit else 0

    def _note(self, verb: str, target: str, back: Counter[tuple[int, str]], by: By, at_s: float) -> None:
        for (source, reason), documents in sorted(back.items()):
            self._evidence.decide(verb, target, by, at_s, source=source, reason=reason, documents=documents)

    def _undelete(self, url_id: int, applied: Applied) -> bool:
        host, state = self._cursor.execute("select host, state from url where id = ?", (url_id,)).get
        decided = self._cursor.execute("select decided from tombstone where id = ?", (url_id,)).get
        if decided is None and state != State.QUARANTINED:
            return False
        if decided is not None:
            self._applier.unbury(url_id, applied)
        self._cursor.execute(
            "update url set state = ?, due = null, missing = null, fails = 0, strikes = 0 where id = ?",
            (int(State.WAITING), url_id),
        )
        if state != State.WAITING:
            applied.wakes(host)
        return True
