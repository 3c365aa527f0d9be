"""What the lists do to the URLs that are known: patterns that match none of them, rules that close public documents."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from ingather.conf.policyacl import PolicyAcl
from ingather.conf.report import SHOWN
from ingather.conf.urlpatterns.finding import Finding
from ingather.conf.urlpatterns.gates import Gates
from ingather.conf.urlpatterns.lists import PatternList
from ingather.model.diagnostic import Diagnostic

__all__ = ["KnownUrl", "findings_over"]


class KnownUrl(NamedTuple):
    """A canonical URL with its source; *public*: a document that everybody may see if no rule says otherwise."""

    url: str
    source: str
    public: bool


@dataclass(slots=True)
class _Closed:
    """Public documents that a rule closes: how many, and the first."""

    count: int = 0
    first: str = ""


@dataclass(slots=True)
class _Use:
    """Lines of one file that no URL has matched so far."""

    name: str
    left: dict[int, str]
    closed: dict[int, _Closed] = field(default_factory=dict)

    def met(self, lines: Iterable[int]) -> None:
        for line in lines:
            self.left.pop(line, None)

    def findings(self) -> Iterator[Diagnostic]:
        for line, text in self.left.items():
            yield Finding("matched-nothing", f"{text[:200]!r} matches no known URL", error=False).diagnostic(
                self.name, line
            )
        for line, closed in self.closed.items():
            text = f"it closes {closed.count} public documents, {closed.first[:200]} first"
            yield Finding("policy-on-public", text, error=False).diagnostic(self.name, line)


def findings_over(known: Iterable[KnownUrl], gates: Gates, policy: PolicyAcl | None) -> list[Diagnostic]:
    """Return ``W-MATCHED-NOTHING`` and ``W-POLICY-ON-PUBLIC`` by file and line, the first 1,000.

    Args:
        known: every URL of the store; read to its end if there is any pattern.
        gates: the lists; those of a source are held against its URLs alone.
        policy: the rules, ``None`` = there are none.
    """
    common = [_listed(one) for one in (gates.everywhere.follow, gates.everywhere.donotfollow) if one]
    own = {
        source: [_listed(one) for one in (lists.follow, lists.donotfollow) if one]
        for source, lists in gates.of_source.items()
    }
    rules = _Use(policy.name, {rule.line: rule.pattern.text for rule in policy.rules}) if policy else None
    if not (common or own or rules):
        return []
    for url, source, public in known:
        for patterns, use in (*common, *own.get(source, ())):
            use.met(patterns.lines(url))
        if policy is None or rules is None:
            continue
        found = policy.find(url)
        rules.met(rule.line for rule in found)
        if public and found:
            for rule in policy.match(url):
                closed = rules.closed.setdefault(rule.line, _Closed(first=url))
                closed.count += 1
    uses = [use for listed in (common, *own.values()) for _, use in listed] + ([rules] if rules else [])
    made = [diagnostic for use in uses for diagnostic in use.findings()]
    return sorted(made, key=lambda d: (d.file, d.line))[:SHOWN]


def _listed(patterns: PatternList) -> tuple[PatternList, _Use]:
    return patterns, _Use(patterns.name, {one.line: one.text for one in patterns.patterns})
