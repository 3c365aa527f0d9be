"""libcurl's socket interface on an event loop: start a transfer, await its end, watch its pace.

``pycurl.AsyncCurlMulti`` does the first two; this loop leaves out what a fetcher does not
need (a callback for each future, a hop through the loop before a request goes out) and adds
the pace: libcurl has one limit for name, TCP and TLS together and none for the first byte,
so a slow tick looks at every transfer in flight and ends those beyond their phase's limit.
"""

import asyncio
import fcntl
import os
from collections.abc import Callable
from math import inf
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import pycurl

__all__ = ["Engine", "Transfer"]

_ABORTED = -1
_FIRST_FD = 512


# By loop and number, the engine that watches it, or did so last.
_OWNERS: WeakKeyDictionary[asyncio.AbstractEventLoop, "dict[int, Engine]"] = WeakKeyDictionary()


class Transfer:
    """One easy handle in flight: its future, and the marks of the pace watch.

    The future gives libcurl's code: 0, an error, or a negative number when the watch ended it
    (``verdict`` then says why).
    """

    __slots__ = (
        "connected_s",
        "curl",
        "done",
        "fd",
        "mark_bytes",
        "mark_s",
        "message",
        "started_s",
        "verdict",
    )

    def __init__(self, curl: pycurl.Curl) -> None:
        self.curl = curl
        self.done: asyncio.Future[int] | None = None
        self.message = ""
        self.verdict: object = None
        self.started_s = 0.0
        self.fd = -1  # the last socket opened for it, -1 for none
        self.connected_s = 0.0
        self.mark_s = 0.0
        self.mark_bytes = 0.0


