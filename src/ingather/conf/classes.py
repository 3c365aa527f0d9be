"""``[class.NAME]``: metadata classes, by which values of pages, feeds and overlays are searched and shown.

Names are told apart by case (``x`` and ``X``). A class that nobody defined holds what overlays say, and is counted as a
facet. Three are there by themselves: ``t`` the title, ``d`` the date, ``f`` the format.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from ingather.conf.names import suggestion
from ingather.conf.report import Report
from ingather.conf.settings.kinds import Kind, Setting
from ingather.errors import UnitError
from ingather.model.diagnostic import Place

__all__ = ["BUILT_IN", "CLASS_KEYS", "ClassConf", "ClassTable", "is_class_name", "read_class"]

_NAME: Final = re.compile(r"(?![fF][uU][nN])[A-Za-z0-9]{1,64}\Z")
_TYPES: Final = ("text", "number", "date", "permission")
_TYPE_OF: Final = {"d": "date", "X": "date"}
BUILT_IN: Final = ("t", "d", "f", "X")
"""Classes with a meaning of their own: title, date, format, last day of validity."""

CLASS_KEYS: tuple[Setting, ...] = (
    Setting("class", "from", Kind.WORDS, (),
            "Names of META or of attributes of descriptions whose values are in the class: of pages and of feeds."),
    Setting("class", "type", Kind.CHOICE, "text",
            "What its values are. permission: user:NAME and group:NAME, of whom a searcher must be one; no page can say that.",
            choices=_TYPES),
    Setting("class", "content", Kind.FLAG, default=False,
            help="Whether words without a class find its values, too. Those of META are text anyway."),
    Setting("class", "delimiter", Kind.TEXT, "|", "What parts several values in one; empty: nothing does."),
    Setting("class", "facet", Kind.FLAG, default=True, help="Whether its values are counted and can be chosen beside the results."),
    Setting("class", "label", Kind.TEXT, "", "What people see instead of its name."),
)  # fmt: skip

_BY_KEY: Final = {setting.key: setting for setting in CLASS_KEYS}
_KEPT: Final = 1_000
"""So many classes that nobody defined are made once."""


@dataclass(frozen=True, slots=True)
class ClassConf:
    """One class; ``sources`` is its key ``from``, in lower case."""

    name: str
    sources: tuple[str, ...] = ()
    type: str = "text"
    content: bool = False
    delimiter: str = "|"
    facet: bool = True
    label: str = ""
    origins: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def is_permission(self) -> bool:
        """Whether its values narrow access."""
        return self.type == "permission"

    def values(self, text: str) -> tuple[str, ...]:
        """Return the values that *text* holds, without white space around them."""
        parts = text.split(self.delimiter) if self.delimiter else [text]
        return tuple(part for one in parts if (part := one.strip()))


class ClassTable:
    """The classes of a home, those that nobody defined included."""

    def __init__(self, defined: Mapping[str, ClassConf] | None = None) -> None:
        self.defined = dict(defined or {})
        self.mapped = tuple(c for c in self.defined.values() if c.sources and not c.is_permission)
        """Classes that take values of pages and feeds."""
        self.permissions = frozenset(c.name for c in self.defined.values() if c.is_permission)
        self._others: dict[str, ClassConf] = {}

    def of(self, name: str) -> ClassConf:
        """Return the class *name*; one that nobody defined is text."""
        found = self.defined.get(name) or self._others.get(name)
        if found is None:
            found = ClassConf(
                name, type=_TYPE_OF.get(name, "text"), content=name == "t", facet=name not in BUILT_IN
            )
            if len(self._others) < _KEPT:
                self._others[name] = found
        return found

    def kind(self, name: str) -> str:
        """Return what a class is that queries know without any document that says so; ``""`` if it is none."""
        known = name in self.defined or name in {"t", "d", "f"}
        conf = self.of(name)
        return conf.type if known and not conf.is_permission and name != "X" else ""

    def label(self, name: str) -> str:
        """Return what people see instead of *name*."""
        return self.of(name).label or name

    def delimiters(self) -> dict[str, str]:
        """Return the delimiters that are not the usual one."""
        return {c.name: c.delimiter for c in self.defined.values() if c.delimiter != "|"}

    def digest(self) -> str:
        """Return what changes when documents must be made anew: everything but labels."""
        return repr(
            [
                (c.name, c.sources, c.type, c.content, c.delimiter, c.facet)
                for c in sorted(self.defined.values(), key=lambda c: c.name)
            ]
        )


def is_class_name(text: str) -> bool:
    """Return whether *text* can name a class: letters and digits, at most 64, not beginning with ``fun``."""
    return _NAME.match(text) is not None


def read_class(
    name: str, table: Mapping[str, object], place_of: Callable[[str], Place], report: Report
) -> ClassConf:
    """Read one ``[class.NAME]`` table; what is wrong is reported and keeps its default.

    Args:
        name: of the table.
        table: its keys as TOML gave them.
        place_of: key (``""`` = the table itself) to its place.
        report: where findings go.
    """
    if not is_class_name(name):
        report.add(
            "E-VALUE", place_of(""), f"{name!r} is not a name for a metadata class",
            hint="letters and digits, at most 64, not beginning with fun",
        )  # fmt: skip
    values: dict[str, object] = {}
    origins: dict[str, str] = {}
    for key, raw in table.items():
        place, setting = place_of(key), _BY_KEY.get(key)
        if setting is None:
            report.add("E-KEY", place, f"a class has no key {key!r}", hint=suggestion(key, _BY_KEY))
            continue
        try:
            value = setting.read(raw)
        except UnitError as error:
            report.add("E-VALUE", place, f"class.{name}.{key}: {error.text}", hint=error.hint)
            continue
        if isinstance(value, tuple):
            value = tuple(word.strip().lower() for word in value)
        values["sources" if key == "from" else key] = value
        origins[key] = f"{place.file}:{place.line}"
    if values.get("type") == "permission" and values.get("sources"):
        report.add(
            "E-VALUE",
            place_of("from"),
            f"class.{name}: a page cannot say who may see it",
            hint="take away from, or type",
        )
    if (
        name in {"t", "d", "X"}
        and values.get("type", ClassTable().of(name).type) != ClassTable().of(name).type
    ):
        report.add("E-VALUE", place_of("type"), f"class.{name} has its type by itself")
    if name == "t":
        values.setdefault("content", True)
    if name in BUILT_IN:
        values.setdefault("facet", False)
        values.setdefault("type", ClassTable().of(name).type)
    return ClassConf(name, origins=origins, **values)  # type: ignore[arg-type]
