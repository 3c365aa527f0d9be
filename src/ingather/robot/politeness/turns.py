"""Leave to ask a host: its turn in the schedule, its address at the keeper, and what its answer does to its clock.

A visit's first request has its turn when the schedule hands out its claim. A redirect that is followed
within the visit needs one more, and so does what its scripts ask for: at a host in hand it waits in the schedule like
everything else of that host; at any other the keeper gives leave, who tells whoever has that host. A host of ours needs none,
unless somebody set a delay or a number of connections for it: what an operator set holds for each request.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from ingather.model.report import Claim
from ingather.model.resource import Failure, FailureKind, Response
from ingather.ports.clock import Clock
from ingather.ports.resolver import Resolver
from ingather.robot.frontier.schedule import Schedule
from ingather.robot.politeness.asking import Asking
from ingather.robot.politeness.backoff import Remedy, remedy_of
from ingather.robot.politeness.hostbook import HostBook, HostEntry
from ingather.robot.wire import HandBack, Refused

__all__ = ["Leave", "Turn", "Turns"]

_HOP_PRIORITY = -1


@dataclass(slots=True, eq=False)
class Turn:
    """One more request of a visit under way, waiting in the schedule; resolves to whether it has its turn."""

    given: asyncio.Future[bool] = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    def settle(self, *, granted: bool) -> bool:
        """Say that it has its turn, or never will; ``False`` if nobody waits any more."""
        if self.given.done():
            return False
        self.given.set_result(granted)
        return True


@dataclass(frozen=True, slots=True)
class Leave:
    """What a request was let go with: the host's key (``""`` = it is not in hand) and the granted address."""

    key: str
    address: str


class Turns:
    """Gives and takes back leave; owned by one event loop.

    Args:
        send: gives the keeper a message, without waiting.
        pump: starts what is ready; called when a host was set aside or a turn was asked for.
        stopping: whether no further request starts.
        hold_s: a host that asks to be left alone for longer is not waited for.
        waits: told the key of a host in hand that asked for time, and for how many seconds it is left alone.
    """

    def __init__(  # noqa: PLR0913 - the parts that the gatherer wires
        self,
        *,
        schedule: "Schedule[Claim | HostEntry | Turn]",
        asking: Asking,
        resolver: Resolver,
        hosts: HostBook,
        clock: Clock,
        dice: Random,
        send: Callable[[object], None],
        pump: Callable[[], None],
        stopping: Callable[[], bool],
        waits: Callable[[str, float], None],
        hold_s: float,
    ) -> None:
        self._schedule, self._asking, self._resolver, self._hosts = schedule, asking, resolver, hosts
        self._clock, self._dice, self._send, self._pump, self._stopping = clock, dice, send, pump, stopping
        self._waits, self._hold_s = waits, hold_s
        self._waiting: set[Turn] = set()

    @property
    def waiting(self) -> int:
        """Visits under way that wait for one more turn: they connect to nobody."""
        return len(self._waiting)

    # -- the first request of a visit -------------------------------------------------------------

    async def start(self, hostname: str, key: str, *, own: bool) -> str | None:
        """Wait for leave to connect to the host's address, then start its turn.

        Returns the address that was granted (own hosts: ``""``), ``None`` when the host asked for time
        while we waited: the item goes back.
        """
        address = "" if own else await self.address(hostname)
        if address:
            await self._asking.leave(address)
        now = self._clock.monotonic()
        if not own and self._schedule.must_wait(key, now) > 0:
            self._asking.release(address)
            return None
        self._schedule.started(key, now)
        self._pump()  # the host was set aside for this start: another of its items may have its turn, or wait for it
        return address

    async def address(self, hostname: str) -> str:
        """Return the address that counts for *hostname*; none when the fetch will fail for want of one."""
        try:
            addresses = await self._resolver.resolve(hostname)
        except OSError:
            return ""
        return addresses[0] if addresses else ""

    # -- further requests -------------------------------------------------------------------------

    def has_turn(self, turn: Turn, key: str) -> None:
        """Take a turn that the schedule handed out."""
        self._waiting.discard(turn)
        if not turn.settle(granted=True):
            self._schedule.put_back(key, None)

    def drop(self, turns: "list[Turn] | None" = None) -> None:
        """Say of *turns*, or of all, that they will not come: the host goes out of hand, or all ends."""
        for turn in list(self._waiting) if turns is None else turns:
            self._waiting.discard(turn)
            turn.settle(granted=False)

    async def leave(self, url: str) -> Leave | float | None:
        """Wait until *url* may be asked for; give the leave back with :meth:`done`.

        Seconds instead: its host is to be left alone for that long, which no visit under way waits for. ``None``: the
        gatherer ends.
        """
        if self._hosts.is_free(url):
            return Leave("", "")
        own = self._hosts.is_own(url)
        key, hostname = self._hosts.name_of(url)
        while not self._stopping():
            left_s = self._left_alone_s(key)
            if left_s > self._hold_s:
                return left_s
            turn = Turn()
            if not self._schedule.add(key, turn, _HOP_PRIORITY):
                address = "" if own else await self.address(hostname)
                if address:
                    await self._asking.leave(address, key)
                return Leave("", address)
            self._waiting.add(turn)
            self._pump()
            try:
                granted = await turn.given
            finally:
                self._waiting.discard(turn)
            if not granted:
                continue
            started = await self.start(hostname, key, own=own)
            if started is not None:
                return Leave(key, started)
            self._schedule.put_back(key, None)
        return None

    def _left_alone_s(self, key: str) -> float:
        clock = self._schedule.clock(key)
        return clock.backing_off(self._clock.monotonic()) if clock is not None else 0.0

    def done(self, leave: Leave) -> None:
        """Note that the request has ended, however it did."""
        if leave.key:
            self._schedule.finished(leave.key)
        self._asking.release(leave.address)

    # -- what the answer does to the host ---------------------------------------------------------

    def answered(self, key: str, url: str, got: Response | Failure) -> None:
        """Let the answer act on its host's clock: back-off, or the end of one.

        Args:
            key: of the host, if it is in hand, else ``""``.
            url: the URL that was asked for.
            got: the answer.
        """
        if got.way is not None and got.way.failed:
            return  # the host was not asked
        cause: FailureKind | int = got.kind if isinstance(got, Failure) else got.status
        clock = self._schedule.clock(key) if key else None
        now = self._clock.monotonic()
        if remedy_of(cause) is not Remedy.WAIT_HOST:
            if clock is not None:
                clock.answered(now)
            return
        asked_s = self._hosts.asked_s(got)
        own = self._hosts.is_own(url)
        if isinstance(got, Response) and got.address and not own:
            self._send(Refused(got.address, asked_s))
        if clock is not None:
            wait = self._schedule.back_off(key, now, chance=self._dice.random(), asked_s=asked_s)
            self._waits(key, wait.seconds)
        elif asked_s is not None and not own:
            self._send(HandBack([], self._hosts.name_of(url)[0], asked_s))
