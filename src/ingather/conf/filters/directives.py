"""One directive: which function it calls, and its parameters typed and checked."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from ingather.conf.filters.programs import BUILT_IN_PROGRAMS, find_program, program_trouble
from ingather.conf.filters.vocabulary import (
    FunctionSpec,
    Kind,
    ModuleRequest,
    ParameterSpec,
    Vocabulary,
    function_name,
)
from ingather.conf.mime import MimeMap
from ingather.conf.patterns.dialects import Pattern
from ingather.conf.patterns.reading import read_pattern
from ingather.conf.report import Report
from ingather.conf.sites.rules import Rules
from ingather.conf.text.parameters import Bare, Parameter
from ingather.conf.text.tree import Entry, shown
from ingather.errors import UnitError
from ingather.model.diagnostic import Place
from ingather.model.phase import Phase
from ingather.units import parse_bool

__all__ = ["Directive", "DirectiveReader", "source_name"]

_SIZE = re.compile(r"(\d+)\s*([kKmM]?)[bB]?")
_MOST = 2**53
_FACTORS = {"": 1, "k": 1024, "m": 1024 * 1024}
_SOURCE_ALIASES = {"enumeration filter": "enumeration-filter", "generation filter": "generation-filter"}


def source_name(written: str) -> str:
    """Return the canonical name of a source or attribute: lower case, the vendor's blanks as hyphens."""
    name = written.strip().lower()
    return _SOURCE_ALIASES.get(name, name)


@dataclass(frozen=True, slots=True)
class Directive:
    """An enabled line of a filter, ready to be bound to its function.

    ``parameters`` has typed values, defaults filled in, absent ones without default left out;
    patterns are compiled, rule files and MIME maps loaded.
    """

    function: str
    phase: Phase
    parameters: Mapping[str, Any]
    place: Place
    fn_place: Place
    text: str
    spec: FunctionSpec

    @property
    def where(self) -> str:
        """``file:line``."""
        return f"{self.place.file}:{self.place.line}"

    @property
    def signature(self) -> tuple[object, ...]:
        """What two directives share when they do the same."""
        return (self.function, self.phase, frozenset((k, _key(v)) for k, v in self.parameters.items()))


def _key(value: object) -> object:
    if isinstance(value, Rules | MimeMap):
        return id(value)
    return value if isinstance(value, Pattern) else repr(value)


