"""Hosts whose documents do not change: of what is due there a sample is visited first. Pure.

A host is quiet after so many visits in a row that found no change. Then of the pages that are due a few are visited. While
they are out the others wait a little; if none of them changed, the others wait to the upper bound of their interval. The
first change ends all of that, and what was put off is due as it was planned. No page is put off beyond the upper bound.
Source: issue "robot operations", part 6.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

__all__ = ["Due", "Pulse", "SamplingLimits", "Split", "beat", "split_due"]

_DAY_S = 86_400.0
_HOUR_S = 3_600.0


@dataclass(frozen=True, slots=True)
class SamplingLimits:
    """When a host is quiet (*after* visits without a change, 0 = never), how many pages a sample has, how long it counts."""

    after: int = 50
    sample: int = 10
    counts_s: float = _DAY_S
    look_s: float = _HOUR_S


@dataclass(frozen=True, slots=True)
class Pulse:
    """What is known of a host.

    Attributes:
        quiet: visits in a row that found no change.
        sampled: the number at which the sample that is out has proved that nothing changed, 0 = there is none.
        since_s: when it was taken (wall).
    """

    quiet: int = 0
    sampled: int = 0
    since_s: float = 0.0


class Due(NamedTuple):
    """A page that is due: its row, its last visit (wall, ``None`` = never), the longest interval of its source."""

    id: int
    fetched_s: float | None
    most_s: float


@dataclass(frozen=True, slots=True)
class Split:
    """What happens to pages that are due: visited now, or due at another time (row, wall); and the host's pulse then."""

    visit: tuple[int, ...]
    later: tuple[tuple[int, float], ...]
    pulse: Pulse


def beat(pulse: Pulse, *, changed: bool) -> Pulse:
    """Return the pulse after a visit that could tell whether its page changed."""
    return Pulse() if changed else replace(pulse, quiet=pulse.quiet + 1)


def split_due(pulse: Pulse, due: Sequence[Due], limits: SamplingLimits, *, now_s: float) -> Split:
    """Decide about pages of one host that are due, the longest due first."""
    if not limits.after or pulse.quiet < limits.after:
        return Split(tuple(page.id for page in due), (), pulse)
    counts = pulse.sampled and 0 <= now_s - pulse.since_s < limits.counts_s
    must = [page for page in due if page.fetched_s is None or page.fetched_s + page.most_s <= now_s]
    rest = [page for page in due if page.fetched_s is not None and page.fetched_s + page.most_s > now_s]
    visit = [page.id for page in must]
    if not counts:
        visit += [page.id for page in rest[: limits.sample]]
        rest = rest[limits.sample :]
        pulse = Pulse(pulse.quiet, pulse.quiet + min(limits.sample, max(len(visit), 1)), now_s)
    proved = bool(counts) and pulse.quiet >= pulse.sampled
    again: Callable[[Due], float] = (
        (lambda page: (page.fetched_s or now_s) + page.most_s)
        if proved
        else (lambda page: min(now_s + limits.look_s, (page.fetched_s or now_s) + page.most_s))
    )
    return Split(tuple(visit), tuple((page.id, again(page)) for page in rest), pulse)
