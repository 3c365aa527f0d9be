"""Two names of one host: the alias, and the host whose keys its URLs get."""

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["AliasState", "HostAlias"]


class AliasState(StrEnum):
    """How far an alias is."""

    PROPOSED = "proposed"
    """Both show the same documents; nothing follows from it until somebody applies it."""
    APPLIED = "applied"
    """A person chose it: keys of the alias become the host's."""
    REFUSED = "refused"
    """A person refused it: it is not proposed again."""
    FOLDED = "folded"
    """smart-host-heuristics folds it, as long as that parameter is true."""


@dataclass(frozen=True, slots=True)
class HostAlias:
    """One alias.

    Attributes:
        alias, host: as in URLs: a name, with ``:port`` where it is not the scheme's own.
        state: see :class:`AliasState`.
        evidence: what speaks for it, for people.
        who: who decided, ``""`` = nobody did.
        at_s: since when it is so, wall seconds.
    """

    alias: str
    host: str
    state: AliasState
    evidence: str = ""
    who: str = ""
    at_s: float = 0.0
