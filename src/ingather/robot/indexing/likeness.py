"""Which texts are nearly alike: pairs by fingerprint, groups of them, and who stands for a group. Pure.

Fingerprints of 64 bits that differ in at most three must agree in one of four bands of sixteen. So each band is sorted,
and only those that agree in a band are compared: no pair is missed, and of a million texts few are looked at. A group is
what pairs connect to its head, not to each other: likeness is no chain.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from ingather.extract.simhash import NEAR_BITS

__all__ = ["Candidate", "Member", "near_groups", "near_pairs", "rank"]

_BANDS: Final = (0, 16, 32, 48)
_MOST_COMPARED: Final = 400
"""Different fingerprints of a band that each one is compared with: those next to it in order."""
_MASK: Final = (1 << 64) - 1


class Member(NamedTuple):
    """A page in the group of another: its row, the head's, and in how many bits their fingerprints differ."""

    id: int
    head: int
    bits: int


class Candidate(NamedTuple):
    """What the head of a group is chosen by.

    Attributes:
        url: its address.
        inlinks: public pages that link to it.
        named: members of its group whose canonical link names it.
        group: only pages of one group of readers stand together, like a public one's.
    """

    url: str
    inlinks: int
    named: int
    group: int


def near_pairs(marks: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int, int]]:
    """Yield (row, row, bits) of pages whose fingerprints differ in at most three bits, each pair once.

    Of pages with equal fingerprints the first is compared with others; the rest are paired with it (0 bits).

    Args:
        marks: (fingerprint, row); signed or not.
    """
    rows: dict[int, list[int]] = defaultdict(list)
    for mark, row in marks:
        rows[mark & _MASK].append(row)
    for same in rows.values():
        first = same[0]
        yield from ((first, other, 0) for other in same[1:])
    different = list(rows)
    for band in _BANDS:
        buckets: dict[int, list[int]] = defaultdict(list)
        for mark in different:
            buckets[mark >> band & 0xFFFF].append(mark)
        for bucket in buckets.values():
            if len(bucket) > 1:
                yield from _within(bucket, band, rows)


def _within(bucket: list[int], band: int, rows: Mapping[int, list[int]]) -> Iterator[tuple[int, int, int]]:
    """Compare the members of a bucket; a pair that agrees in an earlier band was yielded there."""
    bucket.sort()
    for place, one in enumerate(bucket):
        for other in bucket[place + 1 : place + 1 + _MOST_COMPARED]:
            odd = one ^ other
            bits = odd.bit_count()
            if bits <= NEAR_BITS and not any(
                not odd >> before & 0xFFFF for before in _BANDS if before < band
            ):
                yield rows[one][0], rows[other][0], bits


def rank(row: int, candidate: Candidate) -> tuple[int, int, int, int, int]:
    """Return by what the head is chosen, smallest first.

    Named by the others' canonical links, https, more inlinks, a shorter address, found earlier.
    """
    insecure = not candidate.url.startswith("https:")
    return -candidate.named, int(insecure), -candidate.inlinks, len(candidate.url), row


def near_groups(
    pairs: Iterable[tuple[int, int, int]], facts: Mapping[int, Candidate], marks: Mapping[int, int]
) -> list[Member]:
    """Return the members of all groups but their heads, by row.

    Who is best (:func:`rank`) of all that are connected takes those near to it; the best of who is left goes on.

    Args:
        pairs: of :func:`near_pairs`.
        facts: what is known of the pages; who is missing is in no group.
        marks: fingerprints by row.
    """
    parent: dict[int, int] = {}

    def root(row: int) -> int:
        while (up := parent.setdefault(row, row)) != row:
            parent[row] = row = parent[up]
        return row

    for one, other, _ in pairs:
        if one in facts and other in facts and facts[one].group == facts[other].group:
            parent[root(one)] = root(other)
    together: dict[int, list[int]] = defaultdict(list)
    for row in parent:
        together[root(row)].append(row)
    found: list[Member] = []
    for rows in together.values():
        if len(rows) > 1:
            _divide(sorted(rows, key=lambda row: rank(row, facts[row])), marks, found)
    return sorted(found)


def _divide(rows: Sequence[int], marks: Mapping[int, int], found: list[Member]) -> None:
    left = list(rows)
    while left:
        head, rest = left[0], []
        for row in left[1:]:
            bits = ((marks[head] ^ marks[row]) & _MASK).bit_count()
            if bits <= NEAR_BITS:
                found.append(Member(row, head, bits))
            else:
                rest.append(row)
        left = rest
