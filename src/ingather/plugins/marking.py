"""How a function says what it is: the decorators and the types that they take.

``@builds("filter-by-exact")`` marks a *builder*: called once for each directive at load, it returns
the bound function that is called once for each resource. ``@raf("name", phases=..., parameters=...)``
marks a function of one's own, ``f(params, filter, resource) -> Answer``, that is called for each resource.
``@converter("application/x-thing")`` marks ``f(body, name) -> Converted``, ``@extractor(...)``
``f(body, url) -> Page``, ``@fetcher("ftp")`` a fetcher (``ingather.ports.fetcher``) of a protocol.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import BuiltinFunctionType
from typing import Any, TypeVar

from ingather.conf.filters.directives import Directive
from ingather.conf.filters.filterconf import Filter
from ingather.conf.filters.vocabulary import FunctionSpec, ParameterSpec, function_name
from ingather.conf.robot.robotconf import RobotConf
from ingather.model.phase import Phase, Role

__all__ = [
    "Binding",
    "Build",
    "Door",
    "Mark",
    "Outcome",
    "Run",
    "builds",
    "converter",
    "extractor",
    "fetcher",
    "mark_of",
    "raf",
]

Outcome = object
"""``None`` = go on; a ``Verdict`` that denies = the end of this filter; built-ins may ask for a conversion."""

Run = Callable[[Any], Outcome]


class Door(StrEnum):
    """What a marked function is for."""

    RAF = "function"
    CONVERTER = "converter"
    EXTRACTOR = "extractor"
    FETCHER = "fetcher"


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
_F = TypeVar("_F", bound=Callable[..., Any])
_MARK = "__ingather_function__"
_COMPILED: dict[object, "Mark"] = {}
"""Marks of functions that mypyc compiled."""


@dataclass(frozen=True, slots=True)
class Mark:
    """What a decorator noted.

    ``build`` for what the vocabulary knows by *name*; ``spec`` for a function that brings its own;
    ``names`` for media types of a converter or extractor, protocols of a fetcher.
    """

    name: str
    build: Build | None = None
    spec: FunctionSpec | None = None
    door: Door = Door.RAF
    names: tuple[str, ...] = ()


def builds(name: str) -> Callable[[_F], _F]:
    """Mark a builder of the vocabulary's function *name*."""
    return _marker(lambda function: Mark(name, function))


def raf(  # noqa: PLR0913 - what a specification may say
    name: str = "",
    *,
    phases: Iterable[Phase],
    parameters: Iterable[ParameterSpec] = (),
    requires: str = "",
    once: bool = False,
    help: str = "",  # noqa: A002 - as the specification calls it
) -> Callable[[_F], _F]:
    """Mark a function of one's own, called for each resource: ``f(params, filter, resource) -> Answer``.

    Args:
        name: as it stands behind ``fn=``; default: the function's own.
        phases: directives that may call it; those of Setup and Shutdown are called once, without a resource.
        parameters: what is checked, typed and filled in for it.
        requires: a function that must run earlier in the same filter.
        once: at most one line of a filter may call it.
        help: one sentence; default: the first line of its docstring.
    """
    given, taken = frozenset(phases), tuple(parameters)

    def mark(function: Callable[..., Any]) -> Mark:
        said = help or (function.__doc__ or "").strip().partition("\n")[0]
        called = function_name(name or function.__name__)
        spec = FunctionSpec(called, given, taken, once=once, requires=requires, pure=False, help=said)
        return Mark(called, spec=spec)

    return _marker(mark)


def converter(*media_types: str) -> Callable[[_F], _F]:
    """Mark a converter of documents: ``f(body, name) -> Converted``; it runs where it may die."""
    return _named(Door.CONVERTER, media_types)


def extractor(*media_types: str) -> Callable[[_F], _F]:
    """Mark a reader of bodies that are pages in a format of their own: ``f(body, url) -> Page``."""
    return _named(Door.EXTRACTOR, media_types)


def fetcher(*protocols: str) -> Callable[[_F], _F]:
    """Mark a maker of fetchers, ``f(**parts) -> ingather.ports.fetcher.Fetcher``, for protocols."""
    return _named(Door.FETCHER, protocols)


def _named(door: Door, names: tuple[str, ...]) -> Callable[[_F], _F]:
    lower = tuple(name.strip().lower() for name in names)
    return _marker(lambda function: Mark(function.__name__, door=door, names=lower))


def _marker(mark: Callable[[Callable[..., Any]], Mark]) -> Callable[[_F], _F]:
    def decorate(function: _F) -> _F:
        noted = mark(function)
        try:
            setattr(function, _MARK, noted)
        except AttributeError:  # compiled functions take none; they are ours, and live as long as the program
            _COMPILED[function] = noted
        return function

    return decorate


def mark_of(value: object) -> Mark | None:
    """Return what a decorator noted on *value*."""
    mark = getattr(value, _MARK, None) or (
        _COMPILED.get(value) if isinstance(value, BuiltinFunctionType) else None
    )
    return mark if isinstance(mark, Mark) else None
