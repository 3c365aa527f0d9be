"""What is noted while a file is read: all is counted, the first thousand are kept."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from ingather.model.diagnostic import Diagnostic, Place

__all__ = ["ERRORS", "KEPT", "WARNINGS", "Counts", "Findings", "log_line"]

KEPT: Final = 1000
"""So many errors, and so many warnings, are kept with place and text."""

ERRORS: Final = (
    "bad-utf8", "no-host", "no-full-host", "bad-host", "bad-port", "scheme", "userinfo", "fragment", "bad-escape",
    "quote-in-prefix", "no-elements", "no-colon", "bad-class", "missing-value", "unterminated-quote",
    "junk-after-quote", "quote-in-word", "bad-date", "too-long",
)  # fmt: skip
WARNINGS: Final = (
    "duplicate-of-line-N", "bare-punctuation", "html-escaped-prefix", "open-ended-prefix", "reserved-class",
    "second-date", "dropped-parameter", "never-matched", "schemeless-https",
)  # fmt: skip
"""The last two need the catalog: :mod:`ingather.overlay.against` makes them."""


@dataclass(slots=True)
class Counts:
    """What a file holds.

    Attributes:
        lines: physical lines.
        records: lines that are neither blank nor a comment.
        bad: records with an error.
        duplicates: good records whose prefix an earlier line has.
        expiring: good records that set the last day of validity (``X``).
        errors, warnings: findings, kept or not.
    """

    lines: int = 0
    records: int = 0
    bad: int = 0
    duplicates: int = 0
    expiring: int = 0
    errors: int = 0
    warnings: int = 0


class Findings:
    """Takes what is found in one file."""

    def __init__(self, file: str, counts: Counts) -> None:
        self._file = file
        self._counts = counts
        self._errors: list[Diagnostic] = []
        self._warnings: list[Diagnostic] = []

    def error(self, code: str, line: int, column: int, text: str, hint: str | None = None) -> None:
        """Note what makes a line bad; *column* counts characters from 1."""
        self._counts.errors += 1
        if len(self._errors) < KEPT:
            self._errors.append(
                Diagnostic(code, Place(self._file, line, column), text, hint, severity="error")
            )

    def warning(self, code: str, line: int, column: int, text: str, hint: str | None = None) -> None:
        """Note what a line had better not do."""
        self._counts.warnings += 1
        if len(self._warnings) < KEPT:
            self._warnings.append(
                Diagnostic(code, Place(self._file, line, column), text, hint, severity="warning")
            )

    def all(self) -> tuple[Diagnostic, ...]:
        """Return what was kept, in the order of the file."""
        return tuple(sorted(self._errors + self._warnings, key=lambda found: found.place[1:]))


def log_line(finding: Diagnostic) -> str:
    """Return ``file:line:col severity code text``, the form of the validation log."""
    text = f"{finding.text}; {finding.hint}" if finding.hint else finding.text
    return f"{finding.place} {finding.severity} {finding.code} {text}"


def log_lines(findings: tuple[Diagnostic, ...], counts: Counts) -> Iterator[str]:
    """Yield the kept findings, and how many more there are."""
    yield from map(log_line, findings)
    more = counts.errors + counts.warnings - len(findings)
    if more > 0:
        yield f"... and {more} more (errors: {counts.errors}, warnings: {counts.warnings})"
