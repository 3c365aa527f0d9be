"""Physical lines to logical lines: comments, continuation, open quotes (rules L3 to L7, L10).

One lexer for filter.conf, robot.conf and filterrules.conf. Wrapped lines (L8) need to know the
directives and are joined by :mod:`ingather.conf.text.blocks`; parameters are read by
:mod:`ingather.conf.text.parameters`.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from ingather.conf.report import Report
from ingather.conf.text.physical import Line, physical_lines
from ingather.model.diagnostic import Place

__all__ = ["MAX_LOGICAL_CHARS", "Logical", "Remark", "lex", "lex_parts"]

MAX_LOGICAL_CHARS = 65_536
_PART = 4_096
_SMART_QUOTES = "\u201c\u201d"
_SMART = dict.fromkeys(map(ord, _SMART_QUOTES), '"')
_BLANKS = " \t\v\f"
_SPECIAL = re.compile("[\\\\#\u201c\u201d]")
_SCANNED = re.compile(r'\\|"|#')


class Remark(NamedTuple):
    """A comment or blank line, as written."""

    text: str
    place: Place


@dataclass(slots=True)
class Logical:
    """A logical line.

    Attributes:
        file: name for messages.
        text: content without leading blanks, trailing comment and continuation marks.
        spots: (offset in *text*, physical line, column) of each joined piece, ascending.
        indented: whether blanks stood before it.
        comment: trailing comment with its ``#``, or ``""``.
        open_quote: offset of a quote that never closes, or -1.
        cut: whether the file ended where more was announced.
    """

    file: str
    text: str = ""
    spots: list[tuple[int, int, int]] = field(default_factory=list)
    indented: bool = False
    comment: str = ""
    open_quote: int = -1
    cut: bool = False

    def place(self, offset: int) -> Place:
        """Return where the character at *offset* stands in the file."""
        spots = self.spots
        if len(spots) == 1:
            start, line, column = spots[0]
            return Place(self.file, line, column + offset - start)
        at = max(0, bisect_right(spots, offset, key=lambda spot: spot[0]) - 1)
        start, line, column = spots[at]
        return Place(self.file, line, column + offset - start)


def lex(text: str, file: str, report: Report) -> list[Logical | Remark]:
    """Return the logical lines and remarks of *text* in order."""
    return [one for part, _ in lex_parts(physical_lines(text, file, report), file, report) for one in part]


def lex_parts(lines: list[Line], file: str, report: Report) -> Iterator[tuple[list[Logical | Remark], int]]:
    """Yield the logical lines and remarks of *lines* part by part, and how many of *lines* are read.

    For who may see from the first parts that the file is worth no more.
    """
    lexer = _Lexer(file, report)
    for start in range(0, len(lines), _PART):
        done = min(start + _PART, len(lines))
        lexer.feed(lines[start:done])
        if done == len(lines):
            lexer.end(lines[-1])
        out, lexer.out = lexer.out, []
        yield out, done


class _Lexer:
    """State while lines are joined: the open logical line and whether a quote is open in it."""

    def __init__(self, file: str, report: Report) -> None:
        self.file = file
        self.report = report
        self.out: list[Logical | Remark] = []
        self.current: Logical | None = None
        self.pieces: list[str] = []
        self.length = 0
        self.quote: Place | None = None
        self.quote_offset = -1
        self.skipping = False

    def feed(self, lines: list[Line]) -> None:
        out, file, special = self.out, self.file, _SPECIAL.search
        for line in lines:
            number, text = line
            bare = text.strip(_BLANKS)
            if (
                not bare
                or special(bare) is not None
                or self.current is not None
                or self.skipping
                or len(text) > MAX_LOGICAL_CHARS
                or ('"' in bare and bare.count('"') % 2)
            ):
                self._take(line, bare)
                continue
            # Nearly every line: nothing to join, to cut off or to remark upon.
            indent = text.index(bare) if text[0] in _BLANKS else 0
            out.append(Logical(file, bare, [(0, number, indent + 1)], indent > 0))

    def end(self, last: Line) -> None:
        """Close what is open behind the *last* line of the file."""
        if self.current is not None:
            opening = self.quote or self.current.place(0)
            self.report.add(
                "E-TRUNC",
                Place(self.file, last.number, len(last.text) + 1),
                "the file ends inside a quoted value"
                if self.quote
                else "the file ends after a continuation backslash",
                notes=((opening, "it began here"),),
            )
            self.current.cut = True
            self._finish("")

    def _take(self, line: Line, bare: str) -> None:
        if self.skipping or self.length + len(line.text) > MAX_LOGICAL_CHARS:
            self._skip(line, bare)
            return
        if self.quote is None and (not bare or bare[0] == "#"):
            # A remark ends a pending continuation; a parameter that follows it is still joined (L8).
            if self.current is not None:
                self._finish("")
            self._remark(line, line.text)
            self.out.append(Remark(line.text, Place(self.file, line.number)))
            return
        plain = line.text.translate(_SMART)
        comment_at, quote_at = self._scan(plain)
        content = plain if comment_at < 0 else plain[:comment_at]
        self._smart_quotes(line, len(content))
        start = 0
        if self.quote is None or self.current is None:
            start = len(content) - len(content.lstrip(_BLANKS))
        content, more = (
            self._continuation(content, line) if comment_at < 0 else (content.rstrip(_BLANKS), False)
        )
        self._append(content[start:], line.number, start)
        if quote_at is None:
            self.quote, self.quote_offset = None, -1
        elif quote_at >= 0:
            self.quote = Place(self.file, line.number, quote_at + 1)
            self.quote_offset = self.length - len(content) + quote_at
        if more:
            return
        comment = ""
        if comment_at >= 0:
            comment = line.text[comment_at:].rstrip(_BLANKS)
            self._remark(line, comment)
        self._finish(comment)

    def _scan(self, text: str) -> tuple[int, int | None]:
        """Return where a trailing comment starts (-1: none) and the quote left open.

        The second value is the offset of a quote opened on this line, -1 for one that was
        open before and still is, ``None`` for none.
        """
        quote: int | None = None if self.quote is None else -1
        escaped = -1
        for found in _SCANNED.finditer(text):
            at = found.start()
            c = found[0]
            if at == escaped:
                continue
            if c == "\\":
                escaped = at + 1
            elif c == '"':
                quote = at if quote is None else None
            elif quote is None and at > 0 and text[at - 1] in _BLANKS:
                return at, None
        return -1, quote

    def _skip(self, line: Line, bare: str) -> None:
        """Refuse a line that is too long, without reading it, and all that it continues on."""
        if not self.skipping:
            place = self.current.place(0) if self.current else Place(self.file, line.number)
            self.report.add(
                "E-LINE-TOO-LONG",
                place,
                f"line of more than {MAX_LOGICAL_CHARS} characters",
                hint="is a quote or a backslash at the end of a line one too many?" if self.current else None,
            )
            self._reset()
        self.skipping = bare.endswith("\\")

    def _continuation(self, content: str, line: Line) -> tuple[str, bool]:
        """Take a continuation mark off *content*; tell whether the next line belongs to it (L6)."""
        bare = content.rstrip(_BLANKS)
        marks = len(bare) - len(bare.rstrip("\\"))
        if not marks:
            return (bare if self.quote is None else content), False
        place = Place(self.file, line.number, len(bare))
        if len(bare) != len(content):
            self.report.tolerate("W-CONT-BLANK", place, "blanks after the continuation backslash")
        if marks % 2:
            return bare[:-1], True
        self.report.tolerate(
            "W-CONT-DOUBLED", place, "doubled continuation backslash", hint="write one backslash at the end"
        )
        return bare[:-2], True

    def _append(self, piece: str, number: int, column0: int) -> None:
        """Join *piece* to the open logical line: a space between, nothing inside a quote (L7)."""
        if self.current is None:
            self.current = Logical(self.file, indented=column0 > 0)
        elif self.quote is None:
            piece_before = self.pieces[-1].rstrip(_BLANKS)
            self.length -= len(self.pieces[-1]) - len(piece_before)
            self.pieces[-1] = piece_before + " "
            self.length += 1
        self.current.spots.append((self.length, number, column0 + 1))
        self.pieces.append(piece)
        self.length += len(piece)

    def _finish(self, comment: str) -> None:
        line = self.current
        if line is None:
            return
        line.text = "".join(self.pieces).rstrip(_BLANKS)
        line.comment = comment
        line.open_quote = self.quote_offset if self.quote else -1
        self.out.append(line)
        self._reset()

    def _reset(self) -> None:
        self.current, self.pieces, self.length, self.quote, self.quote_offset = None, [], 0, None, -1

    def _remark(self, line: Line, comment: str) -> None:
        if comment.rstrip(_BLANKS).endswith("\\"):
            self.report.tolerate(
                "W-COMMENT-BACKSLASH",
                Place(self.file, line.number, len(line.text.rstrip(_BLANKS))),
                "a backslash does not continue a comment",
            )

    def _smart_quotes(self, line: Line, content_length: int) -> None:
        at = min((i for i in map(line.text.find, _SMART_QUOTES) if i >= 0), default=content_length)
        if at < content_length:
            place = Place(self.file, line.number, at + 1)
            self.report.tolerate("W-SMARTQUOTE", place, 'typographic quote taken as "')
