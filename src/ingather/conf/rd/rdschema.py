"""The RD schema: which attributes descriptions have and what may be done with them (specification 12.4).

``rd-schema.conf`` in ``config/`` has one ``Attribute`` line for each, read by the lexer of the other files. An
attribute without a line is text of any number of values that may be edited and is searched.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum
from importlib.resources import files
from typing import Final

from ingather.conf.files import Files
from ingather.conf.names import suggestion
from ingather.conf.report import Report
from ingather.conf.text.lexer import Logical, lex
from ingather.conf.text.parameters import Parameters, read_parameters
from ingather.conf.text.physical import decode, is_binary
from ingather.model.description import Attributes, AttributesView
from ingather.model.diagnostic import Place

__all__ = [
    "NAME",
    "RdAttribute",
    "RdSchema",
    "RdType",
    "moment_of",
    "parse_schema",
    "read_schema",
    "shipped_schema",
]

NAME: Final = "rd-schema.conf"
MOST_SCORE: Final = 10

_KEYWORD = re.compile(r"[A-Za-z][\w-]*")
_NAME = re.compile(r"[^\s{}@\x00-\x20,][^\s{}\x00-\x20,]{0,199}\Z")
_PARAMETERS = ("name", "description", "aliases", "editable", "indexable", "score", "type", "multi")
_SWITCHES = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


class RdType(StrEnum):
    """What values of an attribute are."""

    STRING = "string"
    INTEGER = "integer"
    DATE = "date"
    URL = "url"


@dataclass(frozen=True, slots=True)
class RdAttribute:
    """One attribute.

    Attributes:
        name: lower case.
        description: for people.
        aliases: other names under which it may arrive, lower case.
        editable: whether a person may change it.
        indexable: whether its values are searched.
        score: how many times its values count as text, 1 to 10.
        type: what its values must be.
        multi: whether it may have several values.
    """

    name: str
    description: str = ""
    aliases: tuple[str, ...] = ()
    editable: bool = True
    indexable: bool = True
    score: int = 1
    type: RdType = RdType.STRING
    multi: bool = True

    def fault(self, values: Sequence[str]) -> str:
        """Why *values* cannot be the attribute's, ``""`` if they can."""
        if len(values) > 1 and not self.multi:
            return f"{self.name} has one value, not {len(values)}"
        for value in values:
            if not _fits(self.type, value):
                return f"{value[:60]!r} is not {_MEANT[self.type]}, which {self.name} is"
        return ""


_MEANT = {
    RdType.STRING: "text",
    RdType.INTEGER: "a whole number",
    RdType.DATE: "a date (RFC 3339, or as in HTTP)",
    RdType.URL: "an absolute URL",
}


@dataclass(frozen=True, slots=True)
class RdSchema:
    """All attributes by name, in the file's order; *diagnostics* of its reading stand in the report."""

    attributes: Mapping[str, RdAttribute] = field(default_factory=dict)

    def attribute(self, name: str) -> RdAttribute:
        """The attribute of that name; one without a line is as the module says."""
        return self.attributes.get(name) or RdAttribute(name)

    @property
    def aliases(self) -> dict[str, str]:
        """Alias to name."""
        return {alias: a.name for a in self.attributes.values() for alias in a.aliases}

    @property
    def unindexed(self) -> frozenset[str]:
        """Names whose values are not searched."""
        return frozenset(a.name for a in self.attributes.values() if not a.indexable)

    @property
    def scores(self) -> dict[str, int]:
        """Names whose values count more than once."""
        return {a.name: a.score for a in self.attributes.values() if a.score > 1 and a.indexable}

    def renamed(self, given: AttributesView) -> Attributes:
        """Put values under the names that their aliases stand for; what bears the name itself goes first."""
        aliases = self.aliases
        found: Attributes = {name: tuple(values) for name, values in given.items() if name not in aliases}
        for name, values in given.items():
            if name in aliases:
                found[aliases[name]] = (*found.get(aliases[name], ()), *values)
        return found


