"""Patterns of one list as tables: the first line that a URL matches, whatever their number.

Hosts are looked up once and remembered with the sorted path starts that count for them; whole URLs are a dictionary;
endings, texts and expressions are one RE2 set for each case mode, which answers which of them hit.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import re2
from ingather.conf.patterns.dialects import options
from ingather.conf.urlpatterns.reading import ANY_PORT, Form, Pattern
from ingather.conf.urlpatterns.subject import Head, head_of, parted

__all__ = ["NONE", "Group"]

NONE: Final = 1 << 62
"""No line."""
_MEMO: Final = 16_384
_SET_MEMORY: Final = 64 << 20
_PART: Final = 5_000
_Check = Callable[[Head, str, str], bool]


class _Starts:
    """Sorted starts of a text; of a text, those that it begins with, by bisection and parents."""

    __slots__ = ("_entries", "_parents", "_texts")

    def __init__(self, made: Iterable[tuple[str, int, int]]) -> None:
        entries: dict[str, list[tuple[int, int]]] = {}
        for text, port, line in made:
            entries.setdefault(text, []).append((port, line))
        self._texts = sorted(entries)
        self._entries = [entries[text] for text in self._texts]
        self._parents: list[int] = []
        open_: list[int] = []
        for number, text in enumerate(self._texts):
            while open_ and not text.startswith(self._texts[open_[-1]]):
                open_.pop()
            self._parents.append(open_[-1] if open_ else -1)
            open_.append(number)

    def hits(self, text: str, port: int) -> list[int]:
        """Return the lines whose text *text* begins with."""
        found: list[int] = []
        texts = self._texts
        at = bisect_right(texts, text) - 1
        while at >= 0:
            if text.startswith(texts[at]):
                found += [line for wanted, line in self._entries[at] if wanted in (ANY_PORT, port)]
            at = self._parents[at]
        return found


@dataclass(frozen=True, slots=True)
class _Member:
    """A member of a set: the *check* tells whether a hit of the expression is one of the pattern."""

    line: int
    expression: str
    ending: bool = False
    check: _Check | None = None


class _Set:
    """Members of one case mode."""

    __slots__ = ("_folded", "_parts")

    def __init__(self, members: Sequence[_Member], *, folded: bool) -> None:
        self._folded = folded
        self._parts: list[tuple[re2.Set | None, tuple[_Member, ...], Callable[[str], object] | None]] = []
        for start in range(0, len(members), _PART):
            self._build(tuple(members[start : start + _PART]), folded=folded)

    def _build(self, members: tuple[_Member, ...], *, folded: bool) -> None:
        chosen = options(folded=folded)
        chosen.max_mem = _SET_MEMORY
        found = re2.Set.SearchSet(chosen)
        try:
            found.Add("")  # hits everything: no hit at all means that the automaton ran out of memory
            for member in members:
                found.Add(member.expression)
            found.Compile()
            works = bool(found.Match("http://h/"))
        except re2.error:
            works = False
        if works:
            self._parts.append((found, members, None))
        else:
            if len(members) == 1:
                compiled = re2.compile(members[0].expression, options(folded=folded))
                self._parts.append((None, members, compiled.search))
                return
            middle = len(members) // 2
            self._build(members[:middle], folded=folded)
            self._build(members[middle:], folded=folded)

    @property
    def quick(self) -> Callable[[str], list[int]] | None:
        """What gives one number for a URL that nothing hits, if one automaton holds all."""
        only = self._parts[0][0] if len(self._parts) == 1 else None
        return None if only is None else only.Match

    def hits(self, url: str) -> Iterator[_Member]:
        """Yield the members whose expressions hit *url*."""
        for found, members, search in self._parts:
            if found is None:
                if search is not None and search(url) is not None:
                    yield members[0]
                continue
            numbers = found.Match(url)
            if len(numbers) == 1:
                continue
            if not numbers:  # never met; a pattern that is not asked would open a site
                chosen = options(folded=self._folded)
                yield from (m for m in members if re2.compile(m.expression, chosen).search(url) is not None)
                continue
            for number in numbers:
                if number:
                    yield members[number - 1]


@dataclass(frozen=True, slots=True)
class _Known:
    """What a head was found to be: the starts that count for it, the lines that take all of it."""

    head: Head
    starts: tuple[_Starts, ...]
    lines: tuple[int, ...]
    same: bool
    """The text is canonical as it stands."""
    bare: bool
    """No port is in it."""


class Group:
    """The patterns, or the exceptions, of one list; immutable. Any thread may ask.

    Args:
        patterns: of one list.
        label: host texts begin at a label.
    """

    def __init__(self, patterns: Iterable[Pattern], *, label: bool) -> None:
        self._label = label
        self._memo: dict[str, _Known] = {}
        exact: dict[str, list[tuple[int, int]]] = {}
        wholes: dict[str, list[tuple[str, int, int]]] = {}
        suffixes: dict[str, list[tuple[str, int, int]]] = {}
        host_starts: dict[str, list[tuple[str, int, int]]] = {}
        sets: dict[bool, list[_Member]] = {False: [], True: []}
        self._segments: list[tuple[int, bool]] = []
        self._all: list[int] = []
        self.count = 0
        for p in patterns:
            self.count += 1
            if p.form is Form.EXACT:
                exact.setdefault(f"{p.scheme}://{p.host}{p.path}", []).append((p.port, p.line))
            elif p.form is Form.PREFIX:
                wholes.setdefault(f"{p.scheme}://{p.host}", []).append((p.path, p.port, p.line))
            elif p.form is Form.SUFFIX:
                suffixes.setdefault(p.host, []).append((p.path, p.port, p.line))
            elif p.form is Form.HOST_START:
                host_starts.setdefault(p.scheme, []).append((p.host, ANY_PORT, p.line))
            elif p.form is Form.ALL:
                self._all.append(p.line)
            elif p.form is Form.EQUAL_SEGMENTS:
                self._segments.append((p.line, p.folded))
            else:
                sets[p.folded].append(_member(p, label=label))
        self._exact = exact
        self._wholes = {host: _Starts(made) for host, made in wholes.items()}
        self._suffixes = {host: _Starts(made) for host, made in suffixes.items()}
        self._lengths = sorted({len(host) for host in suffixes})
        self._host_starts = {scheme: _Starts(made) for scheme, made in host_starts.items()}
        self._sets = tuple(_Set(members, folded=folded) for folded, members in sets.items() if members)
        self._quick = self._sets[0].quick if len(self._sets) == 1 else None

    def first(self, url: str) -> int:
        """Return the first line that *url* matches, :data:`NONE` if there is none."""
        if not self.count:
            return NONE
        found = self._hits(url)
        return min(found) if found else NONE

    def all(self, url: str) -> list[int]:
        """Return all lines that *url* matches, ascending."""
        return sorted(set(self._hits(url))) if self.count else []

    def _hits(self, url: str) -> list[int]:
        slash = url.find("/", url.find("://") + 3)
        text, path = url[:slash], url[slash:]
        known = self._memo.get(text) if slash > 0 and "#" not in path else None
        if known is None:
            text, path = parted(url)
            known, url = self._memo.get(text) or self._learn(text), text + path
        head = known.head
        found = [*known.lines]
        for starts in known.starts:
            found += starts.hits(path, head.port)
        clean = url if known.same else head.clean + path
        if self._exact:
            for port, line in self._exact.get(head.bare + path, ()):
                if port in (ANY_PORT, head.port):
                    found.append(line)
        quick = self._quick
        if self._sets and (quick is None or not known.bare or len(quick(clean)) != 1):
            self._in_sets(clean, head, path, found)
        for line, folded in self._segments:
            if _equal_segments(clean.lower() if folded else clean):
                found.append(line)
        return found

    def _in_sets(self, clean: str, head: Head, path: str, found: list[int]) -> None:
        for one in self._sets:
            found += [m.line for m in one.hits(clean) if m.check is None or m.check(head, path, clean)]
            if head.clean != head.bare:
                bare = head.bare + path
                found += [
                    m.line
                    for m in one.hits(bare)
                    if m.ending and (m.check is None or m.check(head, path, bare))
                ]

    def _learn(self, text: str) -> _Known:
        head = head_of(text)
        starts = []
        whole = self._wholes.get(head.bare)
        if whole is not None:
            starts.append(whole)
        host = head.host
        for length in self._lengths:
            if length > len(host):
                break
            suffix = host[len(host) - length :]
            found = self._suffixes.get(suffix)
            if found is not None and (not self._label or _at_label(host, suffix)):
                starts.append(found)
        lines = list(self._all)
        of_scheme = self._host_starts.get(head.scheme)
        if of_scheme is not None:
            lines += of_scheme.hits(host, head.port)
        known = _Known(head, tuple(starts), tuple(lines), head.clean == text, head.clean == head.bare)
        if len(self._memo) >= _MEMO:
            self._memo.clear()
        self._memo[text] = known
        return known


def _at_label(host: str, suffix: str) -> bool:
    return not suffix or len(host) == len(suffix) or suffix.startswith(".") or host[-len(suffix) - 1] == "."


def _member(p: Pattern, *, label: bool) -> _Member:
    if p.form is Form.EXPRESSION:
        return _Member(p.line, p.expression)
    if p.form is Form.PATH:
        return _Member(p.line, re2.escape(p.literal), check=lambda _head, path, _url: p.literal in path)
    if p.form is Form.ENDING:
        host = p.literal.partition("/")[0] if label else ""
        return _Member(
            p.line,
            f"{re2.escape(p.literal)}\\z",
            ending=True,
            check=(lambda _head, _path, url: _label_ending(url, p.literal)) if host else None,
        )
    if p.form is Form.HOST_ENDING:
        return _Member(
            p.line,
            f"{re2.escape(p.path)}\\z",
            ending=True,
            check=lambda head, path, _url: (
                path == p.path
                and head.host.endswith(p.host)
                and p.port in (ANY_PORT, head.port)
                and (not label or _at_label(head.host, p.host))
            ),
        )
    return _Member(p.line, re2.escape(p.literal))


def _label_ending(url: str, literal: str) -> bool:
    """With host texts that begin at a label an ending with a slash does, too, where it reaches into the host."""
    if "/" not in literal or literal.startswith((".", "/")):
        return True
    before = url[: -len(literal)]
    return before.count("/") != 2 or before.endswith(("/", "."))  # noqa: PLR2004 - the two before a host


def _equal_segments(url: str) -> bool:
    """Whether three equal segments follow each other, with a slash behind the last."""
    parts = url.split("/")
    return any(parts[i] == parts[i + 1] == parts[i + 2] for i in range(1, len(parts) - 3))
