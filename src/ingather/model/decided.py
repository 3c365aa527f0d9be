"""Who decided about deletions, and why; and which deletions are to be undone."""

from dataclasses import dataclass

__all__ = ["NOBODY", "By", "Undo"]

_MOST_AUTHOR, _MOST_NOTE = 100, 500


@dataclass(frozen=True, slots=True)
class By:
    """A person's name and reason, both ``""`` if unknown; one line each, cut where they are too long."""

    author: str = ""
    note: str = ""

    @classmethod
    def of(cls, author: str, note: str) -> "By":
        """Return what may be kept of it."""
        return cls(_line(author, _MOST_AUTHOR), _line(note, _MOST_NOTE))


NOBODY = By()


@dataclass(frozen=True, slots=True)
class Undo:
    """Which deletions are to be undone; all that is given must be true of each.

    What was removed by hand is among them only when the decision that removed it is named.

    Attributes:
        run: run that made them.
        reason: their reason, or a part of it, in any case.
        hold: hold whose release made them.
        source: whose documents they were.
        decision: row of what a person decided (a removal, a source that was deleted).
    """

    run: int | None = None
    reason: str = ""
    hold: int | None = None
    source: str = ""
    decision: int | None = None

    def __str__(self) -> str:
        said = (
            ("decision", "" if self.decision is None else str(self.decision)),
            ("run", "" if self.run is None else str(self.run)),
            ("reason", self.reason),
            ("hold", "" if self.hold is None else str(self.hold)),
            ("source", self.source),
        )
        return ", ".join(f"{name} {value}" for name, value in said if value)

    @property
    def empty(self) -> bool:
        """Whether nothing is given, which would mean everything."""
        return not str(self)


def _line(text: str, most: int) -> str:
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())[:most]
