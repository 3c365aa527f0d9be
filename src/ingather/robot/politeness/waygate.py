"""A gatherer's side of ways: who may go, what answers tell of the way, and PAC files asked before a host's turn is taken.

What cannot go by its way goes back to the keeper at once: its host has other things to do.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from typing import Protocol

from ingather.log import get
from ingather.model.intent import FEEDS
from ingather.model.report import Claim
from ingather.model.resource import Failure, Request, Response, Way
from ingather.model.scope import Scope
from ingather.ports.clock import Clock
from ingather.ports.fetcher import Fetcher
from ingather.robot.politeness.hostbook import HostEntry
from ingather.robot.politeness.ways import WayBook, WayState
from ingather.robot.wire import Rested, Ways

__all__ = ["DIRECTLY", "Directly", "WayFinder", "WayGate"]

_log = get("gatherer")
_AT_ONCE = 4
_BUSY_S = 2.0


class WayFinder(Protocol):
    """Tells what lies between a source and a URL; see :class:`ingather.model.resource.Way`."""

    def known(self, url: str, scope: Scope) -> tuple[tuple[str, ...], bool]:
        """Return the names that can be told at once, and whether they are all."""

    async def find(self, url: str, scope: Scope) -> Way | Failure:
        """Return them all, or why they cannot be told; it may take a while."""

    def held(self, url: str, source: str) -> Failure | None:
        """Return why nobody is asked for *url*: the source's login waits after refusals."""

    def busy(self, url: str, source: str) -> bool:
        """Whether the source's login is being tried: it is waited for elsewhere than at the host."""


class Directly:
    """Nothing lies between; implements :class:`WayFinder`."""

    def known(self, url: str, scope: Scope) -> tuple[tuple[str, ...], bool]:
        """Return that it is nothing."""
        return (), True

    async def find(self, url: str, scope: Scope) -> Way | Failure:
        """Return that it is nothing."""
        return Way(())

    def held(self, url: str, source: str) -> Failure | None:
        """Return that it is asked for."""
        return None

    def busy(self, url: str, source: str) -> bool:
        """Return that it is not."""
        return False


DIRECTLY = Directly()


class _Watched:
    """A fetcher whose answers are looked at for what they tell of the way."""

    def __init__(
        self, inner: Fetcher, heard: Callable[[str, Response | Failure], Response | Failure]
    ) -> None:
        self._inner, self._heard = inner, heard
        self.lost: Way | None = None

    async def fetch(self, request: Request, scope: Scope) -> Response | Failure:
        got = await self._inner.fetch(request, scope)
        way = got.way
        self.lost = way if way is not None and way.failed else None
        return got if way is None else self._heard(scope.source, got)

    async def close(self) -> None:
        await self._inner.close()


