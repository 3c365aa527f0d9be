"""Tombstones with what proves them, holds that are open or closed, what people decided: for whoever asks why something went."""

from pathlib import Path
from typing import Any, Final, NamedTuple

from ingather.catalog.deletion.sqlite_accounts import SourceAccount, source_accounts
from ingather.catalog.deletion.sqlite_undo import MATCHING, matching_values
from ingather.catalog.sqlite_open import open_reader
from ingather.catalog.sqlite_rows import Rows
from ingather.catalog.sqlite_typed import meant_url
from ingather.model.decided import Undo
from ingather.model.lifecycle import Outcome
from ingather.model.urlparts import key

__all__ = [
    "Decided",
    "HoldRow",
    "Observation",
    "Stone",
    "TombstoneReader",
    "evidence_of",
    "observed_hold",
    "stone_of",
]

_BY: Final = ("policy", "person", "hand")
_STONE: Final = (
    "select t.id, h.origin || u.path, s.name, t.at, t.reason, t.decided, t.run, t.hold, t.version is not null, "
    "coalesce(d.who, ''), coalesce(d.note, ''), (select count(*) from observation o where o.id = t.id and o.found is u.seen) "
    "from tombstone t join url u on u.id = t.id join host h on h.id = u.host join source s on s.id = t.source "
    "left join decision d on d.id = t.decision"
)
_OBSERVATION: Final = (
    "select o.at, o.reason, o.decision, o.why, o.outcome, o.status, coalesce(v.place, ''), coalesce(v.reason, ''), o.detail, o.run "
    "from observation o join url u on u.id = o.id left join directive v on v.id = o.verdict "
    "where o.id = ? and o.found is u.seen order by o.n"
)
_DECISION: Final = (
    "select d.id, d.at, d.who, d.verb, d.target, coalesce(s.name, ''), d.reason, d.note, d.documents "
    "from decision d left join source s on s.id = d.source"
)
_COUNTS: Final = f"select s.name, t.reason, count(*) from tombstone t join source s on s.id = t.source where {MATCHING} group by 1, 2 order by 1, 2"  # noqa: S608 - constant
_HOLD: Final = (
    "select h.id, s.name, h.reason, h.opened, h.urls, h.why, h.closed, coalesce(h.verdict, ''), coalesce(d.who, ''), coalesce(d.note, '') "
    "from hold h join source s on s.id = h.source left join decision d on d.id = h.decision"
)


class Observation(NamedTuple):
    """What was seen of a document that may have to go, and what the policy answered.

    Attributes:
        at_s: wall time of the answer.
        reason, decision, why: of the policy; *decision* is ``delete``, ``hold`` or ``wait``.
        outcome: of the visit, ``None`` = no visit saw it.
        status: HTTP status, ``None`` = none.
        where, rule: place and text of the line that decided, ``""`` = none did.
        detail: the visit's words, or which feed said it.
        run: run that saw it, ``None`` = none was begun.
    """

    at_s: float
    reason: str
    decision: str
    why: str
    outcome: Outcome | None
    status: int | None
    where: str
    rule: str
    detail: str
    run: int | None


class Stone(NamedTuple):
    """One tombstone.

    Attributes:
        id: row of the URL.
        url, source: whose.
        at_s: wall time of the deletion.
        reason: why.
        by: ``policy``, ``person`` (a hold that was released, a command) or ``hand`` (``ingather remove``).
        run: run that deleted it.
        hold: hold whose release did.
        kept: an undo shows the description again at once.
        who, note: the person and his reason.
        observations: how many are kept.
    """

    id: int
    url: str
    source: str
    at_s: float
    reason: str
    by: str
    run: int | None
    hold: int | None
    kept: bool
    who: str
    note: str
    observations: int


class Decided(NamedTuple):
    """What a person decided: *verb* is ``release``, ``discard``, ``remove``, ``delete`` (a source), ``undelete`` (one URL) or ``undo``."""

    id: int
    at_s: float
    who: str
    verb: str
    target: str
    source: str
    reason: str
    note: str
    documents: int


class HoldRow(NamedTuple):
    """A hold; ``closed_s`` is ``None`` while it is open; ``verdict`` is ``released``, ``discarded`` or ``withdrawn`` (all were found again)."""

    id: int
    source: str
    reason: str
    opened_s: float
    documents: int
    why: str
    closed_s: float | None
    verdict: str
    who: str
    note: str


