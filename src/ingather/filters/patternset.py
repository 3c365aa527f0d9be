"""Many expressions as one automaton, which is never trusted to be silent.

RE2's sets answer "nothing matches" also when they ran out of memory. So each set holds, first, an
expression that everything matches: an answer without it is no answer, and the expressions are tried
one by one. A set that cannot be built is halved until its parts can be.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import re2
from ingather.conf.patterns.dialects import options

__all__ = ["NONE", "Member", "PatternSet"]

NONE = 1 << 30
"""Number of no rule, larger than any."""

_EVERYTHING = ""


class Member(NamedTuple):
    """An expression for RE2, the number of its rule, and a test that means the same."""

    number: int
    expression: str
    test: Callable[[str], bool]


class PatternSet:
    """Finds the smallest number among the members that match a text.

    Args:
        members: in any order.
        folded: whether case is ignored; texts are given in lower case then.
        max_mem: bytes that one automaton may take; default RE2's own (8 MiB).
    """

    __slots__ = ("_alone", "_sets")

    def __init__(self, members: Sequence[Member], *, folded: bool, max_mem: int = 0) -> None:
        self._sets: list[tuple[re2.Set, tuple[Member, ...]]] = []
        self._alone: list[Member] = []
        if members:
            self._build(tuple(sorted(members, key=lambda m: m.number)), folded=folded, max_mem=max_mem)
        self._alone.sort(key=lambda m: m.number)

    @property
    def parts(self) -> tuple[int, int]:
        """How many automata there are, and how many expressions are in none."""
        return len(self._sets), len(self._alone)

    def _build(self, members: tuple[Member, ...], *, folded: bool, max_mem: int) -> None:
        chosen = options(folded=folded)
        if max_mem:
            chosen.max_mem = max_mem
        found = re2.Set.SearchSet(chosen)
        try:
            found.Add(_EVERYTHING)
            for member in members:
                found.Add(member.expression)
            found.Compile()
        except re2.error:
            if len(members) == 1:
                self._alone.append(members[0])
                return
            middle = len(members) // 2
            self._build(members[:middle], folded=folded, max_mem=max_mem)
            self._build(members[middle:], folded=folded, max_mem=max_mem)
        else:
            self._sets.append((found, members))

    def first(self, text: str, best: int = NONE) -> int:
        """Return the smallest matching number below *best*, else *best*."""
        for found, members in self._sets:
            if members[0].number >= best:
                continue
            hits = found.Match(text)
            if not hits:
                best = _one_by_one(members, text, best)
                continue
            for hit in hits:
                if hit and members[hit - 1].number < best:
                    best = members[hit - 1].number
        return _one_by_one(self._alone, text, best) if self._alone else best


def _one_by_one(members: Sequence[Member], text: str, best: int) -> int:
    for member in members:
        if member.number >= best:
            break
        if member.test(text):
            return member.number
    return best
