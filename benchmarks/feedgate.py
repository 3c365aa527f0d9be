"""The feed gate alone: megabytes a CPU-second for one large feed, acknowledgements a second for many small ones.

    python benchmarks/feedgate.py [--megabytes 300] [--feeds 3000] [--clients 64] [--folder /var/tmp]

The gate runs in a process of its own with the spool on a real disk; its desk gives numbers and keeps nothing. What a
keeper's row costs is not in the figures. The bare figure beside it is recv, write and fsync of the same bytes.
"""

import argparse
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from resource import RUSAGE_SELF, getrusage

from ingather.feeds.authority import Sender
from ingather.feeds.desk import FeedFields, FeedTicket, Spooled
from ingather.log import configure
from ingather.testing.feedgate import MemoryDesk, open_gate
from ingather.testing.feedwire import FEED, multipart, post

_MIB = 1 << 20
_BOUNDARY = b"<<----------boundary_of_feed_data$"  # about as long as those of clients are


class Counting(MemoryDesk):
    """Numbers feeds and keeps none."""

    count = 0

    async def accept(self, spooled: Spooled, fields: FeedFields, sender: Sender) -> FeedTicket:
        """Give the next number."""
        self.count += 1
        return FeedTicket(self.count, f"f{self.count}")


def serve(folder: str) -> None:
    """Run a gate; say its port, then for each line of input the CPU seconds and the largest memory so far."""
    configure(level="error")
    with open_gate(Path(folder), desk=Counting()) as gate:
        print(gate.address[1], flush=True)
        for _ in sys.stdin:
            used = getrusage(RUSAGE_SELF)
            print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, flush=True)


@contextmanager
def gate(folder: Path) -> Iterator[tuple[int, "subprocess.Popen[str]"]]:
    """Run the gate in a child."""
    command = [sys.executable, __file__, "--serve", str(folder / "gate")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as child:
        assert child.stdout is not None
        line = child.stdout.readline()
        while not line.strip().isdigit():
            line = child.stdout.readline()
        yield int(line), child
        assert child.stdin is not None
        child.stdin.close()


def used(child: "subprocess.Popen[str]") -> tuple[float, float]:
    """Ask the child for CPU seconds and MiB."""
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write("\n")
    child.stdin.flush()
    while True:
        words = child.stdout.readline().split()
        try:
            cpu, memory = map(float, words)
        except ValueError:
            continue  # a line of the log
        return cpu, memory


def push(port: int, pieces: list[bytes]) -> bytes:
    """Send one request and return the answer's body."""
    with socket.create_connection(("127.0.0.1", port)) as sock:
        for piece in pieces:
            sock.sendall(piece)
        answer = b""
        while got := sock.recv(65536):
            answer += got
    return answer.partition(b"\r\n\r\n")[2]


def large(port: int, child: "subprocess.Popen[str]", megabytes: int) -> None:
    """One feed of HTML text and base64."""
    record = (
        b'<record url="http://a.example/%d" mimetype="text/html"><content>'
        + b"<p>some words &amp; more</p>\n" * 90
    )
    block = b"".join(record % n + b"</content></record>\n" for n in range(400))
    count = megabytes * _MIB // len(block)
    empty = multipart(
        _BOUNDARY,
        (b"datasource", b"", b"", b"s"),
        (b"feedtype", b"", b"", b"full"),
        (b"data", b"", b"", b"@"),
    )
    start, _, end = empty.partition(b"@")
    size = len(start) + len(end) + count * len(block)
    head = post(b"", b"multipart/form-data; boundary=" + _BOUNDARY)[0].replace(
        b"Length: 0", b"Length: %d" % size
    )
    cpu, _ = used(child)
    begun = time.monotonic()
    assert push(port, [head, start, *[block] * count, end]) == b"Success"
    wall = time.monotonic() - begun
    after, memory = used(child)
    amount = size / 1e6
    print(
        f"large feed: {amount:.0f} MB, {amount / (after - cpu):.0f} MB a CPU-second, {amount / wall:.0f} MB/s, {memory:.0f} MiB at most"
    )


def bare(folder: Path, megabytes: int) -> None:
    """Recv, write, fsync."""
    listener = socket.create_server(("127.0.0.1", 0))
    block = b"x" * _MIB

    def send() -> None:
        with socket.create_connection(listener.getsockname()) as sock:
            for _ in range(megabytes):
                sock.sendall(block)

    thread = threading.Thread(target=send)
    begun = time.monotonic()
    thread.start()
    sock, _ = listener.accept()
    fd = os.open(folder / "bare", os.O_WRONLY | os.O_CREAT)
    while piece := sock.recv(65536):
        os.write(fd, piece)
    os.fsync(fd)
    wall = time.monotonic() - begun
    os.close(fd)
    sock.close()
    listener.close()
    thread.join()
    print(f"bare recv, write, fsync: {megabytes * _MIB / 1e6 / wall:.0f} MB/s")


def small_request() -> bytes:
    """Return a request that pushes a feed of two records."""
    form = multipart(
        b"<<",
        (b"datasource", b"", b"", b"s"),
        (b"feedtype", b"", b"", b"incremental"),
        (b"data", b"", b"", FEED),
    )
    return b"".join(post(form, b"multipart/form-data; boundary=<<"))


def small(port: int, child: "subprocess.Popen[str]", feeds: int, clients: int) -> None:
    """Many feeds of two records."""
    request = small_request()
    left = iter(range(feeds))

    def client() -> None:
        for _ in left:
            assert push(port, [request]) == b"Success"

    cpu, _ = used(child)
    begun = time.monotonic()
    threads = [threading.Thread(target=client) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wall = time.monotonic() - begun
    after, _ = used(child)
    print(
        f"small feeds: {feeds / wall:.0f} acknowledged a second with {clients} clients, {(after - cpu) / feeds * 1e3:.2f} ms CPU each"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=300)
    parser.add_argument("--feeds", type=int, default=3000)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--folder", default=None)
    parser.add_argument("--serve", default="")
    given = parser.parse_args()
    if given.serve:
        serve(given.serve)
        return
    with tempfile.TemporaryDirectory(dir=given.folder) as made, gate(Path(made)) as (port, child):
        bare(Path(made), given.megabytes)
        large(port, child, given.megabytes)
        small(port, child, given.feeds, given.clients)


if __name__ == "__main__":
    main()
