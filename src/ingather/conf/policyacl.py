"""policy-acl.txt: URL patterns with those who may see what they match.

One rule applies to a URL, the best match: exact, else the longest path, then the longest host text, then with scheme,
then with port, else any other. Of several that are equally good each must permit, so the order of lines means nothing.
Source: URL patterns of the Google Search Appliance, policy ACLs.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ingather.conf.urlpatterns.compiling import Group
from ingather.conf.urlpatterns.finding import Finding, PatternError
from ingather.conf.urlpatterns.lists import MAX_LINES, host_boundary, lines_of, settled
from ingather.conf.urlpatterns.reading import Form, Pattern, read_pattern
from ingather.conf.urlpatterns.subject import head_of, parted
from ingather.model.acl import PrincipalScope, Right
from ingather.model.diagnostic import Diagnostic

__all__ = ["PolicyAcl", "PolicyEntry", "PolicyRule"]

_WORD: Final = re.compile(r'(?:[^ \t"]|"[^"]*"?)+')
_PREFIXES: Final = frozenset({Form.PREFIX, Form.SUFFIX, Form.HOST_START})
_WHOLES: Final = frozenset({Form.EXACT, Form.HOST_ENDING, Form.ENDING})
_Rank = tuple[int, int, int, int, int, int]
_GENERAL: Final[_Rank] = (0, 0, 0, 0, 0, 0)
_EXACT: Final[_Rank] = (2, 0, 0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class PolicyEntry:
    """A user or group as it is written; how it is split into name and domain is the business of ``access``."""

    right: Right
    scope: PrincipalScope
    text: str


@dataclass(frozen=True, slots=True)
class PolicyRule:
    """One line: whoever its entries do not name is denied."""

    file: str
    pattern: Pattern
    entries: tuple[PolicyEntry, ...]

    @property
    def line(self) -> int:
        """From 1."""
        return self.pattern.line

    @property
    def where(self) -> str:
        """``FILE:LINE``."""
        return f"{self.file}:{self.line}"


class PolicyAcl:
    """The rules of a file, compiled; immutable."""

    def __init__(self, name: str, rules: Sequence[PolicyRule], *, label: bool = False) -> None:
        self.name = name
        self.rules = tuple(rules)
        self._by_line = {rule.line: rule for rule in rules}
        self._group = Group((rule.pattern for rule in rules), label=label)

    @classmethod
    def parse(cls, text: str, name: str, *, boundary: str = "") -> tuple["PolicyAcl", tuple[Diagnostic, ...]]:
        """Read rules ``PATTERN PRINCIPAL...``; with an error among the diagnostics they are to be refused as a whole.

        A principal is ``user:NAME`` or ``group:NAME``, a name alone is a group; ``right=none`` behind one denies him.
        Names with blanks are quoted, blanks of patterns are written ``%20``.
        """
        said: list[Diagnostic] = []
        label = boundary == "label" if boundary else host_boundary(text, name, said)
        rules: list[PolicyRule] = []
        found: list[tuple[int, int, Finding]] = []
        for line, offset, body in lines_of(text):
            if line > MAX_LINES:
                found.append((line, 0, Finding("too-many", f"more than {MAX_LINES:,} lines")))
                break
            written, *_ = body.replace("\t", " ").split(" ", 1)
            try:
                pattern, warned = _pattern(written, line, label=label)
                entries = _entries(body, len(written))
            except PatternError as error:
                found.append((line, offset, error.finding))
                continue
            found += [(line, offset, finding) for finding in warned]
            if not entries:
                nobody = Finding("no-principal", "nobody is permitted", len(written), error=False)
                found.append((line, offset, nobody))
            rules.append(PolicyRule(name, pattern, entries))
        found += _doubles(rules)
        return cls(name, rules, label=label), (*said, *settled(found, name))

    def __len__(self) -> int:
        return len(self.rules)

    def match(self, url: str) -> tuple[PolicyRule, ...]:
        """Return the rule that applies to *url*; several if they are equally good (each must permit), or none."""
        ranked = self._ranked(url)
        return tuple(rule for rank, rule in ranked if rank == ranked[0][0])

    def find(self, url: str) -> tuple[PolicyRule, ...]:
        """Return all rules that *url* matches, best first."""
        return tuple(rule for _, rule in self._ranked(url))

    def _ranked(self, url: str) -> list[tuple[_Rank, PolicyRule]]:
        found = [
            (_rank(rule.pattern, url), rule) for rule in map(self._by_line.__getitem__, self._group.all(url))
        ]
        found.sort(key=lambda pair: (tuple(-n for n in pair[0]), pair[1].line))
        return found


def _pattern(written: str, line: int, *, label: bool) -> tuple[Pattern, list[Finding]]:
    if written.startswith(("-", "+-")):
        raise PatternError("exception-here", "an exception in a policy")
    return read_pattern(written, line, label=label, bare_hosts=True)


def _rank(pattern: Pattern, url: str) -> _Rank:
    """Return how good a match is: exact or prefix or neither, then as the module says."""
    if pattern.form in _PREFIXES:
        whole = pattern.form is Form.PREFIX
        return (1, len(pattern.path), len(pattern.host), whole, bool(pattern.scheme), pattern.port > 0)
    if pattern.form in _WHOLES and (pattern.form is Form.EXACT or _is_whole(pattern, url)):
        return _EXACT
    return _GENERAL


def _is_whole(pattern: Pattern, url: str) -> bool:
    """Whether ``host/path$`` names the whole host of *url*, and does not only end it."""
    text, path = parted(url)
    wanted = f"{pattern.host}{pattern.path}" if pattern.form is Form.HOST_ENDING else pattern.literal
    return wanted == f"{head_of(text).host}{path}"


def _entries(body: str, at: int) -> tuple[PolicyEntry, ...]:
    made: list[PolicyEntry] = []
    for word in _WORD.finditer(body, at):
        text = word[0].replace('"', "")
        if word[0].count('"') % 2:
            raise PatternError("bad-right", "a quote that is not closed", word.start())
        name, equal, right = text.partition("=")
        if equal and name.lower() == "right":
            if right.lower() != "none" or not made:
                raise PatternError("bad-right", f"{text[:40]!r} is no right of anybody", word.start())
            made[-1] = PolicyEntry(Right.DENY, made[-1].scope, made[-1].text)
            continue
        kind, colon, rest = text.partition(":")
        scope = PrincipalScope.GROUP
        if colon and kind.lower() in ("user", "group"):
            scope, text = PrincipalScope(kind.lower()), rest
        if not text.strip():
            raise PatternError("bad-right", "a user or group without a name", word.start())
        made.append(PolicyEntry(Right.PERMIT, scope, text))
    return tuple(made)


def _doubles(rules: Sequence[PolicyRule]) -> list[tuple[int, int, Finding]]:
    """Return a warning for each rule whose pattern asks the same as an earlier one's and names others."""
    seen: dict[tuple[object, ...], PolicyRule] = {}
    found = []
    for rule in rules:
        p = rule.pattern
        same = (p.form, p.scheme, p.host, p.port, p.path, p.literal, p.expression, p.folded)
        first = seen.setdefault(same, rule)
        if first is not rule and set(first.entries) != set(rule.entries):
            text = f"the pattern of line {first.line} with other users or groups"
            found.append((rule.line, 0, Finding("ambiguous-policy", text, error=False)))
    return found
