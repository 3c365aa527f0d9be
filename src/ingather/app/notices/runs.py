"""Runs of the robot that ended, as notices: one in a while, with how many ended since the last one."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from ingather.app.notices.alarms import Post, iso_time
from ingather.app.notices.webhook import Notice
from ingather.ports.clock import Clock

__all__ = ["MEMORY", "RunNotices"]

MEMORY: Final = "run-notices"
"""Under which the number of the last run that was told is kept."""
_LOOK_S: Final = 10.0


class RunNotices:
    """Offers the newest run that ended and visited something; from the first look on.

    Args:
        runs: forms of the last runs, newest first: ``run``, ``ended``, ``state``, ...
        figures: what a run did, by kind and name.
        recall, remember: what is kept in the catalog.
        clock: wall and monotonic.
        apart_s: so long between two of these notices.
        least: visits below which a run is no news.
        more: what a notice says beside, asked when it is made.
    """

    def __init__(  # noqa: PLR0913 - what it stands on
        self,
        runs: Callable[[], Sequence[Mapping[str, Any]]],
        figures: Callable[[int], Mapping[str, Mapping[str, int]]],
        recall: Callable[[str], bytes],
        remember: Callable[[str, bytes], None],
        clock: Clock,
        *,
        apart_s: float,
        least: int = 1,
        more: Callable[[], Mapping[str, Any]] = dict,
    ) -> None:
        self._runs, self._figures, self._recall, self._remember = runs, figures, recall, remember
        self._clock, self._apart_s, self._least, self._more = clock, apart_s, least, more
        self._low: int | None = None
        self._told_s: float | None = None
        self._next_s = float("-inf")

    def __call__(self, post: Post) -> None:
        """Look for runs that ended, and offer the newest."""
        now_s = self._clock.monotonic()
        if now_s < self._next_s:
            return
        self._next_s = now_s + _LOOK_S
        ended = [form for form in self._runs() if form["ended"]]
        newest = max((int(form["run"]) for form in ended), default=0)
        if self._low is None:
            kept = self._recall(MEMORY)
            self._low = (
                int(json.loads(kept)) if kept else newest
            )  # what ended before anybody listened is no news
            if not kept:
                self._keep(newest)
        fresh = [form for form in ended if int(form["run"]) > (self._low or 0)]
        if not fresh or (self._told_s is not None and now_s - self._told_s < self._apart_s):
            return
        told = {int(form["run"]): self._figures(int(form["run"])) for form in fresh}
        busy = [
            form for form in fresh if sum(told[int(form["run"])].get("visits", {}).values()) >= self._least
        ]
        if busy:
            form = busy[0]
            number = int(form["run"])
            text = f"run {number} ended: {form['state']}"
            about = {"text": text, **form, "figures": told[number], "runs": len(busy), **self._more()}
            if not post.offer(Notice(f"run-{number}", "run.ended", iso_time(float(form["ended"])), about)):
                return
            self._told_s = now_s
        self._low = newest
        self._keep(newest)

    def _keep(self, number: int) -> None:
        self._remember(MEMORY, json.dumps(number).encode())
