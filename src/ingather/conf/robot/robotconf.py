"""robot.conf (or process.conf): text to typed values, each with where it came from.

Flat ``name=value`` lines, the ``<Process ...>`` wrapper with or without ``>``, with or without
continuations (section 5 of the robot specification); URLs on lines of their own are starting points.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

from ingather.conf.report import KEPT, Report
from ingather.conf.robot.robotparameters import PARAMETERS, RobotParameter, parameter_name
from ingather.conf.text.lexer import Logical, Remark, lex_parts
from ingather.conf.text.parameters import Bare, Parameter, Parameters, read_parameters
from ingather.conf.text.physical import Line, physical_lines
from ingather.conf.text.tree import Block, Document, Entry
from ingather.errors import UnitError, UrlError
from ingather.model.diagnostic import Place
from ingather.model.proxies import login_of, names_pac, read_proxy, read_ways, without_login
from ingather.model.url import canonical
from ingather.units import parse_bool, parse_seconds

__all__ = ["RobotConf", "RobotStart", "parse_robot_document", "read_robot"]

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://\S+")
_TAG = re.compile(r"<\s*(/?)\s*([A-Za-z][\w-]*)")
_ODD = re.compile(r'[="\\:]|[^ -~\t]')
_ALIASES = {alias: p.name for p in PARAMETERS.values() for alias in p.aliases}
_WARNED_ALIASES = frozenset({"command-timeout"})
_MOST = 2**31 - 1
_PLACEHOLDER = "user@domain"
_DEPTH = PARAMETERS["depth"]


@dataclass(frozen=True, slots=True)
class RobotStart:
    """A starting point of robot.conf; *depth* ``None`` = the robot's default."""

    url: str
    depth: int | None
    place: Place


@dataclass(frozen=True, slots=True)
class RobotConf:
    """Values of robot.conf by canonical parameter name, with their origins.

    ``values`` holds every parameter of :data:`~ingather.conf.robot.robotparameters.PARAMETERS`;
    attributes are their names with underscores (``conf.server_delay``), durations in seconds.
    ``places`` has only those that the file states. ``unknown`` keeps what nobody knows, for rewriting.
    """

    values: Mapping[str, Any]
    places: Mapping[str, Place] = field(default_factory=dict)
    starts: tuple[RobotStart, ...] = ()
    unknown: Mapping[str, str] = field(default_factory=dict)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "values":  # asked for while a copy is being made
            raise AttributeError(name)
        try:
            return self.values[name.replace("_", "-")]
        except KeyError:
            raise AttributeError(name) from None

    def origin(self, name: str) -> str:
        """Return ``robot.conf:LINE`` or ``default`` for parameter *name* (hyphens)."""
        place = self.places.get(name)
        return f"{place.file}:{place.line}" if place else "default"


DEFAULTS: dict[str, Any] = {p.name: p.default for p in PARAMETERS.values()}


def parse_robot_document(text: str, file: str, report: Report) -> Document:
    """Parse the file into a tree: entries without keyword, starting points with the URL as keyword."""
    return _Parser(file, report).run(physical_lines(text, file, report))


def read_robot(document: Document, report: Report) -> RobotConf:
    """Check and type what *document* says; every finding goes to *report*."""
    return _Reading(report).run(document)


