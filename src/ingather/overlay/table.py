r"""Sorted prefixes with parents: where in a file the answer for a URL is (specification, section 13).

The longest prefix of a URL is the greatest key that is not greater than it, or one of that key's ancestors, because
every text between a prefix and the URL begins with the prefix too. An exact key is kept with ``\0`` behind it: it
stands right behind the ordinary key of the same text, and no URL but its own begins with it.
"""

from array import array
from bisect import bisect_right
from typing import Final, NamedTuple

__all__ = ["EXACT", "Gathered", "Table"]

EXACT: Final = "\0"
_ORDINAL_CHARS: Final = 5
_NEAR: Final = 16


class Table:
    """The records of one file by key; a record is known by its number in the order of keys.

    Costs, for each record, its key (49 bytes and its characters), a pointer and 16 bytes.
    """

    __slots__ = ("_near", "begins", "ends", "keys", "lines", "parents")

    def __init__(self) -> None:
        self.keys: list[str] = []
        self.begins = array("I")
        self.ends = array("I")
        self.lines = array("I")
        self.parents = array("i")
        self._near = 0

    def __len__(self) -> int:
        return len(self.keys)

    def find(self, key: str) -> int:
        """Return the number of the most specific record for a stripped URL, -1 if there is none."""
        keys = self.keys
        if not keys:
            return -1
        probe = key + EXACT
        near = self._near
        # Documents come in the order of their keys: look nearby first.
        if keys[near] <= probe and ((far := near + _NEAR) >= len(keys) or probe < keys[far]):
            at = bisect_right(keys, probe, near, min(far, len(keys))) - 1
        else:
            at = bisect_right(keys, probe) - 1
        if at < 0:
            return -1
        self._near = at
        if probe.startswith(keys[at]):
            return at
        parents = self.parents
        at = parents[at]
        while at >= 0 and not probe.startswith(keys[at]):
            at = parents[at]
        return at

    def at(self, key: str) -> int:
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
        self._keys: list[str] = []
        self._begins = array("I")
        self._ends = array("I")
        self._lines = array("I")

    def __len__(self) -> int:
        return len(self._keys)

    def add(self, key: str, exact: bool, begin: int, end: int, line: int) -> None:  # noqa: FBT001 - hot
        """Take a record whose elements are the bytes from *begin* to *end* of the file."""
        # Key, kind and number in one text: sorting needs no second list of a million pairs.
        n = len(self._keys)
        ordinal = chr(n >> 24 & 63) + chr(n >> 18 & 63) + chr(n >> 12 & 63) + chr(n >> 6 & 63) + chr(n & 63)
        self._keys.append(f"{key}\0{'1' if exact else '0'}{ordinal}")
        self._begins.append(begin)
        self._ends.append(end)
        self._lines.append(line)

    def table(self) -> tuple[Table, list[Duplicate]]:
        """Return the table and the lines that came too late; empties this object."""
        table, duplicates = Table(), []
        keys, begins, ends, lines = self._keys, self._begins, self._ends, self._lines
        self.__init__()  # type: ignore[misc]
        keys.sort()
        kept = 0
        last, last_line = "", 0
        for composite in keys:
            tagged = composite[:-_ORDINAL_CHARS]
            a, b, c, d, e = map(ord, composite[-_ORDINAL_CHARS:])
            n = a << 24 | b << 18 | c << 12 | d << 6 | e
            if tagged == last:
                duplicates.append(Duplicate(lines[n], last_line))
                continue
            last, last_line = tagged, lines[n]
            # In place: what is read is never behind what is written.
            keys[kept] = tagged[:-1] if tagged[-1] == "1" else tagged[:-2]
            kept += 1
            table.begins.append(begins[n])
            table.ends.append(ends[n])
            table.lines.append(last_line)
        del keys[kept:]
        table.keys = keys
        table.parents = _parents(keys)
        duplicates.sort()
        return table, duplicates


def _parents(keys: list[str]) -> "array[int]":
    parents = array("i")
    above: list[int] = []
    for at, key in enumerate(keys):
        while above and not key.startswith(keys[above[-1]]):
            above.pop()
        parents.append(above[-1] if above else -1)
        if not key.endswith(EXACT):
            above.append(at)
    return parents
