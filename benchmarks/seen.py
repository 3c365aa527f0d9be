"""How long after its commit a page is found: at full crawl speed, and while fewer than 200 documents a second come.

usage: ./run bench seen [--seconds S] [--rate R] [--json FILE]

Pages with a word of their own are gathered in three phases by `ingather serve`, each in a fresh home: one a second beside the
benchmark site at full speed, R a second at most (100) alone, of one host, and one a second alone. The catalog's change log tells when a page was
committed: the time is that of the look before the one that saw it, 0.1 s earlier at most, so that no delay is told too short.
Then its word is asked for over HTTP, every 0.1 s, until the page is among the results. Five minutes. Exit status 1 when a page
was not found after all, or later than promised: 15 s at full speed, 2 s else.
"""

import argparse
import contextlib
import http.client
import http.server
import json
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw
from _corpus import build, default_folder, serve
from _ours import MODES, prepare
from _watch import Tail, load, machine
from search import configure, serving

_HOST = "127.0.0.2"
_LOOK_S = 0.1
_FULL = 200.0
"""Documents a second from which the longer promise holds."""


class Marked(http.server.ThreadingHTTPServer):
    """Pages that have a word of their own each, *rate* a second at most over all connections."""

    request_queue_size = 512
    daemon_threads = True

    def __init__(self, count: int, rate: float) -> None:
        super().__init__((_HOST, 0), _Page)
        self.count, self._pause_s = count, 1 / rate
        self._lock, self._next = threading.Lock(), time.monotonic()

    def wait(self) -> None:
        """Let the next page's moment come."""
        with self._lock:
            at = self._next = max(self._next, time.monotonic()) + self._pause_s
        time.sleep(max(0.0, at - time.monotonic()))