class _Parser:
    """Splits robot.conf into entries; knows whether the wrapper and its header are open."""

    def __init__(self, file: str, report: Report) -> None:
        self.document = Document(file)
        self.report = report
        self.block: Block | None = None
        self.header_open = False
        self.bare = 0

    def run(self, lines: list[Line]) -> Document:
        last: Logical | None = None
        before = self.report.errors
        for part, done in lex_parts(lines, self.document.file, self.report):
            for line in part:
                if isinstance(line, Remark):
                    (self.block.body if self.block else self.document.nodes).append(line)
                    continue
                last = line
                if line.text.startswith("<"):
                    self._tag(line)
                else:
                    self._line(line, 0)
            if self.report.errors - before + self.bare > KEPT:
                self._flood(lines[done:])
                return self.document
        if self.block is not None and last is not None:
            self.report.add(
                "E-TRUNC",
                last.place(max(len(last.text) - 1, 0)),
                f"the file ends inside <{self.block.tag}>",
                hint=f"close it with </{self.block.tag}>",
                notes=((self.block.place, "opened here"),),
            )
        return self.document

    def _flood(self, rest: list[Line]) -> None:
        """Count the errors of *rest*: the file is refused, and nobody is shown them any more.

        Each line counts by itself, by its words without ``=``; reading a file of noise with all its quotes and
        continuations would take seconds.
        """
        self.report.errors += sum(
            len(text.split()) if "=" not in text else sum("=" not in word for word in text.split())
            for _, text in rest
            if not text.lstrip().startswith(("#", "<"))
        )

    def _tag(self, line: Logical) -> None:
        match = _TAG.match(line.text)
        written = match[2] if match else line.text[1:40]
        if match is None or written.lower() != "process":
            self.report.add(
                "E-TAG",
                line.place(0),
                f"unknown tag <{written}>",
                hint=self.report.suggest(written, ["Process"]),
            )
            return
        if match[1]:
            self._close(line)
            return
        if self.block is not None:
            self.report.add(
                "E-PROCESS-NESTED",
                line.place(0),
                "<Process> inside <Process>",
                notes=((self.block.place, "opened here"),),
            )
        self.block = Block("Process", Parameters([], []), line.place(0), comment=line.comment)
        self.document.nodes.append(self.block)
        self.header_open = True
        self._line(line, match.end(), header=True)

    def _close(self, line: Logical) -> None:
        if self.block is None:
            self.report.add("E-PROCESS-CLOSE", line.place(0), "</Process> without <Process>")
            return
        self.block.end = line.place(0)
        self.block.end_comment = line.comment
        self.block = None
        self.header_open = False

    def _line(self, line: Logical, start: int, *, header: bool = False) -> None:
        end = len(line.text)
        if self.header_open and line.text.endswith(">"):
            end -= 1
            self.header_open = False
        text = line.text[start:end].strip()
        if not text:
            return
        if self.bare > KEPT and not _ODD.search(text):
            # A flood of words that are no parameters: each is an error that nobody is shown any more.
            self.report.errors += len(text.split())
            return
        url = _URL.match(text)
        keyword = url[0] if url else ""
        begin = line.text.index(text, start) + len(keyword)
        found = read_parameters(line, begin, end, self.report)
        self.bare += len(found.bare)
        if header and self.block is not None:
            self.block.parameters = found
            return
        entry = Entry(keyword, found, line.place(line.text.index(text, start)), comment=line.comment)
        (self.block.body if self.block else self.document.nodes).append(entry)


