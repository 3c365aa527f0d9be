"""Receipts: the states of feeds and records, and the words of the appliance's log (section 14)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import IntEnum
from typing import Any, Final, NamedTuple

from ingather.model.lifecycle import Outcome, State

__all__ = [
    "FEED_STATES",
    "UNCHANGED",
    "FeedState",
    "Shown",
    "Standing",
    "Written",
    "clock_time",
    "joined",
    "log_line",
    "not_in_patterns",
    "shown_state",
]


UNCHANGED: Final = "unchanged: the content is what was pushed before, it was not read again"
"""Note of a record that needs no reading; no warning."""


class FeedState(IntEnum):
    """Of a feed, numbered as the appliance did."""

    ACCEPTED = 0
    IN_PROGRESS = 1
    COMPLETED = 2
    COMPLETED_WITH_ERRORS = 3
    FAILED = 4


FEED_STATES: Final[Mapping[int, str]] = {
    FeedState.ACCEPTED: "accepted",
    FeedState.IN_PROGRESS: "in progress",
    FeedState.COMPLETED: "completed",
    FeedState.COMPLETED_WITH_ERRORS: "completed with errors",
    FeedState.FAILED: "failed in error",
}


class Written(IntEnum):
    """What is written about a record when it is applied; the rest is found out when somebody asks."""

    APPLIED = 0
    REJECTED = 1
    WAITING = 2
    """For the crawler; which visit it asked for stands beside it."""
    DELETED = 3
    HELD = 4
    UNCHANGED = 5
    """Nothing was changed; the note says why."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What is known of a record and of its URL when somebody asks; times are wall seconds.

    Attributes:
        written: what was written when it was applied.
        adds: it is an ``add``.
        in_index: the index has what the record did, and what was done to its document since.
        superseded: a later record spoke about the URL, or deleted it.
        asked: number of the visit that it asked for, ``None`` = none, or nobody counted them then.
        answered: newest of those numbers that a visit stands for.
        waits: a visit that was asked for is still to be made.
        state: of the URL, ``None`` = it has no row.
        outcome, status, detail, rule: of its last visit; *rule*: of the directive that decided.
        fetched_s, due_s: its last visit and its next.
        buried_s, why: when it was deleted, and for what.
        received_s: when the feed came.
        held: the document's deletion waits for a person.
        described: the URL is a document.
        out_of_scope: it may not be visited: a private address that nobody has admitted.
    """

    written: int
    adds: bool = True
    in_index: bool = False
    superseded: bool = False
    asked: int | None = None
    answered: int = 0
    waits: bool = False
    state: State | None = None
    outcome: Outcome | None = None
    status: int | None = None
    detail: str = ""
    rule: str = ""
    fetched_s: float | None = None
    due_s: float | None = None
    buried_s: float | None = None
    why: str = ""
    received_s: float = 0.0
    held: bool = False
    described: bool = True
    out_of_scope: bool = False

    @property
    def visited(self) -> bool:
        """Whether the visit that it asked for was made, or one that was claimed later."""
        if self.fetched_s is None:
            return False
        if self.asked is None:
            return self.fetched_s >= self.received_s
        return self.answered >= self.asked


class Shown(NamedTuple):
    """A record as it is shown: its state; when it was visited, and is visited next at the earliest (wall seconds); why."""

    state: str
    visited_s: float | None = None
    until_s: float | None = None
    reason: str = ""


_DESCRIBES: Final = frozenset({Outcome.INDEXED, Outcome.DUPLICATE, Outcome.CONVERSION_FAILED})
_NO_SUCCESS: Final = 300
_FAILED: Final = frozenset({
    Outcome.ROBOTS_UNREACHABLE, Outcome.NOT_FOUND, Outcome.BACK_OFF, Outcome.SERVER_ERROR, Outcome.FAILED, Outcome.QUARANTINED,
    Outcome.SOFT_404,
})  # fmt: skip
_RULED: Final = frozenset({Outcome.ENUMERATED, Outcome.EXCLUDED, Outcome.ROBOTS, Outcome.NOINDEX})
"""What a line of the configuration or of robots.txt decides; of others the row has a rule of an earlier visit."""
_REASONS: Final[Mapping[Outcome, str]] = {
    Outcome.ENUMERATED: "the rules exclude it: its links were followed alone", Outcome.EXCLUDED: "the rules exclude it",
    Outcome.ROBOTS: "robots.txt forbids it", Outcome.NOINDEX: "the page forbids it (noindex)",
    Outcome.REFUSED: "its host refuses access", Outcome.BUDGET: "its budget is full",
    Outcome.ROBOTS_UNREACHABLE: "robots.txt cannot be had", Outcome.NOT_FOUND: "it is not there", Outcome.SOFT_404: "it is not there",
    Outcome.BACK_OFF: "its host asks for time", Outcome.SERVER_ERROR: "its host failed", Outcome.FAILED: "its host did not answer",
    Outcome.QUARANTINED: "it is in quarantine: ingather robot release lets it out", Outcome.REDIRECTED: "it leads to another URL",
}  # fmt: skip
_FAILURES: Final[Mapping[str, str]] = {
    "auth": "its login failed", "proxy": "no proxy leads to its host", "proxy-login": "its proxy does not let us in",
    "tls": "no secure connection to its host",
}  # fmt: skip
"""Failures for which the host's silence is not to blame, by the word that their detail begins with."""


