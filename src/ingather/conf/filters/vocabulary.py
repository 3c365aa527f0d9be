"""The functions that filter.conf may call, as the language knows them: phases, parameters, rules.

What a function *does* is elsewhere (``ingather.filters.rafs``, or a plug-in); here stands what
can be checked about a line that calls it (sections 2.1, 4 and 7 of the robot specification).
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from ingather.model.phase import Phase

__all__ = [
    "FunctionSpec",
    "Kind",
    "ModuleLoader",
    "ModuleProblem",
    "ModuleRequest",
    "ParameterSpec",
    "Vocabulary",
    "function_name",
]

_INIT = "Init"


class Kind(StrEnum):
    """How a parameter's text is read."""

    TEXT = "text"
    NAME = "source name"
    INTEGER = "integer"
    SIZE = "number, with K or M"
    SWITCH = "boolean"
    CHOICE = "choice"
    PATTERN = "pattern"
    RULES = "rules file"
    MIME = "MIME map"
    PROGRAM = "program"
    MAP = "old->new list"
    SOURCES = "source list"


@dataclass(frozen=True, slots=True)
class ParameterSpec:
    """One parameter: integers lie in *low*..*high*, choices are one of *choices*."""

    name: str
    kind: Kind = Kind.TEXT
    required: bool = False
    default: object = None
    low: int = 1
    high: int | None = None
    choices: tuple[str, ...] = ()
    help: str = ""


@dataclass(frozen=True, slots=True)
class FunctionSpec:
    """One function.

    Attributes:
        name: canonical spelling, hyphens.
        phases: directives that may call it; empty = ``Init``, outside of filters.
        parameters: in the order of the reference.
        one_of: parameters of which exactly one must be given, and the code if not.
        once: at most one enabled line in a filter (``E-ONCE``).
        requires: a function that must run earlier in the same filter (``E-REQUIRES``).
        aliases: other spellings (``W-ALIAS``).
        unsupported: why this version refuses it (``E-UNSUPPORTED``), or ``""``.
        pure: same sources, same outcome, no effect outside the filter: may run once for two filters.
        open: takes parameters that it does not list, as texts.
        implementation: what a plug-in brought for it; opaque to this room.
        help: one sentence.
    """

    name: str
    phases: frozenset[Phase]
    parameters: tuple[ParameterSpec, ...] = ()
    one_of: tuple[str, ...] = ()
    one_of_code: str = "E-ALLOW-DENY"
    once: bool = False
    requires: str = ""
    aliases: tuple[str, ...] = ()
    unsupported: str = ""
    pure: bool = True
    open: bool = False
    implementation: object = field(default=None, compare=False, repr=False)
    help: str = ""

    def parameter(self, name: str) -> ParameterSpec | None:
        """Return the parameter called *name*."""
        return next((p for p in self.parameters if p.name == name), None)

    @property
    def allowed(self) -> str:
        """The directives that may call it, for people."""
        return ", ".join(phase.value for phase in Phase if phase in self.phases) or _INIT


@dataclass(frozen=True, slots=True)
class ModuleRequest:
    """What a line ``Init fn=load-modules`` asks for: a module by name or a file, and functions of it."""

    module: str
    shlib: str
    functions: tuple[str, ...]
    override: bool = False


@dataclass(frozen=True, slots=True)
class ModuleProblem:
    """Why something of it cannot be had; *parameter* is the one to point at."""

    code: str
    parameter: str
    text: str
    hint: str | None = None


ModuleLoader = Callable[[ModuleRequest], tuple[tuple[FunctionSpec, ...], tuple[ModuleProblem, ...]]]


class Vocabulary:
    """Function names to their specifications, aliases included.

    Args:
        functions: a later one replaces an earlier one of the same name.
        loader: serves ``Init fn=load-modules``; ``None`` = such a line is refused (``E-UNSUPPORTED``).
    """

    def __init__(self, functions: Iterable[FunctionSpec], *, loader: ModuleLoader | None = None) -> None:
        self.loader = loader
        self.functions: Mapping[str, FunctionSpec] = MappingProxyType({f.name: f for f in functions})
        self._aliases = {alias: f.name for f in self.functions.values() for alias in f.aliases}

    def find(self, written: str) -> FunctionSpec | None:
        """Return the function that *written* names: any case, ``_`` for ``-``, aliases."""
        name = function_name(written)
        return self.functions.get(self._aliases.get(name, name))

    def is_alias(self, written: str) -> bool:
        """Tell whether *written* is another spelling than the canonical one."""
        return function_name(written) in self._aliases

    @property
    def names(self) -> tuple[str, ...]:
        """Canonical names, in the order of the reference."""
        return tuple(self.functions)

    def extended(self, more: Iterable[FunctionSpec]) -> "Vocabulary":
        """Return a vocabulary that knows *more* functions too."""
        return Vocabulary((*self.functions.values(), *more), loader=self.loader)


def function_name(written: str) -> str:
    """Return the canonical form of a function name: lower case, hyphens."""
    return written.strip().lower().replace("_", "-")
