"""What is asked for, and occurs in hidden documents alone: to whoever may not see these it must be as if it were nowhere.

Each word of a question, and each operator with a value, is looked for once in what a viewer may see of a state of the index. What is not
there takes the way of what is nowhere from then on, so that the time of an answer tells no more of it. The one look itself does the same for both: where there is
nothing to look for, it looks for a document that nobody sees.
"""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from ingather.index.languages import PLAIN, clean
from ingather.index.question import (
    AllOf,
    AnyOf,
    Category,
    ClassRange,
    ClassValue,
    FileType,
    Node,
    Not,
    Obligatory,
    Phrase,
    Question,
    Site,
    Title,
    Word,
)
from ingather.index.tantivy_analysers import positions

__all__ = ["Unit", "VisibleUnits", "Wanted", "units", "within"]

_KEPT: Final = 20_000

Unit = Word | ClassValue | ClassRange | Site | FileType | Category
"""A part of a question that is looked for by itself."""


class Wanted(NamedTuple):
    """One thing that a question names. ``needed``: nothing is found without it."""

    unit: Unit
    needed: bool


def units(question: Question) -> Iterator[Wanted]:
    """Yield what *question* names, phrases word by word."""
    for node in question.tree.nodes:
        needed = not isinstance(node, Not | AnyOf) and not (question.least and isinstance(node, Word))
        for unit in within(node):
            yield Wanted(unit, needed)


def within(node: Node) -> Iterator[Unit]:
    """Yield what *node* names; what is taken apart (``e-mail``) after its parts."""
    match node:
        case Not(inner) | Obligatory(inner):
            yield from within(inner)
        case AnyOf(nodes) | AllOf(nodes):
            for one in nodes:
                yield from within(one)
        case Phrase(text) | Title(text):
            for piece in text.split():
                yield from within(Word(piece))
        case Word(text):
            parts = positions(PLAIN, clean(text))
            if len(parts) > 1:
                yield from (Word(part) for _, part in parts)
            yield node
        case _:
            yield node


class VisibleUnits:
    """What is known of the units of questions, for one viewer and one state of the index; any thread may ask.

    Args:
        lasting: whether what he sees now he sees as long as the state lasts: no document expires.

    Attributes:
        absent: (field, term or terms) that only hidden documents have: for him they occur 0 times.
    """

    def __init__(self, *, lasting: bool) -> None:
        self._lasting = lasting
        self._known: dict[Unit, bool] = {}
        self.absent: dict[tuple[str, object], int] = {}

    def known(self, unit: Unit) -> bool | None:
        """Return whether *unit* occurs in what the viewer sees, ``None`` if nobody has looked."""
        return self._known.get(unit)

    def note(self, unit: Unit, held: Iterable[tuple[str, object]], *, seen: bool) -> None:
        """Remember whether *unit* was seen; what is seen now may expire, what is not is not seen later.

        Args:
            unit: a part of a question.
            held: the (field, term or terms) that there are of it.
            seen: whether a document that the viewer sees has it.
        """
        if len(self._known) >= _KEPT:
            self._known.clear()
            self.absent.clear()
        if self._lasting or not seen:
            self._known[unit] = seen
        if not seen:
            self.absent.update(dict.fromkeys(held, 0))
