"""A long mixed run: a robot that starts over and over, pages that change, feeds that are pushed, people who search.

usage: ./run endure soak [--minutes N] [--hosts N] [--pages N] [--log-bytes N]

Samples private memory and descriptors of every process below ``serve``, and the size of its logs, every few seconds;
prints the medians of the second quarter and of the last one, and of twelve parts. Exit status 1 if something grew: memory by more than 15 %
and 16 MB, descriptors by more than 8, logs beyond what rotation allows.
"""

import argparse
import re
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from http.client import HTTPConnection
from pathlib import Path
from statistics import median

from ingather.testing.feeds import content, feed_xml, record
from ingather.testing.rig import Rig, wait_until
from ingather.testing.running import Served
from ingather.testing.server import SyntheticServer
from ingather.testing.site import html
from ingather.testing.web import Answer, SyntheticWeb
from ingather.testing.webshape import WebShape

_SAMPLE_S = 5.0
_LOGS = 7
"""Files that are rotated: access, robot, filter and rdm logs, some of them in two forms."""
_KEPT = 3
_CACHE = "4MiB"
"""Page cache of the catalog's writer. It grows with the catalog up to its bound, 64 MiB by default: so large a catalog takes longer than an
hour. A small one is full before the first measurement; what grows then is no cache."""
_WORDS = ("walrus", "the number", "page", "seal tusks", "report")


def main() -> int:
    """Run, sample, judge."""
    parser = argparse.ArgumentParser(description="a long mixed run")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--hosts", type=int, default=10)
    parser.add_argument("--pages", type=int, default=60, help="of a host")
    parser.add_argument("--log-bytes", type=int, default=1 << 20, help="size at which a log is rotated")
    options = parser.parse_args()
    shape = WebShape(sites=options.hosts, pages=options.pages, depth=4, degree=4, paragraphs=3)
    with (
        tempfile.TemporaryDirectory(prefix="ingather-soak-") as folder,
        SyntheticServer(SyntheticWeb(1, shape), latency_s=0.005) as server,
    ):
        for origin in server.origins:
            server.override(f"{origin}/", _changing)
        settings = {
            "log.file-size": str(options.log_bytes),
            "log.files": str(_KEPT),
            "gather.gatherers": "2",
            "catalog.cache": _CACHE,
        }
        rig = Rig(Path(folder) / "home", **settings).init()
        for number, origin in enumerate(server.origins):
            rig.site(origin, source=f"site{number}")
        with (rig.path / "config" / "robot.conf").open("a") as conf:
            conf.write("onCompletion=loop\n")
        with rig.serving() as served:
            samples, done = _soak(rig, served, options.minutes * 60.0)
            visits = served.status["visits"]
        requests = len(server.requests)
    print(f"{visits} visits, {requests} requests, {done['feeds']} feeds, {done['searches']} searches")
    return _judge(samples, (options.log_bytes + (1 << 20)) * (_KEPT + 1) * _LOGS)


def _changing(times: int) -> Answer | None:
    """Answer the first page of a host: every third time it says something else."""
    text = html("Changing", text=f"the number is {times // 3} walrus")
    return Answer(200, (("Content-Type", "text/html"),), text.encode()) if times % 2 else None


def _soak(rig: Rig, served: Served, seconds: float) -> tuple[dict[str, list[float]], dict[str, int]]:
    port = int(wait_until(lambda: served.running.out.partition("/xmlfeed")[0].rpartition(":")[2]))
    samples: dict[str, list[float]] = defaultdict(list)
    done = {"feeds": 0, "searches": 0}
    end, next_sample = time.monotonic() + seconds, 0.0
    while time.monotonic() < end:
        for word in _WORDS:
            served.found(word)
            done["searches"] += 1
        number = done["feeds"] % 200
        _push(port, feed_xml(*(record(f"http://feed.test/{number}/{n}", content(f"report {number} seal tusks")) for n in range(20))))  # fmt: skip
        done["feeds"] += 1
        if time.monotonic() >= next_sample:
            next_sample = time.monotonic() + _SAMPLE_S
            for name, value in _sample(rig, served):
                samples[name].append(value)
        time.sleep(0.2)
    return samples, done


def _push(port: int, body: bytes) -> None:
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("POST", "/xmlfeed", body, {"Content-Type": "text/xml"})
    answer = connection.getresponse().read()
    connection.close()
    if answer != b"Success":
        raise AssertionError(answer)


def _sample(rig: Rig, served: Served) -> Iterator[tuple[str, float]]:
    """Yield private memory (MB) and descriptors by role, summed over the processes of a role, and bytes of logs."""
    running = served.running
    roles = {"keeper": [running.pid], "gatherers": running.gatherers(), "converters": running.converters()}
    for role, pids in roles.items():
        memory, descriptors = 0.0, 0
        for pid in pids:
            with suppress(OSError):
                found = re.search(r"RssAnon:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
                memory += int(found[1]) / 1024 if found else 0.0
                descriptors += len(list(Path(f"/proc/{pid}/fd").iterdir()))
        yield f"{role} MB", memory
        yield f"{role} descriptors", descriptors
    yield (
        "logs bytes",
        float(sum(path.stat().st_size for path in (rig.path / "log").iterdir() if path.is_file())),
    )


def _parts(values: list[float]) -> Iterator[list[float]]:
    """Yield *values* in twelve parts: whether something grows on or came to rest."""
    step = max(len(values) // 12, 1)
    for start in range(0, len(values), step):
        yield values[start : start + step]


def _judge(samples: dict[str, list[float]], log_bytes: int) -> int:
    broken = 0
    for name, values in samples.items():
        quarter = max(len(values) // 4, 1)
        early, late = median(values[quarter : 2 * quarter] or values), median(values[-quarter:])
        if name.endswith("MB"):
            grew = late > early * 1.15 and late > early + 16
        elif name.endswith("descriptors"):
            grew = late > early + 8
        else:
            grew = max(values) > log_bytes
        broken += grew
        print(f"{name}: {early:.1f} then {late:.1f}, at most {max(values):.1f}{'  GREW' if grew else ''}")
        print("   ", *(f"{median(part):.0f}" for part in _parts(values)))
    print("something grew" if broken else "flat")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