def parse_schema(text: str, file: str, report: Report) -> RdSchema:
    """Read a schema; every mistake is an ``E-SCHEMA`` of *report*, and its line is left out."""
    found: dict[str, RdAttribute] = {}
    taken: dict[str, Place] = {}
    for line in lex(text, file, report):
        if not isinstance(line, Logical):
            continue
        word = _KEYWORD.match(line.text)
        written = word[0] if word else line.text[:20]
        if written.lower() != "attribute":
            hint = "a line is: Attribute name=... description=... aliases=... editable=... indexable=... score=... type=... multi=..."
            report.add("E-SCHEMA", line.place(0), f"{written!r} begins no line of a schema", hint=hint)
            continue
        attribute = _Line(
            line, read_parameters(line, len(written), len(line.text), report), report
        ).attribute()
        if attribute is None:
            continue
        twice = next((name for name in (attribute.name, *attribute.aliases) if name in taken), None)
        if twice is not None:
            report.add(
                "E-SCHEMA",
                line.place(0),
                f"{twice} is the name or an alias of two attributes",
                notes=((taken[twice], "the other one"),),
            )
            continue
        taken.update(dict.fromkeys((attribute.name, *attribute.aliases), line.place(0)))
        found[attribute.name] = attribute
    return RdSchema(found)


def read_schema(files: Files, report: Report) -> RdSchema:
    """Read the schema among *files*, the shipped one where there is none; what is wrong with it is in *report*."""
    if not files.exists(NAME):
        return shipped_schema()
    try:
        body = files.read(NAME)
    except OSError as error:
        report.add("E-FILE", Place(NAME, 1), f"cannot read {NAME}: {error.strerror or error}")
        return shipped_schema()
    if is_binary(body, NAME, report):
        return shipped_schema()
    return parse_schema(decode(body, NAME, report), NAME, report)


def shipped_schema() -> RdSchema:
    """Return the schema that a new home gets."""
    text = (files("ingather.conf") / "defaults" / NAME).read_text(encoding="utf-8")
    return parse_schema(text, NAME, Report())


class _Line:
    """One ``Attribute`` line."""

    def __init__(self, line: Logical, read: Parameters, report: Report) -> None:
        self._line, self._read, self._report = line, read, report
        self._wrong = read.broken

    def attribute(self) -> RdAttribute | None:
        for bare in self._read.bare:
            self._refuse(bare.place, f"{bare.word!r} is no parameter", "write name=value")
        for item in self._read.items:
            if item.name not in _PARAMETERS:
                hint = suggestion(item.name, _PARAMETERS)
                self._refuse(item.place, f"{item.written} is no parameter of an attribute", hint)
        names = [name.strip().lower() for name in (self._text("name"), *self._text("aliases").split(","))]
        name, aliases = names[0], tuple(alias for alias in names[1:] if alias)
        for one in (name, *aliases):
            if not _NAME.match(one):
                what = f"{one!r} cannot be the name of an attribute" if one else "an attribute needs a name"
                self._refuse(self._line.place(0), what, "names have no blanks, commas, braces")
        kind = self._text("type", "string").lower()
        if kind not in set(RdType):
            self._refuse(self._place("type"), f"{kind!r} is no type", f"one of {', '.join(RdType)}")
        score = self._text("score", "1")
        if not (score.isascii() and score.isdigit() and 1 <= int(score[:3]) <= MOST_SCORE):
            self._refuse(
                self._place("score"), f"{score!r} is no score", f"a whole number from 1 to {MOST_SCORE}"
            )
        switches = {
            name: self._switch(name, default=default)
            for name, default in (("editable", True), ("indexable", True), ("multi", True))
        }
        if self._wrong:
            return None
        return RdAttribute(
            name, self._text("description"), aliases, score=int(score), type=RdType(kind), **switches
        )

    def _text(self, name: str, default: str = "") -> str:
        item = self._read.get(name)
        return default if item is None else item.value

    def _place(self, name: str) -> Place:
        item = self._read.get(name)
        return self._line.place(0) if item is None else item.value_place

    def _switch(self, name: str, *, default: bool) -> bool:
        text = self._text(name, "true" if default else "false").lower()
        if text not in _SWITCHES:
            self._refuse(self._place(name), f"{text!r} is neither true nor false", "write true or false")
        return _SWITCHES.get(text, default)

    def _refuse(self, place: Place, text: str, hint: str | None) -> None:
        self._wrong = True
        self._report.add("E-SCHEMA", place, text, hint=hint)


def moment_of(value: str) -> datetime | None:
    """Return an RFC 3339 or HTTP date with its zone (UTC where none is said); ``None`` for anything else."""
    try:
        found = datetime.fromisoformat(value) if value[:1].isdigit() else parsedate_to_datetime(value)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def _fits(kind: RdType, value: str) -> bool:
    if kind is RdType.INTEGER:
        return bool(re.fullmatch(r"-?[0-9]{1,18}", value))
    if kind is RdType.DATE:
        return moment_of(value) is not None
    if kind is RdType.URL:
        return bool(re.match(r"[A-Za-z][A-Za-z0-9+.-]*:\S+\Z", value))
    return True
