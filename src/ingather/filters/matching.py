"""Many tests of one source at once: which is the first rule that matches?

Whole values, beginnings and endings are looked up in dictionaries by length; contained texts and
expressions are one RE2 set. The cost does not depend on the number of rules.
"""

from collections.abc import Callable, Iterable

import re2
from ingather.conf.patterns import FOLDED_SOURCES, options
from ingather.conf.rulesconf import Match

__all__ = ["NONE", "FirstMatch"]

NONE = 1 << 30
"""Number of no rule, larger than any."""

_Tables = list[tuple[int, dict[str, int]]]


class FirstMatch:
    """Finds the smallest number among (number, match) pairs whose match holds for a value."""

    __slots__ = ("_folded", "_plain", "_tests")

    def __init__(self, pairs: Iterable[tuple[int, Match]]) -> None:
        plain: list[tuple[int, Match]] = []
        folded: list[tuple[int, Match]] = []
        self._tests: list[tuple[int, Callable[[str], bool]]] = []
        for number, match in pairs:
            pattern = match.pattern
            if pattern is not None and (pattern.excepts is not None or not pattern.expression):
                self._tests.append((number, pattern.test))
            elif match.ignore_case or match.source in FOLDED_SOURCES:
                folded.append((number, match))
            else:
                plain.append((number, match))
        self._plain = _Lookup(plain, folded=False) if plain else None
        self._folded = _Lookup(folded, folded=True) if folded else None

    def first(self, value: str) -> int:
        """Return the smallest matching number, :data:`NONE` if there is none."""
        best = NONE
        if self._plain is not None:
            best = self._plain.first(value)
        if self._folded is not None:
            best = min(best, self._folded.first(value.lower()))
        for number, test in self._tests:
            if number >= best:
                break
            if test(value):
                return number
        return best


class _Lookup:
    """The tables of one treatment of case."""

    __slots__ = ("_exact", "_numbers", "_prefixes", "_set", "_suffixes")

    def __init__(self, pairs: list[tuple[int, Match]], *, folded: bool) -> None:
        self._exact: dict[str, int] = {}
        prefixes: dict[int, dict[str, int]] = {}
        suffixes: dict[int, dict[str, int]] = {}
        self._numbers: list[int] = []
        found = re2.Set.SearchSet(options(folded=folded))
        for number, match in pairs:
            text = match.value.lower() if folded else match.value
            if match.method == "is":
                self._exact.setdefault(text, number)
            elif match.method == "begins-with":
                prefixes.setdefault(len(text), {}).setdefault(text, number)
            elif match.method == "ends-with":
                suffixes.setdefault(len(text), {}).setdefault(text, number)
            else:
                found.Add(match.pattern.expression if match.pattern is not None else re2.escape(text))
                self._numbers.append(number)
        self._prefixes: _Tables = sorted(prefixes.items())
        self._suffixes: _Tables = sorted(suffixes.items())
        if self._numbers:
            found.Compile()
        self._set = found if self._numbers else None

    def first(self, value: str) -> int:
        best = self._exact.get(value, NONE)
        for length, table in self._suffixes:
            number = table.get(value[-length:], NONE)
            if number < best:  # noqa: PLR1730 - min() costs four times as much
                best = number
        for length, table in self._prefixes:
            number = table.get(value[:length], NONE)
            if number < best:  # noqa: PLR1730
                best = number
        if self._set is not None:
            hits = self._set.Match(value)
            if hits:
                best = min(best, *[self._numbers[hit] for hit in hits])
        return best
