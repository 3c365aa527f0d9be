"""The index follows the change log, in a thread of its own.

Committed changes arrive with the reports behind them while those are fresh; whatever is not at
hand (after a start, a rebuild, an overflow) is read from the catalog and the WARC. Sequence
numbers are applied in order and stored inside the index's own commit, so the index may lag and
never lead, and any interruption is repaired by reading on from the stored number.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from typing import Protocol

from ingather.errors import IndexDamagedError, IngatherError
from ingather.log import get
from ingather.model.change import Change, ChangeKind
from ingather.model.report import Report
from ingather.ports.clock import Clock
from ingather.ports.index import IndexDocument, IndexWriter
from ingather.robot.indexing.flip import Flip
from ingather.robot.indexing.pace import CommitPace, FollowLimits

__all__ = ["DocumentSource", "IndexFollower"]

_log = get("index")


class DocumentSource(Protocol):
    """Where index documents come from; used by the follower's thread only."""

    def changes(self, after: int, limit: int) -> list[Change]:
        """Return changes above *after*, ascending."""

    def kept(self) -> tuple[int, int]:
        """Return the oldest and the newest change that the log has; older ones are pruned."""

    def shown(self) -> Iterator[int]:
        """Yield every row that the index must hold."""

    def documents(self, fresh: Sequence[tuple[int, Report | None]]) -> list[IndexDocument]:
        """Return the documents of (row, report or ``None``); rows that are not shown any more are left out."""

    def close(self) -> None:
        """Release what the thread opened."""


