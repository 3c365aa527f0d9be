"""filter.conf: blocks to filters whose lines are checked and typed (sections 3.2 and 4)."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from ingather.conf.filters.directives import Directive, DirectiveReader
from ingather.conf.filters.sequence import check_sequence
from ingather.conf.mime import MimeMap
from ingather.conf.report import Report
from ingather.conf.sites.rules import Rules
from ingather.conf.text.blocks import Grammar
from ingather.conf.text.tree import Block, Document
from ingather.model.diagnostic import Place
from ingather.model.phase import Phase

__all__ = ["GRAMMAR", "Filter", "FilterReader"]

GRAMMAR = Grammar({"Filter": tuple(phase.value for phase in Phase)}, outside=("Init",))
_LEXICAL = frozenset({"E-QUOTE", "E-PARAM", "E-DUP-PARAM"})
_HEADER = frozenset({"E-FILTER-NAME", "E-FILTER-DUP"})


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
        unused: list[Block] = []
        parsed = len(self.report.diagnostics)
        for entry in document.entries():
            self.reader.read(entry, self.report, where="")
        for block in document.blocks("Filter"):
            name = self._name(block, found)
            read = self._filter(block, name or "")
            if name is None:
                continue
            found[name] = read
            if name not in self.selected:
                unused.append(block)
        self._soften(unused, parsed)
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

    def _soften(self, unused: list[Block], parsed: int) -> None:
        """Turn the errors inside filters that are not in use into warnings (DEC-15).

        Of the first *parsed* findings, which are the parser's, only those of a single line are.
        """
        starts = [block.place.line for block in unused]
        counts: Counter[int] = Counter()
        for i, finding in enumerate(self.report.diagnostics):
            at = bisect_right(starts, finding.line) - 1
            if at < 0 or not finding.is_error or finding.file != unused[at].place.file:
                continue
            end = unused[at].end
            inside = finding.line <= (end.line if end else starts[at])
            if inside and (finding.code in _LEXICAL or (i >= parsed and finding.code not in _HEADER)):
                self.report.soften(i)
                counts[at] += 1
        for at, count in counts.items():
            block = unused[at]
            item = block.get("name")
            self.report.add(
                "W-UNUSED-FILTER",
                block.place,
                f"filter {item.value if item else ''!r} has {count} {'error' if count == 1 else 'errors'}, "
                "but robot.conf does not select it",
            )
