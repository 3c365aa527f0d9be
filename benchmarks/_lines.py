"""The rows of the comparison: what each program's runs cost, as a table and as JSON."""

import json
import statistics
from dataclasses import dataclass, field
from typing import Any

from _watch import Cost

__all__ = ["BASE", "Line", "as_json", "table"]

BASE = "scrapy"
"""The row that ratios are made with."""

_EARLY, _LATE = (2_000, 4_000), (27_000, 33_000)
_WARM = 2_000
_ROLES = {"main": "keeper", "child": "gatherer", "grandchild": "converter"}


@dataclass
class Line:
    """The figures of one program over its rounds; rates in pages per CPU-second.

    ``summaries``: what our command printed, empty for others; ``parse_us``: the calibration before each run.
    """

    name: str
    what: str
    costs: list[Cost] = field(default_factory=list)
    summaries: list[dict[str, Any]] = field(default_factory=list)
    parse_us: list[float] = field(default_factory=list)

    @property
    def pages(self) -> int:
        """Pages of a run, the mean."""
        return round(statistics.mean(cost.curve[-1][0] for cost in self.costs))

    @property
    def rate(self) -> float:
        """All pages for all processor time."""
        return self._total() / sum(cost.cpu_s for cost in self.costs)

    def first(self, pages: int) -> float | None:
        """The first *pages* alone: programs that were stopped at different pages are compared by these."""
        return _mean([cost.until(pages) for cost in self.costs])

    @property
    def warm(self) -> float | None:
        """From page 2,000 on: behind the list pages, which cost five times a page."""
        return _mean([cost.since(_WARM) for cost in self.costs])

    @property
    def wall(self) -> float:
        """Pages for a second on the clock."""
        return self._total() / sum(cost.wall_s for cost in self.costs)

    @property
    def flatness(self) -> float | None:
        """Rate late in the run against the rate early in it."""
        early = _mean([cost.between(*_EARLY) for cost in self.costs])
        late = _mean([cost.between(*_LATE) for cost in self.costs])
        return late / early if early and late else None

    def peaks(self) -> dict[str, int]:
        """Highest private memory of each kind of process, MB."""
        found: dict[str, float] = {}
        for cost in self.costs:
            for role, peak in cost.peaks_mb.items():
                found[role] = max(found.get(role, 0.0), peak)
        return {self._called(role): round(peak) for role, peak in found.items() if role != "tracker"}

    def shares_us(self) -> dict[str, int]:
        """Processor time of each kind of process a page, microseconds."""
        found: dict[str, float] = {}
        for cost in self.costs:
            for role, seconds in cost.shares.items():
                found[role] = found.get(role, 0.0) + seconds
        return {self._called(role): round(seconds / self._total() * 1e6) for role, seconds in found.items()}

    def _total(self) -> int:
        return sum(cost.curve[-1][0] for cost in self.costs)

    def _called(self, role: str) -> str:
        return _ROLES.get(role, role) if self.summaries else role


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.mean(known) if len(known) == len(values) and known else None


def table(lines: dict[str, Line]) -> str:
    """Return the lines as a Markdown table, ready to paste."""
    base = lines.get(BASE)
    shortest = min((cost.curve[-1][0] for line in lines.values() for cost in line.costs), default=0)
    heads = [
        "program", "pages", "pages/CPU-s", f"first {shortest:,} pages", f"x `{BASE}`", f"from page {_WARM:,} on", f"x `{BASE}`",
        "flatness", "pages/s wall", "CPU us a page", "peak private MB", "us a parse",
    ]  # fmt: skip
    rows = [heads, ["---"] * len(heads)]
    for line in lines.values():
        first, warm = line.first(shortest), line.warm
        cells = [
            line.name,
            f"{line.pages:,}",
            f"{line.rate:.0f}",
            f"{first:.0f}" if first else "",
            _ratio(first, base.first(shortest) if base else None),
            f"{warm:.0f}" if warm else "",
            _ratio(warm, base.warm if base else None),
            f"{line.flatness:.0%}" if line.flatness else "",
            f"{line.wall:.0f}",
            _listed({role: us for role, us in line.shares_us().items() if us >= 10}),
            _listed(line.peaks()),
            f"{statistics.mean(line.parse_us):.0f}",
        ]
        rows.append(cells)
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)


def _ratio(rate: float | None, base: float | None) -> str:
    return f"{rate / base:.1f}" if rate and base else ""


def _listed(figures: dict[str, int]) -> str:
    if list(figures) == ["main"]:
        return f"{figures['main']:,}"
    return ", ".join(f"{role} {figure:,}" for role, figure in figures.items())


def as_json(lines: dict[str, Line], facts: dict[str, Any]) -> str:
    """Return all figures, the curves of (pages, CPU seconds, wall seconds) too."""
    runs = {
        name: {
            "what": line.what, "pages": line.pages, "pages_per_cpu_s": line.rate, "warm_pages_per_cpu_s": line.warm,
            "flatness": line.flatness, "pages_per_s": line.wall, "cpu_us": line.shares_us(), "peak_private_mb": line.peaks(),
            "parse_us": line.parse_us,
            "rounds": [{"cpu_s": cost.cpu_s, "wall_s": cost.wall_s, "curve": cost.curve} for cost in line.costs],
            "summaries": line.summaries,
        }
        for name, line in lines.items()
    }  # fmt: skip
    return json.dumps({**facts, "runs": runs}, indent=1)
