"""All functions by name, with their origins."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from types import ModuleType

from ingather.conf.filters.builtins import BUILTIN
from ingather.conf.filters.vocabulary import FunctionSpec, Vocabulary
from ingather.errors import UsageError
from ingather.plugins.calling import bound
from ingather.plugins.marking import Binding, Build, Door, Run, mark_of

__all__ = ["Function", "Registry", "marked"]


@dataclass(frozen=True, slots=True)
class Function:
    """A registered function: its specification, its builder, and the module that brought it."""

    spec: FunctionSpec
    build: Build
    origin: str


def marked(module: ModuleType, *, origin: str = "") -> Iterator[Function]:
    """Yield the functions for filters that *module* itself defines and marks.

    Raises:
        UsageError: neither the language nor the function says what it takes.
    """
    origin = origin or module.__name__
    for value in list(vars(module).values()):
        mark = mark_of(value)
        if mark is None or mark.door is not Door.RAF:
            continue
        if getattr(value, "__module__", module.__name__) != module.__name__:
            continue
        if mark.spec is not None:
            build = bound(value, origin)
            yield Function(replace(mark.spec, implementation=build), build, origin)
            continue
        spec = BUILTIN.functions.get(mark.name)
        if spec is None or mark.build is None:
            text = f"function {mark.name!r} of {origin} has no specification"
            raise UsageError(text)
        yield Function(spec, mark.build, origin)


class Registry:
    """Collects marked modules.

    Args:
        modules: each is searched for marked functions, in order.
    """

    def __init__(self, modules: Iterable[ModuleType] = ()) -> None:
        self._functions: dict[str, Function] = {}
        for module in modules:
            self.add(module)

    def add(self, module: ModuleType) -> None:
        """Register every marked function of *module*.

        Raises:
            UsageError: a name is taken, or neither the language nor the function says what it takes.
        """
        for function in marked(module):
            name = function.spec.name
            taken = self._functions.get(name)
            if taken is not None:
                text = f"function {name!r} is brought by {taken.origin} and by {function.origin}"
                raise UsageError(text, hint="rename one of them")
            self._functions[name] = function

    def find(self, name: str) -> Function | None:
        """Return the function called *name* (canonical spelling)."""
        return self._functions.get(name)

    def bind(self, binding: Binding) -> Run:
        """Return the bound function of a directive: what came with the line's specification, else what is registered.

        Raises:
            UsageError: nothing is registered under its name.
        """
        brought = binding.directive.spec.implementation
        if callable(brought):
            run: Run = brought(binding)
            return run
        function = self._functions.get(binding.directive.function)
        if function is None:
            text = f"{binding.directive.where}: nothing implements {binding.directive.function}"
            raise UsageError(text)
        return function.build(binding)

    def vocabulary(self) -> Vocabulary:
        """Return the language with the functions that it does not know by itself."""
        return BUILTIN.extended(f.spec for f in self if f.spec.name not in BUILTIN.functions)

    def __iter__(self) -> Iterator[Function]:
        return iter(self._functions.values())
