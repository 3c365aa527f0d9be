"""One large feed while people search and others push: does it stand in anybody's way?

    python benchmarks/bigfeed.py [--megabytes 1000] [--rate 5] [--folder /var/tmp]

A home serves with 5 MB of documents in its index. Then a feed of the given size is pushed through the gate and applied, index and all, while
three-word questions come at a steady rate and every two seconds somebody else pushes a feed of one record. Said are the gate's megabytes a
second, when all was applied and indexed, the times of questions and of acknowledgements until then, and the private memory of each process at the end.
"""

import argparse
import http.client
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from _load import Answers, ask
from _watch import load
from feeds import pieces

from ingather.testing.prose import WORDS

_SMALL = (
    b'<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE gsafeed PUBLIC "-//Google//DTD GSA Feeds//EN" ""><gsafeed><header><datasource>small</datasource>'
    b"<feedtype>incremental</feedtype></header><group><record url='http://small.bench.example/%d' mimetype='text/plain'><content>one more"
    b"</content></record></group></gsafeed>"
)
_HEAD = b'--x\r\nContent-Disposition: form-data; name="datasource"\r\n\r\n%b\r\n--x\r\nContent-Disposition: form-data; name="feedtype"\r\n\r\n%b\r\n--x\r\nContent-Disposition: form-data; name="data"; filename="f.xml"\r\nContent-Type: text/xml\r\n\r\n'
_TAIL = b"\r\n--x--\r\n"


def push(address: str, source: bytes, kind: bytes, parts: Iterator[bytes], size: int) -> float:
    """Push a feed; return the seconds until it was acknowledged."""
    head = _HEAD % (source, kind)
    connection = http.client.HTTPConnection(address, timeout=600)
    connection.putrequest("POST", "/xmlfeed")
    connection.putheader("Content-Type", "multipart/form-data; boundary=x")
    connection.putheader("Content-Length", str(len(head) + size + len(_TAIL)))
    connection.endheaders()
    begun = time.monotonic()
    connection.send(head)
    for part in parts:
        connection.send(part)
    connection.send(_TAIL)
    answer = connection.getresponse()
    said = answer.read()
    if said != b"Success":
        raise SystemExit(f"the feed was answered {answer.status}: {said[:300]!r}")
    return time.monotonic() - begun


def backlog(address: str) -> int:
    """Return how many feeds wait or are being applied."""
    connection = http.client.HTTPConnection(address, timeout=60)
    connection.request("GET", "/getbacklogcount")
    return int(connection.getresponse().read())


def memory(home: Path) -> list[tuple[int, str]]:
    """Return (private MiB now, command) of each process of the home's serve; the index is mapped and not counted."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            environment = (entry / "environ").read_bytes()
            private = re.search(r"RssAnon:\s+(\d+)", (entry / "status").read_text())
        except (OSError, ValueError):
            continue
        if private and f"BENCH_HOME={home}\0".encode() in environment:
            found.append((int(private[1]) >> 10, command[-60:]))
    return sorted(found, reverse=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--megabytes", type=float, default=1000)
    parser.add_argument("--rate", type=float, default=5)
    parser.add_argument("--folder", default=None)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        run(Path(name), given)


@contextmanager
def served(place: Path) -> Iterator[tuple["subprocess.Popen[bytes]", str, str]]:
    """Serve a new home below *place* on ports of its own; gives the process, the gate's address, the search page's."""
    home, log = place / "home", place / "serve.out"
    ingather = [sys.executable, "-m", "ingather"]
    subprocess.run([*ingather, "init", str(home)], check=True, stdout=subprocess.DEVNULL)
    environment = {
        **os.environ, "BENCH_HOME": str(home), "PYTHONUNBUFFERED": "1", "INGATHER_LISTEN_SEARCH": "127.0.0.1:0",
        "INGATHER_LISTEN_ADMIN": "127.0.0.1:0", "INGATHER_FEEDS_LISTEN": "127.0.0.1", "INGATHER_FEEDS_PORT": "0",
        "INGATHER_FEEDS_TLS_PORT": "0",
    }  # fmt: skip
    with log.open("wb") as out:
        serve = subprocess.Popen(
            [*ingather, "serve", "--home", str(home)], env=environment, stdout=out, stderr=out
        )
    try:
        gate, search = (
            _address(log, what) for what in (r"feeds\s+http://([^/\s]+)/", r"search page\s+http://([^/\s]+)/")
        )
        yield serve, gate, search
    finally:
        serve.terminate()
        serve.wait(120)


def run(place: Path, given: argparse.Namespace) -> None:
    with served(place) as (_, gate, search):
        first = [part.replace(b"/docs/", b"/first/") for part in pieces(5, 5_000, "all")]
        push(gate, b"first", b"incremental", iter(first), sum(map(len, first)))
        _applied(gate, search)
        drawn = random.Random(5)  # noqa: S311 - the same questions each time
        asked: list[Answers] = []
        small: list[float] = []
        done = threading.Event()

        def questions() -> None:
            while not done.is_set():
                words = [" ".join(drawn.sample(WORDS, 3)) for _ in range(int(given.rate * 5))]
                asked.append(ask(search, words, rate=given.rate))

        def others() -> None:
            number = 0
            while not done.wait(2.0):
                number += 1
                body = _SMALL % number
                small.append(push(gate, b"small", b"incremental", iter([body]), len(body)))

        file = place / "big.xml"
        with file.open("wb") as out:
            out.writelines(pieces(given.megabytes, 5_000, "all"))
        size = file.stat().st_size
        threads = [threading.Thread(target=task) for task in (questions, others)]
        for thread in threads:
            thread.start()
        begun, before = time.monotonic(), load()
        with file.open("rb") as source:
            taken = push(gate, b"bench", b"incremental", iter(lambda: source.read(1 << 20), b""), size)
        _applied(gate, search)
        whole = time.monotonic() - begun
        done.set()
        for thread in threads:
            thread.join(120)
        every = Answers(
            [ms for one in asked for ms in one.times_ms], bad=[bad for one in asked for bad in one.bad]
        )
        print(
            f"{size / 1e6:.0f} MB: acknowledged in {taken:.1f} s ({size / 1e6 / taken:.0f} MB/s), applied and indexed in {whole:.0f} s; load {before[0]} to {load()[0]}"
        )
        print(
            f"{len(every.times_ms)} questions meanwhile: p50 {every.percentile(0.5):.0f}, p90 {every.percentile(0.9):.0f}, p99 {every.percentile(0.99):.0f}, "
            f"longest {max(every.times_ms, default=0):.0f} ms; {len(every.bad)} wrong"
        )
        print(f"{len(small)} small feeds meanwhile: longest {max(small, default=0):.2f} s until acknowledged")
        for mebibytes, command in memory(place / "home"):
            print(f"  {mebibytes:5} MiB private  {command}")


def _address(log: Path, pattern: str) -> str:
    for _ in range(600):
        found = re.search(pattern, log.read_text())
        if found:
            return found[1]
        time.sleep(0.1)
    raise SystemExit(f"serve did not begin:\n{log.read_text()[-2000:]}")


def _applied(gate: str, search: str) -> None:
    """Wait until no feed waits and the index has what they brought."""
    while backlog(gate):
        time.sleep(0.5)
    time.sleep(2)
    ask(search, ["anything"], rate=1)


if __name__ == "__main__":
    main()