class _Page(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one piece, or each page waits for a delayed acknowledgement

    def do_GET(self) -> None:
        site = self.server
        assert isinstance(site, Marked)
        if self.path == "/":
            links = "".join(f'<a href="/{number}">{number}</a> ' for number in range(site.count))
            self._say(200, f"<title>Marked pages</title>{links}".encode())
        elif not self.path[1:].isdigit():
            self._say(404, b"")
        else:
            site.wait()
            body = f"<title>Page {self.path[1:]}</title><p>The word of this page is {word(self.path)}."
            self._say(200, body.encode())

    def _say(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def word(path: str) -> str:
    """Return the word that only the page at *path* has."""
    return "quokka" + "".join(chr(ord("a") + int(digit)) for digit in path[1:])


@dataclass
class Phase:
    """One measurement: *delays_s* from commit to found; *rate*: documents a second that were committed meanwhile."""

    name: str
    promised_s: float
    delays_s: list[float] = field(default_factory=list)
    rate: float = 0.0
    missing: int = 0
    loads: tuple[float, float] = (0.0, 0.0)

    def percentile(self, share: float) -> float:
        """Return the time within which that share of the pages was found, s."""
        ordered = sorted(self.delays_s)
        return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else float("nan")

    def row(self) -> str:
        """Return the row of the table."""
        return (
            f"| {self.name} | {self.rate:.0f} | {len(self.delays_s)} | {self.percentile(0.5):.2f} | {self.percentile(0.99):.2f} | "
            f"{max(self.delays_s, default=float('nan')):.2f} | {self.promised_s:.0f} | {self.loads[0]}-{self.loads[1]} |"
        )

    @property
    def kept(self) -> bool:
        """Whether what was promised was kept."""
        return bool(self.delays_s) and not self.missing and max(self.delays_s) <= self.promised_s


class Watch:
    """Follows the change log for pages of the marked site."""

    def __init__(self, home: Path, origin: str) -> None:
        self._path, self._origin = home / "catalog" / "catalog.db", origin
        self._last, self._looked = 0, time.monotonic()
        self.documents = 0

    def committed(self) -> list[tuple[str, float]]:
        """Return (path, when) of the marked pages that were committed since the last call, in order."""
        looking = time.monotonic()
        with contextlib.closing(apsw.Connection(str(self._path), flags=apsw.SQLITE_OPEN_READONLY)) as db:
            db.set_busy_timeout(5_000)
            rows = list(
                db.execute(
                    "select c.seq, h.origin, u.path from change c join url u on u.id = c.id join host h on h.id = u.host "
                    "where c.seq > ? order by c.seq",
                    (self._last,),
                )
            )
        when, self._looked = self._looked, looking
        if rows:
            self._last = rows[-1][0]
        self.documents += len(rows)
        return [(path, when) for _, origin, path in rows if origin == self._origin and path != "/"]


def measure(  # noqa: PLR0913 - what a measurement consists of
    phase: Phase, home: Path, address: str, marked: Marked, *, seconds: float, each: int
) -> None:
    """Watch for *seconds* from the first marked page on; ask for each *each*-th of them until it is found."""
    watch = Watch(home, f"http://{_HOST}:{marked.server_address[1]}")
    while not watch.committed():
        time.sleep(_LOOK_S)
    waiting: deque[tuple[str, float]] = deque()
    begun, seen, documents = time.monotonic(), 0, watch.documents
    before = load()[0]
    while (waiting or time.monotonic() < begun + seconds) and time.monotonic() < begun + seconds + 60:
        over = time.monotonic() >= begun + seconds
        for path, when in () if over else watch.committed():
            seen += 1
            if seen % each == 0:
                waiting.append((path, when))
        if not over:
            phase.rate = (watch.documents - documents) / max(time.monotonic() - begun, 1.0)
        while waiting and _found(address, waiting[0][0]):
            phase.delays_s.append(time.monotonic() - waiting.popleft()[1])
        time.sleep(_LOOK_S)
    phase.missing, phase.loads = len(waiting), (before, load()[0])


def _found(address: str, path: str) -> bool:
    connection = http.client.HTTPConnection(address, timeout=30)
    try:
        connection.request("GET", f"/api/v1/search?q={word(path)}")
        answer = json.loads(connection.getresponse().read())
    finally:
        connection.close()
    return any(result["url"].endswith(path) for result in answer["results"])


@contextmanager
def gathering(
    work: Path, name: str, marked: Marked, *, own: bool, corpus: int = 0
) -> Iterator[tuple[Path, str]]:
    """Serve a fresh home that gathers the marked pages, *own*: without a delay, and the site at port *corpus*."""
    home, port = work / name, marked.server_address[1]
    prepare(home, MODES["all"])
    if corpus:
        configure(home, corpus)
    rules = home / "config" / "filterrules.conf"
    site = (
        f'<Site name="marked" host="{_HOST}" type=server enable=true depth=-1 source=marked>\n'
        f'Start url="http://{_HOST}:{port}/"\nProtocol allow="http"\nPort allow="{port}"\n</Site>\n'
    )
    rules.write_text(site + rules.read_text())
    mine = f'own-hosts = ["{_HOST}:{port}"]\n' if own else ""
    with (home / "ingather.toml").open("a") as file:
        file.write(f'\n[source.marked]\nhosts = ["{_HOST}"]\naddresses = ["{_HOST}/32"]\n{mine}')
    thread = threading.Thread(target=marked.serve_forever, daemon=True)
    thread.start()
    try:
        with serving(home) as address:
            yield home, address
    finally:
        marked.shutdown()
        marked.server_close()
        thread.join()


def _phases(arguments: argparse.Namespace, folder: Path, work: Path) -> Iterator[Phase]:
    seconds = arguments.seconds
    with serve(folder, arguments.port):
        phase, marked = Phase("full speed", 15.0), Marked(2_000, 1_000.0)
        with gathering(work, "full", marked, own=False, corpus=arguments.port) as (home, address):
            fetched = Tail(home / "log" / "access.log", b'"status":200')
            while fetched() < 1_000:  # it is at work
                time.sleep(_LOOK_S)
            measure(phase, home, address, marked, seconds=seconds, each=1)
        yield phase
    rate = arguments.rate
    phase, marked = Phase(f"at most {rate:.0f} a second", 2.0), Marked(int(rate * (seconds + 60)), rate)
    with gathering(work, "some", marked, own=True) as (home, address):
        measure(phase, home, address, marked, seconds=seconds, each=max(1, int(rate / 5)))
    yield phase
    phase, marked = Phase("one a second", 2.0), Marked(int(seconds + 60), 1_000.0)
    with gathering(work, "few", marked, own=False) as (home, address):
        measure(phase, home, address, marked, seconds=seconds, each=1)
    yield phase


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="./run bench seen", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--site", type=Path, default=default_folder(), help="folder of the site; built when missing")
    add("--port", type=int, default=8088, help="where it is served")
    add("--rate", type=float, default=100.0, help="pages a second of the second phase")
    add("--seconds", type=float, default=60.0, help="length of each measurement")
    add("--json", type=Path, help="write all figures to this file")
    return parser.parse_args()


def main() -> int:
    arguments = _arguments()
    folder = arguments.site.resolve()
    build(folder)
    done: list[Phase] = []
    print("| phase | documents/s | pages asked for | p50 s | p99 s | latest s | promised s | load |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="ingather-bench-") as work:
        for phase in _phases(arguments, folder, Path(work)):
            done.append(phase)
            print(phase.row(), flush=True)
    print(f"\n* machine: {machine()}")
    for phase in done:
        if phase.missing:
            print(f"* {phase.name}: {phase.missing} pages were not found within a minute")
    if done[0].rate < _FULL:
        print(f"* full speed was {done[0].rate:.0f} documents a second here")
    if arguments.json:
        arguments.json.write_text(
            json.dumps(
                {p.name: {"rate": p.rate, "load": p.loads, "delays_s": p.delays_s} for p in done}, indent=1
            )
        )
    return 0 if all(phase.kept for phase in done) else 1


if __name__ == "__main__":
    sys.exit(main())
