"""The keeper's feed thread: takes feeds, keeps their queues, applies them batch by batch.

One queue a data source, in order of arrival; sources take turns. A batch is read by the feed worker (a process) and
applied by the catalog's writer in one transaction with its receipts and the cursor, so that a death anywhere is made
good by going on from the cursor (promises D1 to D3). Trouble of the storage is waited out: nothing that was accepted is
dropped.
"""

import asyncio
import threading
from collections.abc import Callable, Iterable
from enum import Enum, auto
from functools import partial
from typing import Any, Final

from ingather.app.disk import Headroom
from ingather.app.feeds.arriving import emptying, taking
from ingather.app.feeds.asking import Asking
from ingather.app.feeds.groups import GroupFeeds
from ingather.app.feeds.home import AtOnce, FeedHome, Showing, Transact
from ingather.app.feeds.process import FeedProcess, WorkerLostError, WorkerMissingError
from ingather.app.feeds.queues import FeedQueues, Space
from ingather.catalog.feeds.sqlite_feed_book import FeedRow
from ingather.catalog.sqlite_apply import Applied
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.errors import CatalogError, DiskFullError, HomeError, IngatherError
from ingather.feeds.applying import apply_batch, stand
from ingather.feeds.authority import Sender
from ingather.feeds.desk import (
    FeedFields,
    FeedKind,
    FeedTicket,
    Spooled,
)
from ingather.feeds.policy import source_row_name
from ingather.feeds.prepared import FeedBatch
from ingather.feeds.receipts import FeedState, joined
from ingather.feeds.sweeping import DELETED, may_leave_out, sweep
from ingather.log import get
from ingather.ports.clock import Clock

__all__ = ["MOST_VISITS", "Feeding"]

_log = get("feeds")
_RETRY_S: Final = 2.0
_INDEX_WAIT_S: Final = 10.0
_MOST_SUCCESSES: Final = 1_000
MOST_VISITS: Final = 900
"""So many visits count in the backlog at most: clients pause above 4,000 and go on below 1,000, and a slow host must not stop them for ever."""
_COUNT_S: Final = 1.0


class _Came(Enum):
    """What came of a batch."""

    APPLIED = auto()
    CLOSED = auto()
    NOT_NOW = auto()
    AFRESH = auto()
    """What was found unchanged is not kept any more: its contents are to be read."""


