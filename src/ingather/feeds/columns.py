"""Columns of findings: a second look at the file, for people who open it in an editor.

Parsers of XML say lines only. The column is that of the element's start tag in the line, or of the line's first character.
"""

import io
import re
from collections.abc import Iterable, Mapping
from typing import BinaryIO, Final, NamedTuple

from ingather.errors import FeedError
from ingather.feeds.encoding import HEAD_BYTES, detect

__all__ = ["Spot", "columns"]

_LONGEST: Final = 1 << 20
"""Characters of a line that are looked at; what lies behind has no column."""


class Spot(NamedTuple):
    """Where a finding is: line from 1, name of the element (``""`` = the line itself), which one of that name in the line, from 1."""

    line: int
    element: str = ""
    nth: int = 1


def columns(stream: BinaryIO, spots: Iterable[Spot]) -> Mapping[Spot, int]:
    """Return the column, from 1 and in characters, of each spot that can be seen in *stream*; reads it from its start."""
    wanted: dict[int, list[Spot]] = {}
    for spot in spots:
        if spot.line > 0:
            wanted.setdefault(spot.line, []).append(spot)
    found: dict[Spot, int] = {}
    if not wanted:
        return found
    stream.seek(0)
    try:
        encoding = detect(stream.read(HEAD_BYTES))
    except FeedError:
        return found
    stream.seek(encoding.skip)
    text = io.TextIOWrapper(stream, encoding.codec, errors="replace", newline="\n")
    try:
        last, number = max(wanted), 0
        while number < last and (line := text.readline(_LONGEST)):
            number += 1
            for spot in wanted.get(number, ()):
                column = _column(line, spot)
                if column:
                    found[spot] = column
            while line and not line.endswith("\n"):
                line = text.readline(_LONGEST)
    finally:
        text.detach()
    return found


def _column(line: str, spot: Spot) -> int:
    if spot.element:
        tag = re.compile(rf"<(?:[^\s<>/:]+:)?{re.escape(spot.element)}(?![^\s<>/])", re.IGNORECASE)
        for count, match in enumerate(tag.finditer(line), 1):
            if count == spot.nth:
                return match.start() + 1
    blank = len(line) - len(line.lstrip())
    return blank + 1 if blank < len(line) else 0
