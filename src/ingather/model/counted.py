"""What filter-by-max counts in a run, and the question whether one more passes."""

from typing import NamedTuple

__all__ = ["Count"]


class Count(NamedTuple):
    """May one more pass? *kind* is ``hosts`` or ``objects``, *name* the host or the URL, *limit* how many may pass.

    ``role`` (``enumeration`` or ``generation``) says for which filter: each counts for itself.
    """

    kind: str
    role: str
    name: str
    limit: int

    @property
    def what(self) -> int:
        """What is counted, as a number: 0, 1 hosts, URLs of the enumeration filter; 2, 3 of the generation filter."""
        return (self.kind == "objects") + 2 * (self.role == "generation")
