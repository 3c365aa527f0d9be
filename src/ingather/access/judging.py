"""One evaluation of one viewer over all chains.

What a parent and everything above it make of the verdict below is a table of three answers; each parent's is made
once an evaluation. The rule itself is that of ``decision``, and the tests hold one to the other.

Source: GSA feeds specification, sections 11.4 and 11.5.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

from ingather.access.aclsource import ChainData
from ingather.access.decision import MAX_DEPTH, Verdict, combine
from ingather.model.acl import Inheritance, is_foreign, narrowed

__all__ = ["ChainGraph", "Judging", "ParentNode"]

_P, _D, _I = Verdict.PERMIT, Verdict.DENY, Verdict.INDETERMINATE
_Answers = dict[Verdict, Verdict]
"""What a parent and all above it make of each verdict below."""


class ParentNode(NamedTuple):
    """The ACL of a URL that something inherits from: its chain, ``None`` = it has none, and its source (0 = not known)."""

    chain: int | None = None
    source: int = 0


@dataclass(slots=True)
class ChainGraph:
    """The chains by number, and what they inherit from by URL; *inherited*: sources that let others inherit."""

    chains: dict[int, ChainData] = field(default_factory=dict)
    parents: dict[str, ParentNode] = field(default_factory=dict)
    inherited: frozenset[int] = frozenset()

    def parent(self, url: str) -> ChainData | None:
        """Return the chain of the ACL of *url*, ``None`` = it is not known."""
        node = self.parents.get(url)
        return None if node is None or node.chain is None else self.chains.get(node.chain)

    def is_foreign(self, child: ChainData) -> bool:
        """Whether *child* inherits from an ACL of another source that neither may open by the other."""
        parent = self.parent(child.parent) if child.parent else None
        if parent is None or not (child.bound or parent.bound):
            return False
        source = parent.source or self.parents[child.parent].source
        return is_foreign(child, _Parent(source, parent.bound), self.inherited)


class _Parent(NamedTuple):
    source: int
    bound: bool


class Judging:
    """One evaluation of one viewer: what was found of parents is kept for all that inherit from them."""

    def __init__(self, graph: ChainGraph, permits: set[int], denies: set[int]) -> None:
        self._graph = graph
        self._chains = graph.chains
        self._permits = permits
        self._denies = denies
        self._answers: dict[tuple[str, bool], tuple[_Answers, int] | None] = {}

    def permits(self, number: int) -> bool:
        """Whether the viewer may see what this chain governs."""
        chain = self._chains[number]
        if chain.problem:
            return False
        said = self._says(chain.entries)
        if not chain.parent:
            return said is _P
        above = self._above(chain)
        if above is not None and above[1] < MAX_DEPTH:
            return above[0][said] is _P
        return bool(chain.rescue) and self._is_rescuable(chain.parent) and self.permits(chain.rescue)

    def is_broken(self, number: int) -> bool:
        """Whether this chain cannot be evaluated."""
        chain = self._chains[number]
        above = self._above(chain) if chain.parent else ({}, 0)
        return bool(chain.problem) or above is None or above[1] >= MAX_DEPTH

    def _is_rescuable(self, url: str) -> bool:
        """Whether what is broken above is so in one of the ways of ``decision.RESCUABLE``; *url* is the first parent."""
        met: set[str] = set()
        while url:
            chain = self._graph.parent(url)
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

    def _above(self, child: ChainData) -> tuple[_Answers, int] | None:
        """Return what the parents of *child* make of each verdict, and how many they are; ``None`` = broken."""
        path: dict[tuple[str, bool], ChainData] = {}
        met: set[str] = set()
        known: tuple[_Answers, int] | None = None
        while child.parent:
            place = (child.parent, self._graph.is_foreign(child))
            if place in self._answers:
                known = self._answers[place]
                break
            chain = self._graph.parent(child.parent)
            if chain is not None:
                path[place] = chain
                met.add(child.parent)
            parent = "" if chain is None else chain.parent
            if chain is None or chain.problem or chain.inheritance is Inheritance.LEAF_NODE or parent in met:
                self._answers[place] = None
                break
            child = chain
        else:
            known = ({_P: _P, _D: _D, _I: _I}, 0)
        for place, chain in reversed(path.items()):
            known = self._answers[place] = (
                None if known is None else self._extended(chain, known, foreign=place[1])
            )
        return known

    def _extended(
        self, chain: ChainData, above: tuple[_Answers, int], *, foreign: bool
    ) -> tuple[_Answers, int]:
        said = self._says(chain.entries)
        answers, depth = above
        kind = narrowed(chain.inheritance) if foreign else chain.inheritance
        return {below: answers[combine(said, below, kind)] for below in (_P, _D, _I)}, depth + 1
