"""Politeness, the long form: a million simulated fetches for each of a hundred seeds.

usage: ./run endure polite [--seeds N] [--fetches N] [--first-seed N] [--workers N]

Prints one line a seed and a summary; exit status 1 if any promise was broken. The
suite runs the short form (tests/unit/robot_pure/test_simulation.py).
"""

import argparse
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor

from ingather.testing.simulation import Figures, simulate


def _run(seed: int, fetches: int) -> tuple[int, Figures, float]:
    started = time.process_time()
    return seed, simulate(seed, fetches), time.process_time() - started


def _broken(figures: Figures) -> bool:
    return bool(figures.violations or figures.lost or figures.doubled)


def main() -> int:
    """Run all seeds and print the figures."""
    parser = argparse.ArgumentParser(description="simulated crawls, judged for politeness")
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--fetches", type=int, default=1_000_000)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    broken, fetches, refusals, kills, restarts, cpu_s = [], 0, 0, 0, 0, 0.0
    with ProcessPoolExecutor(options.workers) as pool:
        for seed, figures, spent_s in pool.map(_run, seeds, [options.fetches] * len(seeds)):
            print(
                f"seed {seed}: {figures.fetches} fetches in {figures.simulated_s:.0f} simulated seconds, "
                f"{figures.refusals} refusals, {figures.kills} kills, {figures.restarts} restarts; "
                f"{len(figures.violations)} violations, {figures.lost} lost, {figures.doubled} doubled; "
                f"trace {figures.trace:012x}; {spent_s:.1f} s CPU",
                flush=True,
            )
            for violation in figures.violations[:10]:
                print(f"  {violation.at_s:.3f} {violation.where}: {violation.rule}: {violation.detail}")
            fetches, refusals = fetches + figures.fetches, refusals + figures.refusals
            kills, restarts, cpu_s = kills + figures.kills, restarts + figures.restarts, cpu_s + spent_s
            if _broken(figures):
                broken.append(seed)
    print(
        f"{len(seeds)} seeds, {fetches} fetches, {refusals} refusals, {kills} kills, {restarts} restarts, "
        f"{cpu_s / max(fetches, 1) * 1e6:.1f} us CPU a fetch"
    )
    print(f"broken promises with seeds {broken}" if broken else "no promise broken")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
