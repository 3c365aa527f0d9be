"""``kill -9``, the long form: two hundred kills at random moments, of everything or of one process.

usage: ./run endure crash [--everything] [--cycles N] [--seed N] [--folder PATH]

With ``--everything`` the webs have logins, a proxy that a PAC file names, sitemaps, deletion, near-duplicates, a calendar, soft 404s, files
and, where Chromium is installed, a page of scripts; ``crawl`` is killed, then ``serve`` in a loop.

Prints a line for each web that was gathered and a summary; exit status 1 if anything was lost,
doubled, hurried or damaged. The suite runs the short form (tests/journey/test_kill.py).
"""

import argparse
import random
import sys
import tempfile
from pathlib import Path

from ingather.testing.crash import CrashTrial
from ingather.testing.crasheverything import EverythingTrial


def main() -> int:
    """Run the trial and print its figures."""
    parser = argparse.ArgumentParser(description="crawls that are killed again and again")
    parser.add_argument("--cycles", type=int, default=200)
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))  # noqa: S311 - a test's dice
    parser.add_argument(
        "--folder", type=Path, default=None, help="where homes are made; those with troubles stay"
    )
    parser.add_argument("--everything", action="store_true", help="webs with everything that a robot meets")
    options = parser.parse_args()
    folder = options.folder or Path(tempfile.mkdtemp(prefix="ingather-crash-"))
    print(f"seed {options.seed}, homes in {folder}", flush=True)
    trial = EverythingTrial if options.everything else CrashTrial
    figures = trial(
        folder, seed=options.seed, cycles=options.cycles, tell=lambda line: print(line, flush=True)
    ).run()
    print(
        f"{figures.kills.total()} kills ({', '.join(f'{n} of {what}' for what, n in sorted(figures.kills.items()))}) in "
        f"{figures.elapsed_s:.0f} s over {figures.webs} webs, {figures.runs} runs: {figures.pages} URLs; {figures.requests} requests, "
        f"{figures.again} of them again; {figures.strikes} strikes; {len(figures.troubles)} troubles"
    )
    return 1 if figures.troubles else 0


if __name__ == "__main__":
    sys.exit(main())
