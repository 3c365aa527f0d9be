"""What hosts say of the changes of their pages, and whether it is believed. Pure.

Three kinds of hints: the promise of an answer to stay fresh (``Cache-Control``, ``Expires``), a sitemap's ``lastmod`` and
its ``changefreq``. Each visit that can tell whether a page changed is held against them, and each host has a score for each
kind: observations that agreed and that did not, fading, so that a host can win trust and lose it. Too few observations:
unproved, heeded a little. A share of four in five: proved, heeded within the bounds of the interval. Less: ignored.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final, NamedTuple

__all__ = ["Hint", "Hints", "Score", "Told", "Trust", "observe", "promise", "trust"]

ENOUGH: Final = 5.0
"""Observations before a host is judged."""
SHARE: Final = 0.8
"""Of them that must agree."""
_FADE: Final = 0.97
_SMALL: Final = 0.2
"""Weight of an observation that says little: nothing was announced, and nothing changed."""
_SPOT: Final = 0.1
"""Share of promises that are not relied on, so that they are still put to the test."""


class Hint(IntEnum):
    """What was said; column ``hint_score.hint``."""

    PROMISE = 1
    LASTMOD = 2
    CHANGEFREQ = 3


class Trust(IntEnum):
    """Whether a host's hints of one kind are believed."""

    DISPROVED = 0
    UNPROVED = 1
    PROVED = 2


class Score(NamedTuple):
    """Observations of one kind at one host, weighted and faded."""

    right: float = 0.0
    wrong: float = 0.0

    def with_one(self, *, right: bool, weight: float) -> "Score":
        """Return the score with one more observation."""
        return Score(
            self.right * _FADE + (weight if right else 0.0), self.wrong * _FADE + (0.0 if right else weight)
        )


@dataclass(frozen=True, slots=True)
class Told:
    """What was said of one page before a visit; wall times and seconds, ``None`` = nothing.

    Attributes:
        promised_s: until when its last answer was to stay as it is.
        lastmod_s: its last change, as a sitemap has it.
        every_s: its ``changefreq``.
        read_s: when that sitemap was read last.
    """

    promised_s: float | None = None
    lastmod_s: float | None = None
    every_s: float | None = None
    read_s: float | None = None


@dataclass(frozen=True, slots=True)
class Hints:
    """What was said of a page, with the trust that its host has."""

    told: Told = field(default_factory=Told)
    scores: Mapping[Hint, Score] = field(default_factory=dict)

    def trust(self, hint: Hint) -> Trust:
        """Return how far hints of a kind are believed."""
        return trust(self.scores.get(hint, Score()))


def trust(score: Score) -> Trust:
    """Return what a score is worth."""
    total = score.right + score.wrong
    if total < ENOUGH:
        return Trust.UNPROVED
    return Trust.PROVED if score.right >= SHARE * total else Trust.DISPROVED


def observe(
    told: Told, *, before_s: float | None, now_s: float, changed: bool | None
) -> dict[Hint, tuple[bool, float]]:
    """Hold what was said against what a visit found; return (right, weight) of each kind that it can judge.

    Args:
        told: what was said before.
        before_s: wall time of the visit before, ``None`` = this was the first.
        now_s: wall time of this visit.
        changed: whether it found another content; ``None`` = it could not tell.
    """
    if before_s is None or changed is None or now_s <= before_s:
        return {}
    found: dict[Hint, tuple[bool, float]] = {}
    if told.promised_s is not None and before_s < now_s < told.promised_s:
        found[Hint.PROMISE] = (not changed, 1.0)
    if told.lastmod_s is not None:
        announced = told.lastmod_s > before_s
        # A change that is newer than the list itself is no lie of the list.
        late = (
            changed
            and not announced
            and (told.read_s is None or now_s - told.read_s > (now_s - before_s) / 4)
        )
        if not late:
            found[Hint.LASTMOD] = (announced == changed, 1.0 if announced or changed else _SMALL)
    if told.every_s is not None:
        gap_s = now_s - before_s
        if changed:
            found[Hint.CHANGEFREQ] = (gap_s >= told.every_s / 2, 1.0)
        elif gap_s >= 2 * told.every_s:
            found[Hint.CHANGEFREQ] = (False, 1.0)
        elif gap_s < told.every_s:
            found[Hint.CHANGEFREQ] = (True, _SMALL)
    return found


def promise(
    fresh_s: float | None, belief: Trust, *, interval_s: float, now_s: float, chance: float
) -> float | None:
    """Return until when (wall) a visit is put off because its answer promises to stay as it is; ``None`` = not at all.

    Args:
        fresh_s: seconds for which the answer calls itself fresh.
        belief: in such promises of the host.
        interval_s: what would hold without; an unproved promise at most doubles it.
        now_s: wall time of the visit.
        chance: dice in [0, 1): now and then a promise is put to the test.
    """
    if fresh_s is None or belief is Trust.DISPROVED or (belief is Trust.PROVED and chance < _SPOT):
        return None
    return now_s + (fresh_s if belief is Trust.PROVED else min(fresh_s, 2 * interval_s))
