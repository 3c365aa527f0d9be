"""The feed worker as the keeper holds it: spawned when it is needed, killed when it hangs, spawned anew when it died."""

from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

import msgspec

from ingather.app.blueprint import Blueprint
from ingather.app.children import feed_worker
from ingather.app.feeds.order import READY, FeedOrder
from ingather.errors import IngatherError
from ingather.feeds.prepared import FeedBatch, unpack_batch
from ingather.robot.handing import Handed, begin

__all__ = ["FeedProcess", "WorkerLostError", "WorkerMissingError"]

_START_S = 120.0
_SILENT_S = 900.0
"""A worker answers within seconds; one record's conversions have limits of their own, which end long before."""


class WorkerLostError(IngatherError):
    """The worker died or hung over an order; what it was asked for can be asked again."""


class WorkerMissingError(IngatherError):
    """No worker can be started; that is no feed's fault, and is tried again."""


class FeedProcess:
    """One worker; belongs to one thread."""

    def __init__(self, *, silent_s: float = _SILENT_S) -> None:
        self._silent_s = silent_s
        self._context = get_context("spawn")
        self._process: BaseProcess | None = None
        self._channel: Connection | None = None
        self._blueprint: Blueprint | None = None
        self._ahead: FeedOrder | None = None
        self.segment: int | None = None
        """Oldest WARC segment with bodies of answers that may not be applied yet; ``None`` = no worker is there."""

    @property
    def pid(self) -> int | None:
        """Process id of the worker."""
        return None if self._process is None else self._process.pid

    def ask(self, order: FeedOrder, blueprint: Blueprint, *, newest_segment: int) -> FeedBatch:
        """Return the worker's answer, from a fresh worker if *blueprint* is not the one that it was made with.

        Raises:
            WorkerLostError: it died or hung; the next order gets a new one.
            WorkerMissingError: none can be had now.
        """
        if self._blueprint is not blueprint:
            self.stop()
        if self._process is None:
            self._spawn(blueprint, newest_segment)  # raises WorkerMissingError
        assert self._channel is not None  # noqa: S101 - it was spawned
        try:
            if self._ahead is not None and self._ahead != order:
                self._answer()  # nobody wants it any more
            if self._ahead is None:
                self._channel.send_bytes(msgspec.msgpack.encode(order))
            batch = unpack_batch(self._answer())
        except (EOFError, OSError, msgspec.DecodeError) as error:
            self._kill()
            raise WorkerLostError(f"the feed worker ended or hangs: {error!r}") from error
        if batch.segment:
            self.segment = batch.segment
        return batch

    def ahead(self, order: FeedOrder) -> None:
        """Let the worker begin with the order that will be asked next, while its last answer is applied."""
        if self._channel is None or self._ahead is not None:
            return
        with suppress(OSError):  # asking will find out
            self._channel.send_bytes(msgspec.msgpack.encode(order))
            self._ahead = order

    def _answer(self) -> bytes:
        self._ahead = None
        assert self._channel is not None  # noqa: S101 - there is a worker
        return self._channel.recv_bytes() if self._channel.poll(self._silent_s) else b""

    def _spawn(self, blueprint: Blueprint, newest_segment: int) -> None:
        ours, theirs = self._context.Pipe()
        self.segment = newest_segment
        with Handed(blueprint) as handed:
            process = self._context.Process(
                target=begin, args=(feed_worker, handed, theirs), name="feeds", daemon=True
            )
            process.start()
        theirs.close()
        self._process, self._channel, self._blueprint = process, ours, blueprint
        try:
            ready = ours.recv_bytes() if ours.poll(_START_S) else b""
        except (EOFError, OSError):
            ready = b""
        if ready != READY:
            self._kill()
            raise WorkerMissingError("the feed worker does not start", hint="look at the log above")

    def _kill(self) -> None:
        if self._process is not None:
            self._process.kill()
        self._bury(0)

    def stop(self) -> None:
        """Let the worker end; kill it if it does not."""
        if self._channel is not None:
            self._channel.close()
            self._channel = None
        self._bury(5)

    def _bury(self, grace_s: float) -> None:
        process, self._process = self._process, None
        if self._channel is not None:
            self._channel.close()
            self._channel = None
        self._blueprint = self._ahead = None
        if process is not None:
            process.join(grace_s)
            if process.is_alive():
                process.kill()
                process.join(5)
            process.close()
        self.segment = None
