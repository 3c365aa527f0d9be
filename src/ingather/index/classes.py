"""Metadata classes in the index: words with the class behind them (``act_w``), marks at both ends of each value, numbers.

Classes are no fields: their names differ by case alone (``x`` and ``X``), and editors make new ones. One field takes the
words of all of them. A value stands between two marks, ``$++_x knowledge_x science_x $++_x``, which answers three questions
with one kind of term: is there any value (the mark), is this a phrase inside one value (the gap between values and the
marks keep phrases apart), is this the whole value (a phrase with both marks). Numbers and dates are beside it, as terms of
growing length, so that a range is a few terms of a plain field.

Source: external metadata specification, section 8.
"""

import struct
from collections.abc import Iterable, Iterator
from typing import Final

from ingather.index.languages import CJK_CHARACTER, PLAIN, clean, is_cjk
from ingather.index.tantivy_analysers import terms

__all__ = [
    "MARK",
    "MAX_FACET_CHARS",
    "amount_range",
    "amount_terms",
    "class_words",
    "facet_prefix",
    "facet_term",
    "value_terms",
]

MARK: Final = "$++"
"""Begins and ends each value of a class; in a query it stands for "any value", or for an end of the value."""
MAX_FACET_CHARS: Final = 255
_SEPARATOR: Final = "\x1f"
_LEVELS: Final = 16
_BITS: Final = 64


def class_words(text: str) -> list[str]:
    """Return the words of *text* as classes have them: without case and accents, not stemmed; ideographs one by one."""
    text = clean(text)
    return terms(PLAIN, CJK_CHARACTER.sub(r" \g<0> ", text) if is_cjk(text) else text)


def value_terms(name: str, value: str) -> str:
    """Return the terms of one value of class *name*, with blanks between them: what the index's field takes."""
    return " ".join(f"{word}_{name}" for word in (MARK, *class_words(value), MARK))


def facet_term(name: str, value: str) -> str:
    """Return the whole value as it is counted and chosen."""
    return f"{facet_prefix(name)}{clean(value)[:MAX_FACET_CHARS]}"


def facet_prefix(name: str) -> str:
    """Return what the whole values of class *name* begin with."""
    return f"{name}{_SEPARATOR}"


def amount_terms(name: str, amount: float) -> Iterator[str]:
    """Yield the terms by which a number is found in ranges: its digits, and all that they begin with."""
    digits = f"{_ordered(amount):016x}"
    return (f"{name}{_SEPARATOR}{digits[:level]}" for level in range(1, _LEVELS + 1))


def amount_range(name: str, low: float | None, high: float | None) -> list[str]:
    """Return the terms that cover the numbers from *low* on (inclusive) to below *high*; ``None`` = no bound."""
    first = 0 if low is None else _ordered(low)
    last = (1 << _BITS) if high is None else _ordered(high)
    return [f"{name}{_SEPARATOR}{digits}" for digits in _cover(first, last)]


def _cover(first: int, last: int) -> Iterable[str]:
    """Yield the fewest beginnings of sixteen hexadecimal digits that stand for *first* to below *last*."""
    while first < last:
        level = 1
        while (
            level < _BITS // 4 and (first & ((1 << 4 * level) - 1) == 0) and first + (1 << 4 * level) <= last
        ):
            level += 1
        span = level - 1
        yield f"{first >> 4 * span:0{_LEVELS - span}x}"
        first += 1 << 4 * span


def _ordered(amount: float) -> int:
    """Return an unsigned number that is ordered as *amount* is among floating-point numbers."""
    bits: int = struct.unpack(">Q", struct.pack(">d", amount + 0.0))[0]
    return bits ^ ((1 << _BITS) - 1) if bits >> (_BITS - 1) else bits | 1 << (_BITS - 1)
