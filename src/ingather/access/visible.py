"""The chains that one viewer may see, and the shape in which they enter a query."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Self

from ingather.access.publicity import NOBODY, PUBLIC

__all__ = ["ANONYMOUS", "Form", "FormKind", "Visible"]


class FormKind(StrEnum):
    """How the index is told: what to leave out, or what alone to take."""

    EXCEPT = "except"
    ONLY = "only"


@dataclass(frozen=True, slots=True)
class Form:
    """A filter over chain ids.

    ``chains`` (ascending) are those left out or those alone taken. For ``EXCEPT`` a chain
    above ``last`` was made after the rights were evaluated and is left out as well: a list
    of what is forbidden would otherwise fail open. ``last`` ``None`` = no chain is too new
    (a viewer who may see everything).
    """

    kind: FormKind
    chains: tuple[int, ...] = ()
    last: int | None = None


@dataclass(frozen=True, slots=True)
class Visible:
    """What a viewer may see, evaluated over the chains 1 to ``last_evaluated``.

    ``everything`` is for the operator's own views; otherwise a chain is visible when it is in
    ``allowed``. ``forbidden`` is the rest of the evaluated chains, or empty: it is needed where it is the
    shorter list. :data:`NOBODY` is in no viewer's sight, not even by mistake of the caller. ``needs`` are the viewer's
    names as restrictions beside the chains write them (:mod:`ingather.access.needs`).
    """

    everything: bool = False
    allowed: frozenset[int] = frozenset()
    forbidden: frozenset[int] = frozenset()
    last_evaluated: int = 0
    needs: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        evaluated = range(NOBODY + 1, self.last_evaluated + 1)
        forbidden = frozenset(c for c in self.forbidden if c in evaluated)
        allowed = frozenset(c for c in self.allowed if c in evaluated) - forbidden
        object.__setattr__(self, "allowed", allowed)
        object.__setattr__(self, "forbidden", forbidden)

    @classmethod
    def of(
        cls, allowed: Iterable[int], *, last_evaluated: int | None = None, needs: tuple[str, ...] = ()
    ) -> Self:
        """Return the view of somebody who may see exactly the chains *allowed*.

        *last_evaluated* is the highest chain id that was looked at; default the highest allowed.
        """
        seen = frozenset(c for c in allowed if c > NOBODY)
        last = max(seen, default=0) if last_evaluated is None else last_evaluated
        few = 2 * len(seen) > last  # a million chains of which somebody sees ten need no list of the rest
        forbidden = frozenset(range(1, last + 1)) - seen if few else frozenset()
        return cls(allowed=seen, forbidden=forbidden, last_evaluated=last, needs=needs)

    def sees(self, chain: int) -> bool:
        """Whether documents of *chain* may be shown to this viewer."""
        return chain != NOBODY and (self.everything or chain in self.allowed)

    def form(self) -> Form:
        """Return the cheaper of the filters that let exactly the visible chains through.

        The cost of a filter in the index is its number of terms. The list of the forbidden is
        taken only if it is shorter *and* the evaluation covered every chain up to the last.
        """
        if self.everything:
            return Form(FormKind.EXCEPT, (NOBODY,))
        whole = len(self.allowed) + len(self.forbidden) == self.last_evaluated
        if whole and self.last_evaluated > 1 and len(self.forbidden) < len(self.allowed):
            return Form(FormKind.EXCEPT, (NOBODY, *sorted(self.forbidden)), last=self.last_evaluated)
        return Form(FormKind.ONLY, tuple(sorted(self.allowed)))


ANONYMOUS: Final = Visible.of({PUBLIC})
"""A viewer who did not say who he is."""
