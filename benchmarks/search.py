"""How soon searches are answered: three-word queries over HTTP with excerpts, while gathering and at rest.

usage: ./run bench search [--first PAGES] [--rate R] [--seconds S] [--json FILE]

A home gathers a third of the benchmark site. Then `ingather serve` gathers the rest as fast as it
can and meanwhile answers 10 queries a second; when the whole site is gathered and all work behind it
is done, it is asked again, at rest. A time is counted from the moment at which a query was due to the
last byte of its answer. About five minutes. Exit status 1 when an answer was wrong or missing.
"""

import argparse
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from _corpus import build, default_folder, serve
from _load import Answers, ask, three_words
from _ours import MODES, PYTHON, crawl
from _watch import Tail, load, machine

_PATIENCE_S = 60
_LONGEST_S = 900
_BEGUN = 200  # pages that serve has gathered when the first measurement begins
_REST_S = 60  # links are worked out when nothing came for half a minute


@dataclass
class Phase:
    """One measurement: *gathered* pages in *seconds*, while the queries ran."""

    name: str
    answers: Answers
    documents: int
    gathered: int
    seconds: float
    load_before: float
    load_after: float

    def row(self) -> str:
        """Return the row of the table."""
        a = self.answers
        return (
            f"| {self.name} | {self.documents:,} | {self.gathered / self.seconds:.0f} | {len(a.times_ms):,} | "
            f"{a.percentile(0.5):.1f} | {a.percentile(0.9):.1f} | {a.percentile(0.99):.1f} | {max(a.times_ms, default=0):.1f} | "
            f"{a.snippets:,} | {self.load_before}-{self.load_after} |"
        )

    def form(self) -> dict[str, Any]:
        """Return all figures."""
        a = self.answers
        return {
            "phase": self.name, "documents": self.documents, "gathered_a_second": self.gathered / self.seconds,
            "queries": len(a.times_ms), "p50_ms": a.percentile(0.5), "p90_ms": a.percentile(0.9), "p99_ms": a.percentile(0.99),
            "with_results": a.found, "with_excerpts": a.snippets, "partial": a.partial, "bad": a.bad,
            "load": [self.load_before, self.load_after], "times_ms": a.times_ms, "took_ms": a.took_ms,
        }  # fmt: skip


def configure(home: Path, port: int) -> None:
    """Let ``serve`` gather the benchmark site without delay, and nothing outside this machine.

    Before the first crawl: other rules later would have all URLs judged anew.
    """
    rules = home / "config" / "filterrules.conf"
    site = (
        '<Site name="bench" host="127.0.0.1" type=server enable=true depth=-1 source=web>\n'
        f'Start url="http://127.0.0.1:{port}/"\nProtocol allow="http"\nPort allow="{port}"\n</Site>\n'
    )
    rules.write_text(site + rules.read_text())
    with (home / "ingather.toml").open("a") as file:
        file.write(
            '\n[source.web]\nhosts = ["127.0.0.1"]\naddresses = ["127.0.0.1/32"]\n'
            f'own-hosts = ["127.0.0.1:{port}"]\n'
        )


@contextmanager
def serving(home: Path) -> Iterator[str]:
    """Run ``ingather serve`` on free ports; give the address of the search listener."""
    free = {
        "INGATHER_LISTEN_SEARCH": "127.0.0.1:0",
        "INGATHER_LISTEN_ADMIN": "127.0.0.1:0",
        "INGATHER_FEEDS_LISTEN": "",
    }
    output = home / "serve.out"
    with output.open("wb") as sink:
        process = subprocess.Popen(
            [PYTHON, "-m", "ingather", "serve", "--home", str(home)],
            env={**os.environ, **free, "PYTHONUNBUFFERED": "1"}, stdout=sink, stderr=subprocess.STDOUT,
        )  # fmt: skip
        try:
            yield _address(process, output)
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(_PATIENCE_S)
            except subprocess.TimeoutExpired:
                process.kill()
                print("serve did not end when asked and was killed", file=sys.stderr)
    if process.returncode != 0:
        print(f"serve ended with {process.returncode}:\n{output.read_text()[-2000:]}", file=sys.stderr)


def _address(process: "subprocess.Popen[bytes]", output: Path) -> str:
    deadline = time.monotonic() + _PATIENCE_S
    while time.monotonic() < deadline and process.poll() is None:
        found = re.search(r"search page\s+http://([^/\s]+)/", output.read_text())
        if found:
            return found[1]
        time.sleep(0.1)
    raise SystemExit(f"serve did not start:\n{output.read_text()[-2000:]}")


