"""How a function says what it is: the two decorators and the types that they take.

``@builds("filter-by-exact")`` marks a *builder*: called once for each directive at load, it returns
the bound function that is called once for each resource. ``@raf("name", phases=..., parameters=...)``
marks a plain function ``f(context, parameters) -> Verdict | None`` that is called for each resource.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from ingather.conf.directives import Directive
from ingather.conf.filterconf import Filter
from ingather.conf.robotconf import RobotConf
from ingather.conf.vocabulary import FunctionSpec, ParameterSpec
from ingather.model.page import Page
from ingather.model.phase import Phase, Role
from ingather.model.resource import Response
from ingather.model.verdict import Verdict

__all__ = ["Binding", "Build", "Context", "Outcome", "Run", "builds", "mark_of", "raf"]

Value = str | tuple[str, ...] | None


class Context(Protocol):
    """What a function sees of a resource in one filter; what it changes is invisible to the other filter."""

    @property
    def url(self) -> str:
        """Canonical URL, whatever was assigned to the source of that name."""

    @property
    def response(self) -> Response | None:
        """The response; ``None`` before retrieval."""

    @property
    def attributes(self) -> dict[str, tuple[str, ...]]:
        """The description being made; changes count in Generate only."""

    def page(self) -> Page | None:
        """Return the page, read on demand; ``None`` before retrieval."""

    def get(self, name: str) -> Value:
        """Return a source (lower case): text, several texts, or ``None`` when undefined."""

    def set(self, name: str, value: Value) -> None:
        """Define a source, or make it undefined with ``None``."""


Outcome = object
"""``None`` = go on; a ``Verdict`` that denies = the end of this filter; built-ins may ask for a conversion."""

Run = Callable[[Any], Outcome]


@dataclass(frozen=True, slots=True)
class Binding:
    """What a builder gets: the directive, the filter and role it stands in, and the parts of the engine.

    ``engine`` is the engine's shared state (tables, counters, digests), known to built-ins.
    """

    directive: Directive
    filter: Filter
    role: Role
    robot: RobotConf
    engine: Any

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The directive's typed parameters."""
        return self.directive.parameters


Build = Callable[[Binding], Run]
Plain = Callable[[Any, Mapping[str, Any]], Verdict | None]
_F = TypeVar("_F", bound=Callable[..., Any])
_MARK = "__ingather_function__"


@dataclass(frozen=True, slots=True)
class Mark:
    """What a decorator noted: a name of the vocabulary, or a specification of its own."""

    name: str
    build: Build
    spec: FunctionSpec | None = None


def builds(name: str) -> Callable[[_F], _F]:
    """Mark a builder of the vocabulary's function *name*."""

    def decorate(function: _F) -> _F:
        setattr(function, _MARK, Mark(name, function))
        return function

    return decorate


def raf(
    name: str, *, phases: Iterable[Phase], parameters: Iterable[ParameterSpec] = ()
) -> Callable[[Plain], Plain]:
    """Mark a function of one's own; it is called for each resource with the typed parameters."""
    spec = FunctionSpec(name, frozenset(phases), tuple(parameters), pure=False)

    def decorate(function: Plain) -> Plain:
        def build(binding: Binding) -> Run:
            values = binding.parameters
            return lambda context: function(context, values)

        setattr(function, _MARK, Mark(name, build, spec))
        return function

    return decorate


def mark_of(value: object) -> Mark | None:
    """Return what a decorator noted on *value*."""
    mark = getattr(value, _MARK, None)
    return mark if isinstance(mark, Mark) else None
