"""Nearest names: what an operator may have meant."""

from collections.abc import Collection, Iterable
from itertools import islice

__all__ = ["distance", "few", "nearest", "suggestion"]

_FEW = 20


def distance(one: str, other: str) -> int:
    """Return the edit distance (insert, delete, replace, swap of neighbours count 1 each)."""
    before: list[int] = []
    last = list(range(len(other) + 1))
    for i, a in enumerate(one, start=1):
        row = [i]
        for j, b in enumerate(other, start=1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        before, last = last, row
    return last[-1]


def _unlikeness(word: str, name: str) -> int:
    """Return the distance of two names; two names run together are near to both of them."""
    found = distance(word, name)
    if len(name) >= 6 and (name in word or word in name):  # noqa: PLR2004 - shorter ones are in everything
        return min(found, 1)
    start = 0
    while start < min(len(word), len(name)) and word[start] == name[start]:
        start += 1
    # "assign-type-by-ext" of "assign-type-by-extension", with something else glued to it
    return min(found, len(name) - start) if start * 3 >= len(name) * 2 else found


def nearest(word: str, names: Iterable[str], *, limit: int = 3) -> list[str]:
    """Return at most *limit* of *names* that *word* may have been meant for, best first."""
    word = word.lower()[:100]
    bound = max(2, len(word) // 3)
    ranked = sorted(
        (_unlikeness(word, name.lower()), name)
        for name in set(names)
        if _comparable(word, name.lower(), bound)
    )
    return [name for found, name in ranked if found <= bound][:limit]


def _comparable(word: str, name: str, bound: int) -> bool:
    """Tell, fast, whether *name* can be near to *word* at all."""
    return abs(len(word) - len(name)) <= bound or name in word or word in name or word[:4] == name[:4]


def suggestion(word: str, names: Iterable[str]) -> str | None:
    """Return a hint that names the nearest of *names*, or ``None``."""
    found = nearest(word, names)
    return f"did you mean {' or '.join(found)}?" if found else None


def few(names: Collection[str]) -> str:
    """Return *names* for a message: the first twenty, and how many more there are."""
    shown = ", ".join(islice(names, _FEW))
    return f"{shown} and {len(names) - _FEW} more" if len(names) > _FEW else shown or "none"