class DirectiveReader:
    """Reads directives against a vocabulary.

    Args:
        load_rules, load_mime: load a referenced file; ``None`` after they reported why not.
        dialect: default dialect of patterns.
        bindir: folder in which programs are looked for first.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        *,
        load_rules: Callable[[str, Place], Rules | None],
        load_mime: Callable[[str, Place], MimeMap | None],
        dialect: str = "auto",
        bindir: str = "",
    ) -> None:
        self.bindir = bindir
        self.vocabulary = vocabulary
        self.load_rules = load_rules
        self.load_mime = load_mime
        self.dialect = dialect

    def read(self, entry: Entry, report: Report, *, where: str) -> Directive | None:
        """Return the directive of *entry*; ``None`` if it is disabled or refused (then *report* says why).

        *where* is the name of the filter, for messages.
        """
        return _Reading(self, entry, report, where).run()


class _Reading:
    """One entry on its way to a directive."""

    def __init__(self, reader: DirectiveReader, entry: Entry, report: Report, where: str) -> None:
        self.reader = reader
        self.entry = entry
        self.report = report
        self.where = where
        self.ok = True

    def _refuse(self, code: str, place: Place, text: str, *, hint: str | None = None) -> None:
        self.ok = False
        self.report.add(code, place, text, hint=hint)

    def run(self) -> Directive | None:  # noqa: PLR0911 - one for each way to be none
        enabled = self._enabled()
        written, place = self._function(enabled=enabled)
        if written is None:
            return None
        spec = self.reader.vocabulary.find(written)
        if spec is None:
            self._unknown(written, place, enabled=enabled)
            return None
        if not enabled:
            return None
        if self.reader.vocabulary.is_alias(written):
            self.report.add("W-ALIAS", place, f"{written} is read as {spec.name}")
        phase = self._phase(spec)
        if spec.unsupported:
            self._refuse("E-UNSUPPORTED", place, f"{spec.name}: {spec.unsupported}")
            return None
        values = self._values(spec, place)
        if not self.ok or self.entry.parameters.broken:
            return None
        if phase is None:
            self._modules(values, place)
            return None
        text = f"{self.entry.keyword} {shown(self.entry.parameters)}"
        return Directive(spec.name, phase, MappingProxyType(values), self.entry.place, place, text, spec)

    def _enabled(self) -> bool:
        item = self.entry.get("enable")
        if item is None:
            return True
        try:
            return parse_bool(item.value)
        except UnitError:
            self._refuse(
                "E-ENABLE",
                item.value_place,
                f"enable={item.value!r}",
                hint="write enable=true or enable=false",
            )
            return True

    def _function(self, *, enabled: bool) -> tuple[str | None, Place]:
        """Return the function's name as written, from ``fn=`` or the vendor's ``fn-NAME`` (L13)."""
        item = self.entry.get("fn")
        found: Bare | None = None
        for bare in self.entry.bare:
            name = function_name(bare.word)[3:] if function_name(bare.word).startswith("fn-") else ""
            if name and item is None and found is None and self.reader.vocabulary.find(name):
                found = bare
                if self.report.strict:
                    self._refuse(
                        "E-PARAM",
                        bare.place,
                        f"{bare.word!r} is not of the form name=value",
                        hint=f"fn={name}",
                    )
                else:
                    self.report.add("W-FN-HYPHEN", bare.place, f"{bare.word} is read as fn={name}")
            elif enabled:
                self._refuse("E-PARAM", bare.place, f"{bare.word!r} is not of the form name=value")
        if found is not None:
            return function_name(found.word)[3:], found.place
        if item is None or not item.value:
            if enabled and not self.entry.parameters.broken:
                self._refuse("E-FN-MISSING", self.entry.place, f"{self.entry.keyword} without fn=")
            return None, self.entry.place
        return item.value, item.value_place

    def _unknown(self, written: str, place: Place, *, enabled: bool) -> None:
        names = self.report.nearest(function_name(written), self.reader.vocabulary.names)
        hint = f"did you mean {' or '.join(names)}?" if names else None
        text = f"no function {written!r}" + (f" (filter {self.where!r})" if self.where else "")
        if enabled:
            self._refuse("E-FN-UNKNOWN", place, text, hint=hint)
        else:
            self.report.add("W-FN-UNKNOWN", place, f"{text}, in a disabled line", hint=hint)

    def _phase(self, spec: FunctionSpec) -> Phase | None:
        phase = next((p for p in Phase if p.value == self.entry.keyword), None)
        if phase in spec.phases or (phase is None and not spec.phases):
            return phase
        self._refuse(
            "E-PHASE",
            self.entry.place,
            f"{spec.name} is not allowed under {self.entry.keyword}",
            hint=f"allowed: {spec.allowed}",
        )
        return None

    def _modules(self, values: Mapping[str, Any], fn_place: Place) -> None:
        """Serve ``Init fn=load-modules``: the lines behind it know the functions that it loads."""
        vocabulary = self.reader.vocabulary
        if vocabulary.loader is None:
            self._refuse("E-UNSUPPORTED", fn_place, "load-modules: no plug-ins can be loaded here")
            return
        names = tuple(name for name in re.split(r"[\s,]+", str(values["funcs"])) if name)
        module, shlib = str(values.get("module") or ""), str(values.get("shlib") or "")
        specs, problems = vocabulary.loader(
            ModuleRequest(module.strip(), shlib.strip(), names, override=bool(values.get("override")))
        )
        for problem in problems:
            item = self.entry.get(problem.parameter)
            place = item.value_place if item is not None else fn_place
            self._refuse(problem.code, place, problem.text, hint=problem.hint)
        self.reader.vocabulary = vocabulary.extended(specs)

    # --- parameters ---

    def _values(self, spec: FunctionSpec, fn_place: Place) -> dict[str, Any]:
        values: dict[str, Any] = {}
        known = {p.name for p in spec.parameters}
        for item in self.entry.items:
            if spec.open and item.name not in {"fn", "enable"}:
                values[item.name] = item.value
            elif item.name not in known and item.name not in {"fn", "enable"}:
                near = self.report.nearest(item.name, known, limit=1)
                self.report.add(
                    "W-PARAM-UNKNOWN",
                    item.place,
                    f"{spec.name} has no parameter {item.written!r}: it is ignored",
                    hint=f"did you mean {near[0]}?" if near else None,
                )
        for parameter in spec.parameters:
            value = self._parameter(spec, parameter, fn_place)
            if value is not None:
                values[parameter.name] = value
        self._one_of(spec, fn_place)
        if spec.name == "filter-by-max":
            self._deferred(values)
        return values

    def _parameter(self, spec: FunctionSpec, parameter: ParameterSpec, fn_place: Place) -> Any:
        item = self.entry.get(parameter.name)
        if item is None:
            if parameter.required and not self.entry.parameters.broken:
                self._refuse("E-PARAM-MISSING", fn_place, f"{spec.name} needs {parameter.name}=")
            return parameter.default
        may_be_empty = (
            parameter.kind is Kind.TEXT and not parameter.required and parameter.name not in spec.one_of
        )
        if (
            not item.value.strip()
            and not may_be_empty
            and (spec.name, item.name) != ("assign-source", "value")
        ):
            self._refuse("E-PARAM-EMPTY", item.place, f"{parameter.name} is empty")
            return None
        return self._typed(parameter, item)

    def _one_of(self, spec: FunctionSpec, fn_place: Place) -> None:
        if not spec.one_of or self.entry.parameters.broken:
            return
        given = [name for name in spec.one_of if self.entry.get(name)]
        if len(given) != 1:
            what = "both" if given else "neither"
            self._refuse(
                spec.one_of_code,
                fn_place,
                f"{spec.name} has {what} of {' and '.join(spec.one_of)}",
                hint=f"give exactly one of {' and '.join(spec.one_of)}",
            )

    def _typed(self, parameter: ParameterSpec, item: Parameter) -> Any:
        text = item.value.strip()
        readers: dict[Kind, Callable[[], Any]] = {
            Kind.NAME: lambda: source_name(text),
            Kind.INTEGER: lambda: self._number(parameter, item, text),
            Kind.SIZE: lambda: self._number(parameter, item, text),
            Kind.SWITCH: lambda: self._switch(item, text),
            Kind.CHOICE: lambda: self._choice(parameter, item, text),
            Kind.PATTERN: lambda: self._pattern(item),
            Kind.RULES: lambda: self._loaded(self.reader.load_rules(text, item.value_place)),
            Kind.MIME: lambda: self._loaded(self.reader.load_mime(text, item.value_place)),
            Kind.PROGRAM: lambda: self._program(item, text),
            Kind.MAP: lambda: self._pairs(parameter, item),
            Kind.SOURCES: lambda: self._pairs(parameter, item),
        }
        read = readers.get(parameter.kind)
        return item.value if read is None else read()

    def _switch(self, item: Parameter, text: str) -> bool | None:
        try:
            return parse_bool(text)
        except UnitError:
            self._refuse("E-TYPE", item.value_place, f"{item.name}={text!r} is neither true nor false")
            return None

    def _choice(self, parameter: ParameterSpec, item: Parameter, text: str) -> str | None:
        if text.lower() in parameter.choices:
            return text.lower()
        hint = f"allowed: {', '.join(parameter.choices)}"
        self._refuse("E-RANGE", item.value_place, f"{item.name}={text!r}", hint=hint)
        return None

    def _loaded(self, value: Rules | MimeMap | None) -> Rules | MimeMap | None:
        if value is None:
            self.ok = False
        return value

    def _program(self, item: Parameter, text: str) -> str | None:
        """Return the name of a program that is there to be run; which file it is is looked up when it is."""
        trouble = program_trouble(text)
        if trouble:
            self._refuse("E-RANGE", item.value_place, f"{item.name}={text!r}", hint=trouble)
            return None
        if text.lower() not in BUILT_IN_PROGRAMS and find_program(text, bindir=self.reader.bindir) is None:
            self._refuse(
                "E-FILE",
                item.value_place,
                f"there is no program {text}",
                hint="looked for in bindir (robot.conf), $HARVEST_HOME/lib/gatherer and, if it ends in .sum, PATH",
            )
            return None
        return text

    def _number(self, parameter: ParameterSpec, item: Parameter, text: str) -> int | None:
        size = _SIZE.fullmatch(text) if parameter.kind is Kind.SIZE else None
        try:
            number = int(size[1]) * _FACTORS[size[2].lower()] if size else int(text)
        except ValueError:
            self._refuse("E-TYPE", item.value_place, f"{item.name}={text!r} is not a whole number")
            return None
        if not parameter.low <= number <= (_MOST if parameter.high is None else parameter.high):
            allowed = f"{parameter.low}..{parameter.high}" if parameter.high else f"{parameter.low} or more"
            self._refuse(
                "E-RANGE", item.value_place, f"{item.name}={text} is out of range", hint=f"allowed: {allowed}"
            )
            return None
        return number

    def _pattern(self, item: Parameter) -> Any:
        src, override = self.entry.get("src"), self.entry.get("dialect")
        source = source_name(src.value) if src else ""
        dialect = override.value.strip().lower() if override else self.reader.dialect
        pattern = read_pattern(item, source, dialect=dialect, report=self.report)
        self.ok = self.ok and pattern is not None
        return pattern

    def _pairs(self, parameter: ParameterSpec, item: Parameter) -> tuple[tuple[str, str], ...] | None:
        pairs = []
        for part in item.value.split(","):
            old, arrow, new = part.partition("->")
            old, new = source_name(old), source_name(new)
            missing = parameter.kind is Kind.MAP and not arrow
            if missing or (arrow and not (old and new)):
                self._refuse(
                    "E-MAP", item.value_place, f"{item.name}={item.value!r} is not of the form old->new"
                )
                return None
            if old:
                pairs.append((old, new or old))
        return tuple(pairs)

    def _deferred(self, values: dict[str, Any]) -> None:
        """Give content-length its unit; in MetaData the test waits for the response (DEC-23)."""
        if values.get("src") != "content-length":
            return
        item = self.entry.get("value")
        suffixed = bool(item and item.value.strip()[-1:].lower() in {"k", "m", "b"})
        if isinstance(values.get("value"), int) and values.get("unit") != "bytes" and not suffixed:
            values["value"] *= 1024
        if self.entry.keyword == Phase.METADATA.value:
            self.report.add(
                "W-DEFER",
                self.entry.place,
                "content-length is not known in MetaData: tested when the response arrives",
            )
