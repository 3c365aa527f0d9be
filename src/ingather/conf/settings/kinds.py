"""What a setting can be: how each kind is read from TOML and from text, and written back."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from ingather.errors import UnitError
from ingather.units import (
    format_bytes,
    format_seconds,
    parse_bool,
    parse_bytes,
    parse_seconds,
    parse_share,
)

__all__ = ["Kind", "Setting", "Value", "format_value", "split_address"]

Value = bool | int | float | str | tuple[str, ...]
"""A setting's value inside the program: seconds and shares are float, sizes are int bytes."""

_ADDRESS = re.compile(r"(?:\[(?P<six>[0-9a-fA-F:.]+)\]|(?P<host>[^\s:\[\]/]+)):(?P<port>\d{1,5})\Z")
_LAST_PORT = 65535
_LONG_NUMBER = 10


class Kind(StrEnum):
    """The type of a setting with its unit; the value is how people call it."""

    SECONDS = "duration"
    BYTES = "size"
    INT = "whole number"
    NUMBER = "number"
    SHARE = "share"
    FLAG = "switch"
    TEXT = "text"
    CHOICE = "choice"
    WORDS = "list of texts"
    ADDRESS = "address"


_EXAMPLES = {
    Kind.SECONDS: 'write it like "30s", "5m", "2h" or "7d"',
    Kind.BYTES: 'write it like "64KiB", "10MiB" or "1GiB"',
    Kind.INT: "write a whole number without quotes",
    Kind.NUMBER: "write a number without quotes",
    Kind.SHARE: 'write it like "10%" or 0.1',
    Kind.FLAG: "write true or false",
    Kind.TEXT: "write it in quotes",
    Kind.WORDS: 'write it like ["one", "two"]',
    Kind.ADDRESS: 'write it like "127.0.0.1:7070"; port 0 takes a free one',
}


