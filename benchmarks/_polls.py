"""What polls cost a running home: processor time of keeper, gatherers and converters together."""

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from ingather.testing.rig import Rig
from ingather.testing.running import wait_until
from ingather.testing.site import Site, html
from ingather.testing.web import Answer

__all__ = ["polls"]

_ITEMS = 100
_TICK = os.sysconf("SC_CLK_TCK")


def polls(feeds: int, wanted: int, feed: Callable[[int, int], str]) -> None:
    """Print the cost of *wanted* polls of *feeds* feeds, half of which answer 304.

    Args:
        feeds: how many; each lists a hundred documents of its own, which are gathered first and not counted.
        wanted: polls to be measured, at least.
        feed: (number of the feed, how often it was asked) -> its text; links are ``/d/FEED/ITEM``.
    """
    with tempfile.TemporaryDirectory() as folder, Site() as site:
        for number in range(feeds):
            for item in range(_ITEMS):
                site.put(f"/d/{number}/{item}", html(f"Document {item} of {number}"))
            if number % 2:
                site.answer(f"/feed/{number}", _made(feed, number))
            else:
                site.put(f"/feed/{number}", feed(number, 0), kind=_TYPE[1])
        rig = Rig(Path(folder) / "home").init()
        urls = ", ".join(f'"{site.url(f"/feed/{number}")}"' for number in range(feeds))
        rig.toml(
            f'[source.news]\nkind = "rss"\nfeeds = [{urls}]\naddresses = ["127.0.0.0/8"]\n'
            f'own-hosts = ["{site.origin.partition("://")[2]}"]\ndiscovery-interval = "1s"\nmin-poll-interval = "1s"\n'
        )
        with rig.serving() as served:
            pid = served.running.process.pid
            documents = feeds * _ITEMS
            described = "select count(*) from url where version is not null"
            wait_until(lambda: rig.rows(described)[0][0] == documents, timeout_s=600.0)
            time.sleep(10.0)  # the index commits what was gathered
            site.forget()
            cpu, wall = _cpu(pid), time.monotonic()
            wait_until(lambda: _polled(site) >= wanted, timeout_s=1200.0)
            spent, took, done = _cpu(pid) - cpu, time.monotonic() - wall, _polled(site)
            assert not any("/d/" in path for path in site.server.paths()), "documents were fetched meanwhile"
    print(
        f"{done} polls of {feeds} feeds in {took:.0f} s: {spent:.2f} CPU-seconds, {1e3 * spent / done:.2f} ms a poll, "
        f"{1e4 * spent / done:.1f} s for 10,000 polls (to be below 60)"
    )


_TYPE = ("Content-Type", "application/rss+xml")


def _made(feed: Callable[[int, int], str], number: int) -> Callable[[int], Answer]:
    return lambda asked: Answer(200, (_TYPE,), feed(number, asked).encode())


def _polled(site: Site) -> int:
    return len(site.server.requests)


def _cpu(pid: int) -> float:
    """Processor seconds of a process, its children, and theirs."""
    children: dict[int, list[int]] = {}
    times: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            children.setdefault(int(words[1]), []).append(int(entry.name))
            times[int(entry.name)] = sum(map(int, words[11:15]))  # own and buried children's
    total, left = 0, [pid]
    while left:
        one = left.pop()
        total += times.get(one, 0)
        left += children.get(one, [])
    return total / _TICK