def _documents(home: Path) -> int:
    done = subprocess.run(
        [PYTHON, "-m", "ingather", "catalog", "stats", "--home", str(home), "--json"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    outcomes = json.loads(done.stdout)["outcomes"]
    return int(outcomes.get("indexed", 0) + outcomes.get("unchanged", 0))


def _wait_for(what: Callable[[], bool], failing: str, home: Path, patience_s: float = _PATIENCE_S) -> None:
    deadline = time.monotonic() + patience_s
    while not what():
        if time.monotonic() > deadline:
            raise SystemExit(f"{failing}:\n{(home / 'serve.out').read_text()[-2000:]}")
        time.sleep(0.5)


class _Quiet:
    """Tells whether a count stood still for some time."""

    def __init__(self, count: Callable[[], int], seconds: float) -> None:
        self._count, self._seconds = count, seconds
        self._last, self._since = -1, time.monotonic()

    def __call__(self) -> bool:
        now = self._count()
        if now != self._last:
            self._last, self._since = now, time.monotonic()
        return time.monotonic() - self._since >= self._seconds


def measure(name: str, home: Path, host: str, queries: list[str], rate: float) -> Phase:
    """Warm up with a tenth of the queries, then measure with the rest."""
    tenth = len(queries) // 10
    fetched = Tail(home / "log" / "access.log", b'"status":200')
    ask(host, queries[:tenth], rate=rate)
    documents, load_before, before, begun = _documents(home), load()[0], fetched(), time.monotonic()
    answers = ask(host, queries[tenth:], rate=rate)
    spent_s = time.monotonic() - begun
    return Phase(name, answers, documents, fetched() - before, spent_s, load_before, load()[0])


def both(home: Path, queries: list[str], rate: float) -> Iterator[Phase]:
    """Serve: measure while the rest of the site is gathered, and once nothing is left to do."""
    fetched = Tail(home / "log" / "access.log", b'"status":200')
    before = fetched()
    with serving(home) as host:
        _wait_for(lambda: fetched() >= before + _BEGUN, "serve did not begin to gather", home)
        print(f"while gathering; load {load()[0]}", file=sys.stderr)
        yield measure("while gathering", home, host, queries, rate)
        print(f"until all is gathered; load {load()[0]}", file=sys.stderr)
        _wait_for(_Quiet(fetched, _REST_S), "serve did not come to rest", home, _LONGEST_S)
        print(f"at rest; load {load()[0]}", file=sys.stderr)
        yield measure("at rest", home, host, queries, rate)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="./run bench search", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--site", type=Path, default=default_folder(), help="folder of the site; built when missing")
    add("--port", type=int, default=8088, help="where it is served")
    add("--first", type=int, default=12_000, metavar="PAGES", help="gathered before serve begins")
    add("--rate", type=float, default=10.0, help="queries a second")
    add("--seconds", type=float, default=60.0, help="length of each measurement")
    add("--json", type=Path, help="write all figures to this file")
    return parser.parse_args()


def main() -> int:
    arguments = _arguments()
    folder = arguments.site.resolve()
    build(folder)
    queries = three_words(folder, round(arguments.rate * arguments.seconds / 0.9))
    with contextlib.ExitStack() as stack:
        served = stack.enter_context(serve(folder, arguments.port))
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ingather-bench-"))) / "home"
        print(f"gathering {arguments.first} pages; load {load()[0]}", file=sys.stderr)
        crawl(
            home,
            MODES["all"],
            served.url,
            served.host,
            pages=arguments.first,
            configure=lambda home: configure(home, arguments.port),
        )
        phases = list(both(home, queries, arguments.rate))
    print(
        "| | documents at its start | pages gathered/s | queries | p50 ms | p90 ms | p99 ms | slowest ms | with excerpts | load |\n"
        "|---|---|---|---|---|---|---|---|---|---|"
    )
    for phase in phases:
        print(phase.row())
    print(f"\n* machine: {machine()}\n* server: {served.server}")
    if arguments.json:
        arguments.json.write_text(
            json.dumps({"machine": machine(), "phases": [p.form() for p in phases]}, indent=1)
        )
    bad = [line for phase in phases for line in phase.answers.bad]
    for line in bad[:10]:
        print(f"* {line}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
