"""robots.txt: the file read into groups, and the verdict for an agent and a URL (RFC 9309).

Where the RFC is open this follows Google's parser: misspelt directives, a missing colon, what
ends a group, how far a line is read. Four things go beyond it, each towards obeying more:
escapes (see ``robots_rules.RuleSet``), files in UTF-16, names of agents with characters that the
RFC does not give them, and several names in one ``User-agent`` line.

Reading is lazy: :func:`parse` sorts the lines into groups, the rules of an agent are compiled
when it first asks.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from ingather.fetch.robots_lines import (
    FAST_KINDS,
    LineEvent,
    LineKind,
    clean_value,
    explain_lines,
    read_line,
    split_lines,
)
from ingather.fetch.robots_rules import RuleSet, path_of

__all__ = ["LineEvent", "LineKind", "RobotsTxt", "RobotsVerdict", "parse"]

_TOKEN = re.compile(r"[A-Za-z_-]*")
_BETWEEN = re.compile(r"[\s,]+")
_PRODUCT = re.compile(r"([A-Za-z_-][A-Za-z0-9_.-]*)/")
_NUMBER = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?|\.[0-9]{1,9}")
_ALLOW, _USER_AGENT = int(LineKind.ALLOW), int(LineKind.USER_AGENT)
_SITEMAP, _CRAWL_DELAY = int(LineKind.SITEMAP), int(LineKind.CRAWL_DELAY)
_AGENTS = 64
_ITSELF = "/robots.txt"


@dataclass(frozen=True, slots=True)
class RobotsVerdict:
    """Whether a URL may be fetched, and the line that says so.

    ``line`` counts from 1, 0 when no line decided; ``text`` is that line as it stands in the
    file; ``agent`` is the group's name as written there, ``*`` for the group of all, ``""`` for
    none. ``reason`` says for people why, when no line decided.
    """

    allowed: bool
    line: int = 0
    text: str = ""
    agent: str = ""
    reason: str = ""


class _Group:
    """Rules that stand under the same ``User-agent`` lines."""

    __slots__ = ("agents", "delays", "rules")

    def __init__(self) -> None:
        self.agents: list[str] = []
        self.rules: list[tuple[int, int, str]] = []  # line, LineKind, value
        self.delays: list[tuple[int, str]] = []  # how many of the agents stand before it, value


class RobotsTxt:
    """A robots.txt that was read: any thread may ask, nobody can change it.

    Attributes:
        source: the bytes that were read.
    """

    def __init__(self, body: bytes) -> None:
        self.source = body
        self._lines = split_lines(body)
        self._groups: list[_Group] = []
        self._sitemaps: list[str] = []
        self._known: dict[str, tuple[RuleSet, str]] = {}
        self._read()

    def allows(self, agent: str, url: str) -> bool:
        """Whether *agent* (product token, or a User-Agent text that begins with it) may fetch *url*."""
        path = path_of(url)
        known = self._known.get(agent) or self._compile(agent)
        return known[0].allows(path) or path == _ITSELF

    def decide(self, agent: str, url: str) -> RobotsVerdict:
        """Judge *url* for *agent*: the longest matching rule wins, an allow wins a tie."""
        rules, group = self._known.get(agent) or self._compile(agent)
        path = path_of(url)
        decision = rules.decide(path)
        if decision is None:
            why = "no rule matches" if group else "no group applies"
            return RobotsVerdict(allowed=True, agent=group, reason=why)
        if path == _ITSELF and not decision.allows:
            return RobotsVerdict(allowed=True, agent=group, reason="robots.txt itself is always allowed")
        text = _told(self._lines[decision.line - 1])
        return RobotsVerdict(decision.allows, decision.line, text, group)

    def concerning(self, agent: str) -> tuple[LineEvent, ...]:
        """Return the lines that concern *agent*: its groups whole, by name or else those of all, and every ``Sitemap``; in order."""
        groups: list[tuple[list[LineEvent], list[str]]] = []
        found: list[LineEvent] = []
        closed = True
        for event in self.lines:
            if event.kind is LineKind.SITEMAP:
                found.append(event)
            elif event.kind is LineKind.USER_AGENT:
                if closed:
                    groups.append(([], []))
                    closed = False
                groups[-1][0].append(event)
                groups[-1][1].append(event.value)
            elif event.kind in {LineKind.ALLOW, LineKind.DISALLOW, LineKind.CRAWL_DELAY} and groups:
                groups[-1][0].append(event)
                closed = closed or event.kind <= LineKind.ALLOW
        product = _PRODUCT.match(agent)
        wanted = (product[1] if product else agent).lower()
        own = [lines for lines, names in groups if wanted and any(_means(name, wanted) for name in names)]
        everybody = [lines for lines, names in groups if any(_is_all(name) for name in names)]
        for lines in own or everybody:
            found += lines
        return tuple(sorted(found, key=lambda event: event.number))

    def crawl_delay(self, agent: str) -> float | None:
        """Seconds that the file asks *agent* to wait between visits; ``None`` when it does not.

        A delay belongs to the agents named before it; of several the longest counts.
        """
        longest: float | None = None
        for group, at in self._groups_for(agent)[0]:
            for reach, value in group.delays:
                number = _NUMBER.match(clean_value(value))
                if number and at < reach:
                    longest = max(longest or 0.0, float(number[0]))
        return longest

    @cached_property
    def sitemaps(self) -> tuple[str, ...]:
        """Values of the ``Sitemap`` lines, as written, each once; they belong to no group."""
        values = (_told(clean_value(value)) for value in self._sitemaps)
        return tuple(dict.fromkeys(value for value in values if value))

    @property
    def has_groups(self) -> bool:
        """Whether any ``User-agent`` line was found; HTML in the place of the file has none."""
        return bool(self._groups)

    @cached_property
    def lines(self) -> tuple[LineEvent, ...]:
        """Every line with what was made of it."""
        return tuple(explain_lines(self._lines))

    def _read(self) -> None:
        usual = FAST_KINDS
        group: _Group | None = None
        rules: list[tuple[int, int, str]] = []  # of lines before any group: never looked at
        closed = True
        for number, line in enumerate(self._lines, 1):
            if not line or line[0] == "#":
                continue
            key, _, value = line.partition(":")
            kind = usual.get(key)
            if kind is None:
                kind, value = read_line(line)
            if kind <= _ALLOW:
                rules.append((number, kind, value))
                closed = True
            elif kind == _USER_AGENT:
                if closed or group is None:
                    group = _Group()
                    self._groups.append(group)
                    rules = group.rules
                    closed = False
                group.agents.append(value)
            elif kind == _SITEMAP:
                self._sitemaps.append(value)
            elif kind == _CRAWL_DELAY and group is not None:
                group.delays.append((len(group.agents), value))

    def _compile(self, agent: str) -> tuple[RuleSet, str]:
        groups, name = self._groups_for(agent)
        rules = RuleSet(rule for group, _ in groups for rule in group.rules)
        if len(self._known) >= _AGENTS:
            self._known.clear()
        known = self._known[agent] = (rules, name)
        return known

    def _groups_for(self, agent: str) -> tuple[list[tuple[_Group, int]], str]:
        """Return the groups of *agent*, each with the place of its name in it, and the name."""
        product = _PRODUCT.match(agent)
        wanted = (product[1] if product else agent).lower()
        own: dict[int, tuple[_Group, int]] = {}
        everybody: dict[int, tuple[_Group, int]] = {}
        name = ""
        for group, at, value in self._names():
            if _is_all(value):
                everybody.setdefault(id(group), (group, at))
            elif wanted and _means(value, wanted):
                own.setdefault(id(group), (group, at))
                name = name or _told(value)
        if own:
            return list(own.values()), name
        return list(everybody.values()), "*" if everybody else ""

    def _names(self) -> Iterator[tuple[_Group, int, str]]:
        for group in self._groups:
            for at, value in enumerate(group.agents):
                yield group, at, clean_value(value)


def parse(body: bytes) -> RobotsTxt:
    """Read *body*, whatever it is; there is no input that fails.

    Lines end with LF, CR or both; a byte order mark, NULs and HTML around the directives are
    tolerated. What begins beyond 2 MiB is not read (the RFC's least is 500 KiB), nor more than 16,663
    bytes of a line.
    """
    return RobotsTxt(body)


def _is_all(value: str) -> bool:
    """Whether a ``User-agent`` value means everybody."""
    return value[:1] == "*" and (len(value) == 1 or value[1] in " \t")


def _means(value: str, wanted: str) -> bool:
    """Whether a ``User-agent`` value means *wanted*: by its token as the RFC has it, or by one of its words."""
    low = value.lower()
    if wanted not in low:
        return False
    token = _TOKEN.match(low)
    if token is not None and token[0] == wanted:
        return True
    return any(wanted in (word, word.partition("/")[0]) for word in _BETWEEN.split(low))


def _told(text: str) -> str:
    """Turn a line's characters, which stand for bytes, into text."""
    return text.strip().encode("latin-1", "replace").decode("utf-8", "replace")
