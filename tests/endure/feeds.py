"""Feeds while everything is killed, the long form: ten thousand feeds of 64 clients at a time, two hundred kills.

usage: ./run endure feeds [--feeds N] [--kills N] [--clients N] [--seed N] [--folder PATH]

Prints a line for each life and a summary; exit status 1 if an acknowledged feed was lost, applied in part, twice or out
of order. The suite runs the short form (tests/journey/test_feeds.py).
"""

import argparse
import random
import sys
import tempfile
from pathlib import Path

from ingather.testing.feedcrash import FeedCrash


def main() -> int:
    """Run the trial and print its figures."""
    parser = argparse.ArgumentParser(description="feeds pushed to what is killed again and again")
    parser.add_argument("--feeds", type=int, default=10_000, help="that must be acknowledged in all")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))  # noqa: S311 - a test's dice
    parser.add_argument(
        "--folder", type=Path, default=None, help="where the home is made; with troubles it stays"
    )
    options = parser.parse_args()
    folder = options.folder or Path(tempfile.mkdtemp(prefix="ingather-feeds-"))
    print(f"seed {options.seed}, home in {folder}", flush=True)
    figures = FeedCrash(
        folder,
        seed=options.seed,
        kills=options.kills,
        feeds=options.feeds,
        clients=options.clients,
        tell=lambda line: print(line, flush=True),
    ).run()
    for trouble in figures.troubles:
        print(f"TROUBLE {trouble}")
    print(
        f"{figures.kills.total()} kills ({', '.join(f'{n} of {what}' for what, n in sorted(figures.kills.items()))}) in "
        f"{figures.elapsed_s:.0f} s: {figures.acknowledged:,} feeds acknowledged, {figures.kept:,} kept, {figures.records:,} records; "
        f"{figures.refused} pushes refused; {len(figures.troubles)} troubles"
    )
    return 1 if figures.troubles else 0


if __name__ == "__main__":
    sys.exit(main())
