r"""Sorted prefixes with parents: where in a file the answer for a URL is (specification, section 13).

The longest prefix of a URL is the greatest key that is not greater than it, or one of that key's ancestors, because
every text between a prefix and the URL begins with the prefix too. An exact key is kept with ``\0`` behind it: it
stands right behind the ordinary key of the same text, and no URL but its own begins with it.
"""

import zlib
from array import array
from bisect import bisect_right
from io import BytesIO
from itertools import pairwise
from typing import Final, NamedTuple

__all__ = ["EXACT", "NEAR", "Duplicate", "Gathered", "Table"]

EXACT: Final = b"\0"
NEAR: Final = 16
_CHUNK: Final = 4096
_SCATTERED: Final = 100_000
"""With fewer records than that, caches hold what a lookup needs wherever it lies."""


class Table:
    """The records of one file by key; a record is known by its number in the order of keys.

    The elements of record *n* are ``body[begins[n]:ends[n]]``, and in the file they begin at ``places[n]``. Mostly that is
    the same: *body* is the file. Of a big file in no order it holds the elements alone, in the order of keys.

    Costs, for each record, its key (33 bytes and its characters), a pointer and 16 bytes; of such a file 4 bytes and the
    elements more.
    """

    __slots__ = ("begins", "body", "ends", "keys", "lines", "near", "parents", "places")

    def __init__(self, body: bytes = b"") -> None:
        self.body = body
        self.keys: list[bytes] = []
        self.begins = array("I")
        self.ends = array("I")
        self.places = self.begins
        self.lines = array("I")
        self.parents = array("i")
        self.near = 0

    def __len__(self) -> int:
        return len(self.keys)

    def find(self, key: bytes) -> int:
        """Return the number of the most specific record for a stripped URL, -1 if there is none."""
        keys = self.keys
        probe = key + EXACT
        near = self.near
        # Documents come in the order of their keys: look nearby first.
        if near + NEAR < len(keys) and keys[near] <= probe < keys[near + NEAR]:
            at = bisect_right(keys, probe, near + 1, near + NEAR) - 1
        else:
            at = bisect_right(keys, probe) - 1
            if at < 0:
                return -1
        self.near = at
        return at if probe.startswith(keys[at]) else self.ancestor(at, probe)

    def ancestor(self, at: int, probe: bytes) -> int:
        """Return the nearest record above *at* with which *probe* begins, or -1."""
        keys, parents = self.keys, self.parents
        at = parents[at]
        while at >= 0 and not probe.startswith(keys[at]):
            at = parents[at]
        return at

    def at(self, key: bytes) -> int:
        """Return the number of the record of exactly this key (with :data:`EXACT` behind it if exact), or -1."""
        at = bisect_right(self.keys, key) - 1
        return at if at >= 0 and self.keys[at] == key else -1

    def chain(self, number: int) -> list[int]:
        """Return record *number* and all that it inherits from, the shortest prefix first."""
        chain = []
        while number >= 0:
            chain.append(number)
            number = self.parents[number]
        chain.reverse()
        return chain


class Duplicate(NamedTuple):
    """A line whose prefix an earlier line has."""

    line: int
    first: int


class Gathered:
    """Collects the records of a file in the order of its lines, then makes the table."""

    def __init__(self) -> None:
        self._keys: list[bytes] = []
        self._begins = array("I")
        self._ends = array("I")
        self._lines = array("I")

    def __len__(self) -> int:
        return len(self._keys)

    def add(self, key: bytes, exact: bool, begin: int, end: int, line: int) -> None:  # noqa: FBT001 - hot
        """Take a record whose elements are the bytes from *begin* to *end* of the file."""
        self._keys.append(key + EXACT if exact else key)
        self._begins.append(begin)
        self._ends.append(end)
        self._lines.append(line)

    def table(self, body: bytes) -> tuple[Table, list[Duplicate]]:
        """Return the table over the file *body* and the lines that came too late; this object is of no use afterwards."""
        table, duplicates = Table(body), []
        keys, lines = self._keys, self._lines
        # Packed at once: a million numbers as objects are 32 MB. Sorting keeps the order of lines among equals.
        order = array("I", sorted(range(len(keys)), key=keys.__getitem__))
        scattered = _scattered(order)
        self._keys = []
        if scattered:
            keys = _side_by_side(keys, order)
        elif order:
            keys = [keys[n] for n in order]
        last, last_line = b"", 0
        fresh = array("I")
        for at, n in enumerate(order):
            key = keys[at]
            if key == last:
                duplicates.append(Duplicate(lines[n], last_line))
            else:
                last, last_line = key, lines[n]
                fresh.append(n)
                if len(fresh) <= at:
                    keys[len(fresh) - 1] = key
        del keys[len(fresh) :]
        table.keys = keys
        table.begins = table.places = array("I", map(self._begins.__getitem__, fresh))
        table.ends = array("I", map(self._ends.__getitem__, fresh))
        table.lines = array("I", map(lines.__getitem__, fresh))
        if scattered:
            _gather(table)
        table.parents = _parents(table.keys)
        duplicates.sort()
        return table, duplicates


def _scattered(order: "array[int]") -> bool:
    """Tell whether what follows one another in the order of keys lies apart in the file, and the file is big."""
    if len(order) < _SCATTERED:
        return False
    return sum(b != a + 1 for a, b in pairwise(order)) > len(order) // 8


def _side_by_side(keys: list[bytes], order: "array[int]") -> list[bytes]:
    """Return *keys* in their order, and so in memory; *keys* is empty then.

    A lookup waits for memory as long as it takes to compute. The copies are packed meanwhile: both sets of keys at
    once would be half of all that loading takes.
    """
    packed = [
        zlib.compress(b"\n".join([keys[n] for n in order[at : at + _CHUNK]]), 1)
        for at in range(0, len(order), _CHUNK)
    ]
    keys.clear()
    for chunk in packed:
        keys += zlib.decompress(chunk).split(b"\n")
    return keys


def _gather(table: Table) -> None:
    """Let the table have a copy of the elements in the order of keys."""
    body, copy = table.body, BytesIO()
    begins, ends = array("I"), array("I")
    at = 0
    for begin, end in zip(table.begins, table.ends, strict=True):
        begins.append(at)
        at += copy.write(body[begin:end])
        ends.append(at)
    table.body, table.begins, table.ends = copy.getvalue(), begins, ends


def _parents(keys: list[bytes]) -> "array[int]":
    parents = array("i")
    above: list[int] = []
    for at, key in enumerate(keys):
        while above and not key.startswith(keys[above[-1]]):
            above.pop()
        parents.append(above[-1] if above else -1)
        if not key.endswith(EXACT):
            above.append(at)
    return parents
