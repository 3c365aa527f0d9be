"""Calling a function of one's own: its answer becomes a verdict, its failure a denial with a name."""

from collections.abc import Callable
from typing import Any

from ingather.log import get
from ingather.model.phase import Phase
from ingather.model.verdict import Exclusion, Verdict
from ingather.plugins.answers import Answer, AnswerKind
from ingather.plugins.handed import FilterView, Resource
from ingather.plugins.marking import Binding, Run

__all__ = ["AGAIN", "bound"]

AGAIN = object()
"""What a bound function gives when the resource is to be judged again from MetaData."""

_log = get("plugins")
_TRACEBACKS = 20
"""Failures of one line that are logged with their traceback; it may fail for every URL there is."""

Own = Callable[[Any, FilterView, Resource | None], Answer | None]


def bound(function: Own, origin: str) -> Callable[[Binding], Run]:
    """Return the builder of *function*, which *origin* (a file or module) brought."""

    def build(binding: Binding) -> Run:
        return _Call(function, origin, binding).run

    return build


class _Call:
    """One line that calls it."""

    def __init__(self, function: Own, origin: str, binding: Binding) -> None:
        directive = binding.directive
        self.function, self.origin, self.directive = function, origin, directive
        self.parameters = binding.parameters
        self.filter = FilterView(binding.filter.name, binding.role, directive.phase, directive.where)
        self.engine = binding.engine
        self.failures = 0

    def run(self, state: Any) -> object:
        """Call it for one resource (``None`` in Setup and Shutdown)."""
        phase = self.directive.phase
        resource = None if phase in {Phase.SETUP, Phase.SHUTDOWN} else Resource(state, phase)
        try:
            answer = self.function(self.parameters, self.filter, resource)
            return self._outcome(answer)
        except Exception as error:  # noqa: BLE001 - whatever a stranger's function does, the filter denies
            self.failures += 1
            if self.failures <= _TRACEBACKS:
                _log.error(
                    "function failed",
                    function=self.directive.function,
                    plugin=self.origin,
                    where=self.directive.where,
                    url=resource.url if resource is not None else "",
                    exc_info=True,
                )
            return self._denied(f"failed: {type(error).__name__}: {error}", Exclusion.ERROR)

    def _outcome(self, answer: Answer | None) -> object:
        if answer is None:
            return None
        if not isinstance(answer, Answer):
            text = f"answered {type(answer).__name__} where PROCEED, DENY(...) or the like was expected"
            raise TypeError(text)
        match answer.kind:
            case AnswerKind.DENY:
                return self._denied(answer.reason or "denied", Exclusion.FILTER_RULES)
            case AnswerKind.ABORTED:
                return self._denied(answer.reason or "aborted", Exclusion.ERROR)
            case AnswerKind.EXIT:
                self.engine.ask_stop(
                    f"{self.directive.function} at {self.directive.where}: {answer.reason or 'EXIT'}"
                )
                return None
            case AnswerKind.RESTART:
                return AGAIN
            case _:
                return None

    def _denied(self, reason: str, category: Exclusion) -> Verdict:
        return Verdict(
            allowed=False,
            reason=f"{self.directive.function}: {reason}"
            if category is Exclusion.FILTER_RULES
            else f"{self.directive.function} {reason}",
            category=category,
            where=self.directive.where,
            phase=self.directive.phase,
        )
