"""Exclusions as the vendor's report groups them: six categories, ours as details below them.

The table is documented in ``docs/reference/outcomes.md``; a test holds the two together.
"""

from typing import NamedTuple

from ingather.model.lifecycle import Outcome
from ingather.model.verdict import Exclusion

__all__ = ["BY_OUTCOME", "DETAILS", "Reported", "reported"]


class Reported(NamedTuple):
    """One of the six categories, and what it was in detail (one of :data:`DETAILS`)."""

    category: Exclusion
    detail: str


DETAILS: dict[str, Exclusion] = {
    "filter": Exclusion.FILTER_RULES,
    "size": Exclusion.FILTER_RULES,
    "depth": Exclusion.FILTER_RULES,
    "budget": Exclusion.FILTER_RULES,
    "robots": Exclusion.FILTER_RULES,
    "noindex": Exclusion.FILTER_RULES,
    "listing": Exclusion.FILTER_RULES,
    "removed": Exclusion.FILTER_RULES,
    "not found": Exclusion.FILE_NOT_FOUND,
    "soft not found": Exclusion.FILE_NOT_FOUND,
    "site": Exclusion.SITE_NOT_ALLOWED,
    "address": Exclusion.SITE_NOT_ALLOWED,
    "protocol": Exclusion.PROTOCOL_NOT_ALLOWED,
    "port": Exclusion.PROTOCOL_NOT_ALLOWED,
    "function": Exclusion.ERROR,
    "refused": Exclusion.ERROR,
    "server": Exclusion.ERROR,
    "failure": Exclusion.ERROR,
    "quarantine": Exclusion.ERROR,
    "duplicate": Exclusion.DUPLICATION,
    "host alias": Exclusion.DUPLICATION,
}
"""Every detail with its category."""

BY_OUTCOME: dict[Outcome, str] = {
    Outcome.ROBOTS: "robots",
    Outcome.ROBOTS_UNREACHABLE: "robots",
    Outcome.NOINDEX: "noindex",
    Outcome.NOT_FOUND: "not found",
    Outcome.SOFT_404: "soft not found",
    Outcome.REFUSED: "refused",
    Outcome.BACK_OFF: "server",
    Outcome.SERVER_ERROR: "server",
    Outcome.FAILED: "failure",
    Outcome.DUPLICATE: "duplicate",
    Outcome.QUARANTINED: "quarantine",
    Outcome.BUDGET: "budget",
}
"""Outcomes that say by themselves why there is no description; of the others the verdict speaks."""

_BY_CATEGORY = {
    Exclusion.FILTER_RULES: "filter",
    Exclusion.FILE_NOT_FOUND: "not found",
    Exclusion.SITE_NOT_ALLOWED: "site",
    Exclusion.PROTOCOL_NOT_ALLOWED: "protocol",
    Exclusion.ERROR: "function",
    Exclusion.DUPLICATION: "duplicate",
    Exclusion.ROBOTS: "robots",
    Exclusion.DEPTH: "depth",
    Exclusion.BUDGET: "budget",
    Exclusion.REMOVED: "removed",
    Exclusion.ALIAS: "host alias",
}


def reported(category: str, reason: str = "", outcome: Outcome | None = None) -> Reported:
    """Return where the vendor's report puts an exclusion.

    Args:
        category: a value of :class:`Exclusion`; anything else counts as filter rules.
        reason: the verdict's reason, or of a failed visit its detail (``KIND: ...``).
        outcome: how the visit ended, if there was one.
    """
    detail = BY_OUTCOME.get(outcome, "") if outcome is not None else ""
    if detail == "failure" and reason.startswith("refused-address"):
        detail = "address"
    if not detail:
        known = Exclusion(category) if category in _VALUES else Exclusion.FILTER_RULES
        detail = _BY_CATEGORY[known]
        if detail == "protocol" and reason.startswith("port"):
            detail = "port"
        elif detail == "filter" and reason == "listing":
            detail = "listing"
        elif detail == "filter" and "content-length" in reason:
            detail = "size"
        elif detail == "robots" and "noindex" in reason:
            detail = "noindex"
    return Reported(DETAILS[detail], detail)


_VALUES = frozenset(map(str, Exclusion))
