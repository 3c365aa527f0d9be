"""Pushed documents that the URL patterns exclude by now: they go through the deletion policy, not only at their next push.

Source: GSA feeds specification, sections 8.4 and 8.6 ("add a Do-Not-Follow pattern"); gsa-url-patterns, section 4.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from ingather.catalog.deletion.sqlite_evidence import Seen
from ingather.catalog.sqlite_apply import Applied
from ingather.feeds.policy import FeedWriter
from ingather.feeds.sweeping import Guard, Ruled

__all__ = ["OUTLAWED", "Outlawed", "outlaw"]

OUTLAWED: Final = "the rules exclude it now"
"""As the deletion policy calls it; holds and tombstones carry it."""
_SAID: Final = "URL patterns exclude what was pushed"
_READ: Final = 1_000
_PIECE: Final = 500

Transact = Callable[[Callable[[Any, Applied], Any]], Any]
"""Runs a job in a durable transaction of the one writer."""


@dataclass(frozen=True, slots=True)
class Outlawed:
    """How many documents were deleted, and how many deletions are held."""

    deleted: int = 0
    held: int = 0


def outlaw(
    transact: Transact, refused: Callable[[str, str], bool], guard: Guard, now: Callable[[], float]
) -> Outlawed:
    """Delete or hold every document whose content came with a feed and that *refused* (URL, source) names.

    What is found is ruled on as a whole for each source, so that a careless pattern is held. Each transaction is short; a death
    in between costs nothing when this is done again from its start.
    """
    found: dict[int, list[int]] = {}
    after = 0
    while rows := transact(partial(_contents, after)):
        for url_id, url, source, name in rows:
            if refused(url, name):
                found.setdefault(source, []).append(url_id)
            after = url_id
    deleted = held = 0
    for source, ids in found.items():
        ruled: Ruled = transact(partial(_rule, guard, source, ids, now()))
        for start in range(0, len(ids), _PIECE):
            piece = ids[start : start + _PIECE]
            if ruled.why:
                transact(partial(_hold, source, piece, now(), ruled))
            else:
                transact(partial(_delete, source, piece, now()))
        deleted, held = deleted + (0 if ruled.why else len(ids)), held + (len(ids) if ruled.why else 0)
    return Outlawed(deleted, held)


def _contents(after: int, writer: FeedWriter, _applied: Applied) -> list[tuple[int, str, int, str]]:
    return writer.feeds.fed_contents(after, _READ)


def _rule(
    guard: Guard, source: int, ids: Sequence[int], now_s: float, writer: FeedWriter, _applied: Applied
) -> Ruled:
    held = len(writer.deletions.held_among(ids))
    return guard(OUTLAWED, len(ids), held, writer.deletions.facts(source, now_s), now_s)


def _hold(  # noqa: PLR0913, PLR0917 - what, whose, when, how
    source: int, ids: Sequence[int], now_s: float, ruled: Ruled, writer: FeedWriter, applied: Applied
) -> None:
    for url_id in ids:
        writer.deletions.observe(Seen(url_id, source, OUTLAWED, "hold", ruled.why, detail=_SAID), now_s)
        writer.deletions.hold(
            url_id, source, OUTLAWED, now_s, hidden=ruled.hidden, applied=applied, why=ruled.why
        )


def _delete(source: int, ids: Sequence[int], now_s: float, writer: FeedWriter, applied: Applied) -> None:
    """What is deleted stays a document of its feed: undone, it is as it was, and no crawler fetches it."""
    for url_id in ids:
        writer.deletions.observe(Seen(url_id, source, OUTLAWED, "delete", detail=_SAID), now_s)
        writer.deletions.delete(url_id, OUTLAWED, now_s, applied, gone=True)
        writer.feeds.rest(url_id)
