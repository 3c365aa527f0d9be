"""Many tests of one source at once: which is the first rule that matches?

Whole values, beginnings and endings are looked up in dictionaries by length, also those that are
written as patterns; the other expressions are RE2 sets. The cost hardly depends on the number of rules.
"""

from collections.abc import Iterable

import re2
from ingather.conf.patterns.dialects import FOLDED_SOURCES, Pattern, literal
from ingather.conf.sites.rules import Match
from ingather.filters.patternset import NONE, Member, PatternSet

__all__ = ["NONE", "FirstMatch"]

_Tables = list[tuple[int, dict[str, int]]]


class FirstMatch:
    """Finds the smallest number among (number, match) pairs whose match holds for a value."""

    __slots__ = ("_folded", "_plain", "_tests")

    def __init__(self, pairs: Iterable[tuple[int, Match]]) -> None:
        plain: list[tuple[int, Match]] = []
        folded: list[tuple[int, Match]] = []
        self._tests: list[tuple[int, Pattern]] = []
        for number, match in pairs:
            pattern = match.pattern
            if pattern is not None and (pattern.excepts is not None or not pattern.expression):
                self._tests.append((number, pattern))
            elif match.ignore_case or match.source in FOLDED_SOURCES:
                folded.append((number, match))
            else:
                plain.append((number, match))
        self._tests.sort(key=lambda pair: pair[0])
        self._plain = _Lookup(plain, folded=False) if plain else None
        self._folded = _Lookup(folded, folded=True) if folded else None

    def first(self, value: str) -> int:
        """Return the smallest number that matches *value*, :data:`NONE` if there is none."""
        return self.first_of((value,))

    def first_of(self, forms: tuple[str, ...]) -> int:
        """Return the smallest number that matches any of *forms*; an exception holds for all of them."""
        best = NONE
        for form in forms:
            if self._plain is not None:
                best = self._plain.first(form, best)
            if self._folded is not None:
                best = self._folded.first(form.lower(), best)
        for number, pattern in self._tests:
            if number >= best:
                break
            if pattern.any(forms):
                return number
        return best


class _Lookup:
    """The tables of one treatment of case."""

    __slots__ = ("_exact", "_prefixes", "_set", "_suffixes")

    def __init__(self, pairs: list[tuple[int, Match]], *, folded: bool) -> None:
        self._exact: dict[str, int] = {}
        prefixes: dict[int, dict[str, int]] = {}
        suffixes: dict[int, dict[str, int]] = {}
        members: list[Member] = []
        for number, match in sorted(pairs, key=lambda pair: pair[0]):
            method, text = _plainly(match)
            text = text.lower() if folded else text
            if method == "is":
                self._exact.setdefault(text, number)
            elif method == "begins-with":
                prefixes.setdefault(len(text), {}).setdefault(text, number)
            elif method == "ends-with":
                suffixes.setdefault(len(text), {}).setdefault(text, number)
            else:
                members.append(_member(number, match, text))
        self._prefixes: _Tables = sorted(prefixes.items())
        self._suffixes: _Tables = sorted(suffixes.items())
        self._set = PatternSet(members, folded=folded) if members else None

    def first(self, value: str, best: int) -> int:
        number = self._exact.get(value, NONE)
        best = min(best, number)
        for length, table in self._suffixes:
            # A slice from -0 would be the whole; the empty text ends everything.
            number = table.get(value[-length:] if length else "", NONE)
            if number < best:  # noqa: PLR1730 - min() costs four times as much
                best = number
        for length, table in self._prefixes:
            number = table.get(value[:length], NONE)
            if number < best:  # noqa: PLR1730
                best = number
        return best if self._set is None else self._set.first(value, best)


def _plainly(match: Match) -> tuple[str, str]:
    """Return method and text of *match*; a pattern that is a plain test in disguise counts as one."""
    if match.pattern is None:
        return match.method, match.value
    found = literal(match.pattern.expression)
    if found is None:
        return "regex", match.pattern.expression
    return {(True, True): "is", (True, False): "begins-with", (False, True): "ends-with"}.get(
        found[:2], "contains"
    ), found[2]


def _member(number: int, match: Match, text: str) -> Member:
    if match.pattern is not None:
        return Member(number, match.pattern.expression, match.pattern.matches)
    return Member(number, re2.escape(text), lambda value: text in value)
