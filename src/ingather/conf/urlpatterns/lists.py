"""Lists of URL patterns, and the rule that two of them make: in Follow, and not in Do Not Follow."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ingather.conf.report import KEPT
from ingather.conf.urlpatterns.compiling import NONE, Group
from ingather.conf.urlpatterns.finding import Finding, PatternError
from ingather.conf.urlpatterns.reading import Pattern, read_pattern
from ingather.model.diagnostic import Diagnostic

__all__ = ["MAX_LINES", "Crawled", "Follow", "Hit", "PatternList", "lines_of", "settled"]

MAX_LINES: Final = 100_000
_SWITCH: Final = re.compile(r"#\s*host-boundary\s*=\s*(\S+)\s*\Z")


@dataclass(frozen=True, slots=True)
class Hit:
    """The line that decided."""

    file: str
    line: int
    text: str
    exception: bool = False

    @property
    def where(self) -> str:
        """``FILE:LINE``."""
        return f"{self.file}:{self.line}"


def lines_of(text: str) -> list[tuple[int, int, str]]:
    """Return (line, offset of its first character, trimmed text) of what is neither blank nor a comment."""
    found = []
    for number, line in enumerate(_split(text), start=1):
        body = line.strip(" \t\r\ufeff")
        if body and not body.startswith("#"):
            found.append((number, line.index(body[0]), body))
    return found


def _split(text: str) -> list[str]:
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")


def host_boundary(text: str, name: str, found: list[Diagnostic]) -> bool:
    """Return whether a comment says ``# host-boundary = label``; an unknown value goes to *found*."""
    for number, line in enumerate(_split(text), start=1):
        switch = _SWITCH.match(line.strip()) if "host-boundary" in line else None
        if switch is None:
            continue
        if switch[1] not in ("any", "label"):
            problem = Finding("unsupported-form", f"host-boundary is any or label, not {switch[1][:40]!r}")
            found.append(problem.diagnostic(name, number))
        return switch[1] == "label"
    return False


def settled(found: list[tuple[int, int, Finding]], name: str) -> list[Diagnostic]:
    """Return findings as diagnostics; hosts that are open at their left end are told once, with their number."""
    open_hosts = sum(finding.name == "open-host" for _, _, finding in found)
    made, told = [], False
    for line, offset, finding in found:
        text = finding.text
        if finding.name == "open-host":
            if told:
                continue
            told = True
            text += f" (and {open_hosts - 1} more in this list)" if open_hosts > 1 else ""
        made.append(
            Finding(finding.name, text, finding.offset + offset, finding.error).diagnostic(name, line)
        )
        if len(made) >= KEPT:
            break
    return made


class PatternList:
    """The patterns of one file, compiled; immutable.

    In it is what some pattern matches and no exception does; the order of lines does not matter.
    """

    def __init__(self, name: str, patterns: Sequence[Pattern], *, label: bool = False) -> None:
        self.name = name
        self.patterns = tuple(patterns)
        self._texts = {p.line: p.text for p in patterns}
        self._includes = Group((p for p in patterns if not p.exception), label=label)
        self._excepts = Group((p for p in patterns if p.exception), label=label)

    @classmethod
    def parse(
        cls, text: str, name: str, *, boundary: str = ""
    ) -> tuple["PatternList", tuple[Diagnostic, ...]]:
        """Read a list; with an error among the diagnostics it is to be refused as a whole.

        Args:
            text: of the file.
            name: of the file, for people.
            boundary: ``any`` or ``label``: where host texts may begin; by default a comment of the file says so
                (``# host-boundary = label``), else ``any``.
        """
        said: list[Diagnostic] = []
        label = boundary == "label" if boundary else host_boundary(text, name, said)
        patterns: list[Pattern] = []
        found: list[tuple[int, int, Finding]] = []
        for line, offset, body in lines_of(text):
            if line > MAX_LINES:
                found.append((line, 0, Finding("too-many", f"more than {MAX_LINES:,} lines")))
                break
            try:
                pattern, warned = read_pattern(body, line, label=label)
            except PatternError as error:
                found.append((line, offset, error.finding))
            else:
                patterns.append(pattern)
                found += [(line, offset, finding) for finding in warned]
        return cls(name, patterns, label=label), (*said, *settled(found, name))

    def __len__(self) -> int:
        return len(self.patterns)

    def decide(self, url: str) -> Hit | None:
        """Return the first line by which *url* is in the list, ``None`` if it is not."""
        line = self._includes.first(url)
        if line == NONE or self._excepts.first(url) != NONE:
            return None
        return self._hit(line)

    def lines(self, url: str) -> list[int]:
        """Return every line that *url* matches, exceptions among them."""
        return [*self._includes.all(url), *self._excepts.all(url)]

    def excepted(self, url: str) -> Hit | None:
        """Return the first exception that *url* matches."""
        line = self._excepts.first(url)
        return None if line == NONE else self._hit(line, exception=True)

    def named(self, url: str) -> Hit | None:
        """Return the first pattern that *url* matches, exceptions apart."""
        line = self._includes.first(url)
        return None if line == NONE else self._hit(line)

    def _hit(self, line: int, *, exception: bool = False) -> Hit:
        return Hit(self.name, line, self._texts[line], exception)


@dataclass(frozen=True, slots=True)
class Crawled:
    """Whether a URL passes, by which line and in which words."""

    passed: bool
    hit: Hit | None
    reason: str
    file: str = ""
    banned: bool = False
    """A Do-Not-Follow pattern refuses it: what is known of it goes."""

    @property
    def where(self) -> str:
        """``FILE:LINE``, or the file that no line of takes the URL."""
        return self.hit.where if self.hit is not None else self.file


@dataclass(frozen=True, slots=True)
class Follow:
    """Both lists of one level; ``None`` = there is no such file, and no gate."""

    follow: PatternList | None = None
    donotfollow: PatternList | None = None

    def crawled(self, url: str) -> tuple[bool, Hit | None]:
        """Return whether *url* is crawled, and the line that decided (``None`` = none did)."""
        found = self.judge(url)
        return found.passed, found.hit

    def judge(self, url: str, *, exempt: bool = False) -> Crawled:
        """Return the verdict on *url*; *exempt*: Follow does not concern it."""
        refusing = self.donotfollow
        hit = refusing.decide(url) if refusing is not None else None
        if refusing is not None and hit is not None:
            return Crawled(
                passed=False, hit=hit, reason=f"Do Not Follow: {hit.text}", file=refusing.name, banned=True
            )
        admitting = None if exempt else self.follow
        if admitting is None:
            return Crawled(passed=True, hit=None, reason="no gate")
        hit = admitting.named(url)
        if hit is None:
            return Crawled(passed=False, hit=None, reason="no Follow pattern matches it", file=admitting.name)
        against = admitting.excepted(url)
        if against is not None:
            reason = f"an exception of Follow: {against.text}"
            return Crawled(passed=False, hit=against, reason=reason, file=admitting.name)
        return Crawled(passed=True, hit=hit, reason=f"Follow: {hit.text}", file=admitting.name)
