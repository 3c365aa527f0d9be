"""Visits that end before anything is asked leave no rings of objects for the collector, which comes seldom."""

import gc
from typing import Any

from ingather.filters.evaluation import Evaluation
from ingather.model.lifecycle import Outcome
from ingather.testing.hand import answer


def test_what_robots_txt_forbids_is_forgotten_at_once(bench: Any) -> None:
    rules = answer("User-agent: *\nDisallow: /private/\n", 200, ("Content-Type", "text/plain"))
    bench.server.said["/robots.txt"] = rules

    def visited(number: int) -> None:
        report = bench.run(bench.hand.visit(f"{bench.server.origin}/private/{number}"))
        assert report.outcome == Outcome.ROBOTS

    def left() -> int:
        return sum(isinstance(found, Evaluation) for found in gc.get_objects())

    visited(0)
    gc.collect()
    gc.disable()
    try:
        before = left()
        for number in range(1, 6):
            visited(number)
        assert left() <= before + 1  # the last one's task may not have ended
    finally:
        gc.enable()
