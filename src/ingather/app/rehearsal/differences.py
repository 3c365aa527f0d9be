"""What a replay counts and lists: exact counts, bounded lists, the same tree for text, JSON and HTML."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ingather.catalog.packing import unpack_attributes
from ingather.catalog.reports.sqlite_replay import KnownUrl
from ingather.explain.forms import reported_form, short
from ingather.model.report import Denial
from ingather.model.urlparts import split

__all__ = ["Tally", "changed_attributes"]

_PER_HOST = 20
_LISTED = 1000
_HOSTS = 200
_LINES = 500


def changed_attributes(
    old: bytes, new: bytes, *, old_text: str, new_text: str
) -> list[dict[str, list[str] | str]]:
    """Return the attributes that differ between two packed page layers, old and new values beside each other."""
    before, after = unpack_attributes(old, old_text), unpack_attributes(new, new_text)
    return [
        {
            "name": name,
            "old": [short(value) for value in before.get(name, ())],
            "new": [short(value) for value in after.get(name, ())],
        }
        for name in sorted(before.keys() | after.keys())
        if before.get(name) != after.get(name)
    ]


@dataclass(slots=True)
class Bounded:
    """A list that keeps few entries of each host, and few in all; ``total`` counts them all."""

    entries: list[dict[str, Any]] = field(default_factory=list)
    total: int = 0
    _per_host: Counter[str] = field(default_factory=Counter)

    def add(self, host: str, entry: dict[str, Any]) -> None:
        """Count *entry* and keep it if there is room."""
        self.total += 1
        if self._per_host[host] < _PER_HOST and len(self.entries) < _LISTED:
            self._per_host[host] += 1
            self.entries.append(entry)

    def form(self) -> dict[str, Any]:
        """Return ``total`` and ``listed``."""
        return {"total": self.total, "listed": self.entries}


@dataclass(slots=True)
class Tally:
    """Everything that a replay has found so far."""

    lost: Bounded = field(default_factory=Bounded)
    allowed: Bounded = field(default_factory=Bounded)
    changed: Bounded = field(default_factory=Bounded)
    counts: Counter[str] = field(default_factory=Counter)
    attributes: Counter[str] = field(default_factory=Counter)
    lost_of: Counter[str] = field(default_factory=Counter)
    """Lost before the fetch, by source: exact."""
    read_of: Counter[str] = field(default_factory=Counter)
    lost_read_of: Counter[str] = field(default_factory=Counter)
    readable_of: Counter[str] = field(default_factory=Counter)
    _denying: Counter[tuple[str, str, str, str]] = field(default_factory=Counter)
    _released: Counter[tuple[str, str, str, int]] = field(default_factory=Counter)
    _hosts: dict[str, Counter[str]] = field(default_factory=dict)

    def host(self, url: str, what: str) -> str:
        """Count *what* for the host of *url*; return the host."""
        host = split(url).host
        self._hosts.setdefault(host, Counter())[what] += 1
        return host

    def lose(self, known: KnownUrl, denial: Denial, *, phase: str) -> None:
        """A document that the changed configuration denies; *phase*: ``metadata`` or ``data``."""
        self.counts[f"lost_{phase}"] += 1
        if not known.held:
            (self.lost_of if phase == "metadata" else self.lost_read_of)[known.source] += 1
        self._denying[denial.where, denial.reason, denial.category, "lost"] += 1
        self.lost.add(
            self.host(known.url, "lost"),
            {
                "url": known.url, "source": known.source, "phase": phase, "where": denial.where, "reason": denial.reason,
                "category": denial.category, "reported_as": reported_form(denial.category, denial.reason),
            },
        )  # fmt: skip

    def exclude(self, known: KnownUrl, denial: Denial) -> None:
        """A URL without a document, waiting or visited, that the changed configuration denies before the fetch."""
        self.counts["newly_excluded"] += 1
        self._denying[denial.where, denial.reason, denial.category, "excluded"] += 1
        self.host(known.url, "excluded")

    def allow(self, known: KnownUrl, *, enumeration: bool, generation: bool) -> None:
        """A URL that was excluded and no longer would be, as far as MetaData can tell."""
        self._released[known.where, known.reason, known.category, known.version] += 1
        self.allowed.add(
            self.host(known.url, "allowed"),
            {
                "url": known.url, "source": known.source, "followed": enumeration, "described": generation,
                "was": {
                    "where": known.where, "version": known.version, "reason": known.reason, "category": known.category,
                    "reported_as": reported_form(known.category, known.reason, known.outcome),
                },
            },
        )  # fmt: skip

    def change(self, known: KnownUrl, attributes: list[dict[str, Any]]) -> None:
        """A document whose description would be another one."""
        self.attributes.update(attribute["name"] for attribute in attributes)
        self.changed.add(
            self.host(known.url, "changed"), {"url": known.url, "source": known.source, "attributes": attributes}
        )  # fmt: skip

    def lost_by_source(self) -> dict[str, int]:
        """Return how many documents each source would lose; sampled bodies stand for those that were not read."""
        found = Counter(self.lost_of)
        for source, lost in self.lost_read_of.items():
            read = self.read_of[source]
            found[source] += round(lost * self.readable_of[source] / read) if read else lost
        return dict(found)

    def directives(self) -> list[dict[str, Any]]:
        """Return the lines of the changed configuration that deny what is there, most first."""
        lines: dict[tuple[str, str, str], dict[str, Any]] = {}
        for (where, reason, category, what), count in self._denying.items():
            line = lines.setdefault(
                (where, reason, category),
                {"where": where, "reason": reason, "category": category, "lost": 0, "excluded": 0},
            )
            line[what] += count
        return sorted(lines.values(), key=lambda line: (-line["lost"], -line["excluded"], line["where"]))[
            :_LINES
        ]

    def released(self) -> list[dict[str, Any]]:
        """Return the lines that excluded what is allowed now, most first; each of its configuration version."""
        found = [
            {"where": where, "reason": reason, "category": category, "version": version, "allowed": count}
            for (where, reason, category, version), count in self._released.items()
        ]
        return sorted(found, key=_most_allowed)[:_LINES]

    def hosts(self) -> list[dict[str, Any]]:
        """Return the counts of the hosts that are touched most."""
        names = ("documents", "lost", "changed", "allowed", "excluded")
        rows: list[Mapping[str, Any]] = [
            {"host": host, **{name: counts[name] for name in names}} for host, counts in self._hosts.items()
        ]
        rows.sort(
            key=lambda row: (-row["lost"] - row["changed"] - row["allowed"] - row["excluded"], row["host"])
        )
        return [dict(row) for row in rows[:_HOSTS]]


def _most_allowed(line: Mapping[str, Any]) -> tuple[int, str]:
    return -line["allowed"], line["where"]
