"""What is noted for filter.log, as ``logtype`` of filterrules-setup wants it (section 7.1, DEC-22).

``terse``: denials. ``normal``: denials with the line and rule that denied. ``verbose``: also what a
filter lets pass, and every rule that was tried. ``off``, or a filter without filterrules-setup: nothing.
"""

from ingather.conf.filters.filterconf import Filter
from ingather.filters.evaluation import Evaluation, State
from ingather.model.judgement import Judgement
from ingather.model.phase import Phase, Role

__all__ = ["Judgements", "logtype_of"]

_MOST_TESTED = 200
_MOST_WAITING = 50_000
OFF = "off"


def logtype_of(chosen: Filter) -> str:
    """Return how much *chosen* wants to be told of it: its last filterrules-setup counts."""
    said = [
        str(directive.parameters.get("logtype") or "normal")
        for directive in chosen.phase(Phase.SETUP)
        if directive.function == "filterrules-setup"
    ]
    return said[-1] if said else OFF


class Judgements:
    """Notes of both filters since they were last taken; at most 50,000, what comes beyond is counted.

    Args:
        enumeration, generation: the selected filters.
    """

    def __init__(self, enumeration: Filter, generation: Filter) -> None:
        self._filters = {
            role: (chosen.name, logtype_of(chosen))
            for role, chosen in ((Role.ENUMERATION, enumeration), (Role.GENERATION, generation))
        }
        self._notes: list[Judgement] = []
        self._lost = 0

    @property
    def wanted(self) -> bool:
        """Whether anything will ever be noted."""
        return any(logtype != OFF for _, logtype in self._filters.values())

    @property
    def any_verbose(self) -> bool:
        """Whether one of the filters is verbose: then each runs its own steps."""
        return any(map(self.verbose, self._filters))

    def verbose(self, role: Role) -> bool:
        """Whether rules are tried one by one, so that each can be named."""
        return self._filters[role][1] == "verbose"

    def note(self, ev: Evaluation, phase: Phase) -> None:
        """Note what both filters say at the end of *phase*; a filter that said no before has nothing to add."""
        for state in (ev.enumerating, ev.generating):
            if not state.told:
                self._note(ev, state, phase)

    def note_last(self, ev: Evaluation, state: State, phase: Phase) -> None:
        """Note that an Enumerate or Generate line said no."""
        if not (state.told or state.verdict.allowed):
            self._note(ev, state, phase)

    def _note(self, ev: Evaluation, state: State, phase: Phase) -> None:
        verdict = state.verdict
        state.told = not verdict.allowed
        name, logtype = self._filters[state.role]
        tested, state.tested = state.tested, []
        if logtype == OFF or (verdict.allowed and logtype != "verbose"):
            return
        if len(self._notes) >= _MOST_WAITING:
            self._lost += 1
            return
        if len(tested) > _MOST_TESTED:
            tested = [*tested[:_MOST_TESTED], f"and {len(tested) - _MOST_TESTED} more"]
        self._notes.append(
            Judgement(
                name, str(verdict.phase or phase), verdict.allowed, verdict.reason if logtype != "terse" else "",
                verdict.where if logtype != "terse" else "", ev.url, tuple(tested),
            )
        )  # fmt: skip

    def take(self) -> list[Judgement]:
        """Return the notes since the last time."""
        notes, self._notes = self._notes, []
        if self._lost:
            notes.append(
                Judgement(
                    "", "", allowed=True, reason=f"{self._lost} lines are missing here", where="", url=""
                )
            )
            self._lost = 0
        return notes
