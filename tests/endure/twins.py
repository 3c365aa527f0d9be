"""Twin worlds, the long form: a million questions to two homes that differ in hidden documents only.

usage: ./run endure twins [--questions N] [--clock QUESTIONS [--by wall|cpu] [--fresh]] [--seed N] [--folder PATH]

Prints a line for each 10,000 questions and a summary; exit status 1 if any answer told the twins apart. The suite runs
the short form (tests/journey/test_twins.py). With --clock it tries instead to tell words of hidden documents from words of none by how long
so many questions a word take, in a home of 20,000 documents: words in 1, 10, 100 and 1,000 hidden documents, 30 of each, asked
in random order by nobody in particular and by a user who sees half of the home; alone, and beside a common word; with the index in one state, and in
another one for each question. "right" counts words on the right side of the median of all, of 60; "area" is how often a hidden word took longer than one of none
(.5 = nothing is told). The row of 0 documents is a second set of words of none: what differs there is chance. Exit status 1 if
more than 46 of 60 are right anywhere, which chance hardly ever gives.
"""

import argparse
import random
import sys
import tempfile
import time
from itertools import product
from pathlib import Path

from ingather.testing.twins import Twins
from ingather.testing.wordclock import WordClock

_EVERY = 10_000
_FRAMES = ("{}", "harbour {}")
_MOST_RIGHT = 46


def main() -> int:
    """Ask, and print the figures."""
    parser = argparse.ArgumentParser(description="two homes, the same questions, the same answers")
    parser.add_argument("--questions", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))  # noqa: S311 - a test's dice
    parser.add_argument("--folder", type=Path, default=None, help="where the homes are made")
    parser.add_argument(
        "--clock",
        type=int,
        default=0,
        help="try to tell hidden words by the time of so many questions a word",
    )
    parser.add_argument(
        "--by",
        choices=("wall", "cpu"),
        default="wall",
        help="time of the wall, or of the processor: no searcher sees that",
    )
    parser.add_argument(
        "--fresh", action="store_true", help="only with another state of the index for each question"
    )
    options = parser.parse_args()
    folder = options.folder or Path(tempfile.mkdtemp(prefix="ingather-twins-"))
    print(f"seed {options.seed}, homes in {folder}", flush=True)
    begun = time.monotonic()

    def tell(asked: int) -> None:
        if asked % _EVERY == 0:
            print(f"{asked:,} questions, {time.monotonic() - begun:.0f} s", flush=True)

    if options.clock:
        return _listen(folder, options)
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


def _listen(folder: Path, options: argparse.Namespace) -> int:
    by = time.perf_counter if options.by == "wall" else time.process_time
    most = 0
    print("| who | state | asked | documents | right of 60 | area | slower, us | usual, us |", flush=True)
    with WordClock(folder, seed=options.seed) as clock:
        for user, fresh, frame in product(("", "ann"), (True,) if options.fresh else (False, True), _FRAMES):
            for heard in clock.listen(options.clock, user=user, fresh=fresh, frame=frame, by=by):
                print(
                    f"| {user or 'anonymous'} | {'new' if fresh else 'same'} | {frame.format('WORD')} | {heard.documents:,} | {heard.right} | "
                    f"{heard.area:.2f} | {heard.slower_us:.0f} | {heard.usual_us:.0f} |",
                    flush=True,
                )
                most = max(most, heard.right)
    return 1 if most > _MOST_RIGHT else 0


if __name__ == "__main__":
    sys.exit(main())