_UNITS: dict[Kind, Callable[[str], float]] = {
    Kind.SECONDS: parse_seconds,
    Kind.BYTES: parse_bytes,
    Kind.SHARE: parse_share,
}
_QUANTITIES = {Kind.INT, Kind.NUMBER, *_UNITS}


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of the table: everything that is known about a setting.

    Attributes:
        section: table of ``ingather.toml``.
        key: key in it; ``section.key`` is the name.
        kind: type and unit.
        default: value when nobody says otherwise.
        help: one or two sentences for the operator.
        live: may change while the program runs; others act at the next start.
        low, high: bounds, inclusive; ``None`` = none. Of WORDS: each is a whole number within them.
        choices: what a CHOICE, or each of WORDS, may be; empty = anything.
        acts: ``False`` = accepted, but nothing of this version reads it yet.
        lone: one text stands for a list of it.
    """

    section: str
    key: str
    kind: Kind
    default: Value
    help: str
    live: bool = False
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    acts: bool = True
    lone: bool = False

    @property
    def name(self) -> str:
        """``section.key``."""
        return f"{self.section}.{self.key}"

    @property
    def environment(self) -> str:
        """Name of the environment variable that overrides the file."""
        return f"INGATHER_{self.name}".upper().replace(".", "_").replace("-", "_")

    def read(self, raw: object) -> Value:
        """Return the value that *raw*, a value out of a TOML file, stands for.

        Raises:
            UnitError: it is of another type, cannot be read, or lies out of bounds.
        """
        return self._checked(
            _from_toml(self.kind, [raw] if self.lone and isinstance(raw, str) and raw else raw)
        )

    def read_text(self, text: str) -> Value:
        """Return the value that *text*, out of the environment or a flag, stands for.

        Raises:
            UnitError: it cannot be read, or lies out of bounds.
        """
        raw: object = text
        if self.kind is Kind.WORDS:
            raw = text.replace(",", " ").split()
        elif self.kind is Kind.FLAG:
            raw = parse_bool(text)
        elif self.kind in {Kind.INT, Kind.NUMBER}:
            try:
                raw = int(text) if self.kind is Kind.INT else float(text)
            except ValueError as error:
                raise UnitError(f"{text!r} is not a {self.kind}") from error
        return self.read(raw)

    def write(self, value: Value) -> str:
        """Return *value* as it is written in TOML; :meth:`read` gives it back."""
        return format_value(self.kind, value)

    def bounds(self) -> str:
        """Return the allowed range for people, ``""`` if there is none."""
        if self.choices:
            return " or ".join(f'"{choice}"' for choice in self.choices) if self.kind is Kind.CHOICE else ""
        if not self.low and self.high is None:
            return ""
        low = None if self.low is None else _plain(self.kind, self.low)
        high = None if self.high is None else _plain(self.kind, self.high)
        if low is None or high is None:
            return f"at least {low}" if low is not None else f"at most {high}" if high is not None else ""
        return f"{low} to {high}"

    def _checked(self, value: Value) -> Value:
        if self.choices:
            for word in value if isinstance(value, tuple) else (value,):
                if word not in self.choices:
                    raise UnitError(
                        f"{word!r} is not known here", hint=f"choose of: {', '.join(self.choices)}"
                    )
        if self.kind is Kind.WORDS and self.high is not None and isinstance(value, tuple):
            for word in value:
                number = int(word) if word.isascii() and word.isdigit() and len(word) < _LONG_NUMBER else -1
                if not (self.low or 0) <= number <= self.high:
                    raise UnitError(
                        f"{word!r} is no number that is taken here",
                        hint=f"{self.low or 0:g} to {self.high:g}",
                    )
        if isinstance(value, int | float) and not isinstance(value, bool):
            low = -math.inf if self.low is None else self.low
            high = math.inf if self.high is None else self.high
            if not low <= value <= high:
                raise UnitError(
                    f"{_plain(self.kind, value)} is out of bounds", hint=f"allowed: {self.bounds()}"
                )
        return value


def _plain(kind: Kind, value: float) -> str:
    return format_value(kind, int(value) if kind in {Kind.INT, Kind.BYTES} else float(value)).strip('"')


def _from_toml(kind: Kind, raw: object) -> Value:
    value: Value | None = None
    if kind in _QUANTITIES:
        value = _quantity(kind, raw)
    elif kind is Kind.FLAG:
        value = raw if isinstance(raw, bool) else None
    elif kind is Kind.WORDS:
        value = (
            tuple(map(str, raw)) if isinstance(raw, list) and all(isinstance(w, str) for w in raw) else None
        )
    elif isinstance(raw, str):
        value = _address(raw) if kind is Kind.ADDRESS else raw
    if value is None:
        raise UnitError(f"{_shown(raw)} is not a {kind}", hint=_EXAMPLES.get(kind))
    return value


def _quantity(kind: Kind, raw: object) -> float | None:
    number = isinstance(raw, int | float) and not isinstance(raw, bool) and math.isfinite(raw)
    if kind is Kind.INT:
        return raw if isinstance(raw, int) and number else None
    if kind is Kind.NUMBER:
        return float(raw) if isinstance(raw, int | float) and number else None
    return _UNITS[kind](str(raw)) if number or isinstance(raw, str) else None


def _shown(raw: object) -> str:
    if isinstance(raw, bool):
        return str(raw).lower()
    return repr(raw) if isinstance(raw, str | int | float) else "this"


def _address(text: str) -> str:
    match = _ADDRESS.match(text.strip())
    if not match or int(match["port"]) > _LAST_PORT:
        raise UnitError(f"{text!r} is not an address with a port", hint=_EXAMPLES[Kind.ADDRESS])
    return text.strip()


def split_address(text: str) -> tuple[str, int]:
    """Return host (an IPv6 literal without brackets) and port of a valid ADDRESS value."""
    host, _, port = text.rpartition(":")
    return host.strip("[]"), int(port)


def format_value(kind: Kind, value: Value) -> str:
    """Return *value* as TOML writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return f"[{', '.join(_quoted(word) for word in value)}]"
    if isinstance(value, str):
        return _quoted(value)
    text = str(int(value)) if value == int(value) else repr(value)
    if kind in _UNITS:
        text = {Kind.SECONDS: format_seconds, Kind.SHARE: format_share}.get(kind, _size)(value)
    return text if kind not in _UNITS or text.isdecimal() else f'"{text}"'


def _size(value: float) -> str:
    return format_bytes(int(value))


def format_share(value: float) -> str:
    """Write a share so that it reads back the same: ``10%``, else the bare number."""
    percent = f"{value * 100:.6g}%"
    return percent if parse_share(percent) == value else repr(value)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in escaped) + '"'
