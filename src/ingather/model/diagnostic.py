"""What an operator wrote wrongly: where, what, and what to do about it."""

from dataclasses import dataclass, field
from typing import NamedTuple

__all__ = ["Diagnostic", "Place"]


class Place(NamedTuple):
    """A spot in a file: 1-based physical line and column (in characters)."""

    # A tuple, because a big configuration has a million of them.

    file: str
    line: int
    column: int = 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding; prints as ``FILE:LINE:COL: SEVERITY CODE: text; hint`` plus notes.

    ``code`` starts with ``E-`` (refuses the configuration) or ``W-`` (loads all the same).
    """

    code: str
    place: Place
    text: str
    hint: str | None = None
    notes: tuple[tuple[Place, str], ...] = field(default=())
    severity: str = ""

    def __post_init__(self) -> None:
        if not self.severity:
            object.__setattr__(self, "severity", "error" if self.code.startswith("E-") else "warning")

    @property
    def is_error(self) -> bool:
        """Whether this finding alone refuses the configuration."""
        return self.severity == "error"

    @property
    def file(self) -> str:
        """The file's name as the operator knows it."""
        return self.place.file

    @property
    def line(self) -> int:
        """Physical line, from 1."""
        return self.place.line

    @property
    def column(self) -> int:
        """Column in characters, from 1."""
        return self.place.column

    def __str__(self) -> str:
        head = f"{self.place}: {self.severity} {self.code}: {self.text}"
        lines = [f"{head}; {self.hint}" if self.hint else head]
        lines += [f"note: {place.file}:{place.line}: {text}" for place, text in self.notes]
        return "\n".join(lines)
