"""What a function of one's own says about a resource (DEC-38)."""

from dataclasses import dataclass, replace
from enum import StrEnum

__all__ = ["ABORTED", "DENY", "EXIT", "NOACTION", "PROCEED", "RESTART", "Answer", "AnswerKind"]


class AnswerKind(StrEnum):
    """The answers there are."""

    PROCEED = "proceed"
    NOACTION = "noaction"
    DENY = "deny"
    ABORTED = "aborted"
    EXIT = "exit"
    RESTART = "restart"


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer; calling it gives it a reason: ``return DENY("a draft")``."""

    kind: AnswerKind
    reason: str = ""

    def __call__(self, reason: str) -> "Answer":
        """Return the same answer with *reason*, which people will read."""
        return replace(self, reason=str(reason))


PROCEED = Answer(AnswerKind.PROCEED)
"""Go on to the next directive."""
NOACTION = Answer(AnswerKind.NOACTION)
"""Go on; nothing was done."""
DENY = Answer(AnswerKind.DENY)
"""This filter ends here: the resource is excluded by a filter rule."""
ABORTED = Answer(AnswerKind.ABORTED)
"""This filter ends here: the resource is excluded by an error. An exception says the same."""
EXIT = Answer(AnswerKind.EXIT)
"""Go on with this resource, take no new ones: the run ends in order."""
RESTART = Answer(AnswerKind.RESTART)
"""Judge the resource again from MetaData, once, with the sources as they are now; a second time is an error."""
