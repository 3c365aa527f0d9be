"""Two versions of a file: which lines differ, and which key ranges must be looked at again (specification, section 11)."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ingather.overlay.laid import Overlay
from ingather.overlay.line import Own
from ingather.overlay.record import elements_of

__all__ = ["Change", "KeyRange", "changes", "key_ranges", "ranges_of", "unified"]


class Change(NamedTuple):
    """One prefix of which two versions say different things.

    Attributes:
        prefix, exact: whose it is.
        old, new: what the versions say; ``None`` = no such record.
        old_line, new_line: where; 0 if not there.
    """

    prefix: str
    exact: bool
    old: Own | None
    new: Own | None
    old_line: int
    new_line: int

    def __str__(self) -> str:
        sign = "+" if self.old is None else "-" if self.new is None else "~"
        names = dict.fromkeys([*(self.old or {}), *(self.new or {})])
        parts = []
        for name in names:
            before, after = (self.old or {}).get(name), (self.new or {}).get(name)
            if before != after:
                parts.append(f"{name}: {_said(before)} -> {_said(after)}")
        return f"{sign} {self.prefix}{' (this page alone)' if self.exact else ''}  {'; '.join(parts)}"


class KeyRange(NamedTuple):
    """Stripped keys from *first* up to, but without, *end*: what may have changed."""

    first: str
    end: str


def changes(old: Overlay, new: Overlay) -> Iterator[Change]:
    """Yield, in the order of keys, every prefix of which the versions say different things."""
    same_options = old.options == new.options
    i = j = 0
    while i < len(old) or j < len(new):
        left = old.raw_key(i) if i < len(old) else None
        right = new.raw_key(j) if j < len(new) else None
        if right is None or (left is not None and left < right):
            yield Change(*old.key(i), old.own(i), None, old.line(i), 0)
            i += 1
        elif left is None or right < left:
            yield Change(*new.key(j), None, new.own(j), 0, new.line(j))
            j += 1
        else:
            if not same_options or old.elements(i) != new.elements(j):
                before, after = old.own(i), new.own(j)
                if before != after:
                    yield Change(*new.key(j), before, after, old.line(i), new.line(j))
            i += 1
            j += 1


def unified(change: Change) -> list[str]:
    """Return a change as a hunk: ``@@ -LINE +LINE @@ PREFIX`` (line 0 = no such record), then a line a class.

    Classes begin with ``-`` (as it was), ``+`` (as it is) or a blank (the same in both) and are written as in a file.
    """
    old, new = change.old or {}, change.new or {}
    alone = " (this page alone)" if change.exact else ""
    lines = [f"@@ -{change.old_line} +{change.new_line} @@ {change.prefix}{alone}"]
    for name in dict.fromkeys([*old, *new]):
        before, after = old.get(name), new.get(name)
        if before == after is not None:
            lines.append(f" {elements_of(name, after)}")
            continue
        lines += [
            f"{sign}{elements_of(name, values)}"
            for sign, values in (("-", before), ("+", after))
            if values is not None
        ]
    return lines


def key_ranges(old: Overlay, new: Overlay) -> list[KeyRange]:
    """Return the ranges of stripped keys whose documents may have other values in *new*, apart and in order.

    Documents outside have the same values in both. When the versions were read with different case rules, or fold
    the case of a host's paths, that host is one range.
    """
    folding = old.options.case_insensitive_hosts | new.options.case_insensitive_hosts
    return ranges_of(((each.prefix, each.exact) for each in changes(old, new)), folding)


def ranges_of(prefixes: Iterable[tuple[str, bool]], folding: frozenset[str] = frozenset()) -> list[KeyRange]:
    """Return the ranges of (prefix, exact), those that lie in others left out; *folding* hosts are whole."""
    raw = []
    for prefix, exact in prefixes:
        slash = prefix.find("/", prefix.find("://") + 3)
        authority = prefix[prefix.find("://") + 3 : slash]
        if folding and (authority in folding or authority.rpartition(":")[0] in folding):
            raw.append(KeyRange(prefix[: slash + 1], prefix[:slash] + "0"))
        elif exact:
            raw.append(KeyRange(prefix, prefix + "\0"))
        else:
            raw.append(KeyRange(prefix, prefix[:-1] + chr(ord(prefix[-1]) + 1)))
    raw.sort()
    apart: list[KeyRange] = []
    for each in raw:
        if apart and each.first < apart[-1].end:
            if each.end > apart[-1].end:
                apart[-1] = KeyRange(apart[-1].first, each.end)
        else:
            apart.append(each)
    return apart


def _said(values: tuple[str, ...] | None) -> str:
    if values is None:
        return "nothing"
    return " | ".join(values) or "(cleared)"
