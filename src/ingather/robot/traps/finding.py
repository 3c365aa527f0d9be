"""Crawler traps: found by what their URLs have in common and what came of visiting them. Pure, bounded.

A detector reads the URLs of one host once, in order of discovery. It counts for each shape (:mod:`.trapshapes`) how many
URLs and how many different contents there are; nothing is kept of a URL but that. A shape is called a trap only when it
is large *and* brings little that is new:

========  ==========================================================================================================
calendar  60 dates or more, and 30 of them lie more than two years ahead; or 100 and three in four show nothing new
session   30 URLs or more, that without their token are a third as many, and not more contents than half of them
facets    100 combinations or more of parameters that have five times fewer values, half of the contents known
paging    20 pages or more behind the last one that brought anything new
loop      10 URLs or more that repeat the same folders, half of the contents known
========  ==========================================================================================================

What is counted as content: the group of near-duplicates, else the fingerprint of the text, else title without digits
and size. That errs towards "new" for texts that are long, and a trap is named later rather than wrongly.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from xxhash import xxh3_64_intdigest

from ingather.robot.traps.shapes import Shape, shapes_of

__all__ = ["Found", "Seen", "TrapDetector"]

_MOST_SHAPES: Final = 4_000
"""Shapes of one host that are counted; when there are more, the smallest are forgotten."""
_EXAMPLES: Final = 8
_CELLS: Final = 4_096
_MOST_VALUES: Final = 200
_DAY: Final = 10_000


class Seen(NamedTuple):
    """A URL of a host: its path with query, whether it was visited, and what its content is (0 = none known).

    ``described``: it has a description of its own.
    """

    path: str
    visited: bool
    content: int
    described: bool


class Found(NamedTuple):
    """A trap of a host.

    Attributes:
        kind, name: the shape.
        urls, visited, contents: how many URLs, how many visited, how many contents those had.
        why: for people.
        examples: paths.
        beyond: of a calendar the last year that is no trap, of paging the last good page; 0 = the whole shape is one.
    """

    kind: str
    name: str
    urls: int
    visited: int
    contents: int
    why: str
    examples: tuple[str, ...]
    beyond: int = 0


class _Distinct:
    """Counts different values in half a kilobyte (linear counting); exact enough up to ten thousand."""

    __slots__ = ("_bits",)

    def __init__(self) -> None:
        self._bits = 0

    def add(self, value: int) -> bool:
        """Take *value* in; return whether it is (probably) new."""
        bit = 1 << (value * 0x9E3779B97F4A7C15 >> 20) % _CELLS
        if self._bits & bit:
            return False
        self._bits |= bit
        return True

    @property
    def count(self) -> int:
        """About how many different values there were."""
        free = _CELLS - self._bits.bit_count()
        return _CELLS * 9 if not free else round(_CELLS * math.log(_CELLS / free))


@dataclass(slots=True)
class _Count:
    """What is counted of one shape."""

    urls: int = 0
    visited: int = 0
    contents: _Distinct = field(default_factory=_Distinct)
    values: _Distinct = field(default_factory=_Distinct)
    rests: _Distinct = field(default_factory=_Distinct)
    ahead: int = 0
    top: int = 0
    beyond: int = 0
    good_year: int = 0
    pairs: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    first: list[str] = field(default_factory=list)
    last: str = ""

    @property
    def examples(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.first, self.last)))


class TrapDetector:
    """Reads the URLs of one host.

    Args:
        year: of today: a date more than two years ahead is no event.
    """

    def __init__(self, year: int) -> None:
        self._year = year
        self._counts: dict[tuple[str, str], _Count] = {}

    def read(self, rows: Iterable[Seen]) -> None:
        """Take URLs in, in order of discovery."""
        for row in rows:
            self.take(shapes_of(row.path), row)

    def take(self, shapes: Iterable[Shape], row: Seen) -> None:
        """Take one URL in, of which the shapes are known."""
        for shape in shapes:
            self._take(shape, row)

    def _take(self, shape: Shape, row: Seen) -> None:
        key = shape.kind, shape.name
        count = self._counts.get(key)
        if count is None:
            if len(self._counts) >= _MOST_SHAPES:
                self._forget()
            count = self._counts[key] = _Count()
        new_value = count.values.add(xxh3_64_intdigest(shape.value.encode("utf-8", "surrogatepass")))
        if not new_value and shape.kind in ("calendar", "paging") and not row.visited:
            return
        count.urls += 1
        if len(count.first) < _EXAMPLES - 1:
            count.first.append(row.path)
        count.last = row.path
        novel = False
        if row.visited:
            count.visited += 1
            novel = count.contents.add(row.content) if row.content else False
        match shape.kind:
            case "calendar":
                self._date(count, int(shape.value), novel=novel, new=new_value)
            case "paging":
                _page(count, int(shape.value), visited=row.visited, novel=novel)
            case "session":
                count.rests.add(xxh3_64_intdigest(shape.rest.encode("utf-8", "surrogatepass")))
            case "facets":
                _facet(count, shape.value)
            case _:
                pass

    def _date(self, count: _Count, date: int, *, novel: bool, new: bool) -> None:
        year = date // _DAY
        if new and year > self._year + 2:
            count.ahead += 1
        elif novel:
            count.good_year = max(count.good_year, year)

    def _forget(self) -> None:
        """Make room: three in four shapes go, those with the fewest URLs."""
        kept = sorted(self._counts.items(), key=lambda item: -item[1].urls)[: _MOST_SHAPES // 4]
        self._counts = dict(kept)

    def found(self) -> list[Found]:
        """Return the traps, by kind and name."""
        traps = []
        for (kind, name), count in sorted(self._counts.items()):
            said = _VERDICTS[kind](count, self._year)
            if said is not None:
                why, beyond = said
                contents = min(count.contents.count, count.visited)
                traps.append(
                    Found(kind, name, count.urls, count.visited, contents, why, count.examples, beyond)
                )
        return traps


def _page(count: _Count, number: int, *, visited: bool, novel: bool) -> None:
    if novel:
        if number > count.top:
            count.top, count.beyond = number, 0
    elif visited and number > count.top:
        count.beyond += 1


def _facet(count: _Count, pairs: str) -> None:
    for pair in pairs.split("&"):
        if len(count.pairs) >= _MOST_VALUES:
            break
        count.pairs.add(pair)
        count.names.add(pair.partition("=")[0])


def _calendar(count: _Count, year: int) -> tuple[str, int] | None:
    dates = min(count.values.count, count.urls)
    if dates >= 60 and count.ahead >= 30:  # noqa: PLR2004 - the table above
        return f"{dates} dates, {count.ahead} of them after {year + 2}", year + 2
    if count.visited >= 100 and dates >= 100 and count.contents.count * 4 <= count.visited:  # noqa: PLR2004 - the table above
        return f"{dates} dates; {count.visited} visited pages have {count.contents.count} contents", 0
    return None


def _session(count: _Count, _year: int) -> tuple[str, int] | None:
    rests = min(count.rests.count, count.urls)
    if count.urls < 30 or rests * 3 > count.urls or count.values.count * 3 < count.urls:  # noqa: PLR2004 - the table above
        return None
    if count.visited < 10 or count.contents.count * 2 > count.visited:  # noqa: PLR2004 - fewer prove nothing
        return None
    return (
        f"{count.urls} addresses are {rests} without it; {count.visited} visited pages have {count.contents.count} contents",
        0,
    )


def _facets(count: _Count, _year: int) -> tuple[str, int] | None:
    values, visited = len(count.pairs), count.visited
    if len(count.names) < 2 or count.urls < 100 or values >= _MOST_VALUES or values * 5 > count.urls:  # noqa: PLR2004 - the table above
        return None
    if visited < 50 or count.contents.count * 2 > visited:  # noqa: PLR2004 - fewer prove nothing
        return None
    return (
        f"{count.urls} combinations of {values} values; {visited} visited pages have {count.contents.count} contents",
        0,
    )


def _paging(count: _Count, _year: int) -> tuple[str, int] | None:
    if count.beyond < 20:  # noqa: PLR2004 - the table above
        return None
    return f"nothing new behind page {count.top}, {count.beyond} pages behind it were visited", count.top


def _loops(count: _Count, _year: int) -> tuple[str, int] | None:
    if count.urls < 10 or count.visited < 5 or count.contents.count * 2 > count.visited:  # noqa: PLR2004 - the table above
        return None
    return (
        f"{count.urls} addresses repeat it; {count.visited} visited pages have {count.contents.count} contents",
        0,
    )


_VERDICTS: Final = {
    "calendar": _calendar,
    "session": _session,
    "facets": _facets,
    "paging": _paging,
    "loop": _loops,
}
