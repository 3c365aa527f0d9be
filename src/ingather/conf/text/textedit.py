"""Editing a configuration file in place: what is not touched stays byte for byte.

Edits are given by the places that the parser noted; they are carried out together by :meth:`FileEdit.done`.
"""

import re
from dataclasses import dataclass, field
from typing import Final

from ingather.conf.text.parameters import Parameter, Parameters
from ingather.errors import UsageError
from ingather.model.diagnostic import Place

__all__ = ["FileEdit", "written"]

_ENDS: Final = re.compile(r"\r\n|\n|\r")
_SMART: Final = dict.fromkeys(map(ord, "\u201c\u201d"), '"')
_BOM: Final = "\ufeff"
_BARE: Final = re.compile(r"[^\s\"\\#=<>,\u201c\u201d]+")


def written(value: str) -> str:
    """Return *value* as a parameter has it, in quotes where it must."""
    if _BARE.fullmatch(value) and value.isprintable():
        return value
    return in_quotes(value)


def in_quotes(value: str) -> str:
    """Return *value* in quotes.

    Raises:
        UsageError: no line can have it.
    """
    if not value.isprintable():
        raise UsageError(
            f"{value[:80]!r} cannot stand in a file", hint="write one line of printable characters"
        )
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


@dataclass(slots=True)
class FileEdit:
    """One file under edit.

    Attributes:
        file: its name, for messages.
        text: what it says, line ends as they are, without byte order mark.
        newline: the line end of new lines: that of the first line.
    """

    file: str
    body: bytes
    text: str = ""
    newline: str = "\n"
    _encoding: str = "utf-8"
    _starts: list[int] = field(default_factory=list)
    _edits: list[tuple[int, int, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        try:
            self.text = self.body.decode("utf-8")
        except UnicodeDecodeError:
            self._encoding = "latin-1"
            self.text = self.body.decode("latin-1")
        self.text = self.text.removeprefix(_BOM)
        ends = list(_ENDS.finditer(self.text))
        self._starts = [0, *(end.end() for end in ends)]
        if ends:
            self.newline = ends[0][0]

    # -- lines ----------------------------------------------------------------------------------

    @property
    def lines(self) -> int:
        """How many lines there are."""
        return len(self._starts) - (1 if self._starts[-1] == len(self.text) else 0)

    def blank(self, line: int) -> bool:
        """Tell whether there is a line *line* with nothing in it."""
        return 1 <= line <= self.lines and not self.text[self._at(line) : self._at(line + 1)].strip()

    def insert(self, line: int, lines: list[str]) -> None:
        """Put *lines* before line *line* (one behind the last line: at the end)."""
        at = self._at(line)
        before = self.newline if at and self.text[at - 1] not in "\r\n" else ""
        self._edits.append((at, at, before + "".join(one + self.newline for one in lines)))

    def remove(self, first: int, last: int) -> None:
        """Take out the lines *first* to *last*."""
        self._edits.append((self._at(first), self._at(last + 1), ""))

    def _at(self, line: int) -> int:
        return self._starts[line - 1] if line <= len(self._starts) else len(self.text)

    # -- parameters -----------------------------------------------------------------------------

    def put(self, parameters: Parameters, name: str, value: str) -> None:
        """Give parameter *name* the *value*, behind the others if it is not there yet."""
        item = parameters.get(name)
        if item is None:
            last = max(parameters.items, key=lambda one: one.value_place[1:])
            end = self._span(last)[1]
            self._edits.append((end, end, f" {name}={written(value)}"))
            return
        start, end = self._span(item)
        was_quoted = self.text[start : start + 1].translate(_SMART) == '"'
        self._edits.append((start, end, in_quotes(value) if was_quoted else written(value)))

    def is_whole(self, parameters: Parameters, name: str) -> bool:
        """Tell whether parameter *name* is there, its value on one line."""
        item = parameters.get(name)
        try:
            return item is not None and self._span(item)[1] > 0
        except UsageError:
            return False

    def put_first(self, place: Place, keyword: str, name: str, value: str) -> None:
        """Put a parameter directly behind the *keyword* at *place*."""
        at = self._at(place.line) + place.column - 1 + len(keyword)
        self._edits.append((at, at, f" {name}={written(value)}"))

    def drop(self, parameters: Parameters, name: str) -> None:
        """Take parameter *name* out, with the blanks before it."""
        item = parameters.get(name)
        if item is None:
            return
        start, end = self._at(item.place.line) + item.place.column - 1, self._span(item)[1]
        begin = start
        while begin > 0 and self.text[begin - 1] in " \t":
            begin -= 1
        if begin == 0 or self.text[begin - 1] in "\r\n":
            begin = start
            while end < len(self.text) and self.text[end] in " \t":
                end += 1
        self._edits.append((begin, end, ""))

    def _span(self, item: Parameter) -> tuple[int, int]:
        """Return where the value stands, quotes included."""
        start = self._at(item.value_place.line) + item.value_place.column - 1
        if item.raw == "":
            start = self.text.index("=", self._at(item.place.line) + item.place.column - 1) + 1
        end = start + len(item.raw)
        if self.text[start:end].translate(_SMART) != item.raw:
            raise UsageError(
                f"{self.file}:{item.place.line}: {item.written or item.name} is spread over lines",
                hint="write it on one line by hand, then try again",
            )
        return start, end

    # -- the end --------------------------------------------------------------------------------

    def done(self) -> bytes:
        """Return the file with all edits.

        Raises:
            UsageError: the encoding of the file has no form for what was put in.
        """
        text = self.text
        ordered = sorted((start, end, number, new) for number, (start, end, new) in enumerate(self._edits))
        for start, end, _, new in reversed(ordered):
            text = text[:start] + new + text[end:]
        try:
            made = text.encode(self._encoding)
        except UnicodeEncodeError as error:
            raise UsageError(
                f"{self.file} is Latin-1, which has no {text[error.start]!r}", hint="save it as UTF-8 first"
            ) from error
        return made if not self.body.startswith(_BOM.encode()) else _BOM.encode() + made
