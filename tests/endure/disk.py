"""A disk that fills up and empties, over and over, under three shapes of load: every acknowledged record is found at the end.

usage: ./run endure disk [--rounds N] [--size MIB] [--seed N] [--shape SHAPE]... [--folder PATH]

A file system of its own (tmpfs; needs root) holds a home that is served. In each round a ballast file leaves some free space:
below the reserve, below its half, or next to nothing; feeds are pushed and pages gathered meanwhile; then there is room again.
Shapes: ``contents`` (large feeds), ``mixed`` (contents and deletions of one source), ``crawl`` (pages, and deletions by feed).
Exit status 1 if the keeper ended, search did not answer, or anything acknowledged is missing or came back.
"""

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from http.client import HTTPException
from pathlib import Path

from ingather.testing.feedcrash import feed_port, push_feed
from ingather.testing.feeds import content, feed_xml, record
from ingather.testing.rig import Rig
from ingather.testing.running import Served, wait_until
from ingather.testing.server import SyntheticServer
from ingather.testing.storage import fill
from ingather.testing.web import SyntheticWeb
from ingather.testing.webshape import WebShape

SHAPES = ("contents", "mixed", "crawl")
RESERVE = 32 << 20
LEAVES = (24 << 20, 12 << 20, 3 << 20, 64 << 10)


@dataclass
class Load:
    """What was pushed; *there*: what must be found at the end, URL by URL, as far as it was acknowledged."""

    served: Served
    dice: random.Random
    shape: str
    there: dict[str, bool] = field(default_factory=dict)
    unknown: set[str] = field(default_factory=set)
    answers: dict[int, int] = field(default_factory=dict)
    number: int = 0

    def push(self) -> None:
        """Push one feed: contents, or the deletion of something that is there."""
        old = [url for url, there in self.there.items() if there and url not in self.unknown]
        delete = old and self.shape != "contents" and self.dice.random() < 0.4
        if delete:
            urls = self.dice.sample(old, min(3, len(old)))
            self._send(
                urls,
                feed_xml(*(record(url, action="delete") for url in urls), datasource="disk"),
                there=False,
            )
            return
        count = 2 if self.shape == "crawl" else self.dice.randrange(1, 12)
        words = " ".join(
            f"{self.dice.getrandbits(40):x}" for _ in range(self.dice.choice((20, 4000, 20_000)))
        )
        urls = []
        for _ in range(count):
            self.number += 1
            urls.append(f"http://disk.test/{self.number}")
        made = (record(url, content(f"saltire n{url.rpartition('/')[2]} {words}")) for url in urls)
        self._send(urls, feed_xml(*made, datasource="disk"), there=True)

    def _send(self, urls: list[str], body: bytes, *, there: bool) -> None:
        try:
            status, text, _ = push_feed(feed_port(self.served), body, "disk")
        except (OSError, HTTPException):
            self.unknown |= set(urls)
            return
        self.answers[status] = self.answers.get(status, 0) + 1
        if text == b"Success":
            self.there |= dict.fromkeys(urls, there)
            self.unknown -= set(urls)


def run(shape: str, folder: Path, rounds: int, seed: int) -> list[str]:
    """Run one shape; return what was wrong."""
    dice, begun = random.Random(f"{seed} {shape}"), time.monotonic()  # noqa: S311 - a test's dice
    rig = Rig(folder / "home", **{"disk.reserve": f"{RESERVE >> 20}MiB", "disk.reserve-share": "0%"}).init()
    ballast = folder / "ballast"
    with SyntheticServer(SyntheticWeb(seed, WebShape(sites=2, pages=150, paragraphs=6))) as server:
        for number, origin in enumerate(server.origins if shape == "crawl" else ()):
            rig.site(origin, source=f"site{number}")
        with rig.serving() as served:
            load, troubles = Load(served, dice, shape), []
            for number in range(rounds):
                troubles += fill_and_push(load, ballast, number)
            ballast.unlink(missing_ok=True)
            troubles += judge(load)
    troubles += rig.complaints()
    print(f"{shape}: {len(load.there)} records acknowledged, answers {load.answers}, {len(troubles)} troubles, "
          f"{time.monotonic() - begun:.0f} s", flush=True)  # fmt: skip
    return [f"{shape}: {trouble}" for trouble in troubles]


def fill_and_push(load: Load, ballast: Path, number: int) -> list[str]:
    """Push with room, take the room away, push again; return what was wrong."""
    served, dice, troubles = load.served, load.dice, []
    ballast.unlink(missing_ok=True)
    wait_until(lambda: not served.status["disk_full"], pause_s=0.1)
    for _ in range(6):
        load.push()
    leave = dice.choice(LEAVES)
    with suppress(OSError, ValueError):  # the home took more meanwhile: then nothing at all is left
        fill(ballast, leave=leave)
    for _ in range(6):
        load.push()
        if served.get("/api/v1/search?q=saltire")[0] != HTTPStatus.OK:
            troubles.append(f"round {number}: search does not answer")
    time.sleep(dice.random() * 3)
    status = served.status
    if status["state"] == "failed":
        troubles.append(f"round {number}: the keeper failed")
    print(f"{load.shape} {number}: {leave >> 10} KiB left, {status['state']}, {load.answers}", flush=True)
    return troubles


def judge(load: Load) -> list[str]:
    """Wait until all is applied and indexed; return what of the acknowledged is not as it must be."""
    served = load.served

    def settled() -> bool:
        feeds = served.admin("/api/v1/feeds?limit=10000")[1]["feeds"]
        now = served.status
        return (
            all(feed["ended"] is not None for feed in feeds) and not now["backlog"] and now["index"] == "ok"
        )

    try:
        wait_until(settled, timeout_s=120, pause_s=0.5)
    except TimeoutError:
        return [f"not settled after 120 s: {served.status['index']}, backlog {served.status['backlog']}"]
    return [
        f"{url} is {'missing' if there else 'still found'}"
        for url, there in load.there.items()
        if url not in load.unknown and (url in served.found(f"n{url.rpartition('/')[2]}")) is not there
    ]


def main() -> int:
    """Run the shapes, each on a file system of its own."""
    parser = argparse.ArgumentParser(description="a disk that fills up and empties under load")
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--size", type=int, default=200, help="of the file system, MiB")
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))  # noqa: S311 - a test's dice
    parser.add_argument("--shape", action="append", choices=SHAPES, help="default: all three")
    parser.add_argument("--folder", type=Path, default=None, help="where the file systems are mounted")
    options = parser.parse_args()
    folder = options.folder or Path(tempfile.mkdtemp(prefix="ingather-disk-"))
    print(f"seed {options.seed}, below {folder}", flush=True)
    troubles: list[str] = []
    for shape in options.shape or SHAPES:
        place = folder / shape
        place.mkdir(parents=True)
        asked = [
            str(shutil.which("mount")),
            "-t",
            "tmpfs",
            "-o",
            f"size={options.size}m",
            "tmpfs",
            str(place),
        ]
        if subprocess.run(asked, check=False).returncode:
            print("a file system of its own needs root", file=sys.stderr)
            return 2
        try:
            troubles += run(shape, place, options.rounds, options.seed)
        finally:
            subprocess.run([str(shutil.which("umount")), "-l", str(place)], check=True)
    for trouble in troubles:
        print(f"TROUBLE {trouble}")
    return 1 if troubles else 0


if __name__ == "__main__":
    sys.exit(main())
