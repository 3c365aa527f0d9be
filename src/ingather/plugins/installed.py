"""The plug-ins of an installation: files of the plug-in folder, entry points, and what ``Init`` lines ask of them.

Code comes from two places only: ``.py`` files of the one folder that the operator has set up, and packages that
are installed and say so by an entry point of group ``ingather.plugins``. A line of a configuration file chooses
among these; it cannot name a module or a file elsewhere.

A plug-in that cannot be loaded is kept with the reason, and everything else goes on without it: a filter
that calls its function is refused at load (``E-FN-UNKNOWN``).
"""

import importlib.util
import stat
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from ingather.conf.filters.builtins import BUILTIN
from ingather.conf.filters.vocabulary import (
    FunctionSpec,
    ModuleProblem,
    ModuleRequest,
    Vocabulary,
    function_name,
)
from ingather.conf.names import nearest
from ingather.errors import UsageError
from ingather.log import get
from ingather.model.phase import Phase
from ingather.plugins.calling import bound
from ingather.plugins.marking import Door, mark_of
from ingather.plugins.registry import marked

__all__ = ["GROUP", "PlugIn", "PlugIns"]

GROUP = "ingather.plugins"
_PACKAGE = "ingather_plugins"
_OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH
_PER_RESOURCE = frozenset({Phase.METADATA, Phase.DATA, Phase.ENUMERATE, Phase.GENERATE})
_log = get("plugins")


@dataclass(frozen=True, slots=True)
class PlugIn:
    """One plug-in.

    Attributes:
        name: stem of the file, or name of the entry point.
        origin: path of the file, or ``distribution (module)``.
        kind: ``file`` or ``package``.
        trouble: why it, or a part of it, cannot be used; ``""`` = loaded.
        functions, converters, extractors, fetchers: what it brings, by name, media type, protocol.
    """

    name: str
    origin: str
    kind: str
    trouble: str = ""
    functions: tuple[str, ...] = ()
    converters: tuple[str, ...] = ()
    extractors: tuple[str, ...] = ()
    fetchers: tuple[str, ...] = ()
    module: ModuleType | None = field(default=None, compare=False, repr=False)

    @property
    def state(self) -> str:
        """``loaded``, ``partly`` (some of it cannot be used) or ``failed``."""
        return "failed" if self.module is None else "partly" if self.trouble else "loaded"


