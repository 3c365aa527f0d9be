"""What a visit to a listed document means to the decider: outcome and status to an :class:`Answer`."""

from typing import Final
from urllib.parse import urlsplit

from ingather.model.lifecycle import Outcome
from ingather.syndication.rulings import Answer

__all__ = ["answer_of", "leads_to_root"]

_BY_STATUS: Final = {
    204: Answer.EMPTY, 205: Answer.EMPTY, 304: Answer.UNCHANGED, 404: Answer.NOT_FOUND, 410: Answer.GONE, 451: Answer.GONE,
    401: Answer.REFUSED, 403: Answer.REFUSED, 407: Answer.REFUSED, 408: Answer.BACK_OFF, 425: Answer.BACK_OFF, 429: Answer.BACK_OFF,
}  # fmt: skip
_BY_OUTCOME: Final = {
    Outcome.INDEXED: Answer.OK,
    Outcome.UNCHANGED: Answer.OK,
    Outcome.CONVERSION_FAILED: Answer.OK,
    Outcome.ENUMERATED: Answer.FILTER,
    Outcome.EXCLUDED: Answer.FILTER,
    Outcome.DUPLICATE: Answer.FILTER,
    Outcome.REDIRECTED: Answer.FAILED,
    Outcome.ROBOTS: Answer.ROBOTS,
    Outcome.ROBOTS_UNREACHABLE: Answer.ROBOTS_UNREACHABLE,
    Outcome.FAILED: Answer.FAILED,
    Outcome.NOINDEX: Answer.NOINDEX,
    Outcome.QUARANTINED: Answer.NONE,
    Outcome.BUDGET: Answer.NONE,
}
_BY_ANSWER: Final = frozenset(
    {Outcome.NOT_FOUND, Outcome.REFUSED, Outcome.BACK_OFF, Outcome.SERVER_ERROR, Outcome.INDEXED, Outcome.UNCHANGED,
     Outcome.CONVERSION_FAILED, Outcome.REDIRECTED}
)  # fmt: skip
"""Outcomes that say less than the status does."""


def answer_of(
    outcome: Outcome, status: int, *, empty: bool = False, unusable: bool = False, scope: bool = False
) -> Answer:
    """Return what a visit that ended in *outcome* with HTTP *status* (0 = none) means.

    Args:
        outcome: of the visit.
        status: of the last answer.
        empty: a 200 or 203 came without a body.
        unusable: the body was too large, or of a type that is not handled.
        scope: the link led out of scope.
    """
    if scope:
        return Answer.SCOPE
    if unusable:
        return Answer.UNUSABLE
    if outcome in _BY_ANSWER:
        if status in _BY_STATUS:
            return _BY_STATUS[status]
        if status >= 500:  # noqa: PLR2004 - the class of server errors
            return Answer.BACK_OFF
        if status >= 400:  # noqa: PLR2004 - the class of client errors
            return Answer.OTHER
    answer = _BY_OUTCOME.get(outcome, Answer.FAILED)
    return Answer.EMPTY if empty and answer is Answer.OK else answer


def leads_to_root(link: str, final: str) -> bool:
    """Say whether *link*, which is not the root of a site, led to one: the sign of a page that was taken away."""
    if not final or final == link:
        return False
    before, after = urlsplit(link), urlsplit(final)
    return after.path in {"", "/"} and not after.query and bool(before.path.strip("/") or before.query)
