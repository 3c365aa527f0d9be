"""A claim that was judged: what the steps of a visit hand on, and how they say that nothing came of it."""

from dataclasses import dataclass, field

from ingather.filters import Evaluation
from ingather.model.page import Link
from ingather.model.report import Claim, Report

__all__ = ["Judged", "UnfinishedError"]


class UnfinishedError(Exception):
    """The gatherer ends within a visit that wanted to ask for more: nothing is known of its page, its claim goes back."""


@dataclass(slots=True)
class Judged:
    """A claim with its evaluation; ``report`` is set when the journey ended before the network.

    ``links``: what would be followed, in a rehearsal only. ``final_url``: where redirects led that were followed within
    the visit, canonical; ``""`` = the URL itself answered.
    """

    claim: Claim
    url: str
    evaluation: Evaluation
    report: Report | None = None
    links: list[Link] = field(default_factory=list)
    final_url: str = ""

    @property
    def place(self) -> str:
        """The URL that the body came from: the base of what it refers to."""
        return self.final_url or self.url
