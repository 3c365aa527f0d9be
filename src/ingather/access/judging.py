"""One evaluation of one viewer over all chains.

What a parent and everything above it make of the verdict below is a table of three answers; each parent's is made
once an evaluation. The rule itself is that of ``decision``, and the tests hold one to the other.

Source: GSA feeds specification, sections 11.4 and 11.5.
"""

from collections.abc import Mapping

from ingather.access.aclsource import ChainData
from ingather.access.decision import MAX_DEPTH, Verdict, combine
from ingather.model.acl import Inheritance

__all__ = ["Judging"]

_P, _D, _I = Verdict.PERMIT, Verdict.DENY, Verdict.INDETERMINATE
_Answers = dict[Verdict, Verdict]
"""What a parent and all above it make of each verdict below."""


class Judging:
    """One evaluation of one viewer: what was found of parents is kept for all that inherit from them."""

    def __init__(
        self,
        chains: Mapping[int, ChainData],
        nodes: Mapping[str, int | None],
        permits: set[int],
        denies: set[int],
    ) -> None:
        self._chains = chains
        self._nodes = nodes
        self._permits = permits
        self._denies = denies
        self._answers: dict[str, tuple[_Answers, int] | None] = {}

    def permits(self, number: int) -> bool:
        """Whether the viewer may see what this chain governs."""
        chain = self._chains[number]
        if chain.problem:
            return False
        said = self._says(chain.entries)
        if not chain.parent:
            return said is _P
        above = self._above(chain.parent)
        if above is not None and above[1] < MAX_DEPTH:
            return above[0][said] is _P
        return bool(chain.rescue) and self._is_rescuable(chain.parent) and self.permits(chain.rescue)

    def is_broken(self, number: int) -> bool:
        """Whether this chain cannot be evaluated."""
        chain = self._chains[number]
        above = self._above(chain.parent) if chain.parent else ({}, 0)
        return bool(chain.problem) or above is None or above[1] >= MAX_DEPTH

    def _is_rescuable(self, url: str) -> bool:
        """Whether what is broken above is so in one of the ways of ``decision.RESCUABLE``; *url* is the first parent."""
        met: set[str] = set()
        while url:
            number = self._nodes.get(url)
            chain = None if number is None else self._chains.get(number)
            if chain is None or url in met:
                return True
            met.add(url)
            if chain.problem or len(met) >= MAX_DEPTH:
                return False
            url = chain.parent
        return True

    def _says(self, entries: int) -> Verdict:
        if entries in self._denies:
            return _D
        return _P if entries in self._permits else _I

    def _above(self, url: str) -> tuple[_Answers, int] | None:
        """Return what *url* and all above it make of each verdict, and how many they are; ``None`` = broken."""
        path: dict[str, ChainData] = {}
        known: tuple[_Answers, int] | None = None
        while url:
            if url in self._answers:
                known = self._answers[url]
                break
            number = self._nodes.get(url)
            chain = None if number is None else self._chains.get(number)
            if chain is not None:
                path[url] = chain
            parent = "" if chain is None else chain.parent
            if chain is None or chain.problem or chain.inheritance is Inheritance.LEAF_NODE or parent in path:
                self._answers[url] = None
                break
            url = parent
        else:
            known = ({_P: _P, _D: _D, _I: _I}, 0)
        for child, chain in reversed(path.items()):
            known = self._answers[child] = None if known is None else self._extended(chain, known)
        return known

    def _extended(self, chain: ChainData, above: tuple[_Answers, int]) -> tuple[_Answers, int]:
        said = self._says(chain.entries)
        answers, depth = above
        return {below: answers[combine(said, below, chain.inheritance)] for below in (_P, _D, _I)}, depth + 1