class PlugIns:
    """Loads everything there is; do it once a process.

    Args:
        folder: the plug-in folder; it need not exist. Files whose names begin with ``_`` are not plug-ins.
        points: entry points; default: those that are installed.
    """

    def __init__(self, folder: Path | None, *, points: Iterable[EntryPoint] | None = None) -> None:
        self.folder = folder
        self._specs: dict[str, FunctionSpec] = {}
        self._brought_by: dict[str, str] = {}
        self._by_door: dict[Door, dict[str, Callable[..., Any]]] = {
            door: {} for door in Door if door is not Door.RAF
        }
        found = [self._package(point) for point in (entry_points(group=GROUP) if points is None else points)]
        found += [self._file(path) for path in self._files()]
        self.plugins: tuple[PlugIn, ...] = tuple(found)
        self.vocabulary = Vocabulary((*BUILTIN.functions.values(), *self._specs.values()), loader=self.load)

    def __iter__(self) -> Any:
        return iter(self.plugins)

    @property
    def converters(self) -> Mapping[str, Callable[..., Any]]:
        """By media type."""
        return self._by_door[Door.CONVERTER]

    @property
    def extractors(self) -> Mapping[str, Callable[..., Any]]:
        """By media type."""
        return self._by_door[Door.EXTRACTOR]

    @property
    def fetchers(self) -> Mapping[str, Callable[..., Any]]:
        """By protocol."""
        return self._by_door[Door.FETCHER]

    # --- finding and loading ------------------------------------------------------------------------

    def _files(self) -> list[Path]:
        if self.folder is None or not self.folder.is_dir():
            return []
        return sorted(
            p for p in self.folder.glob("*.py") if not p.name.startswith(("_", ".")) and p.is_file()
        )

    def _package(self, point: EntryPoint) -> PlugIn:
        origin = f"{point.dist.name if point.dist is not None else '?'} ({point.value})"
        plugin = PlugIn(point.name, origin, "package")
        try:
            module = point.load()
        except (Exception, SystemExit) as error:  # noqa: BLE001 - it is somebody's code
            return self._failed(plugin, error)
        if not isinstance(module, ModuleType):
            return replace(plugin, trouble="the entry point names something that is no module")
        return self._registered(plugin, module)

    def _file(self, path: Path) -> PlugIn:
        plugin = PlugIn(path.stem, str(path), "file")
        trouble = _unsafe(path)
        if trouble:
            return replace(plugin, trouble=trouble)
        try:
            return self._registered(plugin, _imported(path))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - it is somebody's code
            return self._failed(plugin, error)

    @staticmethod
    def _failed(plugin: PlugIn, error: BaseException) -> PlugIn:
        _log.error("plug-in cannot be loaded", plugin=plugin.origin, exc_info=error)
        return replace(plugin, trouble=f"{type(error).__name__}: {error}")

    def _registered(self, plugin: PlugIn, module: ModuleType) -> PlugIn:
        troubles: list[str] = []
        functions: list[str] = []
        try:
            for function in marked(module, origin=plugin.origin):
                name = function.spec.name
                trouble = self._taken(name)
                if trouble:
                    troubles.append(trouble)
                    continue
                self._specs[name] = function.spec
                self._brought_by[name] = plugin.origin
                functions.append(name)
        except UsageError as error:
            troubles.append(error.text)
        doors = {door: self._door(module, door, troubles) for door in self._by_door}
        return replace(
            plugin,
            module=module,
            trouble="; ".join(troubles),
            functions=tuple(functions),
            converters=doors[Door.CONVERTER],
            extractors=doors[Door.EXTRACTOR],
            fetchers=doors[Door.FETCHER],
        )

    def _taken(self, name: str) -> str:
        if BUILTIN.find(name) is not None:
            return f"{name} is a built-in function: only Init fn=load-modules ... override=true replaces it"
        there = self._brought_by.get(name)
        return f"{name} is brought by {there} already" if there else ""

    def _door(self, module: ModuleType, door: Door, troubles: list[str]) -> tuple[str, ...]:
        table = self._by_door[door]
        found: list[str] = []
        for value in vars(module).values():
            mark = mark_of(value)
            if mark is None or mark.door is not door or value.__module__ != module.__name__:
                continue
            for name in mark.names:
                if name in table:
                    troubles.append(f"there is a {door} for {name} already")
                else:
                    table[name] = value
                    found.append(name)
        return tuple(found)

    # --- Init fn=load-modules -----------------------------------------------------------------------

    def load(self, request: ModuleRequest) -> tuple[tuple[FunctionSpec, ...], tuple[ModuleProblem, ...]]:
        """Return the functions that an ``Init`` line asks for, and what of it cannot be had."""
        module, origin = self._module(request)
        if module is None:
            parameter = "module" if request.module else "shlib"
            return (), (ModuleProblem("E-FILE", parameter, origin, f"plug-ins live in {self.folder}"),)
        specs: list[FunctionSpec] = []
        problems: list[ModuleProblem] = []
        for written in request.functions:
            spec = _function(module, written, origin)
            if spec is None:
                names = [name for name, value in vars(module).items() if _is_own(module, value)]
                near = nearest(written, names)
                problems.append(
                    ModuleProblem(
                        "E-FN-UNKNOWN",
                        "funcs",
                        f"{origin} has no function {written!r}",
                        f"did you mean {' or '.join(near)}?" if near else None,
                    )
                )
            elif not request.override and self._is_taken(spec.name, origin):
                who = self._brought_by.get(spec.name, "the product itself")
                problems.append(
                    ModuleProblem(
                        "E-FN-DUP",
                        "funcs",
                        f"function {spec.name!r} is brought by {who} already",
                        "rename it, or write override=true",
                    )
                )
            else:
                specs.append(spec)
        return tuple(specs), tuple(problems)

    def _is_taken(self, name: str, origin: str) -> bool:
        return BUILTIN.find(name) is not None or self._brought_by.get(name, origin) != origin

    def _module(self, request: ModuleRequest) -> tuple[ModuleType | None, str]:
        """Return the module and its origin; or nothing and why."""
        if request.shlib:
            return self._of_folder(request.shlib)
        for plugin in self.plugins:
            module_name = (
                plugin.module.__name__ if plugin.module is not None and plugin.kind == "package" else ""
            )
            if request.module in {plugin.name, module_name}:
                trouble = f"plug-in {request.module!r} ({plugin.origin}) cannot be loaded: {plugin.trouble}"
                return plugin.module, plugin.origin if plugin.module is not None else trouble
        return None, f"there is no plug-in {request.module!r}"

    def _of_folder(self, written: str) -> tuple[ModuleType | None, str]:
        if self.folder is None:
            return None, f"cannot load {written}: there is no plug-in folder"
        path = (self.folder / written).resolve()
        trouble = self._foreign(path)
        if trouble:
            return None, f"cannot load {written}: {trouble}"
        known = next((p for p in self.plugins if p.kind == "file" and Path(p.origin).resolve() == path), None)
        plugin = known or self._file(path)
        if plugin.module is None:
            return None, f"cannot load {written}: {plugin.trouble}"
        return plugin.module, plugin.origin

    def _foreign(self, path: Path) -> str:
        """Say why *path* (links followed) cannot be a plug-in of the folder."""
        if self.folder is None or not path.is_relative_to(self.folder.resolve()):
            return "it is not in the plug-in folder"
        if path.suffix != ".py":
            return "it is no .py file"
        return "" if path.is_file() else "there is no such file"


def _unsafe(path: Path) -> str:
    """Say why *path* must not be run."""
    for place, what in ((path, "it"), (path.parent, "its folder")):
        try:
            mode = place.stat().st_mode
        except OSError as error:
            return error.strerror or str(error)
        if mode & _OTHERS_MAY_WRITE:
            return f"others than its owner may write {what} (chmod go-w {place})"
    return ""


def _imported(path: Path) -> ModuleType:
    name = f"{_PACKAGE}.{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        text = "cannot be imported"
        raise ImportError(text)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _is_own(module: ModuleType, value: object) -> bool:
    return callable(value) and getattr(value, "__module__", "") == module.__name__


def _function(module: ModuleType, written: str, origin: str) -> FunctionSpec | None:
    """Return the specification of function *written*: its own, or that of an unmarked one, which takes anything."""
    wanted = function_name(written)
    for function in marked(module, origin=origin):
        if function.spec.name == wanted and function.spec.implementation is not None:
            return function.spec
    value = getattr(module, written.strip(), None) or getattr(module, wanted.replace("-", "_"), None)
    if not _is_own(module, value) or not callable(value):
        return None
    mark = mark_of(value)
    if mark is not None and mark.spec is not None:
        return replace(mark.spec, implementation=bound(value, origin))
    if mark is not None:
        return None
    return FunctionSpec(
        wanted,
        _PER_RESOURCE,
        pure=False,
        open=True,
        implementation=bound(value, origin),
        help=f"A function of {origin}.",
    )
