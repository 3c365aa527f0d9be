"""Many small feeds against a served home: acknowledgements a second, and what each costs.

    python benchmarks/smallfeeds.py [--feeds 5000] [--clients 64] [--rounds 3] [--folder /var/tmp]

A home serves with everything on: a feed gets its durable file, its row, its turn, and its documents come into the index while the
next are taken. One feed of two records is one connection, as clients of an appliance make them; as many as *clients* are open at once.
The client is one loop over bare sockets, for it has the same processors; its own time is said beside that of all processes of the home.
"""

import argparse
import os
import select
import socket
import tempfile
import time
from pathlib import Path

from _watch import load
from bigfeed import served
from feedgate import small_request

_TICK = os.sysconf("SC_CLK_TCK")


def drive(port: int, request: bytes, feeds: int, clients: int) -> tuple[float, int]:
    """Push *feeds* times, *clients* at once; return the seconds until the last answer and how many were not ``Success``."""
    poll = select.epoll()
    open_: dict[int, tuple[socket.socket, bytearray]] = {}
    left, wrong = feeds, 0

    def begin() -> None:
        sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        sock.connect(("127.0.0.1", port))  # loopback: there at once
        sock.sendall(request)
        sock.setblocking(False)  # noqa: FBT003
        open_[sock.fileno()] = sock, bytearray()
        poll.register(sock.fileno(), select.EPOLLIN)

    begun = time.monotonic()
    while left or open_:
        while left and len(open_) < clients:
            left -= 1
            begin()
        for number, _ in poll.poll():
            sock, answer = open_[number]
            piece = sock.recv(65536)
            answer += piece
            if not piece:
                poll.unregister(number)
                sock.close()
                del open_[number]
                wrong += not answer.endswith(b"\r\n\r\nSuccess")
    return time.monotonic() - begun, wrong


def spent(pids: list[int]) -> float:
    """Return the CPU seconds of living processes."""
    found = 0.0
    for pid in pids:
        words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        found += sum(map(int, words[11:13])) / _TICK
    return found


def family(pid: int) -> list[int]:
    """Return *pid* and the processes below it."""
    found = [pid]
    for at in found:
        for thread in Path(f"/proc/{at}/task").iterdir():
            found += [int(word) for word in (thread / "children").read_text().split()]
    return found


def run(place: Path, given: argparse.Namespace) -> None:
    request = small_request()
    with served(place) as (serve, gate, _):
        port = int(gate.rpartition(":")[2])
        drive(port, request, 64, 8)
        time.sleep(3)
        for _ in range(given.rounds):
            before, own, noise = spent(family(serve.pid)), time.process_time(), load()
            took, wrong = drive(port, request, given.feeds, given.clients)
            each = (spent(family(serve.pid)) - before) / given.feeds * 1000
            own = (time.process_time() - own) / given.feeds * 1000
            print(
                f"{given.feeds:,} feeds of two records, {given.clients} clients: {given.feeds / took:.0f} acknowledged a second; "
                f"{each:.2f} ms of the home's processes each, {own:.2f} of the client; {wrong} wrong; load {noise[0]} to {load()[0]}",
                flush=True,
            )
            time.sleep(3)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--feeds", type=int, default=5000)
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", default=None)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        run(Path(name), given)


if __name__ == "__main__":
    main()
