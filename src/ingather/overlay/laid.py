"""What a file lays over a URL: inheritance, and the bounded store of merged answers (specification, sections 6, 13)."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

import xxhash

from ingather.model.diagnostic import Diagnostic
from ingather.overlay.explaining import Explanation, explain
from ingather.overlay.findings import Counts
from ingather.overlay.line import Own, own_of
from ingather.overlay.options import Options
from ingather.overlay.prefix import folded, key_of
from ingather.overlay.record import Record
from ingather.overlay.table import EXACT, NEAR, Table

__all__ = ["Overlay", "fingerprint"]

_SLOTS: Final = 131_072
"""So many classes all merged answers together may have; some 25 MB."""
_ROOM: Final = _SLOTS // 8
"""So much of it is left for answers that are asked for, when they are not all worked out beforehand."""
_EVERY: Final = 64
_EMPTY: Final[Own] = {}
_NOTHING: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType({})


class Overlay:
    """One file as it applies: a pure function of its text and its options.

    Lookups may be made from several threads.

    Attributes:
        name: the file's name.
        options: how it was read.
        diagnostics: errors and warnings in the order of the file: the first thousand of each.
        counts: all of them, and records.
        refused: the file has an error, and for that reason no record of it applies.
        kept: the file has an error, and the last good version goes on in its place.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - made by the reader alone
        self,
        body: bytes,
        table: Table,
        options: Options,
        name: str,
        diagnostics: tuple[Diagnostic, ...],
        counts: Counts,
        *,
        refused: bool = False,
        kept: bool = False,
    ) -> None:
        self._body = body
        self._table = table
        self.options = options
        self.name = name
        self.diagnostics = diagnostics
        self.counts = counts
        self.refused = refused
        self.kept = kept
        self._folds = bool(options.case_insensitive_hosts)
        self._merged: dict[int, Own] = {}
        self._slots = 0
        # With more records than that, keeping the answers of single pages would only push out those of folders.
        self._leaves = len(table) <= _SLOTS // 2
        if self._leaves:
            self._merge_all()

    def __len__(self) -> int:
        """The number of records that apply."""
        return len(self._table)

    def lookup(self, url: str) -> Own:
        """Return the classes and values for any URL text; nothing for what is no URL."""
        keys = key_of(url, self.options)
        return {} if keys is None else dict(self.lookup_key(keys[1]))

    def lookup_key(self, stripped_key: str | bytes) -> Mapping[str, tuple[str, ...]]:
        """Return the classes and values for a canonical URL without its default page.

        No URL is parsed. The mapping is shared: it must not be changed.
        """
        key = stripped_key.encode() if isinstance(stripped_key, str) else stripped_key
        if self._folds:
            key = self._folded(key)
        # Table.find, once more: the call would be a fifth of the time.
        table = self._table
        keys, near = table.keys, table.near
        probe = key + EXACT
        if near + NEAR < len(keys) and keys[near] <= probe < keys[near + NEAR]:
            at = bisect_right(keys, probe, near + 1, near + NEAR) - 1
        else:
            at = bisect_right(keys, probe) - 1
            if at < 0:
                return _NOTHING
        table.near = at
        if not probe.startswith(keys[at]):
            at = table.ancestor(at, probe)
            if at < 0:
                return _NOTHING
        merged = self._merged.get(at)
        return self._merge(at) if merged is None else merged

    def explain(self, url: str) -> Explanation:
        """Return which lines speak for any URL text, and which line won each class."""
        return explain(url, self)

    def own(self, number: int) -> Own:
        """Return what record *number* (in the order of keys) says itself."""
        table = self._table
        return own_of(table.body, table.begins[number], table.ends[number], self.options)

    def chain(self, stripped_key: str) -> list[int]:
        """Return the numbers of the records that a stripped URL inherits from, the least specific first."""
        return self._table.chain(self._table.find(self._folded(stripped_key.encode())))

    def line(self, number: int) -> int:
        """Return the line of the file in which record *number* stands."""
        return self._table.lines[number]

    def key(self, number: int) -> tuple[str, bool]:
        """Return the canonical prefix of record *number*, and whether it is exact."""
        key = self._table.keys[number]
        return (key[:-1].decode(), True) if key.endswith(EXACT) else (key.decode(), False)

    def written(self, number: int) -> bytes:
        """Return the line of record *number* as it is written, without blanks at its ends."""
        table = self._table
        place = table.places[number]
        begin, end = (
            self._body.rfind(b"\n", 0, place) + 1,
            place + table.ends[number] - table.begins[number],
        )
        return self._body[begin:end].removeprefix(b"\xef\xbb\xbf").strip(b" \t\r")

    def in_file_order(self) -> list[int]:
        """Return the numbers of the records by line, each line once."""
        by_line: dict[int, int] = {}
        for number, line in enumerate(self._table.lines):
            by_line.setdefault(line, number)
        return [by_line[line] for line in sorted(by_line)]

    def raw_key(self, number: int) -> bytes:
        """Return what record *number* is sorted by."""
        return self._table.keys[number]

    def elements(self, number: int) -> bytes:
        """Return the elements of record *number* as they are written."""
        return self._table.body[self._table.begins[number] : self._table.ends[number]]

    def find(self, prefix: str, *, exact: bool) -> int:
        """Return the number of the record of a canonical prefix, -1 if there is none."""
        return self._table.at(prefix.encode() + EXACT if exact else prefix.encode())

    def record(self, number: int) -> Record:
        """Return record *number* in the order of keys."""
        prefix, exact = self.key(number)
        return Record(prefix, exact, self.own(number), self._table.lines[number])

    def records(self) -> Iterator[Record]:
        """Yield what applies, in the order of keys; a line that stands for two schemes is one record."""
        lines: dict[int, str] = {}
        twice = self.options.schemeless == "any"
        for number in range(len(self._table)):
            if not twice:
                yield self.record(number)
                continue
            # http comes before https, and of a line that names no scheme the keys differ in nothing else.
            prefix, exact = self.key(number)
            line = self._table.lines[number]
            rest = prefix.partition("://")[2]
            if prefix.startswith("https://") and lines.get(line) == rest:
                continue
            both = self.find(f"https://{rest}", exact=exact) if prefix.startswith("http://") else -1
            pair = both >= 0 and self._table.lines[both] == line
            if pair:
                lines[line] = rest
            yield Record(prefix, exact, self.own(number), line, schemeless=pair)

    def going_on(self, diagnostics: tuple[Diagnostic, ...], counts: Counts) -> "Overlay":
        """Return this version with the findings of a newer one that is not good."""
        return Overlay(self._body, self._table, self.options, self.name, diagnostics, counts, kept=True)

    def _folded(self, key: bytes) -> bytes:
        return folded(key.decode("ascii", "replace"), self.options).encode()

    def _merge_all(self) -> None:
        """Work out all answers while there is room for them; what a prefix inherits from comes before it."""
        room = _SLOTS
        for number in range(len(self._table)):
            room -= len(self._merge(number)) + 1
            if room < _ROOM:
                return

    def _merge(self, number: int) -> Own:
        """Work out the effective classes of a record, from the nearest ancestor that is known."""
        table = self._table
        above = table.parents[number]
        base = _EMPTY if above < 0 else (self._merged.get(above) or self._ancestry(above))
        own = own_of(table.body, table.begins[number], table.ends[number], self.options)
        out = {**base, **own} if base else own
        if () in own.values():
            out = {name: values for name, values in out.items() if values}
        if self._leaves:
            self._keep(number, out)
        return out

    def _ancestry(self, number: int) -> Own:
        """Merge a record and all above it that is not known."""
        parents, known = self._table.parents, self._merged
        chain: list[int] = []
        base: Own | None = None
        while number >= 0 and (base := known.get(number)) is None:
            chain.append(number)
            number = parents[number]
        out = dict(base or {})
        for left in range(len(chain) - 1, -1, -1):
            for name, values in self.own(chain[left]).items():
                if values:
                    out[name] = values
                else:
                    out.pop(name, None)
            if left and left % _EVERY == 0:  # of a long chain something is kept for its branches
                self._keep(chain[left], dict(out))
        if chain:
            self._keep(chain[0], out)
        return out

    def _keep(self, number: int, merged: Own) -> None:
        weight = len(merged) + 1
        if weight > _SLOTS // 4:
            return
        if self._slots + weight > _SLOTS:
            self._merged = {}
            self._slots = 0
        self._merged[number] = merged
        self._slots += weight


def fingerprint(values: Mapping[str, tuple[str, ...]]) -> int:
    """Return 63 bits that change when what is laid over a URL changes; 0 for nothing."""
    if not values:
        return 0
    digest = xxhash.xxh3_64()
    for name in sorted(values):
        digest.update(f"{name}\0{len(values[name])}\0".encode())
        for value in values[name]:
            # Lengths, so that no two lists give the same bytes.
            raw = value.encode("utf-8", "surrogatepass")
            digest.update(b"%d\0%s" % (len(raw), raw))
    return digest.intdigest() >> 1 or 1
