"""Politeness on real sockets: fifty hosts on loopback, two gatherers, kills in between; judged by the hosts' own logs.

usage: ./run endure hosts [--hosts N] [--pages N] [--kills N] [--delay S] [--seed N]

Prints figures and every broken promise: the pause between two requests to a host, its connections, the connections to an
address that hosts share. Exit status 1 if any promise was broken, or a page was left out.
"""

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Final

from ingather.testing.oracle import HostRules
from ingather.testing.rig import Rig, wait_until
from ingather.testing.server import SyntheticServer, judge_requests
from ingather.testing.web import SyntheticWeb
from ingather.testing.webshape import PLAIN_TREE, WebShape

LATE_S: Final = 0.15
"""A request that a busy machine was late with comes so close to the next; the exact numbers are judged in simulations."""


def main() -> int:
    """Gather, kill, gather on, judge."""
    parser = argparse.ArgumentParser(description="fifty hosts, judged for politeness")
    parser.add_argument("--hosts", type=int, default=50)
    parser.add_argument("--pages", type=int, default=30, help="of a host")
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--delay", type=float, default=0.5, help="seconds between two requests to a host")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    plain = {name: getattr(PLAIN_TREE, name) for name in WebShape.__slots__}
    shape = WebShape(
        **{**plain, "sites": options.hosts, "pages": options.pages, "depth": 3, "degree": 4, "foreign": 0.2}
    )
    dice = random.Random(options.seed)  # noqa: S311 - a test's dice
    flags = ("--delay", f"{options.delay}s", "--quiet")
    began, kills = time.monotonic(), 0
    with (
        tempfile.TemporaryDirectory(prefix="ingather-hosts-") as folder,
        SyntheticServer(SyntheticWeb(options.seed, shape), latency_s=0.05) as server,
    ):
        rig = Rig(Path(folder) / "home", **{"gather.gatherers": "2"}).init()
        wanted = options.hosts * options.pages
        for _ in range(options.kills):
            aim = len(server.requests) + dice.randrange(1, max(wanted // (options.kills + 1), 2))
            with rig.start(*rig.crawling(*server.origins, own=False, flags=flags)) as running:
                wait_until(lambda: len(server.requests) >= aim or running.process.poll() is not None)  # noqa: B023 - asked at once
                kills += running.process.poll() is None
                running.kill()
        ended = rig.crawl(*server.origins, own=False, flags=flags, timeout_s=3_600.0)
        rules = HostRules(delay_s=options.delay, max_connections=2)
        broken = judge_requests(server.requests, default=rules, tolerance_s=LATE_S)
        asked = Counter(url for url in server.paths() if not url.endswith("/robots.txt"))
        complaints = rig.complaints()
        requests = len(server.requests)
    for one in [*broken[:20], *complaints[:20]]:
        print(f"BROKEN {one}")
    print(
        f"{options.hosts} hosts, {len(asked)} of {wanted} pages, {requests} requests, {asked.total() - len(asked)} of them again, "
        f"{kills} kills, {time.monotonic() - began:.0f} s; {len(broken)} broken promises, {len(complaints)} complaints"
    )
    return 1 if broken or complaints or ended.status or len(asked) != wanted else 0


if __name__ == "__main__":
    sys.exit(main())
