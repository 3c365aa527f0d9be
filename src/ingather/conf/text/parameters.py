"""Logical lines to parameters: ``name=value`` with quotes and backslashes (rules L11, L12, L14, L15)."""

import re
from dataclasses import dataclass
from typing import NamedTuple

from ingather.conf.report import Report
from ingather.conf.text.lexer import Logical
from ingather.model.diagnostic import Place

__all__ = [
    "RAW_NAMES",
    "Bare",
    "Parameter",
    "Parameters",
    "quoted",
    "read_parameters",
    "refuse_second",
    "unescape",
]

RAW_NAMES = frozenset({"allow", "deny", "match"})
"""Parameters that carry patterns: their backslashes stay for :mod:`ingather.conf.patterns.dialects`."""

_BLANKS = " \t\v\f"
_PLAIN = re.compile(r'[ \t\v\f]*([^ \t\v\f="\\]++)=(?:"([^"\\]*+)"|([^ \t\v\f"\\]++))(?=[ \t\v\f]|\Z)')
"""A parameter without backslashes, and with nothing else odd about it."""


class Parameter(NamedTuple):
    """One ``name=value``.

    ``name`` is lower case, ``written`` as in the file, ``raw`` the value with its quotes and
    backslashes, ``value`` what it means; ``place`` is that of the name.
    """

    name: str
    value: str
    place: Place
    value_place: Place
    written: str = ""
    raw: str = ""


@dataclass(frozen=True, slots=True)
class Bare:
    """A word without ``=``."""

    word: str
    place: Place


@dataclass(slots=True)
class Parameters:
    """The parameters of one line: first mention of each, bare words, and whether a quote was broken."""

    items: list[Parameter]
    bare: list[Bare]
    broken: bool = False

    def get(self, name: str) -> Parameter | None:
        """Return parameter *name* (lower case)."""
        for item in self.items:
            if item.name == name:
                return item
        return None


def unescape(name: str, raw: str) -> str:
    """Return the value that *raw* (without quotes) stands for in parameter *name* (L12)."""
    if "\\" not in raw:
        return raw
    keep = name in RAW_NAMES
    out: list[str] = []
    i = 0
    while i < len(raw):
        two = raw[i : i + 2]
        if two == '\\"':
            out.append('"')
        elif two == "\\\\":
            out.append(two if keep else "\\")
        else:
            out.append(raw[i])
            i -= 1
        i += 2
    return "".join(out)


def quoted(name: str, value: str) -> str:
    """Return *value* written so that :func:`unescape` reads it back, quoted where it must be.

    The language has no way to write a pattern (:data:`RAW_NAMES`) with a backslash directly
    before a quote, or at its end.
    """
    if name not in RAW_NAMES:
        value_out = value.replace("\\", "\\\\").replace('"', '\\"')
    else:
        value_out = value.replace('"', '\\"')
    plain = value and not any(c in value for c in ' \t\v\f"\\#=<>\n\r“”') and value.isprintable()
    return value_out if plain else f'"{value_out}"'


def refuse_second(item: Parameter, first: Parameter, report: Report) -> None:
    """Report a parameter that stands there already."""
    report.add(
        "E-DUP-PARAM",
        item.place,
        f"parameter {item.name!r} is given twice",
        notes=((first.place, "first given here"),),
    )


def read_parameters(line: Logical, start: int, end: int, report: Report) -> Parameters:
    """Read the parameters of ``line.text[start:end]``; findings go to *report*."""
    return _Reader(line, start, end, report).run()


