"""The fault walk, the long form: every write and sync of the catalog fails once, files stop growing at every size.

usage: ./run endure fault [--stride N] [--folder PATH]

First every operation of the catalog's file system fails (once, for want of space, or for good with a power
cut), then whole crawls run with files that may not grow beyond a limit: catalog, bodies, index and log meet it
in turn. Exit status 1 if anything acknowledged was lost or the home did not recover. The suite runs the
short form (tests/journey/test_storage.py).
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path
from shutil import rmtree

from ingather.testing.faultwalk import Fault, FaultWalk
from ingather.testing.rig import Rig
from ingather.testing.server import SyntheticServer
from ingather.testing.web import SyntheticWeb
from ingather.testing.webshape import WebShape

LEAST, MOST, FACTOR = 20_000, 1_500_000, 1.25


def main() -> int:
    """Walk both walks and print figures."""
    parser = argparse.ArgumentParser(description="storage that fails everywhere, one place at a time")
    parser.add_argument("--stride", type=int, default=1, help="only every n-th operation of the catalog")
    parser.add_argument("--folder", type=Path, default=None)
    options = parser.parse_args()
    folder = options.folder or Path(tempfile.mkdtemp(prefix="ingather-fault-"))
    troubles = _operations(folder, options.stride) + _sizes(folder)
    for trouble in troubles:
        print(f"TROUBLE {trouble}")
    return 1 if troubles else 0


def _operations(folder: Path, stride: int) -> list[str]:
    walk, troubles = FaultWalk(folder), []
    for fault in Fault:
        begun, runs = time.monotonic(), 0
        for operation in range(1, walk.operations + 1, stride):
            run, runs = walk.run(operation, fault), runs + 1
            if run.trouble or not run.reached:
                troubles.append(f"{fault.value}, operation {operation}: {run.trouble or 'not reached'}")
        print(
            f"{fault.value}: {runs} of {walk.operations} operations in {time.monotonic() - begun:.0f} s",
            flush=True,
        )
    return troubles


def _sizes(folder: Path) -> list[str]:
    troubles: list[str] = []
    size = float(LEAST)
    with SyntheticServer(SyntheticWeb(7, WebShape(sites=1, pages=150, paragraphs=6))) as server:
        while size < MOST:
            rmtree(folder / "home", ignore_errors=True)
            rig = Rig(folder / "home").init()
            limited = rig.run(*rig.crawling(*server.origins), files_bytes=int(size))
            if "Traceback" in limited.err:
                troubles.append(f"{int(size)} bytes: {limited.err[-1000:]}")
            again = rig.crawl(*server.origins)
            found = [*rig.complaints(), *([again.err] if again.status else [])]
            troubles += [f"{int(size)} bytes: {line}" for line in found]
            print(
                f"files of {int(size)} bytes: exit {limited.status}, then {again.status}, {len(rig.shown())} shown",
                flush=True,
            )
            size *= FACTOR
    return troubles


if __name__ == "__main__":
    sys.exit(main())
