"""The rules of one agent, compiled: longest match wins, an allow wins a tie (RFC 9309 2.2.2).

Patterns without ``*`` and ``$`` are looked up in dicts by length, longest first; the others are
tried one by one, piece after piece, so that no pattern costs more than linear time.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import quote

from ingather.fetch.robots_lines import LineKind, clean_value

__all__ = ["Decision", "RuleSet", "path_of"]

_INDEX = "/index.htm"
_START = 4
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_ASCII = "".join(map(chr, range(128)))
_ESCAPE = re.compile(r"%([0-9a-fA-F]{2})")
_USUAL = re.compile(r"https?://[^/?;#]+(/[^#]*)").match
_ODD = re.compile(r"[*$%~\x80-\xff]").search
_ODD_PATH = re.compile(r"[^!-#&-)+-}]").search


class Decision(NamedTuple):
    """The deciding rule: its line in the file and whether it allows."""

    line: int
    allows: bool


class _Patterns:
    """Patterns of one kind (allow or disallow); ``best`` gives rank and line of the longest match."""

    __slots__ = ("_by_start", "_lengths", "_short", "_wild", "_wild_sorted")

    def __init__(self) -> None:
        self._by_start: dict[str, dict[str, int]] = {}  # literals by their first characters
        self._lengths: dict[str, list[int]] = {}  # lengths of the literals with one start, longest first
        self._short: dict[str, int] = {}  # literals shorter than a start
        self._wild: list[tuple[int, int, str, tuple[str, ...], str | None, bool]] = []
        self._wild_sorted = True

    def add_literal(self, pattern: str, line: int) -> None:
        """Add a pattern without special characters; its rank is its length."""
        if len(pattern) < _START:
            self._short.setdefault(pattern, line)
            return
        start = pattern[:_START]
        table = self._by_start.get(start)
        if table is None:
            self._by_start[start] = {pattern: line}
        else:
            table.setdefault(pattern, line)

    def add(self, pattern: str, line: int, rank: int) -> None:
        """Add any pattern; *rank* is its length as the file's author wrote it."""
        anchored = pattern.endswith("$")
        if not anchored and "*" not in pattern and rank == len(pattern):
            self.add_literal(pattern, line)
            return
        parts = (pattern[:-1] if anchored else pattern).split("*")
        whole = anchored and len(parts) == 1
        tail = parts.pop() if anchored and not whole else None
        head, *rest = parts
        self._wild.append((-rank, line, head, tuple(piece for piece in rest if piece), tail, whole))
        self._wild_sorted = False

    def best(self, path: str) -> tuple[int, int]:
        """Return (rank, line) of the longest pattern that matches, (0, 0) when none does."""
        rank = line = 0
        start = path[:_START]
        table = self._by_start.get(start)
        if table is not None:
            lengths = self._lengths.get(start)
            if lengths is None:
                lengths = self._lengths[start] = sorted({len(pattern) for pattern in table}, reverse=True)
            for length in lengths:
                found = table.get(path[:length])
                if found is not None:
                    rank, line = min(length, len(path)), found
                    break
        if not rank and self._short:
            for length in range(_START - 1, 0, -1):
                found = self._short.get(path[:length])
                if found is not None:
                    rank, line = min(length, len(path)), found
                    break
        if self._wild:
            return self._best_wild(path, rank, line)
        return rank, line

    def _best_wild(self, path: str, rank: int, line: int) -> tuple[int, int]:
        """Better (*rank*, *line*) by a pattern with ``*`` or ``$``.

        Each piece is looked for once, to the right of the one before: linear, nothing backtracks.
        """
        if not self._wild_sorted:
            self._wild.sort(key=_order)
            self._wild_sorted = True
        for minus_rank, wild_line, head, pieces, tail, whole in self._wild:
            if -minus_rank < rank or (-minus_rank == rank and wild_line > line):
                break
            if not path.startswith(head):
                continue
            at = len(head)
            for piece in pieces:
                at = path.find(piece, at) + len(piece)
                if at < len(piece):
                    break
            else:
                if whole:
                    if len(path) != at:
                        continue
                elif tail is not None and not (path.endswith(tail) and len(path) - len(tail) >= at):
                    continue
                return -minus_rank, wild_line
        return rank, line


def _order(wild: tuple[int, int, str, tuple[str, ...], str | None, bool]) -> tuple[int, int]:
    return wild[:2]


