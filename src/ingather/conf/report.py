"""Findings about configuration, collected so that an operator sees all of them at once."""

from collections.abc import Iterable
from dataclasses import replace

from ingather.conf.names import nearest
from ingather.model.diagnostic import Diagnostic, Place

__all__ = ["COMPARED", "KEPT", "SHOWN", "Report"]

KEPT = 5_000
"""Errors, and warnings, that a report holds at most; what comes later is only counted."""

COMPARED = 20_000
"""Names that are compared with misspelt ones, in all."""

_LONGEST = 500

SHOWN = 1000
"""Errors, and warnings, that people are shown at most."""

Notes = tuple[tuple[Place, str], ...]


class Report:
    """A growing list of diagnostics about a set of files.

    Args:
        strict: leniencies of the lexer (section 3.1 of the robot specification) count as errors.

    Attributes:
        diagnostics: the first :data:`KEPT` errors and the first :data:`KEPT` warnings.
        errors, warnings: how many there are, those that are not kept included.
    """

    __slots__ = ("_compared", "_left", "diagnostics", "errors", "strict", "warnings")

    def __init__(self, *, strict: bool = False) -> None:
        self.strict = strict
        self.diagnostics: list[Diagnostic] = []
        self.errors = 0
        self.warnings = 0
        self._compared = 0
        self._left = {True: KEPT, False: KEPT}

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
        error = severity == "error" if severity else code.startswith("E-")
        if error:
            self.errors += 1
        else:
            self.warnings += 1
        if not self._left[error]:
            return
        self._left[error] -= 1
        if len(text) > _LONGEST:
            text = f"{text[:_LONGEST]}..."
        if hint is not None and len(hint) > _LONGEST:
            hint = f"{hint[:_LONGEST]}..."
        self.diagnostics.append(Diagnostic(code, place, text, hint=hint, notes=notes, severity=severity))

    def take(self, found: Diagnostic) -> None:
        """Record a finding that was made elsewhere."""
        self.add(
            found.code, found.place, found.text, hint=found.hint, notes=found.notes, severity=found.severity
        )

    def only_counts(self, number: int = 1) -> bool:
        """Count *number* errors if that is all that would happen to them, so that words for them can be spared."""
        if self._left[True]:
            return False
        self.errors += number
        return True

    def only_counts_warning(self) -> bool:
        """Count a warning if that is all that would happen to it, so that words for it can be spared."""
        if self._left[False]:
            return False
        self.warnings += 1
        return True

    def soften(self, number: int) -> None:
        """Make a warning of finding *number*, which is an error."""
        self.diagnostics[number] = replace(self.diagnostics[number], severity="warning")
        self.errors -= 1
        self.warnings += 1

    def tolerate(self, code: str, place: Place, text: str, *, hint: str | None = None) -> None:
        """Record something odd that is read all the same, unless the files are read strictly."""
        self.add(code, place, text, hint=hint, severity="error" if self.strict else "warning")

    def suggest(self, word: str, names: Iterable[str]) -> str | None:
        """Return a hint that names the nearest of *names*, or ``None``."""
        found = self.nearest(word, names)
        return f"did you mean {' or '.join(found)}?" if found else None

    def nearest(self, word: str, names: Iterable[str], *, limit: int = 3) -> list[str]:
        """Return the nearest of *names*, best first.

        Comparing takes its time: once :data:`COMPARED` names were looked at for this report there are no
        more guesses.
        """
        if self._compared >= COMPARED:
            return []
        known = set(names)
        self._compared += len(known)
        return nearest(word, known, limit=limit)

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
