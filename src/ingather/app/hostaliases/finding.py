"""Hosts that show the same documents at the same paths: which pairs are worth a closer look, and what the look says. Pure.

Two hosts are proposed as one when at least four fifths of at least twenty documents with the same path have the same bytes; ten are
enough when the roots are among them.
"""

from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Final, NamedTuple

__all__ = ["FIRST_LOOK", "SAMPLE", "Likeness", "compare", "pairs_to_compare"]

FIRST_LOOK: Final = 40
"""Documents of each host of which a first look is had, in order of their paths."""
SAMPLE: Final = 400
"""Documents of each host that are compared, in order of their paths."""
_SHARED: Final = 5
_SHARE: Final = 0.8
_ENOUGH: Final = 20
_ENOUGH_WITH_ROOT: Final = 10
_CROWD: Final = 20
"""More hosts than this with one page at one path (an error page, a page of a hoster) say nothing about any two."""


class Likeness(NamedTuple):
    """What two hosts have in common: documents at the same paths, how many of them have the same bytes, whether the roots do."""

    common: int
    equal: int
    roots: bool

    @property
    def alike(self) -> bool:
        """Whether they should be proposed as one."""
        least = _ENOUGH_WITH_ROOT if self.roots else _ENOUGH
        return self.common >= least and self.equal >= _SHARE * self.common

    def told(self) -> str:
        """Return it for people."""
        roots = ", the roots among them" if self.roots else ""
        return f"{self.equal} of {self.common} documents with the same path are the same{roots}"


def compare(one: Mapping[str, bytes], two: Mapping[str, bytes]) -> Likeness:
    """Compare samples, path to digest."""
    common = one.keys() & two.keys()
    equal = sum(one[path] == two[path] for path in common)
    return Likeness(len(common), equal, "/" in common and one["/"] == two["/"])


def pairs_to_compare(samples: Iterable[tuple[int, Mapping[str, bytes]]]) -> list[tuple[int, int]]:
    """Return the pairs of hosts that have at least five documents in common, path and bytes, ascending.

    Args:
        samples: host with its first documents, path to digest.
    """
    showing: dict[tuple[str, bytes], list[int]] = {}
    for host, sample in samples:
        for path, digest in sample.items():
            hosts = showing.setdefault((path, digest), [])
            if len(hosts) <= _CROWD:
                hosts.append(host)
    shared: dict[tuple[int, int], int] = {}
    for hosts in showing.values():
        if 1 < len(hosts) <= _CROWD:
            for pair in combinations(sorted(hosts), 2):
                shared[pair] = shared.get(pair, 0) + 1
    return sorted(pair for pair, count in shared.items() if count >= _SHARED)
