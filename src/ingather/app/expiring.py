"""Expired descriptions are proposed to the deletion policy, once a day; nothing goes that was not looked for after its last day.

An RD says when it expires (``rd-expires``, which each visit that finds the page moves on); a gathered one without it lives
``rd-lifetime`` from the last visit that found its page. Source: robot specification, database chapter (90 days); issue "robot
operations", part 6.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

from ingather.catalog.deletion.sqlite_expiry import ExpiryReader, Unfound
from ingather.catalog.sqlite_changes import Applied
from ingather.conf.rd.rdschema import moment_of
from ingather.conf.settings.values import Settings
from ingather.conf.sources.source import SourceConf
from ingather.explain.forms import instant
from ingather.model.source_name import BySource
from ingather.robot.settling.committing import carry_out, ledger_of
from ingather.robot.settling.deletion import Decision, DeletionPolicy, DeletionReason, Proposal, Ruling
from ingather.robot.settling.writing import Writer

__all__ = ["Expired", "Lifetimes", "Terms", "expire", "expired_rows"]

_LAST: Final = "rd-expiry"
_DAY_S: Final = 86_400.0
_PIECE: Final = 500
_REASON: Final = DeletionReason.EXPIRED


class Expired(NamedTuple):
    """How many descriptions went, and how many are held."""

    deleted: int = 0
    held: int = 0


class _Over(NamedTuple):
    """A description whose time is over, as it stood when it was read, and what says so."""

    row: Unfound
    said: str


class Lifetimes:
    """How long descriptions without ``rd-expires`` live, by source; 0 = for ever."""

    def __init__(self, settings: Settings, sources: Mapping[str, SourceConf]) -> None:
        self._common = settings.seconds("deletion.rd-lifetime")
        own = ((name, source.deletion_rd_lifetime) for name, source in sources.items())
        self._own = BySource((name, value) for name, value in own if value is not None)

    def of(self, source: str) -> float:
        """Return the lifetime in seconds."""
        return self._own.get(source, self._common)


@dataclass(frozen=True, slots=True)
class Terms:
    """What expiry goes by.

    Attributes:
        database, bodies: the catalog's file, the folder of bodies.
        lifetimes: of descriptions without ``rd-expires``.
        policies: the deletion policy of a source.
    """

    database: Path
    bodies: Path
    lifetimes: Lifetimes
    policies: Callable[[str], DeletionPolicy]


class Committing(Protocol):
    """The keeper as expiry uses it."""

    @property
    def clock_trusted(self) -> bool:
        """Whether the wall clock is believed."""

    async def write(self, work: Callable[[Writer, Applied], Any]) -> Any:
        """Run *work* in the writer's next transaction; return its answer once that is durable."""


async def expire(keeper: Committing, terms: Terms, *, now_s: float, every_s: float = _DAY_S) -> Expired:
    """Propose what has expired, unless that was done less than *every_s* ago, or the clock is doubted.

    Raises:
        CatalogError: a piece could not be read or written; those before it are.
    """
    if not keeper.clock_trusted:
        return Expired()
    kept = await keeper.write(lambda w, _: w.memory.recall(_LAST))
    if kept and 0 <= now_s - float(kept) < every_s:
        return Expired()
    loop = asyncio.get_running_loop()
    over = await loop.run_in_executor(None, partial(expired_rows, terms, now_s))
    deleted = held = 0
    for source, found in over.items():
        name = found[0].row.source_name
        rulings: list[Ruling] = await keeper.write(
            partial(_ruled, terms.policies(name), source, found, now_s)
        )
        for start in range(0, len(found), _PIECE):
            piece = list(zip(found, rulings, strict=True))[start : start + _PIECE]
            gone, waiting = await keeper.write(partial(_carried, source, piece, now_s))
            deleted, held = deleted + gone, held + waiting
    await keeper.write(lambda w, _: w.memory.remember(_LAST, str(now_s).encode()))
    return Expired(deleted, held)


def expired_rows(terms: Terms, now_s: float) -> dict[int, list[_Over]]:
    """Return what has expired by source, ascending; reads the whole catalog in groups.

    Raises:
        CatalogError: it cannot be read.
    """
    found: dict[int, list[_Over]] = {}
    with closing(ExpiryReader(terms.database, terms.bodies)) as reader:
        for rows in reader.unfound():
            for row in rows:
                if said := _over(reader, row, terms.lifetimes.of(row.source_name), now_s):
                    found.setdefault(row.source, []).append(_Over(row, said))
    return found


def _over(reader: ExpiryReader, row: Unfound, lifetime_s: float, now_s: float) -> str:
    """Say why a description's time is over, ``""`` if it is not, or if nobody looked for the page since."""
    description = reader.description(row.id)
    stated = () if description is None else description.effective().get("rd-expires", ())
    moments = [moment for moment in map(moment_of, stated) if moment is not None]
    if moments:
        last = min(moments)
        looked = now_s if row.fetched_s is None else row.fetched_s
        if last <= datetime.fromtimestamp(min(looked, now_s), UTC):
            return f"rd-expires {stated[0]}{_found(row)}"
        return ""
    if row.seen_s is None or row.fetched_s is None or not lifetime_s:
        return ""
    last_s = row.seen_s + lifetime_s
    if last_s <= min(row.fetched_s, now_s):
        return f"{lifetime_s / _DAY_S:g} days without being found{_found(row)}"
    return ""


def _found(row: Unfound) -> str:
    if row.fetched_s is None:
        return "; nobody visits it"
    return f"; found last {instant(row.seen_s) or 'never'}, looked for {instant(row.fetched_s)}"


def _ruled(
    policy: DeletionPolicy,
    source: int,
    found: Sequence[_Over],
    now_s: float,
    writer: Writer,
    _applied: Applied,
) -> list[Ruling]:
    facts = writer.deletions.facts(source, now_s)
    return policy.judge(
        [Proposal(over.row.id, _REASON, over.row.missing_s) for over in found], ledger_of(facts), now_s=now_s
    )


def _carried(
    source: int, piece: Sequence[tuple[_Over, Ruling]], now_s: float, writer: Any, applied: Applied
) -> tuple[int, int]:
    """Carry rulings out where the row stands as it was read: what was visited meanwhile is looked at the next day."""
    deleted = held = 0
    for over, ruling in piece:
        if not writer.deletions.stands(over.row.id, over.row.fetched_s):
            continue
        carry_out(writer, ruling, _REASON, source, now_s, applied, detail=over.said)
        deleted += ruling.decision is Decision.DELETE
        held += ruling.decision is Decision.HOLD
    return deleted, held
