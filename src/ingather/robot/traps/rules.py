"""The rule that would stop a trap, and what it would cost. Pure.

Of a trap some patterns are proposed, the tightest that stops it first; each is held against every known URL of the host.
The one that hits the fewest documents with a content of their own is taken, of equals the one that excludes most.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import re2
from ingather.robot.traps.finding import Found, Seen

__all__ = ["Cost", "advice_of", "candidates", "rule_lines", "rule_name", "weigh"]

_MOST_PARAMETERS: Final = 6
_NAME_CHARS: Final = 60


class Cost(NamedTuple):
    """A pattern with the known URLs that it excludes, and the documents with a content of their own among those."""

    pattern: str
    excluded: int
    good: int


class _Tried:
    """One pattern and what it met."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self._search = re2.compile(pattern).search
        self.excluded = 0
        self._inside: set[int] = set()
        self._outside: set[int] = set()

    def take(self, url: str, row: Seen) -> None:
        hit = self._search(url) is not None
        self.excluded += hit
        if row.described and row.content:
            (self._inside if hit else self._outside).add(row.content)

    @property
    def cost(self) -> Cost:
        return Cost(self.pattern, self.excluded, len(self._inside - self._outside))


def candidates(origin: str, trap: Found) -> list[str]:
    """Return patterns (RE2) of whole URLs that would stop a trap of *origin*, the tightest first."""
    start = "^" + re.escape(origin)
    match trap.kind:
        case "calendar":
            return [start + _dated(trap.name, trap.beyond)]
        case "paging":
            return [start + _numbered(trap.name, max(2 * trap.beyond, trap.beyond + 10))]
        case "session":
            return [start + _token(trap.name)]
        case "facets":
            bare = re.escape(trap.name.removesuffix("?"))
            return [f"{start}{bare}\\?(?:[^&]+&){{{least},}}" for least in range(_MOST_PARAMETERS, 0, -1)]
        case _:  # a loop
            unit = re.escape(trap.name)
            return [f"{start}(?:/[^?]*)?(?:{unit}){{{3 if trap.name.count('/') == 1 else 2},}}(?:/|$)"]


def weigh(origin: str, patterns: Sequence[str], rows: Iterable[Seen], trap: Found) -> Cost | None:
    """Hold *patterns* against all known URLs of the host; ``None`` = none of them stops the trap.

    One that leaves more than half of the trap's URLs is no rule.
    """
    tried = [_Tried(pattern) for pattern in patterns]
    for row in rows:
        url = origin + row.path
        for one in tried:
            one.take(url, row)
    least = trap.urls / 2 if not trap.beyond else 1
    costs = [one.cost for one in tried if one.excluded >= least]
    return min(costs, key=lambda cost: (cost.good, -cost.excluded), default=None)


def advice_of(trap: Found) -> str:
    """Return what would help beside the rule, ``""`` if nothing."""
    if trap.kind == "session" and trap.name.startswith("?"):
        name = trap.name[1:].partition("=")[0]
        return f"add {name} to urls.drop-parameters: then all its addresses are one, and nothing is lost"
    if trap.kind == "facets":
        return "a canonical link on these pages, or robots.txt of the site, would help every robot"
    return ""


def rule_name(number: int, kind: str, origin: str) -> str:
    """Return the name of the rule of a trap."""
    host = origin.partition("://")[2]
    return f"trap-{number}-{kind}-{host}"[:_NAME_CHARS].rstrip("-.")


def rule_lines(name: str, pattern: str, comment: str) -> str:
    """Return the rule as filterrules.conf has it."""
    quoted = pattern.replace("\\", "\\\\").replace('"', '\\"')
    said = " ".join(comment.split())
    return (
        f"# {said}\n"
        f'<Rule name="{name}" enable=true new-sites=true>\n'
        f'Match src=url method=regex dialect=python value="{quoted}"\n'
        "</Rule>\n"
    )


def _dated(name: str, beyond: int) -> str:
    year = _above(beyond, 4) if beyond else "[1-9][0-9]{3}"
    before, mark, after = name.partition("{")
    if after.startswith("year"):
        bare, _, parameter = before.partition("?")
        return f"{re.escape(bare)}\\?(?:.*&)?{re.escape(parameter)}{year}(?:&|$)"
    if "?" in before and mark:
        bare, _, parameter = before.partition("?")
        return f"{re.escape(bare)}\\?(?:.*&)?{re.escape(parameter)}{year}[-/_.]?[01]?[0-9]"
    return f"{re.escape(before)}{year}[-/_.]?[01]?[0-9]"


def _numbered(name: str, beyond: int) -> str:
    before, _, after = name.partition("{number}")
    number = f"(?:{_above(beyond, len(str(beyond)))}|[1-9][0-9]{{{len(str(beyond))},}})"
    if "?" in before:
        bare, _, parameter = before.partition("?")
        return f"{re.escape(bare)}\\?(?:.*&)?{re.escape(parameter)}0*{number}(?:&|$)"
    return (
        f"{re.escape(before)}0*{number}{re.escape(after)}(?:[/?]|$)"
        if not after
        else f"{re.escape(before)}0*{number}{re.escape(after)}"
    )


def _token(name: str) -> str:
    if name.startswith("/(S("):
        return r"/(?:[^?]*/)?\(S\([^)]+\)\)/"
    if name.startswith(";"):
        return f"/[^?]*{re.escape(name.partition('{')[0])}"
    return f"/[^?]*\\?(?:.*&)?{re.escape(name[1:].partition('{')[0])}"


def _above(number: int, digits: int) -> str:
    """Return a pattern of the numbers of so many digits that are larger than *number*."""
    text = str(number).zfill(digits)
    parts = [
        text[:place] + (f"[{int(digit) + 1}-9]" if digit != "8" else "9") + f"[0-9]{{{digits - place - 1}}}"
        for place, digit in enumerate(text)
        if digit != "9"
    ]
    return (
        f"(?:{'|'.join(part.replace('[0-9]{0}', '') for part in parts)})" if parts else r"[^\x00-\x{10FFFF}]"
    )
