"""What a filter decided about a resource, and the directive that decided it."""

from dataclasses import dataclass
from enum import StrEnum

from ingather.model.phase import Phase

__all__ = ["ALLOW", "Exclusion", "Verdict"]


class Exclusion(StrEnum):
    """Top categories of exclusion; the first six are the vendor's report, the rest ours."""

    FILTER_RULES = "filter rules"
    FILE_NOT_FOUND = "file not found"
    SITE_NOT_ALLOWED = "site not allowed"
    PROTOCOL_NOT_ALLOWED = "protocol not allowed"
    ERROR = "error"
    DUPLICATION = "duplication"
    ROBOTS = "robots"
    DEPTH = "depth"
    BUDGET = "budget"
    REMOVED = "removed"
    ALIAS = "host alias"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Allow (go on) or deny (this filter is over for this resource).

    ``where`` is ``file:line`` of the deciding directive or rule, ``""`` when no line of a
    file decided (page-level robots rules, budgets). ``reason`` is fit for people.
    """

    allowed: bool
    reason: str = ""
    category: Exclusion | None = None
    where: str = ""
    phase: Phase | None = None


ALLOW = Verdict(allowed=True)
