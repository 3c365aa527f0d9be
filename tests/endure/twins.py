"""Twin worlds, the long form: a million questions to two homes that differ in hidden documents only.

usage: ./run endure twins [--questions N] [--clock ROUNDS] [--seed N] [--folder PATH]

Prints a line for each 10,000 questions and a summary; exit status 1 if any answer told the twins apart. The suite runs
the short form (tests/journey/test_twins.py). With --clock it measures instead how long anonymous questions take whose words are in
1,000 hidden documents, and those whose words are nowhere; exit status 1 if the medians differ by more than lies between the quartiles.
"""

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path

from ingather.testing.twins import Twins

_HIDDEN = 1_000
_EVERY = 10_000


def main() -> int:
    """Ask, and print the figures."""
    parser = argparse.ArgumentParser(description="two homes, the same questions, the same answers")
    parser.add_argument("--questions", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))  # noqa: S311 - a test's dice
    parser.add_argument("--folder", type=Path, default=None, help="where the homes are made")
    parser.add_argument(
        "--clock", type=int, default=0, help="measure, in so many rounds, whether time tells of hidden words"
    )
    options = parser.parse_args()
    folder = options.folder or Path(tempfile.mkdtemp(prefix="ingather-twins-"))
    print(f"seed {options.seed}, homes in {folder}", flush=True)
    begun = time.monotonic()

    def tell(asked: int) -> None:
        if asked % _EVERY == 0:
            print(f"{asked:,} questions, {time.monotonic() - begun:.0f} s", flush=True)

    if options.clock:
        with Twins(folder, seed=options.seed, hidden=_HIDDEN) as twins:
            found = twins.clocked(options.clock)
        print(
            f"{options.clock:,} rounds, {_HIDDEN:,} hidden documents: median {found.hidden:.2f} ms for words of hidden documents, {found.nowhere:.2f} "
            f"and {found.again:.2f} for words of none; between their quartiles lie {found.spread:.2f} ms"
        )
        return 1 if abs(found.hidden - found.nowhere) > found.spread else 0
    with Twins(folder, seed=options.seed) as twins:
        figures = twins.ask(options.questions, tell=tell)
    for difference in figures.differences:
        print(f"TOLD APART by {difference.user or 'anonymous'}: {difference.path}")
        print(f"  {difference.first!r}\n  {difference.second!r}")
    print(
        f"{figures.asked:,} questions, {figures.found:,} of them with results, in {time.monotonic() - begun:.0f} s: "
        f"{len(figures.differences)} answers told the twins apart"
    )
    return 1 if figures.differences else 0


if __name__ == "__main__":
    sys.exit(main())
