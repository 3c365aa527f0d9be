"""Values of blocks and lines of filterrules.conf, each wrong one reported at its place."""

from collections.abc import Mapping
from typing import Protocol

from ingather.conf.report import Report
from ingather.conf.text.parameters import Parameter
from ingather.conf.text.tree import Block, Entry
from ingather.errors import UnitError
from ingather.model.diagnostic import Place
from ingather.units import parse_bool

__all__ = ["BlockValues", "Placed"]

_MOST_DEPTH = 2**31 - 1


class Placed(Protocol):
    """What was read before and stands somewhere."""

    @property
    def place(self) -> Place | None:
        """Where it stands."""


class BlockValues:
    """Reads parameters; a value that is wrong is reported, and absent for who asks."""

    def __init__(self, report: Report) -> None:
        self.report = report

    def known(self, holder: Block | Entry, names: tuple[str, ...]) -> None:
        """Report parameters of other names than *names*."""
        if isinstance(holder, Entry):
            for bare in holder.bare:
                self.report.add("E-PARAM", bare.place, f"{bare.word!r} is not of the form name=value")
        for item in holder.parameters.items:
            if item.name not in names:
                self.report.add(
                    "W-PARAM-UNKNOWN",
                    item.place,
                    f"unknown parameter {item.written!r}",
                    hint=self.report.suggest(item.name, names),
                )

    def required(self, holder: Block | Entry, name: str) -> str | None:
        """Return a value that must be there."""
        item = holder.get(name)
        if item is None:
            what = holder.tag if isinstance(holder, Block) else holder.keyword
            if not holder.parameters.broken:
                self.report.add("E-PARAM-MISSING", holder.place, f"{what} needs {name}=")
            return None
        if not item.value.strip():
            self.report.add("E-PARAM-EMPTY", item.place, f"{name} is empty")
            return None
        return item.value.strip()

    def switch(self, holder: Block | Entry, name: str, *, default: bool) -> bool:
        """Return true or false."""
        item = holder.get(name)
        if item is None:
            return default
        try:
            return parse_bool(item.value)
        except UnitError:
            code = "E-ENABLE" if name == "enable" else "E-TYPE"
            self.report.add(code, item.value_place, f"{name}={item.value!r} is neither true nor false")
            return default

    def choice(
        self, item: Parameter | None, choices: tuple[str, ...], aliases: Mapping[str, str]
    ) -> str | None:
        """Return one of *choices*, of which some have other names, too."""
        if item is None:
            return None
        word = " ".join(item.value.lower().split())
        word = aliases.get(word, word)
        if word in choices:
            return word
        self.report.add(
            "E-RANGE", item.value_place, f"{item.name}={item.value!r}", hint=f"allowed: {', '.join(choices)}"
        )
        return None

    def depth(self, holder: Block | Entry) -> int | None:
        """Return ``depth=``, ``None`` = not stated."""
        item = holder.get("depth")
        if item is None:
            return None
        try:
            depth = int(item.value)
        except ValueError:
            self.report.add("E-TYPE", item.value_place, f"depth={item.value!r} is not a whole number")
            return None
        if not -1 <= depth <= _MOST_DEPTH:
            self.report.add(
                "E-RANGE",
                item.value_place,
                f"depth={item.value}",
                hint=f"allowed: -1 (no limit) to {_MOST_DEPTH}",
            )
            return None
        return depth

    def name(self, block: Block, taken: Mapping[str, Placed]) -> str | None:
        """Return ``name=`` of a block if nothing in *taken* has it yet."""
        name = self.required(block, "name")
        if name is None:
            return None
        first = taken.get(name)
        if first is not None and first.place is not None:
            self.report.add(
                f"E-{block.tag.upper()}-DUP",
                block.place,
                f"{block.tag} {name!r} is defined twice",
                notes=((first.place, "first defined here"),),
            )
            return None
        return name