class RuleSet:
    """All rules of one agent. Paths and patterns are compared in up to three spellings.

    As written, which is how everybody compares. With ``%7E`` as ``~``, hex digits in upper
    case, and ``*`` and ``$`` in a path as ``%2A`` and ``%24`` (RFC 9309 2.2.3). And, for
    ``Disallow`` alone, with every escape of an unreserved character taken off (2.2.2): Google
    does not do that, so the cautious answer for an ``Allow`` is not to do it either.

    Args:
        rules: (line number, ``LineKind.ALLOW`` or ``LineKind.DISALLOW``, value as in the line).
    """

    __slots__ = ("_allow", "_disallow")

    def __init__(self, rules: Iterable[tuple[int, int, str]]) -> None:
        allow, disallow = _Patterns(), _Patterns()
        for line, kind, value in rules:
            pattern = clean_value(value)
            if not pattern:
                continue
            patterns = allow if kind else disallow
            if kind and _INDEX in pattern:
                slash = pattern.rindex("/")
                if pattern.startswith(_INDEX, slash):
                    allow.add(pattern[: slash + 1] + "$", line, slash + 2)
            if not _ODD(pattern):
                patterns.add_literal(pattern, line)
                continue
            if not pattern.isascii():
                pattern = quote(pattern.encode("latin-1"), safe=_ASCII)
            rank = len(pattern)
            if "%" not in pattern and "$" not in pattern[:-1]:
                patterns.add(pattern, line, rank)
                continue
            spellings = {_ESCAPE.sub(_upper, pattern): None}
            inner = pattern[:-1].replace("$", "%24") + pattern[-1:]
            spellings[_ESCAPE.sub(_tilde, inner)] = None
            if kind == LineKind.DISALLOW:
                spellings[_ESCAPE.sub(_unescape, inner)] = None
            for spelling in spellings:
                patterns.add(spelling, line, rank)
        self._allow, self._disallow = allow, disallow

    def allows(self, path: str) -> bool:
        """Whether *path* may be fetched; cheaper than :meth:`decide` where nothing forbids it."""
        if not _ODD_PATH(path) and self._disallow.best(path)[0] == 0:
            return True
        decision = self.decide(path)
        return decision is None or decision.allows

    def decide(self, path: str) -> Decision | None:
        """Return the rule that decides about *path* (from :func:`path_of`); ``None`` = no rule matches."""
        no_rank, no_line = self._disallow.best(path)
        yes_rank, yes_line = self._allow.best(path)
        if _ODD_PATH(path):
            starred = path.replace("*", "%2A").replace("$", "%24")
            tilde = _ESCAPE.sub(_tilde, starred)
            plain = _ESCAPE.sub(_unescape, quote(starred.encode("utf-8", "replace"), safe=_ASCII))
            yes_rank, yes_line = max((yes_rank, yes_line), self._allow.best(tilde))
            no_rank, no_line = max((no_rank, no_line), self._disallow.best(tilde), self._disallow.best(plain))
        if not yes_rank and not no_rank:
            return None
        if no_rank > yes_rank:
            return Decision(no_line, allows=False)
        return Decision(yes_line, allows=True)


def path_of(url: str) -> str:
    """Return path and query of *url*, ``/`` for a bare host; a relative or broken URL gives what it has."""
    usual = _USUAL(url)
    if usual:
        return usual[1]
    start = 2 if url.startswith("//") else 0
    scheme = url.find("://", start)
    if scheme >= 0:
        early = _first(url, start)
        after = scheme + 3 if early < 0 or early > scheme else start
    else:
        after = start
    at = url.find("/", after)
    cut = url.find("#", start)
    if at < 0 or "?" in url[after:at] or ";" in url[after:at]:
        at = _first(url, after)
    if at < 0 or 0 <= cut < at:
        return "/"
    path = url[at:cut] if cut >= 0 else url[at:]
    return path if path[0] == "/" else "/" + path


def _first(url: str, start: int) -> int:
    found = [at for at in (url.find(mark, start) for mark in "/?;") if at >= 0]
    return min(found, default=-1)


def _upper(escape: re.Match[str]) -> str:
    return escape[0].upper()


def _tilde(escape: re.Match[str]) -> str:
    code = escape[0].upper()
    return "~" if code == "%7E" else code


def _unescape(escape: re.Match[str]) -> str:
    character = chr(int(escape[1], 16))
    return character if character in _UNRESERVED else escape[0].upper()
