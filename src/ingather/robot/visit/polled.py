"""Polls that brought nothing to read: what a report's outcome says, told as a poll."""

from ingather.model.lifecycle import Outcome
from ingather.model.polled import Polled, PollKind, encode_polled
from ingather.model.report import Report

__all__ = ["poll_kind", "untold"]

_GONE = 410
_KINDS = {
    Outcome.UNCHANGED: PollKind.UNCHANGED,
    Outcome.ROBOTS: PollKind.ROBOTS,
    Outcome.ROBOTS_UNREACHABLE: PollKind.ROBOTS_UNREACHABLE,
    Outcome.EXCLUDED: PollKind.EXCLUDED,
    Outcome.NOT_FOUND: PollKind.MISSING,
    Outcome.REFUSED: PollKind.REFUSED,
    Outcome.BACK_OFF: PollKind.BACK_OFF,
    Outcome.SERVER_ERROR: PollKind.SERVER_ERROR,
}


def poll_kind(report: Report) -> PollKind:
    """Return what the outcome of a visit without a list is called for a poll; what has no name of its own failed."""
    if report.status == _GONE:
        return PollKind.GONE
    return _KINDS.get(Outcome(report.outcome), PollKind.FAILED)


def untold(report: Report) -> bytes:
    """Return the poll (:func:`ingather.model.polled.decode_polled`) that *report* amounts to without more being known.

    For every report of a visit to a feed that has none: its robots.txt forbade it, its reader died.
    """
    return encode_polled(
        Polled(
            poll_kind(report), report.status, report.detail, etag=report.etag, last_modified=report.last_modified,
            retry_s=report.retry_s, elapsed_s=report.elapsed_s,
        )
    )  # fmt: skip
