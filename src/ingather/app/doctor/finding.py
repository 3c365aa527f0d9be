"""What one look of the doctor gave."""

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Finding", "Level", "error", "fine", "warning"]


class Level(StrEnum):
    """How bad it is: fine; a warning: it works now, but will not for ever; an error: something does not work."""

    FINE = "ok"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class Finding:
    """One answer: *check* is what was looked at, *text* what was found, *do* what helps (``""`` when nothing is wrong)."""

    check: str
    level: Level
    text: str
    do: str = ""

    def form(self) -> dict[str, str]:
        """Return it as JSON shows it."""
        return {"check": self.check, "level": str(self.level), "text": self.text, "do": self.do}


def fine(check: str, text: str) -> Finding:
    """Return what is as it should be."""
    return Finding(check, Level.FINE, text)


def warning(check: str, text: str, do: str) -> Finding:
    """Return what will hurt some day."""
    return Finding(check, Level.WARNING, text, do)


def error(check: str, text: str, do: str) -> Finding:
    """Return what does not work."""
    return Finding(check, Level.ERROR, text, do)