class Engine:
    """Drives many transfers on one loop; made inside the running loop.

    libcurl gives a socket back after each answer and wants it again for the next request. The loop goes on
    watching it meanwhile (it *rests*), which saves six system calls a page. What rests may be closed by
    libcurl without a word, so its number must not become anybody else's: :meth:`place` gives our sockets
    numbers that the system hands to no one who does not ask for them, and forgets what it had there before.
    The bell that libcurl wakes itself by (an eventfd, as old as the engine) rests in the same way: it is wanted
    anew whenever the first of several transfers starts.

    Args:
        loop: the running loop, with ``add_reader`` (asyncio's selector loops, uvloop).
        watch: called every *tick_s* with each transfer in flight and the seconds since its start;
            what is not ``None`` ends it.
        tick_s: pace of the watch; it runs only while something is in flight.
        max_idle: connections that are kept open for later requests.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        *,
        watch: Callable[[Transfer, float], object],
        tick_s: float,
        max_idle: int,
    ) -> None:
        self._loop = loop
        self._watch = watch
        self._tick_s = tick_s
        self._flying: dict[pycurl.Curl, Transfer] = {}
        self._readers: set[int] = set()
        self._writers: set[int] = set()
        self._owners = _OWNERS.setdefault(loop, {})
        self._resting: set[int] = set()
        self._bells: set[int] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._timer_due_s = 0.0
        self._kicked = False
        self._ticker: asyncio.TimerHandle | None = None
        self._closed = False
        self._multi: Any = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._on_socket)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._on_timer)
        self._multi.setopt(pycurl.M_MAXCONNECTS, max_idle)

    @property
    def in_flight(self) -> int:
        """Transfers that have not ended."""
        return len(self._flying)

    def start(self, transfer: Transfer) -> asyncio.Future[int]:
        """Begin *transfer* at once; the future's result is libcurl's code."""
        done: asyncio.Future[int] = self._loop.create_future()
        transfer.done = done
        transfer.message = ""
        transfer.verdict = None
        transfer.fd = -1
        transfer.connected_s = transfer.mark_s = transfer.mark_bytes = 0.0
        transfer.started_s = self._loop.time()
        self._multi.add_handle(transfer.curl)
        self._flying[transfer.curl] = transfer
        if self._ticker is None:
            self._ticker = self._loop.call_later(self._tick_s, self._tick)
        return done

    def abandon(self, transfer: Transfer) -> None:
        """Drop *transfer* and its connection; its future gives a negative number if still awaited."""
        if self._flying.pop(transfer.curl, None) is None:
            return
        self._multi.remove_handle(transfer.curl)
        done = transfer.done
        if done is not None and not done.done():
            done.set_result(_ABORTED)

    def place(self, fd: int) -> int:
        """Take over a new socket and return the number under which libcurl gets it."""
        try:
            placed = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _FIRST_FD)
        except OSError:  # the process may not have so many files: watch it in the plain way
            self._owners.pop(fd, self).forget(fd)
            return fd
        os.close(fd)
        self._owners.get(placed, self).forget(placed)
        self._owners[placed] = self
        return placed

    def close(self) -> None:
        """End everything in flight, close all connections."""
        if self._closed:
            return
        for transfer in list(self._flying.values()):
            self.abandon(transfer)
        self._closed = True
        for handle in (self._timer, self._ticker):
            if handle is not None:
                handle.cancel()
        self._multi.close()
        for fd in list(self._readers):
            self._loop.remove_reader(fd)
        for fd in list(self._writers):
            self._loop.remove_writer(fd)
        for fd in [fd for fd, owner in self._owners.items() if owner is self]:
            del self._owners[fd]

    def _on_socket(self, what: int, fd: int, _multi: object, _data: object) -> None:
        if (
            what == pycurl.POLL_REMOVE
            and (fd in self._bells or self._owners.get(fd) is self)
            and fd in self._readers
            and fd not in self._writers
        ):
            self._resting.add(fd)
            return
        self._resting.discard(fd)
        reads = what in {pycurl.POLL_IN, pycurl.POLL_INOUT}
        writes = what in {pycurl.POLL_OUT, pycurl.POLL_INOUT}
        if reads:
            if fd not in self._readers:
                self._readers.add(fd)
                self._loop.add_reader(fd, self._on_readable, fd)
                if fd < _FIRST_FD and _is_bell(fd):
                    self._bells.add(fd)
        elif fd in self._readers:
            self._readers.discard(fd)
            self._loop.remove_reader(fd)
        if writes:
            if fd not in self._writers:
                self._writers.add(fd)
                self._loop.add_writer(fd, self._drive, fd, pycurl.CSELECT_OUT)
        elif fd in self._writers:
            self._writers.discard(fd)
            self._loop.remove_writer(fd)

    def _on_readable(self, fd: int) -> None:
        if fd in self._resting:  # the server said goodbye; libcurl sees it before it uses the connection
            self.forget(fd)
        else:
            self._drive(fd, pycurl.CSELECT_IN)

    def forget(self, fd: int) -> None:
        """Watch *fd* no longer."""
        self._resting.discard(fd)
        if fd in self._readers:
            self._readers.discard(fd)
            self._loop.remove_reader(fd)
        if fd in self._writers:
            self._writers.discard(fd)
            self._loop.remove_writer(fd)

    def _on_timer(self, timeout_ms: int) -> None:
        if timeout_ms == 0:  # one call serves all that were added in this round of the loop
            if not self._kicked:
                self._kicked = True
                self._loop.call_soon(self._kick)
        elif timeout_ms > 0:
            self._arm(timeout_ms / 1000)
        else:  # an armed timer stays for the next transfer, and does nothing if it fires before
            self._timer_due_s = inf

    def _kick(self) -> None:
        self._kicked = False
        self._drive(pycurl.SOCKET_TIMEOUT, 0)

    def _arm(self, delay_s: float) -> None:
        """Wake libcurl in *delay_s*; an earlier timer stays and looks again when it fires."""
        due_s = self._timer_due_s = self._loop.time() + delay_s
        if self._timer is not None:
            if self._timer.when() <= due_s:
                return
            self._timer.cancel()
        self._timer = self._loop.call_at(due_s, self._on_due)

    def _on_due(self) -> None:
        self._timer = None
        if self._timer_due_s == inf:
            return
        if self._timer_due_s > self._loop.time() + 0.0005:
            self._timer = self._loop.call_at(self._timer_due_s, self._on_due)
            return
        self._drive(pycurl.SOCKET_TIMEOUT, 0)

    def _drive(self, fd: int, mask: int) -> None:
        if self._closed:
            return
        _, running = self._multi.socket_action(fd, mask)
        if running < len(self._flying):
            self._collect()

    def _collect(self) -> None:
        more = 1
        while more:
            more, ended, failed = self._multi.info_read()
            for curl in ended:
                self._end(curl, 0, "")
            for curl, code, message in failed:
                self._end(curl, code, message)

    def _end(self, curl: pycurl.Curl, code: int, message: str) -> None:
        transfer = self._flying.pop(curl, None)
        if transfer is None:
            return
        self._multi.remove_handle(curl)
        transfer.message = message
        done = transfer.done
        if done is not None and not done.done():
            done.set_result(code)

    def _tick(self) -> None:
        self._ticker = None
        now_s = self._loop.time()
        for transfer in list(self._flying.values()):
            verdict = self._watch(transfer, now_s - transfer.started_s)
            if verdict is not None:
                transfer.verdict = verdict
                self.abandon(transfer)
        if self._flying:
            self._ticker = self._loop.call_later(self._tick_s, self._tick)


def _is_bell(fd: int) -> bool:
    """Tell whether *fd* is what libcurl wakes itself by: of all it has, the one thing that is no socket."""
    try:
        return Path(f"/proc/self/fd/{fd}").readlink() == Path("anon_inode:[eventfd]")
    except OSError:  # no such file system: it is watched in the plain way
        return False
