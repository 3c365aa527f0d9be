"""How many pages for a second of processor time: Ingather, Scrapy and Wget, in turn, on one site.

usage: ./run bench crawl [--pages N] [--rounds N] [--modes A,B] [--opponents A,B] [--profile] [--json FILE]

A page is an answer with status 200. Processor time is user and system of every process of the
command, from its start to its end. The programs take turns, so that what else the machine does
meets all of them; with a busy machine only the ratios count. Without arguments: our modes on the
whole site, the others on 4,000 pages, about ten minutes. A run that fails is named below the table
and the others go on; exit status 1 then.
"""

import argparse
import contextlib
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from _calibration import parse_us
from _corpus import Served, build, default_folder, serve
from _lines import Line, as_json, table
from _opponents import RUNNERS, available
from _ours import MODES, CrawlFailedError, crawl, product
from _profile import Profiler, top
from _watch import load, machine

# The base of the ratios stands beside the mode that matters most.
_ORDER = (
    "all",
    "scrapy",
    "links",
    "wget",
    "catalog",
    "index",
    "unindexed",
    "scrapy-lean",
    "scrapy-bare",
    "wget2",
)


class Comparison:
    """Runs the programs in turn; ``lines`` is what came out, ``troubles`` what did not."""

    def __init__(self, arguments: argparse.Namespace, served: Served, folder: Path, work: Path) -> None:
        self._arguments, self._served, self._folder, self._work = arguments, served, folder, work
        self._programs = available()
        self._deadline = time.monotonic() + 60 * arguments.minutes
        self.lines: dict[str, Line] = {}
        self.troubles: list[str] = []

    def run(self) -> None:
        """Run all that is wanted, as often as it is wanted, until time is up."""
        wanted = {*_words(self._arguments.modes), *_words(self._arguments.opponents)}
        order = [name for name in _ORDER if name in wanted]
        for name in [name for name in order if name not in MODES and name not in self._programs]:
            self.troubles.append(f"{name} is not on this machine and was not measured")
            order.remove(name)
        for number in range(self._arguments.rounds):
            for name in order if number % 2 == 0 else reversed(order):
                if time.monotonic() > self._deadline:
                    self.troubles.append(f"round {number + 1} of {name}: no time left (--minutes)")
                    continue
                self._one(number, name)

    def _one(self, number: int, name: str) -> None:
        speed = parse_us(self._folder)
        print(f"round {number + 1}: {name}; load {load()[0]}, {speed:.0f} us a parse", file=sys.stderr)
        try:
            line = self._ours(name) if name in MODES else self._theirs(name)
        except CrawlFailedError as error:
            self.troubles.append(f"round {number + 1} of {name}: {error}")
            print(f"  {error}", file=sys.stderr)
            return
        line.parse_us.append(speed)
        cost = line.costs[-1]
        print(
            f"  {cost.curve[-1][0]} pages, {cost.wall_s:.0f} s, {cost.curve[-1][0] / cost.cpu_s:.0f} for a CPU-second",
            file=sys.stderr,
        )

    def _ours(self, name: str) -> Line:
        mode = MODES[name]
        cost, summary = crawl(
            _fresh(self._work), mode, self._served.url, self._served.host, pages=self._arguments.pages
        )
        line = self.lines.setdefault(name, Line(f"ingather {name}", mode.what))
        line.costs.append(cost)
        line.summaries.append(summary)
        return line

    def _theirs(self, name: str) -> Line:
        limit = min(filter(None, (self._arguments.opponent_pages, self._arguments.pages)), default=0)
        cost = RUNNERS[name](self._programs[name], self._served.url, limit, self._work)
        if cost.stalled or not cost.curve or cost.curve[-1][0] == 0:
            raise CrawlFailedError(
                f"{name} {'stalled' if cost.stalled else 'fetched nothing'}, status {cost.status}"
            )
        line = self.lines.setdefault(name, Line(name, "links only"))
        line.costs.append(cost)
        return line


