"""Findings in a configuration as a terminal shows them: the line, a caret under the column."""

from collections.abc import Iterable, Iterator, Mapping

from ingather.errors import Finding
from ingather.model.diagnostic import Diagnostic, Place

__all__ = ["excerpt", "told"]

_WIDTH = 100
_LEAD = 30


def told(findings: Iterable[Finding], bodies: Mapping[str, bytes] | None) -> Iterator[str]:
    """Yield the lines that say *findings*.

    Args:
        findings: in the order in which they are to stand.
        bodies: name -> bytes of the files, to show the lines in question; ``None`` = the reader is no person.
    """
    texts = _Texts(bodies) if bodies is not None else None
    for found in findings:
        head, *notes = str(found).splitlines() or [""]
        yield head
        if texts is not None and isinstance(found, Diagnostic):
            yield from excerpt(texts.line(found.place), found.column)
        yield from notes


class _Texts:
    """Lines of the files that were read, split once."""

    def __init__(self, bodies: Mapping[str, bytes]) -> None:
        self._bodies = bodies
        self._lines: dict[str, list[str]] = {}

    def line(self, place: Place) -> str | None:
        """Return the line at *place*; ``None`` if its file was not read or has no such line."""
        if place.file not in self._lines:
            body = self._bodies.get(place.file, b"")
            try:
                text = body.decode("utf-8-sig")
            except UnicodeDecodeError:
                text = body.decode("latin-1")
            self._lines[place.file] = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        lines = self._lines[place.file]
        from ingather.conf.redaction import redacted  # help loads nothing of conf

        return redacted(place.file, lines[place.line - 1]) if 0 < place.line <= len(lines) else None


def excerpt(line: str | None, column: int) -> list[str]:
    """Return the part of *line* around *column* (from 1) and a caret under it; nothing for no line."""
    if line is None or not line.strip():
        return []
    start = max(0, column - _LEAD) if column > _WIDTH else 0
    part = "".join(c if c.isprintable() else " " for c in line[start : start + _WIDTH])
    before = "..." if start else ""
    after = "..." if start + _WIDTH < len(line) else ""
    return [f"  {before}{part}{after}", f"  {' ' * (len(before) + column - 1 - start)}^"]
