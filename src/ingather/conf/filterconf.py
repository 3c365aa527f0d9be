"""filter.conf: blocks to filters whose lines are checked and typed (sections 3.2 and 4)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from ingather.conf.blocks import Grammar
from ingather.conf.directives import Directive, DirectiveReader
from ingather.conf.mime import MimeMap
from ingather.conf.report import Report
from ingather.conf.rulesconf import Rules
from ingather.conf.sequence import check_sequence
from ingather.conf.tree import Block, Document
from ingather.model.diagnostic import Diagnostic, Place
from ingather.model.phase import Phase

__all__ = ["GRAMMAR", "Filter", "FilterReader"]

GRAMMAR = Grammar({"Filter": tuple(phase.value for phase in Phase)}, outside=("Init",))
_LEXICAL = frozenset({"E-QUOTE", "E-PARAM", "E-DUP-PARAM"})


@dataclass(frozen=True, slots=True)
class Filter:
    """A named filter: its enabled directives in file order, and what its Setup lines load."""

    name: str
    place: Place
    directives: tuple[Directive, ...] = ()
    rules: Rules = field(default_factory=Rules)
    mime: MimeMap = field(default_factory=MimeMap)

    def phase(self, phase: Phase) -> tuple[Directive, ...]:
        """Return the directives of one phase in file order."""
        return tuple(d for d in self.directives if d.phase is phase)


class FilterReader:
    """Reads the filters of a parsed filter.conf.

    Args:
        reader: reads single directives (functions, parameters, referenced files).
        selected: names of the filters in use; findings in the others are warnings (DEC-15).
    """

    def __init__(self, reader: DirectiveReader, report: Report, selected: frozenset[str]) -> None:
        self.reader = reader
        self.report = report
        self.selected = selected

    def read(self, document: Document) -> Mapping[str, Filter]:
        """Return the filters by name; every finding goes to the report."""
        found: dict[str, Filter] = {}
        for entry in document.entries():
            self.reader.read(entry, self.report, where="")
        for block in document.blocks("Filter"):
            name = self._name(block, found)
            before = len(self.report.diagnostics)
            read = self._filter(block, name or "")
            if name is None:
                continue
            found[name] = read
            if name not in self.selected:
                self._soften(block, before)
        return MappingProxyType(found)

    def _name(self, block: Block, found: Mapping[str, Filter]) -> str | None:
        item = block.get("name")
        name = item.value if item else ""
        if not name:
            if not block.parameters.broken:
                self.report.add(
                    "E-FILTER-NAME", block.place, 'filter without a name: write <Filter name="...">'
                )
            return None
        first = found.get(name)
        if first is not None:
            self.report.add(
                "E-FILTER-DUP",
                block.place,
                f"filter {name!r} is defined twice (lines {first.place.line} and {block.place.line})",
                notes=((first.place, "first defined here"),),
            )
            return None
        return name

    def _filter(self, block: Block, name: str) -> Filter:
        directives = [
            directive
            for entry in block.entries()
            if (directive := self.reader.read(entry, self.report, where=name)) is not None
        ]
        if not directives and not any(True for _ in block.entries()):
            self.report.add(
                "W-EMPTY-FILTER",
                block.place,
                f"filter {name!r} is empty: it lets everything pass and does nothing",
            )
        check_sequence(directives, self.report)
        rules, mime = Rules(), MimeMap()
        for directive in directives:
            if directive.phase is not Phase.SETUP:
                continue
            loaded: Any = directive.parameters.get("config")
            if isinstance(loaded, Rules):
                rules = loaded
            loaded = directive.parameters.get("file")
            if isinstance(loaded, MimeMap):
                mime = mime.merged(loaded)
        return Filter(name, block.place, tuple(directives), rules, mime)

    def _soften(self, block: Block, before: int) -> None:
        """Turn the errors inside a filter that is not in use into warnings (DEC-15)."""
        last = block.end.line if block.end else block.place.line
        count = 0
        for i, finding in enumerate(self.report.diagnostics):
            inside = finding.file == block.place.file and block.place.line <= finding.line <= last
            if finding.is_error and inside and (i >= before or finding.code in _LEXICAL):
                self.report.diagnostics[i] = Diagnostic(
                    finding.code, finding.place, finding.text, finding.hint, finding.notes, severity="warning"
                )
                count += 1
        if count:
            item = block.get("name")
            self.report.add(
                "W-UNUSED-FILTER",
                block.place,
                f"filter {item.value if item else ''!r} has {count} {'error' if count == 1 else 'errors'}, "
                "but robot.conf does not select it",
            )
