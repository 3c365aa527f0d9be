"""A filter, bound: for each phase the steps that run, each a bound function that knows its line."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby

from ingather.conf.filters.directives import Directive
from ingather.conf.filters.filterconf import Filter
from ingather.conf.robot.robotconf import RobotConf
from ingather.filters.evaluation import State
from ingather.filters.sources import first, reader
from ingather.filters.types import media_type
from ingather.model.phase import Phase, Role
from ingather.model.verdict import Exclusion, Verdict
from ingather.plugins import Binding, Registry, Run

__all__ = ["ConvertSteps", "Pair", "Plan", "Step", "apart", "pair", "plan"]

_SHOWN = {
    "filterrules-process": "url",
    "convert-to-html": "type",
    "enumerate-urls": "type",
    "enumerate-urls-from-text": "type",
    "filter-by-md5": "md5",
    "generate-md5": "md5",
    "generate-rd-expires": "expires",
}
_MOST_SHOWN = 200


class Step:
    """One directive of a filter, bound to its function.

    ``run(state)`` gives ``None`` to go on, a ``Verdict`` that denies, or a ``Convert``.
    """

    __slots__ = ("directive", "pure", "run", "source", "where")

    def __init__(self, directive: Directive, run: Run) -> None:
        self.directive = directive
        self.run = run
        self.where = directive.where
        self.pure = directive.spec.pure
        src = directive.parameters.get("src")
        self.source = src if isinstance(src, str) else _SHOWN.get(directive.function, "")

    def value(self, state: State) -> str | None:
        """Return what the directive's source holds, for people."""
        if not self.source:
            return None
        if self.directive.phase is Phase.GENERATE and self.directive.function == "copy-attribute":
            return first(state.attributes.get(self.source))
        value = reader(self.source)(state)
        text = value if isinstance(value, str) or value is None else ", ".join(value)
        return text if text is None or len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}..."

    def failed(self, error: Exception) -> Verdict:
        """Deny because the function itself failed: filters fail closed."""
        return Verdict(
            allowed=False,
            reason=f"{self.directive.function} failed: {type(error).__name__}: {error}",
            category=Exclusion.ERROR,
            where=self.where,
            phase=self.directive.phase,
        )


class ConvertSteps(Step):
    """A row of convert-to-html lines, as one step: only the lines for the type at hand run, in order."""

    __slots__ = ("_active", "_steps", "_types")

    def __init__(self, steps: list[Step]) -> None:
        super().__init__(steps[0].directive, self._run)
        self._steps = steps
        self._active = steps[0]
        self._types: dict[str, list[int]] = {}
        for number, step in enumerate(steps):
            self._types.setdefault(media_type(step.directive.parameters["type"]), []).append(number)

    @property
    def lines(self) -> int:
        """How many directives it stands for."""
        return len(self._steps)

    @property
    def active(self) -> Step:
        """The line that ran last."""
        return self._active

    def _run(self, state: State) -> object:
        effective, taken = state.kinds()
        numbers = self._types.get(effective, ())
        if taken != effective:
            numbers = sorted((*numbers, *self._types.get(taken, ())))
        for number in numbers:
            step = self._active = self._steps[number]
            outcome = step.run(state)
            if outcome is not None:
                return outcome
        return None

    def failed(self, error: Exception) -> Verdict:
        """Deny in the name of the line that failed."""
        return self._active.failed(error)


@dataclass(frozen=True, slots=True)
class Plan:
    """A filter's steps by phase. A MetaData test that needs the response stands first in *data*.

    ``programs``: summarizers that its Generate lines want the output of.
    """

    filter: Filter
    metadata: tuple[Step, ...]
    data: tuple[Step, ...]
    last: tuple[Step, ...]
    body_limit: int | None = None
    setup: tuple[Step, ...] = ()
    shutdown: tuple[Step, ...] = ()
    programs: tuple[str, ...] = ()


def plan(chosen: Filter, role: Role, registry: Registry, robot: RobotConf, engine: object) -> Plan:
    """Bind every directive of *chosen*, which decides *role*.

    Raises:
        UsageError: a function is not implemented.
    """

    def bind(directive: Directive) -> Step:
        return Step(directive, registry.bind(Binding(directive, chosen, role, robot, engine)))

    last = Phase.ENUMERATE if role is Role.ENUMERATION else Phase.GENERATE
    steps = {phase: [bind(d) for d in chosen.phase(phase)] for phase in (Phase.METADATA, Phase.DATA, last)}
    once = {phase: tuple(bind(d) for d in chosen.phase(phase)) for phase in (Phase.SETUP, Phase.SHUTDOWN)}
    waiting = [step for step in steps[Phase.METADATA] if _is_length(step)]
    limits = [
        step.directive.parameters["value"] for step in (*waiting, *steps[Phase.DATA]) if _is_length(step)
    ]
    return Plan(
        chosen,
        tuple(step for step in steps[Phase.METADATA] if step not in waiting),
        (*waiting, *_grouped(steps[Phase.DATA])),
        tuple(steps[last]),
        min(limits) if limits else None,
        once[Phase.SETUP],
        once[Phase.SHUTDOWN],
        tuple(
            dict.fromkeys(
                step.directive.parameters["summarizer"]
                for step in steps[last]
                if step.directive.function == "harvest-summarizer"
            )
        ),
    )


def _grouped(steps: list[Step]) -> list[Step]:
    """Return *steps* with rows of convert-to-html lines put together."""
    out: list[Step] = []
    for name, row in groupby(steps, key=lambda step: step.directive.function):
        run = list(row)
        out.extend([ConvertSteps(run)] if name == "convert-to-html" and len(run) > 1 else run)
    return out


def _is_length(step: Step) -> bool:
    return step.directive.function == "filter-by-max" and step.source == "content-length"


@dataclass(frozen=True, slots=True)
class Pair:
    """One phase of both filters: the steps that they have in common run once for both.

    *common* holds the enumeration filter's steps, *twins* the generation filter's for the same.
    """

    common: tuple[Step, ...]
    twins: tuple[Step, ...]
    enumeration: tuple[Step, ...]
    generation: tuple[Step, ...]

    def changed(self, change: Callable[[tuple[Step, ...]], tuple[Step, ...]]) -> "Pair":
        """Return this pair with each row of steps changed; *change* does the same to equal rows."""
        return Pair(
            change(self.common), change(self.twins), change(self.enumeration), change(self.generation)
        )


def apart(_one: Plan, _other: Plan, first_steps: tuple[Step, ...], second_steps: tuple[Step, ...]) -> Pair:
    """Return two sequences as a pair that shares nothing."""
    return Pair((), (), first_steps, second_steps)


def pair(one: Plan, other: Plan, first_steps: tuple[Step, ...], second_steps: tuple[Step, ...]) -> Pair:
    """Split two sequences into what they share at the start and the rest of each."""
    same_setup = one.filter.rules == other.filter.rules and one.filter.mime.types == other.filter.mime.types
    count = 0
    if same_setup:
        for a, b in zip(first_steps, second_steps, strict=False):
            if not (a.pure and a.directive.signature == b.directive.signature):
                break
            count += 1
    return Pair(first_steps[:count], second_steps[:count], first_steps[count:], second_steps[count:])
