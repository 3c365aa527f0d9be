"""Kill it while feeds are pushed: every acknowledged feed is applied to its last record, once, in the order of its source.

Clients push without a pause, each to a data source of its own, while everything is killed, or one process below the
keeper, and started again. Afterwards the catalog's own list of feeds is the script: what they say, applied by this
module's few rules, must be what the catalog holds. What was pushed and not acknowledged may be there or not.
"""

import random
import re
import shutil
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from os import kill
from pathlib import Path
from signal import SIGKILL, SIGTERM
from urllib.parse import urlencode

from ingather.app.home import Home
from ingather.app.homeparts import database_of
from ingather.catalog.sqlite_reader import SqliteReader
from ingather.testing.feeds import content, feed_xml, record
from ingather.testing.rig import Rig
from ingather.testing.running import PATIENCE_S, Running, Served, wait_until

__all__ = ["FeedCrash", "FeedCrashFigures", "feed_port", "push_feed"]

_STALLED_S = 300.0
_LEAST = 8
"""Feeds that are acknowledged in a life before it may end: a life of nothing but beginnings proves little."""


def feed_port(served: Served) -> int:
    """Return the port on which *served* takes feeds, when it does."""
    found = wait_until(lambda: re.search(r"http://127\.0\.0\.1:(\d+)/xmlfeed", served.running.out))
    return int(found.group(1))


def push_feed(
    port: int, body: bytes, datasource: str, feedtype: str = "incremental"
) -> tuple[int, bytes, str]:
    """Push a feed; return status, body and the feed's name.

    Raises:
        OSError, HTTPException: there was no answer.
    """
    connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    try:
        form = urlencode({"datasource": datasource, "feedtype": feedtype, "data": body.decode()})
        connection.request("POST", "/xmlfeed", form, {"Content-Type": "application/x-www-form-urlencoded"})
        answer = connection.getresponse()
        return answer.status, answer.read(), answer.getheader("X-Feed-Id") or ""
    finally:
        connection.close()


@dataclass
class FeedCrashFigures:
    """What a trial did, and what was wrong (nothing must be).

    Attributes:
        kills: by what was killed: ``all``, ``child``.
        acknowledged: feeds that were answered with ``Success``.
        kept: feeds that the catalog has; more than *acknowledged* when an answer was cut off.
        records: that they brought.
        refused: pushes that were answered otherwise.
    """

    kills: Counter[str] = field(default_factory=Counter)
    acknowledged: int = 0
    kept: int = 0
    records: int = 0
    refused: int = 0
    elapsed_s: float = 0.0
    troubles: list[str] = field(default_factory=list)