class WayGate:
    """Of one gatherer and its event loop.

    Args:
        finder: what lies between.
        scopes: reach of a source by its name.
        send: gives the keeper a message, without waiting.
        again: takes a claim back whose way was found, with its host's key.
        gone: told how many claims went back to the keeper.
    """

    def __init__(  # noqa: PLR0913 - the parts that the gatherer wires
        self,
        finder: WayFinder,
        *,
        scopes: Callable[[str], Scope],
        clock: Clock,
        dice: Random,
        send: Callable[[object], None],
        again: Callable[[Claim, str], None],
        gone: Callable[[int], None],
    ) -> None:
        self._finder, self._scopes, self._clock, self._dice = finder, scopes, clock, dice
        self._send, self._again, self._gone = send, again, gone
        self._book = WayBook()
        self._found: dict[int, tuple[str, ...]] = {}
        self._lost: dict[int, Response | Failure] = {}
        self._asking: dict[str, deque[tuple[Claim, str, str]]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    # -- what answers tell ------------------------------------------------------------------------

    def watched(self, fetcher: Fetcher) -> "_Watched":
        """Return *fetcher*, listened to; its ``lost`` is the way that failed the last request."""
        return _Watched(fetcher, self.heard)

    def heard(self, source: str, got: Response | Failure) -> Response | Failure:
        """Learn of the way that *got* came by; a failure of it says when it may be tried again."""
        way = got.way
        if way is None:
            return got
        now, wall = self._clock.monotonic(), self._clock.wall()
        ended = self._book.answered(source, [name for name in way.names if name != way.failed])
        states = [WayState(source, name) for name in ended]
        if way.failed:
            asked_s = got.retry_after_s if isinstance(got, Failure) else None
            detail = got.detail if isinstance(got, Failure) else f"it answers {got.status} itself"
            left_s = self._book.failed(
                source, way.failed, now, chance=self._dice.random(), asked_s=asked_s, detail=detail[:500], whole=way.whole
            )  # fmt: skip
            states.append(self._book.state(source, way.failed, now, wall))
            if isinstance(got, Failure):
                got = replace(got, retry_after_s=left_s)
        for name in ended:
            _log.info("a way leads on again", source=source, way=name)
        if states:
            self._send(Ways(states))
        return got

    def told(self, states: list[WayState]) -> None:
        """Take over what other gatherers learnt."""
        self._book.take(states, self._clock.monotonic(), self._clock.wall())

    # -- who may go -------------------------------------------------------------------------------

    def rests(self, claim: Claim, origin: str) -> tuple[str, float] | None:
        """Return the way of *claim* that is not gone now, and for how many seconds."""
        if not self._book:
            return None
        names = (
            self._found.get(claim.id)
            or self._finder.known(origin + claim.path, self._scopes(claim.source))[0]
        )
        return self._book.rests(claim.source, names, self._clock.monotonic())

    def goes(self, claim: Claim, entry: HostEntry) -> bool:
        """Whether *claim*, whose turn has come, may go; if not, it is on its way back to the keeper or to :attr:`again`."""
        url, source = entry.origin + claim.path, claim.source
        if claim.id in self._lost:
            return True
        names, whole = self._finder.known(url, self._scopes(source))
        found = self._found.pop(claim.id, None)
        names = found or names
        rest = self._book.rests(source, names, self._clock.monotonic())
        if rest is None and self._finder.busy(url, source):
            rest = "login", _BUSY_S
        if rest is not None:
            self.back([claim], *rest)
            return False
        if not whole and found is None:
            self._find(claim, entry.key, url)
            return False
        self._book.tries(source, names, self._clock.monotonic())
        return True

    def refused(self, claim: Claim, url: str) -> Response | Failure | None:
        """Return why nobody asks for *claim*: its PAC file failed it, or the login of its source waits after refusals."""
        return self._lost.pop(claim.id, None) or self._finder.held(url, claim.source)

    def waits(self, claim: Claim, got: Response | Failure) -> bool:
        """Whether *claim* goes back without a report: its way failed whole, and who asked for it counts visits."""
        way = got.way
        if way is None or not (way.failed and way.whole and listed(claim)):
            return False
        left_s = got.retry_after_s if isinstance(got, Failure) else None
        self.back([claim], way.failed, left_s or 0.0)
        return True

    def asker(self, entry: HostEntry) -> str:
        """Return the source in whose name robots.txt of *entry* is asked for; claims of others whose way rests go back.

        ``""``: nobody is left who may ask.
        """
        url, now = f"{entry.origin}/robots.txt", self._clock.monotonic()
        resting: dict[str, tuple[str, float]] = {}
        askers: list[tuple[bool, str, tuple[str, ...]]] = []
        for source in dict.fromkeys(claim.source for claim in entry.blocked):
            names, whole = self._finder.known(url, self._scopes(source))
            rest = self._book.rests(source, names, now)
            if rest is not None:
                resting[source] = rest
            else:
                askers.append((not whole, source, names))
        # Whose way is clear goes before one whose PAC file has to be asked first.
        _, asker, names = min(askers, key=lambda one: one[0], default=(False, "", ()))
        self._book.tries(asker, names, now)
        for source, rest in resting.items():
            self.back(taken(entry, source), *rest)
        return asker

    def back(self, claims: Sequence[Claim], way: str, seconds: float) -> None:
        """Give *claims*, all of one source, back to the keeper until their way may be tried again."""
        if claims:
            self._send(Rested([claim.id for claim in claims], claims[0].source, way, seconds))
            self._gone(len(claims))

    # -- PAC files --------------------------------------------------------------------------------

    def _find(self, claim: Claim, key: str, url: str) -> None:
        queue = self._asking.get(claim.source)
        if queue is None:
            queue = self._asking[claim.source] = deque()
            for _ in range(_AT_ONCE):
                task = asyncio.create_task(self._ask(claim.source, queue))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
        queue.append((claim, key, url))

    async def _ask(self, source: str, queue: deque[tuple[Claim, str, str]]) -> None:
        """Ask the PAC file of *source* for one claim after the other; none of them holds anybody's turn."""
        scope = self._scopes(source)
        await asyncio.sleep(0)
        while queue:
            claim, key, url = queue.popleft()
            rest = self._book.rests(source, self._finder.known(url, scope)[0], self._clock.monotonic())
            if rest is None:
                way = await self._finder.find(url, scope)
                if isinstance(way, Failure):
                    self._lost[claim.id] = self.heard(source, way)
                else:
                    self._found[claim.id] = way.names
                self._again(claim, key)
            else:
                self.back([claim], *rest)
        if self._asking.get(source) is queue:
            del self._asking[source]

    async def close(self) -> None:
        """End what is being asked; the claims wait at the keeper."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


def listed(claim: Claim) -> bool:
    """Whether somebody asked for a document: a feed puts what failed far off, so it waits in the frontier instead."""
    return bool(claim.intent) and claim.intent not in FEEDS


def taken(entry: HostEntry, source: str) -> list[Claim]:
    """Take the claims of *source* out of those that wait for the robots.txt of *entry*."""
    claims = [claim for claim in entry.blocked if claim.source == source]
    entry.blocked = [claim for claim in entry.blocked if claim.source != source]
    return claims