class _Reading:
    """Types parameters one by one."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.values = dict(DEFAULTS)
        self.items: dict[str, Parameter] = {}
        self.unknown: dict[str, str] = {}
        self.starts: list[RobotStart] = []

    def run(self, document: Document) -> RobotConf:
        for node in document.nodes:
            if isinstance(node, Block):
                self._entry("", node.parameters, node.place)
                for entry in node.entries():
                    self._entry(entry.keyword, entry.parameters, entry.place)
            elif isinstance(node, Entry):
                self._entry(node.keyword, node.parameters, node.place)
        places = {name: item.place for name, item in self.items.items()}
        return RobotConf(self.values, places, tuple(self.starts), self.unknown)

    def _entry(self, keyword: str, parameters: Parameters, place: Place) -> None:
        for bare in parameters.bare:
            self._bare(bare)
        if keyword:
            self._start(keyword, parameters, place)
            return
        for item in parameters.items:
            self._item(item)

    def _bare(self, bare: Bare) -> None:
        if self.report.only_counts():
            return
        self.report.add("E-PARAM", bare.place, f"{bare.word!r} is not of the form name=value")

    def _start(self, url: str, parameters: Parameters, place: Place) -> None:
        depth = None
        for item in parameters.items:
            if item.name == "depth":
                depth = self._typed(_DEPTH, item)
            else:
                self._unknown(item, ["depth"])
        try:
            self.starts.append(RobotStart(canonical(url), depth if isinstance(depth, int) else None, place))
        except UrlError:
            self.report.add("E-URL", place, f"{url!r} is not a URL that can be gathered")

    def _item(self, item: Parameter) -> None:
        written = parameter_name(item.name)
        name = _ALIASES.get(written, written)
        parameter = PARAMETERS.get(name)
        if parameter is None:
            self.unknown[item.name] = item.value
            self._unknown(item, PARAMETERS)
            return
        if written in _WARNED_ALIASES:
            self.report.add("W-ALIAS", item.place, f"{written} is read as {name}")
        first = self.items.get(name)
        if first is not None:
            if self.report.only_counts():
                return
            self.report.add(
                "E-DUP-PARAM",
                item.place,
                f"parameter {name!r} is given twice",
                notes=((first.place, "first given here"),),
            )
            return
        self.items[name] = item
        value = self._typed(parameter, item)
        if value is None:
            return
        self.values[name] = value
        self._remarks(parameter, item, value)

    def _unknown(self, item: Parameter, known: Mapping[str, object] | list[str]) -> None:
        if not self.report.strict and self.report.only_counts_warning():
            return
        self.report.add(
            "E-ROBOT-UNKNOWN",
            item.place,
            f"unknown parameter {item.written!r}",
            hint=self.report.suggest(item.name, known),
            severity="error" if self.report.strict else "warning",
        )

    def _typed(self, parameter: RobotParameter, item: Parameter) -> object:
        """Return the typed value, or ``None`` after reporting why there is none."""
        text = item.value.strip()
        try:
            match parameter.kind:
                case "bool":
                    return parse_bool(text)
                case "int":
                    value: float = int(text)
                case "seconds":
                    value = parse_seconds(text)
                case "choice":
                    return self._choice(parameter, item)
                case _:
                    return item.value
        except (UnitError, ValueError):
            what = {"bool": "true or false", "int": "a whole number", "seconds": "a number of seconds"}
            self.report.add(
                "E-TYPE", item.value_place, f"{parameter.name}={text!r} is not {what[parameter.kind]}"
            )
            return None
        low, high = parameter.low, parameter.high
        if abs(value) > _MOST:
            high = _MOST
        if (low is not None and value < low) or (high is not None and value > high):
            self.report.add(
                "E-RANGE",
                item.value_place,
                f"{parameter.name}={text} is out of range",
                hint=f"allowed: {parameter.range or f'at most {_MOST}'}",
            )
            return None
        return value

    def _choice(self, parameter: RobotParameter, item: Parameter) -> str | None:
        word = item.value.strip().lower()
        if parameter.name == "oncompletion" and word == "shutdown":
            word = "quit"
        if word in parameter.choices:
            return word
        self.report.add(
            "E-RANGE",
            item.value_place,
            f"{parameter.name}={item.value!r}",
            hint=f"allowed: {parameter.range}",
        )
        return None

    def _auto_proxy(self, item: Parameter, value: str) -> None:
        if names_pac(value) and find_spec("quickjs") is None:
            text = "a PAC file needs a JavaScript engine, which is not installed"
            self.report.add("E-UNSUPPORTED", item.value_place, text, hint="install the package quickjs-ng")
            return
        try:
            read_ways((value,)) if names_pac(value) or value.startswith("pac:") else read_proxy(value)
        except UnitError as error:
            self.report.add("E-RANGE", item.value_place, f"auto-proxy: {error.text}", hint=error.hint)
            return
        if login_of(value) is not None:
            self.values["auto-proxy"] = without_login(value)
            self.report.add(
                "W-NO-EFFECT",
                item.value_place,
                "user and password are not taken out of auto-proxy",
                hint="name them in a [credential.NAME] table and that in proxy.credentials of ingather.toml",
            )

    def _remarks(self, parameter: RobotParameter, item: Parameter, value: object) -> None:
        """Say what does not follow from a value that is right."""
        add = self.report.add
        match parameter.name:
            case "email" if value == _PLACEHOLDER:
                self.values["email"] = ""
                add(
                    "W-EMAIL",
                    item.value_place,
                    "the placeholder user@domain is not sent",
                    hint="give your own address",
                )
            case "enable-rdm-probe" if value:
                add("W-UNSUPPORTED", item.place, "RDM probes are not supported: nobody answers them any more")
            case "auto-proxy" if value:
                self._auto_proxy(item, str(value))
            case "cmd-hook" if value and not str(value).startswith("/"):
                add("E-RANGE", item.value_place, "cmd-hook must be the full path of a program")
            case "site-max-connections" if value == 0:
                add("W-NO-LIMIT", item.value_place, "no limit of connections to one host")
            case "enable-robots-txt" if not value:
                add("W-ROBOTS", item.value_place, "robots.txt is not obeyed; this is recorded")
            case name if not parameter.acts and value != parameter.default:
                add("W-NO-EFFECT", item.place, f"{name} has no effect yet")
