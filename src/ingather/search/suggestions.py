"""Corrected words and completions, out of the titles that the searcher may see."""

from collections.abc import Callable, Sequence
from typing import Final

from ingather.index import clean, is_cjk, terms

__all__ = ["MAX_LOOKED_AT", "correction", "distance"]

MAX_LOOKED_AT: Final = 1_000
"""Title words that are compared with one misspelt word."""

_MIN_CHARS: Final = 4
_LONG_CHARS: Final = 8

Lookup = Callable[[str, int], Sequence[tuple[str, int]]]


def correction(word: str, lookup: Lookup) -> str:
    """Return the visible title word that *word* was most likely meant to be, ``""`` if none is near.

    Args:
        word: as typed.
        lookup: (prefix, limit) -> (word, how many visible titles have it).
    """
    folded = "".join(terms("xx", clean(word)))
    if len(folded) < _MIN_CHARS or is_cjk(folded) or not folded.isalpha():
        return ""
    most = 1 if len(folded) < _LONG_CHARS else 2
    letters = set(folded)
    best: tuple[int, int, str] | None = None
    # The first letters are seldom wrong; when they are, it is mostly one of the two.
    for prefix in dict.fromkeys((folded[:3], folded[:2], folded[1] + folded[0], folded[0])):
        for candidate, count in lookup(prefix, MAX_LOOKED_AT):
            if abs(len(candidate) - len(folded)) > most or candidate == folded:
                continue
            # A change replaces one letter by another at most: this spares most candidates the comparison.
            if len(letters.symmetric_difference(candidate)) > 2 * most:
                continue
            apart = distance(folded, candidate, most)
            if apart <= most and (best is None or (apart, -count, candidate) < best):
                best = (apart, -count, candidate)
        if best is not None and best[0] == 1:
            break
    return best[2] if best else ""


def distance(a: str, b: str, most: int) -> int:
    """Return how many letters must be put, dropped, changed or swapped with their neighbour; above *most*: more."""
    if abs(len(a) - len(b)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, start=1):
        last, before, row = before, row, [i]
        for j, y in enumerate(b, start=1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return row[-1]
