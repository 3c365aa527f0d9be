"""Findings about configuration, collected so that an operator sees all of them at once."""

from dataclasses import replace

from ingather.model.diagnostic import Diagnostic, Place

__all__ = ["KEPT", "SHOWN", "Report"]

KEPT = 100_000
"""Findings that a report holds at most; what comes later is only counted."""

SHOWN = 1000
"""Errors, and warnings, that people are shown at most."""

Notes = tuple[tuple[Place, str], ...]


class Report:
    """A growing list of diagnostics about a set of files.

    Args:
        strict: leniencies of the lexer (section 3.1 of the robot specification) count as errors.

    Attributes:
        diagnostics: the first :data:`KEPT` findings.
        errors, warnings: how many there are, those that are not kept included.
    """

    __slots__ = ("diagnostics", "errors", "strict", "warnings")

    def __init__(self, *, strict: bool = False) -> None:
        self.strict = strict
        self.diagnostics: list[Diagnostic] = []
        self.errors = 0
        self.warnings = 0

    def add(  # noqa: PLR0913 - everything that a finding can say
        self,
        code: str,
        place: Place,
        text: str,
        *,
        hint: str | None = None,
        notes: Notes = (),
        severity: str = "",
    ) -> None:
        """Record a finding; its severity follows from *code* unless *severity* says otherwise."""
        found = Diagnostic(code, place, text, hint=hint, notes=notes, severity=severity)
        if found.is_error:
            self.errors += 1
        else:
            self.warnings += 1
        if len(self.diagnostics) < KEPT:
            self.diagnostics.append(found)

    def soften(self, number: int) -> None:
        """Make a warning of finding *number*, which is an error."""
        self.diagnostics[number] = replace(self.diagnostics[number], severity="warning")
        self.errors -= 1
        self.warnings += 1

    def tolerate(self, code: str, place: Place, text: str, *, hint: str | None = None) -> None:
        """Record something odd that is read all the same, unless the files are read strictly."""
        self.add(code, place, text, hint=hint, severity="error" if self.strict else "warning")

    @property
    def refused(self) -> bool:
        """Whether any finding is an error."""
        return self.errors > 0

    def sorted(self) -> tuple[Diagnostic, ...]:
        """Return the findings by file (in order of first finding), line and column.

        Of errors and of warnings the first :data:`SHOWN` each.
        """
        order: dict[str, int] = {}
        for diagnostic in self.diagnostics:
            order.setdefault(diagnostic.file, len(order))
        left = {True: SHOWN, False: SHOWN}
        found = []
        for diagnostic in sorted(self.diagnostics, key=lambda d: (order[d.file], d.line, d.column)):
            if left[diagnostic.is_error]:
                left[diagnostic.is_error] -= 1
                found.append(diagnostic)
        return tuple(found)
