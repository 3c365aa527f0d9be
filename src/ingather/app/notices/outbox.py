"""Notices that wait: tried again with longer and longer pauses, and no more of them than there is room for."""

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from ingather.app.notices.webhook import Delivery, Notice
from ingather.errors import IngatherError
from ingather.log import get
from ingather.ports.clock import Clock

__all__ = ["BatchOutbox", "Outbox"]

_log = get("notices")
_FIRST_S: Final = 5.0
_LONGEST_S: Final = 3_600.0
_LOOK_S: Final = 2.0


@dataclass(slots=True)
class _Waiting:
    notice: Notice
    settled: Callable[[], None]
    attempts: int = 0
    due_s: float = 0.0


class Outbox:
    """Sends in a thread of its own; any thread may offer.

    Args:
        send: one attempt; :meth:`ingather.app.notices.Webhook.send`.
        clock: of the pauses (monotonic).
        attempts: after so many a notice is given up, and logged.
        room: notices that wait at most.
        fill: called now and then from the thread, to offer more.
    """

    def __init__(
        self,
        send: Callable[[Notice], Delivery],
        clock: Clock,
        *,
        attempts: int,
        room: int = 1_000,
        fill: Callable[["Outbox"], None] = lambda _: None,
    ) -> None:
        self._send, self._clock, self._most, self._room, self._fill = send, clock, attempts, room, fill
        self._lock = threading.Lock()
        self._waiting: list[_Waiting] = []
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="notices", daemon=True)
        self.delivered = self.given_up = 0

    def offer(self, notice: Notice, settled: Callable[[], None] = lambda: None) -> bool:
        """Take *notice* if there is room; *settled* is called when it was delivered or given up."""
        with self._lock:
            if len(self._waiting) >= self._room:
                return False
            self._waiting.append(_Waiting(notice, settled, due_s=self._clock.monotonic()))
            return True

    @property
    def full(self) -> bool:
        """Whether there is no room."""
        with self._lock:
            return len(self._waiting) >= self._room

    @property
    def waiting(self) -> int:
        """Notices that wait."""
        with self._lock:
            return len(self._waiting)

    def start(self) -> None:
        """Begin to send, after a first look at what there is: from here on it counts. Blocks for that look."""
        with suppress(IngatherError):
            self._fill(self)
        self._thread.start()

    def stop(self) -> None:
        """End after the attempt at hand."""
        self._end.set()
        if self._thread.is_alive():
            self._thread.join(60)

    def turn(self) -> int:
        """Fill up, then try everything that is due once; return how many were tried."""
        with suppress(IngatherError):  # the catalog cannot be asked just now
            self._fill(self)
        now_s = self._clock.monotonic()
        with self._lock:
            due = [one for one in self._waiting if one.due_s <= now_s]
        for one in due:
            if self._end.is_set():
                break
            self._try(one)
        return len(due)

    def _try(self, one: _Waiting) -> None:
        self._note(one, self._send(one.notice))

    def _note(self, one: _Waiting, said: Delivery) -> None:
        one.attempts += 1
        if said.trouble and not said.lasting and one.attempts < self._most:
            pause_s = min(_FIRST_S * 3 ** (one.attempts - 1), _LONGEST_S)
            one.due_s = self._clock.monotonic() + pause_s
            _log.warning("a notice waits", notice=one.notice.id, trouble=said.trouble, again_s=pause_s)
            return
        if said.trouble:
            self.given_up += 1
            _log.error(
                "a notice was given up", notice=one.notice.id, kind=one.notice.kind, trouble=said.trouble
            )
        else:
            self.delivered += 1
        with self._lock:
            self._waiting.remove(one)
        with suppress(IngatherError):  # then it is told once more after a restart
            one.settled()

    def _run(self) -> None:
        while not self._end.wait(_LOOK_S):
            try:
                self.turn()
            except Exception:  # noqa: BLE001 - notices are never worth more than what they tell of
                _log.exception("notices did not come off")


class BatchOutbox(Outbox):
    """Sends all that waits together, and not again for a while: mail, which people read.

    Args:
        send_all: one attempt for several notices, at least one.
        clock: of the pauses.
        attempts, room, fill: as for an outbox.
        every_s: time between two attempts that were taken.
        together: notices of one attempt at most.
    """

    def __init__(  # noqa: PLR0913 - what it stands on
        self,
        send_all: Callable[[Sequence[Notice]], Delivery],
        clock: Clock,
        *,
        attempts: int,
        every_s: float,
        together: int = 100,
        room: int = 1_000,
        fill: Callable[["Outbox"], None] = lambda _: None,
    ) -> None:
        super().__init__(lambda notice: send_all((notice,)), clock, attempts=attempts, room=room, fill=fill)
        self._send_all, self._every_s, self._together = send_all, every_s, together
        self._free_s = float("-inf")

    def turn(self) -> int:
        """Fill up, then try everything that is due in one go, unless the last one was just now."""
        with suppress(IngatherError):
            self._fill(self)
        now_s = self._clock.monotonic()
        if now_s < self._free_s:
            return 0
        with self._lock:
            due = [one for one in self._waiting if one.due_s <= now_s][: self._together]
        if not due:
            return 0
        said = self._send_all([one.notice for one in due])
        if not said.trouble:
            self._free_s = self._clock.monotonic() + self._every_s
        for one in due:
            self._note(one, said)
        return len(due)
