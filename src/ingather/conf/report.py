"""Findings about configuration, collected so that an operator sees all of them at once."""

from ingather.model.diagnostic import Diagnostic, Place

__all__ = ["Report"]

Notes = tuple[tuple[Place, str], ...]


class Report:
    """A growing list of diagnostics about a set of files.

    Args:
        strict: leniencies of the lexer (section 3.1 of the robot specification) count as errors.
    """

    __slots__ = ("diagnostics", "strict")

    def __init__(self, *, strict: bool = False) -> None:
        self.strict = strict
        self.diagnostics: list[Diagnostic] = []

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
        self.diagnostics.append(Diagnostic(code, place, text, hint=hint, notes=notes, severity=severity))

    def tolerate(self, code: str, place: Place, text: str, *, hint: str | None = None) -> None:
        """Record something odd that is read all the same, unless the files are read strictly."""
        self.add(code, place, text, hint=hint, severity="error" if self.strict else "warning")

    @property
    def refused(self) -> bool:
        """Whether any finding is an error."""
        return any(d.is_error for d in self.diagnostics)

    def sorted(self) -> tuple[Diagnostic, ...]:
        """Return the findings by file (in order of first finding), line and column."""
        order: dict[str, int] = {}
        for diagnostic in self.diagnostics:
            order.setdefault(diagnostic.file, len(order))
        return tuple(sorted(self.diagnostics, key=lambda d: (order[d.file], d.line, d.column)))
