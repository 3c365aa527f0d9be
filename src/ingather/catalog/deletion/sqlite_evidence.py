"""What was seen before a deletion, and what people decided about deletions: written here, read by ``sqlite_tombstones``.

Evidence counts as long as no visit finds the document as it is described: each one notes ``url.seen``, which such a visit moves,
so that a page that answers again is cleared of what was said before without a statement here, and whatever clocks say.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

import apsw

from ingather.catalog.sqlite_rows import fetch
from ingather.model.decided import By

__all__ = ["Evidence", "Seen"]

_KEPT: Final = 8
_DETAIL: Final = 500


class Seen(NamedTuple):
    """One observation.

    Attributes:
        url_id, source: rows.
        reason: as the deletion policy calls it.
        decision: what the policy answered: ``delete``, ``hold`` or ``wait``.
        why: the policy's words.
        outcome, status: of the visit that saw it, ``None`` = no visit did.
        verdict: row of the directive that decided, ``None`` = none did.
        detail: in the visit's words, or which feed or list said so.
    """

    url_id: int
    source: int
    reason: str
    decision: str
    why: str = ""
    outcome: int | None = None
    status: int | None = None
    verdict: int | None = None
    detail: str = ""


class Evidence:
    """Part of the one writer; every method runs inside the caller's transaction."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db
        self._cursor = db.cursor()

    def note(self, seen: Seen, now_s: float, run: int | None) -> None:
        """Keep an observation; of one URL the first and the newest are kept."""
        last = self._cursor.execute("select max(n) from observation where id = ?", (seen.url_id,)).get
        n = 1 if last is None else int(last) + 1
        self._cursor.execute(
            "insert into observation (id, n, source, at, run, reason, decision, why, outcome, status, verdict, detail, found) "
            "values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, (select seen from url where id = ?1))",
            (
                seen.url_id, n, seen.source, now_s, run, seen.reason, seen.decision, seen.why, seen.outcome, seen.status,
                seen.verdict, seen.detail[:_DETAIL],
            ),
        )  # fmt: skip
        if n > _KEPT:  # the first look is half of the proof: what lies between it and the newest goes
            self._cursor.execute(
                "delete from observation where id = ?1 and n <= ?2 and n != (select min(o.n) from observation o "
                "join url u on u.id = o.id where o.id = ?1 and o.found is u.seen)",
                (seen.url_id, n - _KEPT + 1),
            )

    def looks(self, url_ids: Iterable[int]) -> dict[int, int]:
        """Return how many looks in a row found each of *url_ids* missing, before the one at hand."""
        found: dict[int, int] = {}
        for url_id in url_ids:
            count = self._cursor.execute(
                "select count(*) from observation o join url u on u.id = o.id where o.id = ? and u.missing is not null "
                "and o.found is u.seen and o.at >= u.missing and o.status in (404, 410)",
                (url_id,),
            ).get
            found[url_id] = int(count)
        return found

    def decide(  # noqa: PLR0913 - who, what, about what
        self, verb: str, target: str, by: By, at_s: float, *, source: int = 0, reason: str = "", documents: int = 0
    ) -> int:  # fmt: skip
        """Keep what a person decided; pieces of one decision (same moment, verb, target, source, reason) add up. Return its row."""
        same = self._cursor.execute(
            "select id from decision where source = ? and at = ? and verb = ? and target = ? and reason = ?",
            (source, at_s, verb, target, reason),
        ).get
        if same is not None:
            self._cursor.execute(
                "update decision set documents = documents + ? where id = ?", (documents, same)
            )
            return int(same)
        self._cursor.execute(
            "insert into decision (at, who, verb, target, source, reason, note, documents) values (?, ?, ?, ?, ?, ?, ?, ?)",
            (at_s, by.author, verb, target, source, reason, by.note, documents),
        )
        return int(self._db.last_insert_rowid())

    def kept(self, source: int, since_s: float) -> tuple[tuple[str, float], ...]:
        """Return (reason, when last) for which people kept documents of *source* since *since_s*; ``""`` = whatever the reason."""
        rows = fetch(
            self._cursor,
            "select reason, max(at) from decision where source = ? and at > ? and verb in ('discard', 'undo') "
            "group by reason order by reason",
            (source, since_s),
        )
        return tuple((reason, at) for reason, at in rows)