class IndexFollower:
    """Owns the index writer. :meth:`push` may be called from any thread; commits are told by *committed*."""

    def __init__(
        self,
        writer: Callable[[], IndexWriter],
        source: Callable[[], DocumentSource],
        clock: Clock,
        *,
        committed: Callable[[int], None],
        limits: FollowLimits | None = None,
    ) -> None:
        self._make_writer = writer
        self._make_source = source
        self._clock = clock
        self._committed = committed
        self._limits = limits or FollowLimits()
        self._hidden = False
        self._queue: deque[tuple[int, int, ChangeKind, Report | None, int]] = deque()
        self._bytes = 0
        self._condition = threading.Condition()
        self._stop = False
        self._taking = True
        self._flush = False
        self._flip = Flip()
        self._pushed = 0
        self.applied = 0
        self.broken = ""
        self.opened = threading.Event()
        """Set once the index exists on disk (or cannot be opened)."""
        self._thread = threading.Thread(target=self._run, name="index", daemon=True)

    def start(self) -> None:
        """Begin to follow from the index's own last sequence."""
        self._thread.start()

    def push(self, changes: Iterable[tuple[int, int, ChangeKind, Report | None]]) -> None:
        """Give committed changes in order; never blocks."""
        with self._condition:
            if (
                not self._taking
            ):  # the log has them for when the index is written again, and nobody waits for us
                return
            for sequence, url_id, kind, report in changes:
                size = len(report.text) + 500 if report is not None else 0
                limits = self._limits
                fits = self._bytes + size <= limits.queue_bytes and size - 500 <= limits.report_bytes
                self._bytes += size if fits else 0
                self._queue.append((sequence, url_id, kind, report if fits else None, size if fits else 0))
                self._pushed = sequence
            self._condition.notify_all()

    @property
    def lag(self) -> int:
        """Changes that were pushed and are not yet taken up."""
        return len(self._queue)

    @property
    def full(self) -> bool:
        """Whether the keeper should hand out no more claims."""
        return len(self._queue) > self._limits.queue_docs

    def adopt(self, limits: FollowLimits) -> None:
        """Work by other limits from now on; any thread."""
        with self._condition:
            self._limits = limits
            self._condition.notify_all()

    def hold(self, key: int) -> None:
        """Show readers what is replaced from now on as it was, until :meth:`release` or for as long as others can wait."""
        with self._condition:
            self._flip.hold(key, self._clock.monotonic())

    def release(self, key: int) -> None:
        """Show all that was pushed, at once. Does not wait."""
        with self._condition:
            self._flip.release(key, self._pushed)
            self._condition.notify_all()

    def hurry(self) -> None:
        """Commit what was collected: nothing more is to come for a while. Does not wait."""
        with self._condition:
            if self._limits.collect_s and self.applied < self._pushed:
                self._flush = True
                self._condition.notify_all()

    def flush(self, sequence: int, timeout_s: float = 600.0) -> bool:
        """Wait until *sequence* is committed; ``False`` when the index is broken or time is up."""
        with self._condition:
            self._flush = True
            self._condition.notify_all()
            return (
                self._condition.wait_for(lambda: self.applied >= sequence or bool(self.broken), timeout_s)
                and not self.broken
            )

    def stop(self) -> None:
        """Commit what was taken up and end the thread; the rest is read from the log at the next start."""
        with self._condition:
            self._stop = True
            self._condition.notify_all()
        if self._thread.is_alive():
            self._thread.join()

    # -- the thread -------------------------------------------------------------------------------

    def _run(self) -> None:
        while True:
            try:
                self._work()
            except IndexDamagedError as error:
                self._fail(error)  # nothing but a rebuild mends it
                return
            except BaseException as error:  # noqa: BLE001 - the index is disposable: the catalog goes on without it
                # A panic of the engine (it meets a full disk with one) is no Exception: unseen it would end this thread,
                # and the index would stand still with status "ok".
                self._fail(error)
            with self._condition:
                if self._condition.wait_for(lambda: self._stop, self._limits.retry_s):
                    return
                self._taking = True

    def _work(self) -> None:
        """Follow the log until the end or a failure."""
        with ExitStack() as stack:
            writer = self._make_writer()
            stack.callback(writer.close)
            source = self._make_source()
            stack.callback(source.close)
            self.opened.set()
            self._catch_up(writer, source)
            with self._condition:
                self.broken = ""
            self._follow(writer, source)

    def _fail(self, error: BaseException) -> None:
        text = str(error) or type(error).__name__
        with self._condition:
            news = text != self.broken
            self.opened.set()
            self.broken = text
            self._taking = False
            self._queue.clear()
            self._bytes = 0
            self._condition.notify_all()
        if news:
            hint = error.hint if isinstance(error, IngatherError) else None
            with suppress(ValueError, OSError):  # a log that is closed must not end the following
                _log.error(
                    "index stopped",
                    error=text,
                    hint=hint or "run: ingather index rebuild",
                    exc_info=not isinstance(error, IngatherError),
                )

    def _catch_up(self, writer: IndexWriter, source: DocumentSource) -> None:
        """Read the log from the index's last sequence up to what the keeper pushes."""
        at = writer.sequence()
        self._note(at)
        oldest, newest = source.kept()
        if oldest > at + 1:
            at = self._begin_anew(writer, source, at, newest)
        while not self._stop:
            found = source.changes(at, self._limits.busy_docs)
            if not found:
                break
            self._apply(writer, source, [(c.sequence, c.url_id, c.kind, None) for c in found])
            at = found[-1].sequence
            self._commit(writer, at)

    def _begin_anew(self, writer: IndexWriter, source: DocumentSource, at: int, newest: int) -> int:
        """Fill an empty index from the catalog: the log does not reach back to its beginning any more.

        Returns:
            The number from which the log goes on: *newest*, taken before the rows were read. There is one
            commit, at the end: what a start that was cut off left behind could not be told from what is shown.
        """
        if at:
            raise IndexDamagedError(
                f"the index has changes up to {at}, and the log behind it has been pruned",
                hint="run: ingather index rebuild",
            )
        group: list[tuple[int, int, ChangeKind, Report | None]] = []
        for url_id in source.shown():
            group.append((newest, url_id, ChangeKind.PUT, None))
            if len(group) >= self._limits.group:
                if self._stop:
                    return at
                self._apply(writer, source, group)
                group = []
        self._apply(writer, source, group)
        self._commit(writer, newest)
        return newest

    def _follow(self, writer: IndexWriter, source: DocumentSource) -> None:
        clock, pace, at = self._clock, CommitPace(), self.applied
        self._hidden = False
        while True:
            group = self._next_group(at, pace)
            if group:
                now = clock.monotonic()
                self._apply(writer, source, group)
                at = group[-1][0]
                pace.took(len(group), now)
            due = pace.due(clock.monotonic(), self._limits, self.lag, hidden=self._hidden)
            if pace.pending and (self._stop or self._may_commit(at, due=due)):
                self._commit(writer, at)
                pace.committed()
            if self._stop:
                return

    def _may_commit(self, at: int, *, due: bool) -> bool:
        with self._condition:
            if self._held_s(at):
                return False
            return due or (self._flush and not self._queue) or self._flip.due(at)

    def _held_s(self, at: int) -> float:
        """Return for how long nothing may be committed because a generation is half in, 0 = it may."""
        return self._flip.left_s(at, self._clock.monotonic(), self._limits.flip_s)

    def _wait_s(self, pace: CommitPace, at: int) -> float | None:
        """Return how long to wait for more before what is pending is looked at again; ``None``: for ever, 0: not at all."""
        if not pace.pending:
            if self._flip.due(at):
                self._flip.committed()  # nothing differs from what is shown
            return None
        if held_s := self._held_s(at):
            return held_s
        return 0.0 if self._flush or self._flip.due(at) else pace.wait_s(self._clock.monotonic())

    def _next_group(self, at: int, pace: CommitPace) -> list[tuple[int, int, ChangeKind, Report | None]]:
        with self._condition:
            if not self._queue and not self._stop and (wait_s := self._wait_s(pace, at)) != 0.0:
                self._condition.wait(wait_s)
            if self._stop:
                return []
            group: list[tuple[int, int, ChangeKind, Report | None]] = []
            while self._queue and len(group) < self._limits.group:
                sequence, url_id, kind, report, size = self._queue.popleft()
                self._bytes -= size
                if sequence > at:
                    group.append((sequence, url_id, kind, report))
            return group

    def _apply(
        self,
        writer: IndexWriter,
        source: DocumentSource,
        group: Sequence[tuple[int, int, ChangeKind, Report | None]],
    ) -> None:
        """Apply a group in order of its last word on each row."""
        last = {url_id: (kind, report) for _, url_id, kind, report in group}
        removed = [url_id for url_id, (kind, _) in last.items() if kind is ChangeKind.REMOVE]
        wanted = [(url_id, report) for url_id, (kind, report) in last.items() if kind is ChangeKind.PUT]
        documents = source.documents(wanted)
        shown = {document.id for document in documents}
        removed += [url_id for url_id, _ in wanted if url_id not in shown]
        if removed:
            writer.remove(removed)
            self._hidden = True
        if documents:
            writer.put(documents)

    def _commit(self, writer: IndexWriter, sequence: int) -> None:
        writer.commit(sequence)
        self._hidden = False
        self._note(sequence)
        self._committed(sequence)

    def _note(self, sequence: int) -> None:
        with self._condition:
            self.applied = sequence
            self._flip.committed()
            if not self._queue:
                self._flush = False
            self._condition.notify_all()
