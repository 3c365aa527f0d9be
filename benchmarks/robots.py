"""robots.txt: parse a file never seen before and decide one URL, files a CPU-second.

``python benchmarks/robots.py [--files N]`` makes N files (default 2,000, by a fixed seed) of 2 to 20 KB: groups of several
agents, rules of one to four segments, a quarter of them with a star, a tenth with an anchor at their end, comments, sitemaps.
"""

import argparse
import random
import time

from ingather.fetch.robots import parse

_AGENTS = ("*", "Googlebot", "bingbot", "Ingather", "GPTBot", "ia_archiver")
_URL = "https://www.example.org/news/2026/11/article.html?page=2"


def main() -> None:
    """Make, parse, decide, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--files", type=int, default=2_000)
    options = parser.parse_args()
    dice = random.Random(31)  # noqa: S311 - repeatable, not secret
    files = [_file(dice, dice.randint(2_000, 20_000)) for _ in range(options.files)]
    print(f"{len(files)} files of {sum(map(len, files)) // len(files):,} bytes on average")
    for _ in range(3):
        began = time.process_time()
        allowed = sum(parse(body).decide("Ingather", _URL).allowed for body in files)
        spent = time.process_time() - began
        print(f"{len(files) / spent:,.0f} files a CPU-second ({allowed} allow it)")


def _file(dice: random.Random, size: int) -> bytes:
    lines: list[str] = []
    length = 0
    while length < size:
        lines += _group(dice)
        length = sum(len(line) + 1 for line in lines)
    return "\n".join(lines).encode()[:size]


def _group(dice: random.Random) -> list[str]:
    lines = ["# " + _word(dice), *(f"User-agent: {dice.choice(_AGENTS)}" for _ in range(dice.randint(1, 3)))]
    for _ in range(dice.randint(3, 25)):
        path = "/" + "/".join(_word(dice) for _ in range(dice.randint(1, 4)))
        path += "/*.html" if dice.random() < 0.25 else ""
        path += "$" if dice.random() < 0.1 else ""
        lines.append(f"{dice.choice(('Disallow', 'Disallow', 'Allow'))}: {path}")
    return [*lines, "Crawl-delay: 2", f"Sitemap: https://www.example.org/{_word(dice)}.xml", ""]


def _word(dice: random.Random) -> str:
    return "".join(dice.choices("abcdefghij", k=dice.randint(3, 9)))


if __name__ == "__main__":
    main()