def _words(text: str) -> list[str]:
    return [word for word in text.split(",") if word]


def _fresh(work: Path) -> Path:
    home = work / "home"
    shutil.rmtree(home, ignore_errors=True)
    return home


def _profile(arguments: argparse.Namespace, served: Served, work: Path) -> None:
    profiler = Profiler(work, seconds=arguments.profile_seconds)
    pages = arguments.pages or arguments.profile_from + 2_000 * arguments.profile_seconds
    for name in _words(arguments.modes):
        watched = (arguments.profile_from, profiler.attach)
        crawl(_fresh(work), MODES[name], served.url, served.host, pages=pages, on_page=watched)
        for role, samples in profiler.results():
            print(
                f"\n{name}, {role}: from page {arguments.profile_from:,} on, {arguments.profile_seconds} s, load {load()[0]}\n"
            )
            print(top(samples, arguments.profile_lines))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="./run bench crawl", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--site", type=Path, default=default_folder(), help="folder of the site; built when missing")
    add("--port", type=int, default=8088, help="where it is served")
    add("--pages", type=int, default=0, help="end each run after so many pages; 0 = the whole site")
    add("--opponent-pages", type=int, default=4_000, help="end the others' runs earlier; 0 = as --pages")
    add("--rounds", type=int, default=1, help="times that each program has its turn")
    add("--minutes", type=float, default=9.0, help="no run begins later than this")
    add("--modes", help=f"some of {', '.join(MODES)}; default: all of them, --profile: the mode all")
    add("--opponents", default=",".join(RUNNERS), help="some of %(default)s")
    add("--json", type=Path, help="write all figures to this file")
    add("--work", type=Path, help="folder for homes; default: a temporary one")
    add("--profile", action="store_true", help="do not compare: sample our processes with py-spy")
    add("--profile-from", type=int, default=3_000, metavar="PAGE", help="begin when so many pages are done")
    add("--profile-seconds", type=int, default=10)
    add("--profile-lines", type=int, default=10)
    arguments = parser.parse_args()
    arguments.modes = arguments.modes or ("all" if arguments.profile else ",".join(MODES))
    for known, given in ((MODES, arguments.modes), (RUNNERS, arguments.opponents)):
        for name in _words(given):
            if name not in known:
                parser.error(f"there is no {name!r}; there are: {', '.join(known)}")
    return arguments


def main() -> int:
    arguments = _arguments()
    folder = arguments.site.resolve()
    build(folder)
    with contextlib.ExitStack() as stack:
        served = stack.enter_context(serve(folder, arguments.port))
        work = arguments.work or Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="ingather-bench-"))
        )
        work.mkdir(parents=True, exist_ok=True)
        if arguments.profile:
            _profile(arguments, served, work)
            return 0
        facts: dict[str, Any] = {
            "machine": machine(), "ingather": product(), "server": served.server,
            "commit": _commit(), "load_before": load(),
        }  # fmt: skip
        comparison = Comparison(arguments, served, folder, work)
        with contextlib.suppress(KeyboardInterrupt):  # what was measured until then is shown
            comparison.run()
        facts["load_after"] = load()
    print(table(comparison.lines))
    print()
    for name, value in facts.items():
        print(f"* {name.replace('_', ' ')}: {value}")
    for trouble in comparison.troubles:
        print(f"* {trouble}")
    if arguments.json:
        arguments.json.write_text(as_json(comparison.lines, facts) + "\n")
    return 1 if any("round" in trouble for trouble in comparison.troubles) else 0


def _commit() -> str:
    done = subprocess.run(
        ["git", "describe", "--always", "--dirty"],  # noqa: S607 - a developer's machine
        cwd=Path(__file__).parent, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.stdout.strip() or "unknown"


if __name__ == "__main__":
    sys.exit(main())