class _Reader:
    """A cursor over one logical line."""

    def __init__(self, line: Logical, start: int, end: int, report: Report) -> None:
        self.line = line
        self.text = line.text
        self.at = start
        self.end = end
        self.report = report
        self.found = Parameters([], [])
        self.names: dict[str, Parameter] = {}

    def run(self) -> Parameters:
        while True:
            while match := _PLAIN.match(self.text, self.at, self.end):
                self.at = match.end()
                written, inner, bare = match.groups()
                value_at = match.start(3) if inner is None else match.start(2) - 1
                value, raw = (bare, bare) if inner is None else (inner, f'"{inner}"')
                place = self.line.place
                self._add(
                    Parameter(written.lower(), value, place(match.start(1)), place(value_at), written, raw)
                )
            self._skip_blanks()
            if self.at >= self.end:
                return self.found
            self._one()

    def _skip_blanks(self) -> None:
        while self.at < self.end and self.text[self.at] in _BLANKS:
            self.at += 1

    def _word_end(self, stops: str) -> int:
        at = self.at
        while at < self.end and self.text[at] not in stops:
            at += 2 if self.text[at] == "\\" and self.text[at + 1 : at + 2] == '"' else 1
        return min(at, self.end)

    def _one(self) -> None:
        start = self.at
        self.at = self._word_end(_BLANKS + '="')
        written = self.text[start : self.at]
        if self.text[self.at : self.at + 1] == '"':
            self._stray_quote(start)
            return
        self._skip_blanks()
        if not written or self.at >= self.end or self.text[self.at] != "=":
            word = written or self.text[start]
            self.at = max(self.at, start + 1)
            self.found.bare.append(Bare(word, self.line.place(start)))
            return
        self.at += 1
        direct = self.at
        self._skip_blanks()
        if self.at > direct and self._next_is_name():
            self.at = direct
        self._value(written, start)

    def _next_is_name(self) -> bool:
        """Tell whether, after ``name= ``, another ``name=`` follows: then the value is empty."""
        at = self._word_end(_BLANKS + '="')
        if at == self.at:
            return False
        while at < self.end and self.text[at] in _BLANKS:
            at += 1
        return at < self.end and self.text[at] == "="

    def _value(self, written: str, name_at: int) -> None:
        name = written.lower()
        start = self.at
        if self.text[start : start + 1] == '"' and start < self.end:
            close = self._closing_quote(start)
            if close < 0:
                self._open_quote(start)
                return
            raw, inner = self.text[start : close + 1], self.text[start + 1 : close]
            self.at = close + 1
        else:
            self.at = self._word_end(_BLANKS + '"')
            if self.text[self.at : self.at + 1] == '"' and self.at < self.end:
                self._stray_quote(self.at)
                return
            raw = inner = self.text[start : self.at]
        item = Parameter(
            name,
            unescape(name, inner),
            self.line.place(name_at),
            self.line.place(min(start, max(len(self.text) - 1, 0))),
            written,
            raw,
        )
        self._add(item)

    def _add(self, item: Parameter) -> None:
        first = self.names.setdefault(item.name, item)
        if first is item:
            self.found.items.append(item)
        else:
            refuse_second(item, first, self.report)

    def _closing_quote(self, start: int) -> int:
        at = start + 1
        while at < self.end:
            c = self.text[at]
            if c == '"':
                return at
            at += 2 if c == "\\" else 1
        return -1

    def _open_quote(self, at: int) -> None:
        self.found.broken = True
        if not self.line.cut:
            self.report.add(
                "E-QUOTE",
                self.line.place(at),
                "the quote that opens here is never closed",
                hint='close it with ", or write \\" for a quote inside a value',
            )
        self.at = self.end

    def _stray_quote(self, at: int) -> None:
        quote = self.text.index('"', at)
        close = self._closing_quote(quote)
        self.found.broken = True
        if close < 0:
            self._open_quote(quote)
            return
        self.report.add(
            "E-QUOTE",
            self.line.place(quote),
            "a quote inside an unquoted value",
            hint='put the whole value into quotes, or write \\" for the quote',
        )
        self.at = close + 1
        if self.at < self.end and self.text[self.at] not in _BLANKS:
            self.at = self._word_end(_BLANKS)