_AS_WRITTEN: Final[Mapping[int, str]] = {
    Written.DELETED: "deleted",
    Written.HELD: "held",
    Written.UNCHANGED: "unchanged",
}


def shown_state(of: Standing) -> Shown:
    """Return how a record is shown: what was done, then the visit that it asked for, to its end."""
    if of.written == Written.REJECTED:
        return Shown("rejected")
    if of.superseded:
        return Shown("superseded")
    if of.written == Written.WAITING:
        return _awaited(of)
    if of.written in _AS_WRITTEN:
        return Shown("deleted" if of.written == Written.HELD and not of.held else _AS_WRITTEN[of.written])
    if of.adds and not of.described and of.state is State.GONE and of.buried_s is not None:
        return Shown("deleted", reason=of.why)
    return Shown("indexed" if of.in_index and of.described else "applied")


def _awaited(of: Standing) -> Shown:  # noqa: PLR0911 - one an end
    """A record for the crawler."""
    if of.state is None:
        return Shown("deleted", reason="its URL is forgotten")
    visited_s = of.fetched_s if of.visited else None
    if of.state is State.GONE and not of.waits and of.buried_s is not None and of.outcome not in _FAILED:
        return Shown("deleted", visited_s, reason=of.why)
    if of.out_of_scope and of.visited:
        return Shown("needs-scope", visited_s, of.due_s, of.detail)
    if of.visited:
        return _ended(of)
    if of.state is State.EXCLUDED:
        return Shown("refused", reason=of.rule or _REASONS[Outcome.EXCLUDED])
    if of.state is State.QUARANTINED:
        return Shown("failed", reason=_REASONS[Outcome.QUARANTINED])
    if of.state is not State.WAITING and not of.waits:
        return Shown("applied")  # written before visits were counted, and none was made
    return Shown("waiting for crawl", None, None if of.state is State.WAITING else of.due_s)


def _ended(of: Standing) -> Shown:
    """A record whose visit was made."""
    outcome, at_s = of.outcome, of.fetched_s
    if of.state is State.QUARANTINED:
        return Shown("failed", at_s, None, _REASONS[Outcome.QUARANTINED])
    if outcome in _FAILED:
        return Shown("failed", at_s, of.due_s, _reason(of))
    if outcome is Outcome.UNCHANGED and of.described:
        return Shown("unchanged" if of.in_index else "visited", at_s)
    if outcome in _DESCRIBES and of.described:
        return Shown("indexed" if of.in_index else "visited", at_s)
    if outcome is None or outcome in {Outcome.REDIRECTED, Outcome.UNCHANGED, *_DESCRIBES}:
        return Shown("visited", at_s, reason=_reason(of))
    return Shown("refused", at_s, None, _reason(of))


def _reason(of: Standing) -> str:
    parts = [_REASONS.get(of.outcome, "it makes no document") if of.outcome is not None else ""]
    if of.outcome is Outcome.FAILED:
        parts = [_FAILURES.get(of.detail.partition(":")[0], parts[0])]
    if of.status and of.status >= _NO_SUCCESS and not of.detail.startswith("HTTP"):
        parts.append(f"HTTP {of.status}")
    rule = of.rule if of.outcome in _RULED else ""
    return ": ".join(part for part in (*parts, of.detail, rule) if part)


def clock_time(at_s: float) -> str:
    """Return wall time *at_s* as people read it in receipts, in UTC to the second: ``2026-09-21T14:05:10Z``."""
    return datetime.fromtimestamp(at_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def not_in_patterns(url: str, why: str) -> str:
    """Return what the appliance's log said of a URL that no pattern lets in."""
    return f"ProcessNode: Not match URL patterns, skipping record with URL {url}: {why}"


def log_line(record: Mapping[str, Any]) -> str:
    """Return one record as a line of the feed's log."""
    line, url, note = record["line"], record["url"], record["note"]
    if record["state"] == "rejected":
        if note.startswith("ProcessNode:"):
            return f"Line number: {line}, {note}"
        return f"Skipping the record, Line number: {line}, URL: {url or '(none)'}, Error: {note}"
    text = f"ProcessNode: {record['action']} {url}: {record['state']}, Line number: {line}"
    if record.get("visited"):
        text = f"{text}, visited at {record['visited']}"
    if record.get("until"):
        text = f"{text}, not before {record['until']}"
    if record.get("reason"):
        text = f"{text}: {record['reason']}"
    if record.get("needs"):
        text = f"{text}, {record['needs']}"
    if note == UNCHANGED:
        return f"{text}, {note}"
    return f"{text}, Warning: {note}" if note else text


def joined(notes: Sequence[str], most: int = 4_000) -> str:
    """Return notes as one text of bounded length."""
    return "; ".join(notes)[:most]