class FeedCrash:
    """One trial in one home.

    Args:
        folder: where the home is made; it is removed unless there were troubles.
        seed: of the waits.
        kills: how often something is killed.
        feeds: that are acknowledged at least.
        clients: that push at a time.
        within_s: the longest time from the least of a life to a kill, and from one kill to the next.
        tell: called with a line now and then.
    """

    def __init__(  # noqa: PLR0913 - given by name
        self,
        folder: Path,
        *,
        seed: int,
        kills: int,
        feeds: int = 0,
        clients: int = 8,
        within_s: float = 1.0,
        tell: Callable[[str], None] | None = None,
    ) -> None:
        self._dice = random.Random(seed)  # noqa: S311 - a test's dice
        self._kills, self._feeds, self._clients = kills, feeds, clients
        self._within_s = within_s
        self._tell = tell or (lambda _line: None)
        self._rig = Rig(folder / f"feeds-{seed}").init()
        self._rig.tune("listen.search", "127.0.0.1:0").tune("listen.admin", "127.0.0.1:0")
        self._turns: Counter[int] = Counter()
        self._names: set[str] = set()
        self.figures = FeedCrashFigures()

    def run(self) -> FeedCrashFigures:
        """Push and kill until both counts are reached, let the rest be applied, and judge."""
        begun = time.monotonic()
        figures = self.figures
        while figures.kills.total() < self._kills or len(self._names) < self._feeds:
            self._life()
            self._tell(
                f"{figures.kills.total()} kills {dict(figures.kills)}, {len(self._names)} feeds acknowledged"
            )
        with self._rig.start("serve") as running:
            served = self._served(running)
            self._applied(lambda: served.admin("/api/v1/feeds?limit=1")[1]["backlog"])
            running.signal(SIGTERM)
            ended = running.end()
            if ended.status:
                self._trouble(f"serve ended with {ended.status}: {ended.err[-2000:]}")
        self._judge()
        figures.acknowledged = len(self._names)
        figures.elapsed_s = time.monotonic() - begun
        if not figures.troubles:
            shutil.rmtree(self._rig.path)
        return figures

    # -- pushing and killing ----------------------------------------------------------------------

    def _served(self, running: Running) -> Served:
        return Served(running, (self._rig.path / "admin-token").read_text().strip())

    def _life(self) -> None:
        """Start, push, and kill; the last life ends when enough feeds are acknowledged."""
        with self._rig.start("serve") as running:
            port = feed_port(self._served(running))
            stop = threading.Event()
            before = len(self._names)
            clients = [
                threading.Thread(target=self._push, args=(number, port, stop), daemon=True)
                for number in range(self._clients)
            ]
            for thread in clients:
                thread.start()
            try:
                wait_until(lambda: len(self._names) >= before + _LEAST)
                if self.figures.kills.total() >= self._kills:
                    wait_until(lambda: len(self._names) >= self._feeds, timeout_s=7200)
                else:
                    while not self._kill(running, self._dice.uniform(0.0, self._within_s)):
                        pass
            finally:
                running.kill()
                stop.set()
                for thread in clients:
                    thread.join(PATIENCE_S)

    def _applied(self, backlog: Callable[[], int]) -> None:
        """Wait until nothing is left to apply: as long as it becomes less, however slow the machine is."""
        left = [backlog()]
        while left[0]:
            wait_until(lambda: backlog() < left[0], pause_s=0.2, timeout_s=_STALLED_S)
            left[0] = backlog()

    def _kill(self, running: Running, pause_s: float) -> bool:
        """Kill something after *pause_s*; return whether everything is dead."""
        time.sleep(pause_s)
        last = self.figures.kills.total() + 1 >= self._kills
        if last or self._dice.random() < 0.6:  # noqa: PLR2004 - more than half of them
            running.kill()
            self.figures.kills["all"] += 1
            return True
        if below := running.gatherers():  # the feed worker is among them
            with suppress(ProcessLookupError):
                kill(self._dice.choice(below), SIGKILL)
            self.figures.kills["child"] += 1
        return False

    def _push(self, number: int, port: int, stop: threading.Event) -> None:
        source = f"c{number}"
        while not stop.is_set():
            self._turns[number] += 1
            body = feed_xml(*_records(source, self._turns[number]), datasource=source)
            with suppress(OSError, HTTPException):
                status, text, name = push_feed(port, body, source)
                if (status, text) == (200, b"Success"):
                    self._names.add(name)
                else:
                    self.figures.refused += 1

    # -- judging ----------------------------------------------------------------------------------

    def _judge(self) -> None:
        rig, figures = self._rig, self.figures
        feeds = rig.rows("select id, name, datasource, state, applied, rejected, done from feed order by id")
        figures.kept = len(feeds)
        for name in sorted(self._names - {row[1] for row in feeds}):
            self._trouble(f"acknowledged, and lost: {name}")
        expected: dict[str, str] = {}
        for number, name, source, state, applied, rejected, done in feeds:
            receipts = rig.rows("select n, url, state from feed_record where feed = ? order by n", number)
            figures.records += len(receipts)
            turn = int(receipts[0][1].rpartition("/")[2]) if receipts else 0
            wanted = [(n, url) for n, url in enumerate(_urls(source, turn), 1)]
            if [row[:2] for row in receipts] != wanted or (applied, rejected, done) != (
                len(wanted),
                0,
                len(wanted),
            ):
                self._trouble(
                    f"{name} (state {state}): {applied} applied, {rejected} rejected, {done} done: {receipts}"
                )
            new, current, gone = _urls(source, turn)
            expected |= {new: f"new {turn}", current: f"current {turn}"}
            expected.pop(gone, None)
        self._compare(expected)
        for line in rig.complaints():
            self._trouble(line)

    def _compare(self, expected: dict[str, str]) -> None:
        reader = SqliteReader(database_of(Home.open(self._rig.path)), self._rig.path / "bodies")
        try:
            held = {url: page.id for url, page in self._rig.known().items() if page.described}
            for url in held.keys() ^ expected.keys():
                self._trouble(f"{'is a document' if url in held else 'is none'}, against its feeds: {url}")
            for url, text in expected.items():
                if url in held and reader.texts([held[url]]).get(held[url]) != text:
                    self._trouble(f"{url} does not say {text!r}")
        finally:
            reader.close()

    def _trouble(self, text: str) -> None:
        self.figures.troubles.append(f"{self._rig.path}: {text}")


def _urls(source: str, turn: int) -> tuple[str, str, str]:
    """Return what a feed names: a new document, one that each feed replaces, and one that it deletes."""
    return (
        f"http://{source}.test/new/{turn}",
        f"http://{source}.test/current",
        f"http://{source}.test/new/{turn - 2}",
    )


def _records(source: str, turn: int) -> list[str]:
    new, current, gone = _urls(source, turn)
    return [
        record(new, content(f"new {turn}")),
        record(current, content(f"current {turn}")),
        record(gone, action="delete"),
    ]