class Feeding:
    """Takes and applies feeds; implements :class:`ingather.feeds.desk.FeedDesk`.

    Args:
        home: where.
        transact: see :data:`Transact`; it may be called from the feed thread only.
        write: the same as a coroutine function that may be awaited on any loop of the process.
        look: reads a feed's report; called from a thread.
        count: counts the visits that pushed records asked for and that may be made at a wall time, up to a number.
        clock: wall time.
        showing: what readers are shown while a full feed is half in.
        room: what is free on the disk; ``None`` = whoever applies has seen to it.
    """

    def __init__(  # noqa: PLR0913 - the parts that the process wires
        self,
        home: FeedHome,
        transact: Transact[Any],
        *,
        clock: Clock,
        write: Callable[[Callable[[CatalogWriter, Applied], Any]], Any] | None = None,
        look: Callable[[str], dict[str, Any]] | None = None,
        count: Callable[[float, int], int] | None = None,
        process: FeedProcess | None = None,
        showing: Showing | None = None,
        room: Callable[[], Headroom] | None = None,
    ) -> None:
        self._home, self._transact, self._clock = home, transact, clock
        self._showing = showing or AtOnce()
        self._write, self._look, self._count = write, look, count
        self._room = room
        self._counted: tuple[float, int] | None = None
        self._process = process or FeedProcess()
        self._asking = Asking(home, self._process, transact)
        self._groups = GroupFeeds(self._asking, transact, clock, self._close)
        self._queues = FeedQueues()
        self._successes: dict[str, float] = {}
        self._condition = threading.Condition()
        self._stopping = False
        self._thread: threading.Thread | None = None
        self.failed: BaseException | None = None
        """What ended the feed thread, if anything did."""

    # -- life ---------------------------------------------------------------------------------

    def recover(self) -> int:
        """Take up what an earlier process left; return how many feeds that are."""
        found: list[FeedRow] = self._transact(lambda w, _: w.feeds.open_feeds())
        successes = self._transact(lambda w, _: w.feeds.last_successes(_MOST_SUCCESSES))
        resting = self._transact(lambda w, _: w.registry.disabled_sources())
        with self._condition:
            self._queues.resting = resting
            self._successes = {name: at_s for name, at_s in successes if at_s}
        for feed in found:
            self._enqueue(feed)
        return len(found)

    def start(self) -> None:
        """Begin to apply, after :meth:`recover`."""
        self._thread = threading.Thread(target=self._run, name="feeds", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End after the batch at hand; not stopping loses nothing."""
        with self._condition:
            self._stopping = True
            self._condition.notify_all()
        if self._thread is not None:
            self._thread.join(30)
        self._process.stop()

    def segment(self) -> int | None:
        """Return the oldest WARC segment that the worker may still write to."""
        return self._process.segment

    @property
    def worker_pid(self) -> int | None:
        """Process id of the feed worker."""
        return self._process.pid

    # -- the desk -----------------------------------------------------------------------------

    def taking(self, spooled: Spooled, fields: FeedFields, sender: Sender) -> Callable[..., FeedTicket]:
        """Return the job that gives a feed its row; see :func:`ingather.app.feeds.arriving.taking`."""
        return taking(spooled, fields, sender, folder=self._home.path, clock=self._clock)

    def emptying(self, datasource: str, who: str) -> Callable[..., FeedTicket]:
        """Return the job that has everything deleted that feeds brought for *datasource*."""
        return emptying(datasource, who, clock=self._clock)

    async def accept(self, spooled: Spooled, fields: FeedFields, sender: Sender) -> FeedTicket:
        """Give a feed its durable row; see :class:`ingather.feeds.desk.FeedDesk`."""
        if self._write is None:
            raise IngatherError("this process takes no feeds")
        ticket: FeedTicket = await self._write(self.taking(spooled, fields, sender))
        self.taken(
            ticket.id,
            ticket.datasource,
            spooled.records,
            groups=fields.kind is FeedKind.GROUPS,
            light=spooled.light,
        )
        return ticket

    def rest(self, sources: frozenset[str]) -> None:
        """Let the feeds of *sources* wait from now on, and those of all others go on."""
        with self._condition:
            self._queues.resting = sources
            self._condition.notify_all()

    def taken(  # noqa: PLR0913 - what is known of a feed
        self, number: int, datasource: str, records: int, *, received_s: float | None = None, groups: bool = False,
        light: bool = False,
    ) -> None:  # fmt: skip
        """Note that a feed has a durable row; its turn comes in the order of the rows. *received_s*: default now.

        *light*: it needs no room (:attr:`ingather.feeds.desk.Spooled.light`).
        """
        received_s = self._clock.wall() if received_s is None else received_s
        with self._condition:
            self._queues.add(number, datasource, records, received_s, groups=groups, light=light)
            self._condition.notify_all()

    def _enqueue(self, feed: FeedRow) -> None:
        self.taken(
            feed.id, feed.datasource, feed.estimate - feed.done, received_s=feed.received_s,
            groups=feed.kind == FeedKind.GROUPS, light=feed.feedtype == DELETED or bool(feed.fields.get("light")),
        )  # fmt: skip

    def backlog(self) -> int:
        """Return how much waits; see :class:`ingather.feeds.desk.FeedDesk`. What is of disabled sources does not count."""
        with self._condition:
            records = self._queues.backlog()
        return records + self._due_visits()

    def _due_visits(self) -> int:
        """Return how many visits wait that pushed records asked for, as counted at most a second ago."""
        if self._count is None:
            return 0
        now = self._clock.monotonic()
        if self._counted is None or now - self._counted[0] >= _COUNT_S:
            try:
                self._counted = now, self._count(self._clock.wall(), MOST_VISITS)
            except CatalogError as error:  # the records are known all the same
                _log.warning("the visits that wait cannot be counted", error=str(error))
                self._counted = now, 0
        return self._counted[1]

    def oldest_s(self) -> float:
        """Return how long the feed has waited that was received first, 0 = none waits."""
        with self._condition:
            first = self._queues.oldest_s()
        return 0.0 if first is None else max(0.0, self._clock.wall() - first)

    def last_successes(self) -> dict[str, float]:
        """Return when a feed of each data source was last applied without an error, epoch seconds; at most 1,000 sources."""
        with self._condition:
            return dict(self._successes)

    def open_feeds(self) -> int:
        """Return how many feeds are not at their end."""
        with self._condition:
            return len(self._queues)

    async def report(self, name: str, *, wait_s: float = 0.0) -> dict[str, Any]:
        """Return a feed's report; see :class:`ingather.feeds.desk.FeedDesk`."""
        if self._look is None:
            return {}
        loop = asyncio.get_running_loop()
        until = loop.time() + wait_s
        shown = 0.0
        while True:
            found = await loop.run_in_executor(None, self._look, name)
            now = loop.time()
            left = until - now
            if not found or left <= 0:
                return found
            if found["ended"] is not None:  # who waits wants to find it: the index follows in a moment
                shown = shown or now + _INDEX_WAIT_S
                if found["indexed"] or now >= shown:
                    return found
            elif found["rests"]:
                return found
            await asyncio.sleep(min(0.1, left))

    # -- the thread ---------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            while (datasource := self._turn()) is not None:
                self._try(datasource)
        except BaseException as error:  # noqa: BLE001 - kept and told; what was accepted waits for the next start
            if not self._stopping:
                self.failed = error
                _log.error("the feed thread ended", error=str(error), exc_info=True)

    def _turn(self) -> str | None:
        """Return whose turn it is; ``None`` = the end."""
        with self._condition:
            while not self._stopping:
                self._look_at_disk()
                datasource = self._queues.turn()
                if datasource is not None:
                    return datasource
                # What waits for room goes on by itself: nobody tells when there is some.
                self._condition.wait(_RETRY_S if self._queues.waits_for_room else None)
            return None

    def _look_at_disk(self) -> None:
        if self._room is None:
            return
        try:
            room = self._room()
        except HomeError:  # as it was before: writing says what is wrong
            return
        space = Space.PLENTY if room.enough else Space.RESERVE if room.half else Space.NONE
        if space is self._queues.space:
            return
        self._queues.space = space
        if space is Space.PLENTY:
            _log.info("the disk has room again: feeds go on")
        else:
            _log.warning("feeds with contents wait for room on the disk", room=str(room))

    @property
    def waits_for_room(self) -> bool:
        """Whether feeds wait that would be applied if the disk had room."""
        with self._condition:
            return self._queues.waits_for_room

    def _try(self, datasource: str) -> None:
        try:
            self.step(datasource)
        except (DiskFullError, CatalogError, WorkerLostError, WorkerMissingError) as error:
            _log.warning("a feed waits", datasource=datasource, error=str(error))
            with self._condition:
                if not self._stopping:
                    self._condition.wait(_RETRY_S)

    def drain(self) -> None:
        """Apply everything that waits, in this thread; for commands that own the home."""
        while datasource := self._queues.first():
            self.step(datasource)

    def step(self, datasource: str) -> None:
        """Apply one batch of the oldest feed of *datasource*.

        Raises:
            CatalogError: nothing of the batch was kept; the next call does it again.
            WorkerLostError: the worker died twice over the same record's neighbourhood; the next call goes on.
        """
        with self._condition:
            number = self._queues.next(datasource)
        if not number:
            return
        feed: FeedRow | None = self._transact(lambda w, _: w.feeds.feed(number))
        if feed is None or feed.state > FeedState.IN_PROGRESS or self._work(feed):
            self._ended(datasource, number)

    def _ended(self, datasource: str, number: int) -> None:
        with self._condition:
            self._groups.forget(number)
            self._queues.remove(datasource, number)
        self._showing.release(number)

    def _work(self, feed: FeedRow) -> bool:
        """Do the next piece of a feed; return whether it is at its end."""
        if feed.kind == FeedKind.GROUPS:
            return self._groups.piece(feed)
        if feed.feedtype == DELETED and not feed.complete:
            self._transact(lambda w, _: w.feeds.read_whole(feed.id, complete=True))
        if (
            feed.feedtype == DELETED or feed.sweep or feed.complete
        ):  # read to its end before: only what it leaves out is to be dealt with
            return self._finish(feed, "")
        batch = self._asking.ask(feed)
        if batch.damaged:
            self._asking.set_aside(feed)
        if not batch.ended and batch.items and self._queues.alone:
            self._process.ahead(self._asking.order(feed, batch.cursor, batch.items[-1].n))
        came = self._transact(partial(self._apply, feed, batch))
        if came in (_Came.NOT_NOW, _Came.AFRESH):
            self._not_applied(feed, batch, came)
            return False
        if came is _Came.CLOSED:
            return True
        with self._condition:
            done = batch.items[-1].n if batch.items else feed.done
            self._queues.left(feed.id, feed.estimate - done)
        return batch.ended and self._finish(feed, batch.trouble, batch.warnings)

    def _not_applied(self, feed: FeedRow, batch: FeedBatch, came: "_Came") -> None:
        """See that a batch which was not applied comes again.

        Raises:
            CatalogError: it is to be tried later.
        """
        if came is _Came.AFRESH:
            self._asking.read_afresh(feed)
            _log.info("what a batch found unchanged is not kept any more: it is read again", feed=feed.name)
        elif not self._rests(feed):
            if self._home.blueprint().version == batch.version:
                raise CatalogError("a configuration is being put into force")
            _log.info("a batch was read under an older configuration: it is read again", feed=feed.name)

    def _apply(self, feed: FeedRow, batch: FeedBatch, writer: CatalogWriter, applied: Applied) -> "_Came":
        """Apply a batch; closed: the feed ends with it, and there is nothing that it may leave out.

        Not applied is what was judged by patterns which are not in force any more. Asked inside the transaction: what is
        published between this question and the commit comes behind it, and goes over what was applied.
        """
        if source_row_name(feed.datasource) in writer.registry.disabled_sources():
            return _Came.NOT_NOW
        if batch.version and batch.version != writer.registry.versions.in_force():
            return _Came.NOT_NOW
        if not stand(writer, batch):
            return _Came.AFRESH
        now_s = writer.applier.now_s = self._clock.wall()
        policy = self._home.policy(feed.datasource)
        if not feed.done and may_leave_out(feed):
            self._showing.hold(feed.id)
        apply_batch(writer, applied, feed, batch, now_s=now_s, policy=policy)
        if not batch.ended:
            return _Came.APPLIED
        writer.feeds.read_whole(feed.id, complete=batch.complete)
        if not batch.trouble and may_leave_out(feed):
            return _Came.APPLIED
        self._close(feed.id, batch.trouble, _notes(feed, batch.warnings, batch.trouble), writer, applied)
        return _Came.CLOSED

    def _rests(self, feed: FeedRow) -> bool:
        with self._condition:
            return self._queues.rests(feed.datasource)

    # -- the end of a feed --------------------------------------------------------------------

    def _finish(self, feed: FeedRow, trouble: str, warnings: Iterable[str] = ()) -> bool:
        """Deal with what a full feed leaves out, then close the feed."""
        said = ""
        while not trouble:
            done, said = self._transact(partial(self._sweep, feed))
            if done:
                break
            with self._condition:
                if self._stopping:
                    return False
            if self._rests(feed):
                return False
        self._transact(partial(self._close, feed.id, trouble, _notes(feed, warnings, trouble, said)))
        return True

    def _sweep(self, feed: FeedRow, writer: CatalogWriter, applied: Applied) -> tuple[bool, str]:
        if source_row_name(feed.datasource) in writer.registry.disabled_sources():
            return False, ""
        return sweep(writer, applied, feed, now_s=self._clock.wall(), guard=self._home.guard)

    def _close(
        self, number: int, trouble: str, detail: str, writer: CatalogWriter, _applied: Applied
    ) -> None:
        feed = writer.feeds.feed(number)
        if feed is None:
            return
        whole = feed.complete if feed.kind == FeedKind.DOCUMENTS else not trouble
        if feed.rejected or not whole:  # section 6: a feed that had to be repaired had errors, too
            state = FeedState.COMPLETED_WITH_ERRORS if feed.applied else FeedState.FAILED
        else:
            state = FeedState.COMPLETED
        ended_s = self._clock.wall()
        writer.feeds.end(number, int(state), detail, ended_s)
        if state is FeedState.COMPLETED:
            with self._condition:
                self._successes.pop(feed.datasource, None)  # behind the others: the first to go
                self._successes[feed.datasource] = ended_s
                while len(self._successes) > _MOST_SUCCESSES:
                    del self._successes[next(iter(self._successes))]
        _log.info(
            "feed applied",
            feed=feed.name,
            state=state.name.lower(),
            applied=feed.applied,
            rejected=feed.rejected,
        )


def _notes(feed: FeedRow, warnings: Iterable[str], *said: str) -> str:
    """Return what is to be told of a feed at its end."""
    return joined([*feed.fields.get("warnings", ()), *warnings, *filter(None, said)])
