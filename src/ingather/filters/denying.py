"""Rows of lines that deny by one source each, as one step: tables find the first line that speaks.

The tables only say which line to ask. The line itself then denies, so that verdict and reason are
those of the plain loop; when it does not, or anything fails, the plain loop runs.
"""

from collections.abc import Sequence
from itertools import groupby

from ingather.conf.filters.directives import Directive
from ingather.conf.patterns.dialects import Pattern
from ingather.conf.sites.rules import Match
from ingather.filters.evaluation import State
from ingather.filters.matching import NONE, FirstMatch
from ingather.filters.plan import Step
from ingather.filters.rafs import comparing
from ingather.filters.sources import Read, comparer
from ingather.model.phase import Phase
from ingather.model.verdict import Verdict
from ingather.plugins import Registry

__all__ = ["DenySteps", "with_tables"]

_METHODS = {"filter-by-exact": "is", "filter-by-prefix": "begins-with", "filter-by-regex": "regex"}
_FEWEST = 4


class DenySteps(Step):
    """A row of lines ``filter-by-exact|prefix|regex src=... deny=...``."""

    __slots__ = ("_active", "_no_action", "_tables", "steps")

    def __init__(self, steps: Sequence[Step], *, no_action: bool) -> None:
        super().__init__(steps[0].directive, self._run)
        self.steps = tuple(steps)
        self._active = 0
        self._no_action = no_action
        by_source: dict[str, list[tuple[int, Match]]] = {}
        for number, step in enumerate(self.steps):
            by_source.setdefault(step.source, []).append((number, _match(step.directive)))
        self._tables: tuple[tuple[int, Read, FirstMatch], ...] = tuple(
            (pairs[0][0], comparer(source), FirstMatch(pairs)) for source, pairs in by_source.items()
        )

    @property
    def active(self) -> int:
        """Number of the line that denied or failed last."""
        return self._active

    def _run(self, state: State) -> object:
        try:
            number = self._first(state)
        except Exception:  # noqa: BLE001 - the line that fails will say so itself
            return self._plainly(state)
        if number == NONE:
            return None
        self._active = number
        outcome = self.steps[number].run(state)
        return self._plainly(state) if outcome is None else outcome

    def _first(self, state: State) -> int:
        best = NONE
        for begins, read, table in self._tables:
            if begins >= best:  # the plain loop would not come to ask for this source
                continue
            value = read(state)
            if value is None:
                if self._no_action:
                    continue
                value = ""
            number = table.first_of((value,) if isinstance(value, str) else value)
            best = min(best, number)
        return best

    def _plainly(self, state: State) -> object:
        for number, step in enumerate(self.steps):
            self._active = number
            outcome = step.run(state)
            if outcome is not None:
                return outcome
        return None

    def failed(self, error: Exception) -> Verdict:
        """Deny in the name of the line that failed."""
        return self.steps[self._active].failed(error)


def _match(directive: Directive) -> Match:
    wanted = directive.parameters["deny"]
    pattern = wanted if isinstance(wanted, Pattern) else None
    text = pattern.written if pattern is not None else wanted
    return Match(directive.parameters["src"], _METHODS[directive.function], text, directive.place, pattern)


def _tabled(step: Step, functions: Registry) -> bool:
    directive = step.directive
    wanted = directive.parameters.get("deny") if directive.function in _METHODS else None
    if wanted is None or "allow" in directive.parameters or type(step) is not Step:
        return False
    function = functions.find(directive.function)
    if function is None or function.origin != comparing.__name__:  # somebody's own took its place
        return False
    text = wanted.written if isinstance(wanted, Pattern) else str(wanted)
    # "all" is more than a text: it denies undefined sources too.
    return text.lower() not in {"", "all"}


def with_tables(steps: Sequence[Step], *, undefined_source: str, functions: Registry) -> tuple[Step, ...]:
    """Return *steps* with rows of denying lines put together.

    Args:
        steps: of one phase, in the order in which they run.
        undefined_source: robot.conf's parameter of this name.
        functions: what the steps are bound to.
    """
    out: list[Step] = []
    for (tabled, phase), row in groupby(
        steps, key=lambda step: (_tabled(step, functions), step.directive.phase)
    ):
        run = list(row)
        if tabled and len(run) >= _FEWEST:
            no_action = phase is Phase.METADATA and undefined_source == "noaction"
            out.append(DenySteps(run, no_action=no_action))
        else:
            out.extend(run)
    return tuple(out)