def evidence_of(rows: Rows, url_id: int) -> list[Observation]:
    """Return what was seen of a document since it was found last, oldest first."""
    found = rows.all(_OBSERVATION, (url_id,))
    return [
        Observation(at_s, reason, decision, why, None if outcome is None else Outcome(outcome), *rest)
        for at_s, reason, decision, why, outcome, *rest in found
    ]


def stone_of(rows: Rows, url_id: int) -> Stone | None:
    """Return the tombstone of a URL."""
    row = rows.one(f"{_STONE} where t.id = ?", (url_id,))
    return None if row is None else _stone(row)


def observed_hold(rows: Rows, url_id: int) -> int | None:
    """Return the open hold that a URL is in."""
    found = rows.value("select hold from hold_item where id = ?", (url_id,))
    return None if found is None else int(found)


class TombstoneReader:
    """One read-only connection; one thread at a time. Raises :class:`CatalogError` as all readers."""

    def __init__(self, path: Path) -> None:
        self._rows = Rows(open_reader(path), path)

    def close(self) -> None:
        """Close the connection."""
        self._rows.close()

    def meant(self, text: str) -> str:
        """Return the canonical URL that a person means; see :func:`ingather.catalog.sqlite_typed.meant_url`."""
        return meant_url(self._rows, text)

    def row_of(self, url: str) -> int | None:
        """Return the row of a canonical URL, ``None`` if it is not known."""
        seed = int(self._rows.value("select value from meta where name = 'seed'"))
        row = self._rows.one(
            "select u.id, h.origin || u.path from url u join host h on h.id = u.host where u.key = ?",
            (key(url, seed),),
        )
        return None if row is None or row[1] != url else int(row[0])

    def stones(self, wanted: Undo, *, hand: bool = False, after: int = 0, limit: int = 100) -> list[Stone]:
        """Return tombstones behind row *after*, ascending; *hand*: those that were removed by hand, too."""
        meant = MATCHING.replace("t.decided != 2", "t.decided != 2 or ?8")
        rows = self._rows.all(
            f"{_STONE} where t.id > ?6 and {meant} order by t.id limit ?7",
            (*matching_values(wanted), after, limit, hand),
        )
        return [_stone(row) for row in rows]

    def counts(self, wanted: Undo) -> list[tuple[str, str, int]]:
        """Return (source, reason, tombstones) of what *wanted* means; what was removed by hand is not among it."""
        rows = self._rows.all(_COUNTS, matching_values(wanted))
        return [(source, reason, count) for source, reason, count in rows]

    def stone(self, url_id: int) -> Stone | None:
        """Return the tombstone of a URL."""
        return stone_of(self._rows, url_id)

    def evidence(self, url_id: int) -> list[Observation]:
        """Return what was seen of a document since it was found last, oldest first."""
        return evidence_of(self._rows, url_id)

    def holds(self, *, limit: int = 100) -> list[HoldRow]:
        """Return the last closed holds, newest first."""
        rows = self._rows.all(f"{_HOLD} where h.closed is not null order by h.id desc limit ?", (limit,))
        return [HoldRow(*row) for row in rows]

    def open_holds(self) -> int:
        """Return how many holds wait for a person."""
        row = self._rows.one("select count(*) from hold where closed is null")
        return 0 if row is None else int(row[0])

    def hold(self, number: int) -> HoldRow | None:
        """Return a hold, open or closed."""
        row = self._rows.one(f"{_HOLD} where h.id = ?", (number,))
        return None if row is None else HoldRow(*row)

    def held(self, number: int, *, after: int = 0, limit: int = 100) -> list[tuple[int, str, float]]:
        """Return (row, URL, since when) of what is in a hold, behind row *after*."""
        rows = self._rows.all(
            "select i.id, h.origin || u.path, i.at from hold_item i join url u on u.id = i.id join host h on h.id = u.host "
            "where i.hold = ? and i.id > ? order by i.id limit ?",
            (number, after, limit),
        )
        return [(url_id, url, at_s) for url_id, url, at_s in rows]

    def accounts(self, now_s: float) -> list[SourceAccount]:
        """Return every source's account at *now_s*."""
        return source_accounts(self._rows, now_s)

    def decisions(self, *, limit: int = 100) -> list[Decided]:
        """Return what people decided, newest first."""
        return [Decided(*row) for row in self._rows.all(f"{_DECISION} order by d.id desc limit ?", (limit,))]


def _stone(row: tuple[Any, ...]) -> Stone:
    url_id, url, source, at_s, reason, decided, run, hold, kept, who, note, observations = row
    return Stone(
        url_id, url, source, at_s, reason, _BY[decided], run, hold, bool(kept), who, note, observations
    )
