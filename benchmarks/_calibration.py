"""How fast the machine is right now: the time for something whose time is known."""

import random
import time
from pathlib import Path

from selectolax.lexbor import LexborHTMLParser

from ingather.extract.allocator import tune_allocator

__all__ = ["parse_us"]


def parse_us(folder: Path, count: int = 600) -> float:
    """Return the processor time for parsing one page of the site and nothing else, in microseconds.

    The same pages each time, best of three, memory tuned as in a gatherer. On the quiet machine of the
    first measurements: 170 to 185.
    """
    tune_allocator()
    pages = (folder / "pages.txt").read_text().splitlines()
    chosen = random.Random(5).sample(pages, min(count, len(pages)))  # noqa: S311 - the same ones each time
    bodies = [(folder / "site" / page).read_bytes() for page in chosen]
    best = float("inf")
    for _ in range(3):
        begun = time.process_time()
        for body in bodies:
            LexborHTMLParser(body)
        best = min(best, time.process_time() - begun)
    return round(best / len(bodies) * 1e6, 1)
