"""Categories as the index has them: each with everything above it, as whole terms of field ``exact``."""

from collections.abc import Iterable
from typing import Final

from ingather.index.languages import clean, exact

__all__ = ["MOST_CATEGORIES", "category_term", "category_terms"]

MOST_CATEGORIES: Final = 64
_LONGEST_CHARS: Final = 255


def category_term(name: str) -> str:
    """Return the term of category ``Archive:Chat``; ``""`` if it has an empty level or is too long."""
    if len(name) > _LONGEST_CHARS:
        return ""
    levels = [exact(clean(level)) for level in name.split(":")]
    term = f"c:{':'.join(levels)}"
    return term if all(levels) and len(term) <= _LONGEST_CHARS else ""


def category_terms(names: Iterable[str]) -> set[str]:
    """Return the terms by which a document of these categories is found: theirs, and those of all above."""
    found: set[str] = set()
    for number, name in enumerate(names):
        if number >= MOST_CATEGORIES:
            break
        term = category_term(name)
        while len(term) > 2:  # noqa: PLR2004 - the letter and its colon
            found.add(term)
            term = term[: max(term.rfind(":"), 2)]
    return found
