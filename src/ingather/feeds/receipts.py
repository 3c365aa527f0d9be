"""Receipts: the states of feeds and records, and the words of the appliance's log (section 14)."""

from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import Any, Final

__all__ = [
    "FEED_STATES",
    "UNCHANGED",
    "FeedState",
    "Written",
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
    DELETED = 3
    HELD = 4


def shown_state(  # noqa: PLR0911, PLR0913 - what a state is made of
    written: int,
    *,
    sequence: int,
    indexed: int,
    superseded: bool = False,
    visited: bool = False,
    out_of_scope: bool = False,
    held: bool = False,
    described: bool = True,
) -> str:
    """Return a record's state in words.

    Args:
        written: of :class:`Written`.
        sequence: newest change when it was applied.
        indexed: newest change that the index has applied.
        superseded: a later record spoke about the URL.
        visited: the crawler has been there since.
        out_of_scope: it may not go there: a private address that nobody has admitted.
        held: the document's deletion waits for a person.
        described: the URL is a document.
    """
    if written == Written.REJECTED:
        return "rejected"
    if superseded:
        return "superseded"
    if written == Written.DELETED:
        return "deleted"
    if written == Written.HELD:
        return "held" if held else "deleted"
    if written == Written.WAITING:
        if out_of_scope or not visited:
            return "needs-scope" if out_of_scope else "waiting for crawl"
        if not described:
            return "applied"
    return "indexed" if sequence <= indexed else "applied"


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
    if record.get("needs"):
        text = f"{text}, {record['needs']}"
    if note == UNCHANGED:
        return f"{text}, {note}"
    return f"{text}, Warning: {note}" if note else text


def joined(notes: Sequence[str], most: int = 4_000) -> str:
    """Return notes as one text of bounded length."""
    return "; ".join(notes)[:most]
