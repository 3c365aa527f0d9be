"""A large frontier: a million URLs that wait at a hundred thousand hosts, read by one keeper.

usage: ./run endure frontier [--urls N] [--hosts N] [--rounds N]

Prints how long the keeper of a served home takes to start with it and how much memory it has then, and what a claim
costs: drawn from the frontier, its host lent, settled, in process CPU time. Exit status 1 if a bound of the robot's
description is broken (start 10 s, keeper 600 MB, 1 ms a claim).
"""

import argparse
import re
import resource
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

import apsw

from ingather.catalog.frontier.sqlite_frontier import FrontierQueries
from ingather.catalog.sqlite_rows import Rows
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.model.urlparts import host_key, key
from ingather.robot.frontier.allotment import Allotment
from ingather.robot.frontier.hold import Frontier
from ingather.testing.rig import Rig, wait_until

_START_S, _KEEPER_MB, _CLAIM_MS = 10.0, 600.0, 1.0
_ROOM = 1_000


def main() -> int:
    """Fill a home, start it, draw from it, and print the figures."""
    parser = argparse.ArgumentParser(description="a large frontier")
    parser.add_argument("--urls", type=int, default=1_000_000)
    parser.add_argument("--hosts", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=200, help="claims of a thousand URLs")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ingather-frontier-") as folder:
        # Nobody is asked: a gatherer would, and its visits are not what is measured.
        rig = Rig(Path(folder) / "home").init()
        rig.toml('[source.web]\nwindows = ["mon 00:00-00:01"]')
        rig.database.parent.mkdir(parents=True, exist_ok=True)
        CatalogWriter(rig.database).close()
        _fill(rig, options.urls, options.hosts)
        claim_ms = _claims(rig, options.rounds)
        start_s, keeper_mb = _start(rig)
    print(f"start {start_s:.1f} s, keeper {keeper_mb:.0f} MB, {claim_ms:.3f} ms CPU a claim")
    kept = start_s <= _START_S and keeper_mb <= _KEEPER_MB and claim_ms <= _CLAIM_MS
    print("all bounds kept" if kept else "a bound is broken")
    return 0 if kept else 1


def _fill(rig: Rig, urls: int, hosts: int) -> None:
    """Write hosts and waiting URLs as a crawl would have left them; some hosts have many, most have few."""
    started = time.monotonic()
    with apsw.Connection(str(rig.database)) as db:
        seed = int(next(iter(db.execute("select value from meta where name = 'seed'")))[0])
        db.execute("insert into source (id, name, kind, access) values (1, 'web', 'site', 'public')")
        names = [f"http://h{number}.frontier.test" for number in range(hosts)]
        db.executemany(
            "insert into host (id, origin, hkey) values (?, ?, ?)",
            ((number + 1, origin, host_key(origin)) for number, origin in enumerate(names)),
        )
        rows = (
            (key(f"{names[number % hosts]}/p{number}", seed), number % hosts + 1, f"/p{number}", 1)
            for number in range(urls)
        )
        while piece := list(islice(rows, 100_000)):
            db.executemany(
                "insert into url (key, host, path, source, depth, state, prio, hops) values (?, ?, ?, 1, ?, 0, 1, 0)",
                piece,
            )
    db.close()
    print(f"{urls} URLs at {hosts} hosts written in {time.monotonic() - started:.0f} s", flush=True)


def _claims(rig: Rig, rounds: int) -> float:
    """Draw, lend and settle; return milliseconds of CPU a claim."""
    db = apsw.Connection(str(rig.database), flags=apsw.SQLITE_OPEN_READONLY)
    queries = FrontierQueries(Rows(db, rig.database))
    frontier = Frontier(queries, Allotment())
    began = time.process_time()
    waiting = frontier.load()
    print(f"frontier of {waiting} read in {time.process_time() - began:.2f} CPU-s", flush=True)
    hand = object()
    frontier.join(hand)
    drawn, began = 0, time.process_time()
    for round_ in range(rounds):
        rows, hosts, _ = frontier.take(hand, _ROOM, float(round_))
        queries.grants(sorted(hosts))
        drawn += len(rows)
        frontier.settled([row.id for row in rows])
    spent = time.process_time() - began
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{drawn} claims in {spent:.2f} CPU-s; this process had {memory:.0f} MB at most", flush=True)
    db.close()
    return 1e3 * spent / max(drawn, 1)


def _start(rig: Rig) -> tuple[float, float]:
    """Serve the home; return seconds to its first answer and private memory (MB) then."""
    began = time.monotonic()
    with rig.serving() as served:
        wait_until(lambda: served.admin("/ready")[0] in {200, 503})
        start_s = time.monotonic() - began
        status = Path(f"/proc/{served.running.process.pid}/status").read_text()
    found = re.search(r"RssAnon:\s+(\d+) kB", status)
    return start_s, int(found[1]) / 1024 if found else 0.0


if __name__ == "__main__":
    sys.exit(main())
