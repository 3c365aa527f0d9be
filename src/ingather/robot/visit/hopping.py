"""Redirects that are followed within one visit, each hop judged as a visit of its own.

A hop is judged by the source's reach, the filters and robots.txt before anybody is asked, waits for its host's turn and
goes through the egress gate. Only visits that somebody asked for (intents) are made so: what a feed lists is kept under the
feed's link, wherever it lies. An ordinary visit makes a redirect's target a URL of its own.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace

from ingather.errors import UrlError
from ingather.fetch import RobotsKind, RobotsState, target_of, visit_robots
from ingather.fetch.redirects import REDIRECTS, carried_headers
from ingather.model.lifecycle import Outcome
from ingather.model.polled import Hop
from ingather.model.report import Denial
from ingather.model.resource import Failure, FailureKind, Request, Response
from ingather.model.scope import Scope
from ingather.model.url import canonical
from ingather.model.urlparts import split
from ingather.model.verdict import Exclusion
from ingather.ports.clock import Clock
from ingather.ports.fetcher import Fetcher
from ingather.ports.renderer import NotAsked
from ingather.robot.politeness.hostbook import HostBook
from ingather.robot.politeness.turns import Leave, Turns
from ingather.robot.politeness.waygate import WayFinder

__all__ = ["Chained", "Hopping", "Stop"]

_KNOWN_ROBOTS = 512

Fetch = Callable[[Request, Scope], Awaitable[Response | Failure]]


class _DroppedError(Exception):
    """A request of this visit cannot be made: the gatherer ends, or ``retry_s``: the host is to be left alone."""

    def __init__(self, retry_s: float | None) -> None:
        super().__init__(retry_s)
        self.retry_s = retry_s


@dataclass(frozen=True, slots=True)
class Stop:
    """Why a hop is not made: the outcome of the visit, its reason, and for how long its host is to be left alone."""

    outcome: Outcome
    detail: str
    denial: Denial | None = None
    retry_s: float | None = None


@dataclass(slots=True)
class Chained:
    """What came at the end of a chain.

    Attributes:
        got: the last answer; a redirect only together with *stop*.
        url: where it came from.
        hops: redirects that were followed, or would have been.
        stop: the next hop may not be made.
        elapsed_s: of all requests together.
        dropped: the gatherer ends before the next hop. No verdict on the URL.
    """

    got: Response | Failure
    url: str
    hops: list[Hop] = field(default_factory=list)
    stop: Stop | None = None
    elapsed_s: float = 0.0
    dropped: bool = False


class Hopping:
    """Follows redirects; one a gatherer.

    Args:
        ways: asks PAC files, before a hop's turn begins.
        version: of the configuration, for denials.
    """

    def __init__(  # noqa: PLR0913 - what it asks with
        self, *, fetcher: Fetcher, hosts: HostBook, turns: Turns, ways: WayFinder, clock: Clock, version: int
    ) -> None:
        self._fetcher, self._hosts, self._turns, self._clock = fetcher, hosts, turns, clock
        self._ways, self._version = ways, version
        self._robots: OrderedDict[str, RobotsState] = OrderedDict()
        self._asked: dict[str, asyncio.Lock] = {}

    async def follow(  # noqa: PLR0913 - a visit with its circumstances
        self,
        request: Request,
        got: Response | Failure,
        scope: Scope,
        *,
        most: int,
        judge: Callable[[str], Denial | None],
        obey: bool = True,
        etags: bool = False,
        fetch: Fetch | None = None,
    ) -> Chained:
        """Go on from the answer to *request* until something other than a redirect comes.

        Args:
            request: as it was made; validators go to its URL alone.
            got: its answer.
            scope: reach of every hop.
            most: redirects that are followed.
            judge: says why a canonical URL may not be asked for.
            obey: whether robots.txt binds the hops.
            etags: the entity tag goes along to every hop: it names one state of one document nearly everywhere,
                which a date does not.
            fetch: asks, if not the fetcher itself.
        """
        chain = Chained(got, request.url, elapsed_s=got.elapsed_s)
        seen = [request.url]
        while isinstance(chain.got, Response) and chain.got.status in REDIRECTS:
            answer, here = chain.got, chain.url
            target = _target(here, answer)
            trouble = _trouble(seen, target, answer, most, scope)
            if trouble is not None:
                chain.got = trouble
                break
            chain.hops.append(Hop(answer.status, target))
            chain.stop = self._denied(target, judge)
            if chain.stop is not None:
                break
            request = replace(
                request, url=target, etag=request.etag if etags else "", last_modified="",
                headers=carried_headers(request.headers, here, target),
            )  # fmt: skip
            try:
                chain.stop = await self._forbidden(target, scope) if obey else None
                if chain.stop is not None:
                    break
                await self._hop(chain, request, scope, fetch or self._fetcher.fetch)
            except _DroppedError as error:
                chain.dropped = error.retry_s is None
                detail = f"redirects to {target[:200]}: its host asked to be left alone"
                chain.stop = Stop(Outcome.BACK_OFF, detail, retry_s=error.retry_s)
                break
            seen.append(target)
        return chain

    async def _hop(self, chain: Chained, request: Request, scope: Scope, fetch: Fetch) -> None:
        leave = await self._leave(request.url, scope)
        try:
            got = await fetch(request, scope)
        finally:
            self._turns.done(leave)
        self._turns.answered(leave.key, request.url, got)
        chain.got, chain.url = got, request.url
        chain.elapsed_s += got.elapsed_s

    async def _leave(self, url: str, scope: Scope) -> Leave:
        await self._ways.find(url, scope)  # kept for the request; a failure is told by it
        leave = await self._turns.leave(url)
        if not isinstance(leave, Leave):
            raise _DroppedError(leave)
        return leave

    def _denied(self, target: str, judge: Callable[[str], Denial | None]) -> Stop | None:
        denial = judge(target)
        if denial is None:
            return None
        return Stop(Outcome.EXCLUDED, f"redirects to {target[:200]}: {denial.reason}", denial)

    # -- robots.txt of hosts that a redirect leads to ---------------------------------------------

    async def _forbidden(self, target: str, scope: Scope) -> Stop | None:
        """Return why robots.txt does not let us follow to *target*; as :meth:`_ruling`."""
        ruling = await self._ruling(target, scope)
        if ruling is None:
            return None
        outcome, reason, where = ruling
        detail = f"redirects to {target[:200]}: {reason}"
        return Stop(outcome, detail, Denial(str(Exclusion.ROBOTS), where, detail, self._version))

    async def _ruling(self, target: str, scope: Scope) -> tuple[Outcome, str, str] | None:
        """Return what speaks against *target* in its host's robots.txt, which is asked for when it is not known.

        Raises:
            _DroppedError: it cannot be asked for now.
        """
        if not self._hosts.obeys(target):
            return None
        state = self._hosts.robots_of(target) or await self._robots_of(split(target).origin, scope)
        if state.kind is RobotsKind.UNREACHABLE and state.detail.startswith(FailureKind.EGRESS):
            return None  # the gate refused the host, and says so of the URL as well
        return self._hosts.judged(state, target)

    async def errand(
        self, request: Request, scope: Scope, *, obey: bool = True
    ) -> Response | Failure | NotAsked:
        """Ask for one more URL that a visit needs (a page's script), in its host's turn and as its robots.txt allows."""
        url = request.url
        try:
            ruling = await self._ruling(url, scope) if obey else None
            if ruling is not None:
                return NotAsked("robots", ruling[1])
            leave = await self._leave(url, scope)
        except _DroppedError as error:
            if error.retry_s is None:
                return NotAsked("stop", "the gatherer ends")
            return NotAsked("wait", f"its host asked to be left alone for {error.retry_s:.0f} s")
        try:
            got = await self._fetcher.fetch(request, scope)
        finally:
            self._turns.done(leave)
        self._turns.answered(leave.key, url, got)
        return got

    async def _robots_of(self, origin: str, scope: Scope) -> RobotsState:
        lock = self._asked.setdefault(origin, asyncio.Lock())
        try:
            async with lock:
                state = self._robots.get(origin)
                if state is None or not state.is_fresh(self._clock.wall()):
                    state = await self._ask_robots(origin, scope, state)
                    if state.kind is RobotsKind.UNREACHABLE and state.detail.startswith(
                        (FailureKind.PROXY, FailureKind.EGRESS)
                    ):
                        return state  # the way of this source failed, or our gate refused it: others may have one
                    self._robots[origin] = state
                    self._robots.move_to_end(origin)
                    while len(self._robots) > _KNOWN_ROBOTS:
                        self._robots.popitem(last=False)
        finally:
            if not lock.locked():
                self._asked.pop(origin, None)
        return state

    async def _ask_robots(self, origin: str, scope: Scope, known: RobotsState | None) -> RobotsState:
        held: list[Leave] = []
        dropped: list[_DroppedError] = []

        async def admit(url: str) -> bool:
            if held:
                self._turns.done(held.pop())
            try:
                held.append(await self._leave(url, scope))
            except _DroppedError as error:
                dropped.append(error)
                return False
            return True

        try:
            state = await visit_robots(
                self._fetcher, f"{origin}/robots.txt", scope, clock=self._clock, previous=known,
                limits=self._hosts.limits, admit=admit,
            )  # fmt: skip
        finally:
            for leave in held:
                self._turns.done(leave)
        if dropped:
            raise dropped[0]
        return state


def _target(here: str, answer: Response) -> str:
    target = target_of(here, answer.header("location"))
    try:
        return canonical(target) if target else ""
    except UrlError:
        return ""


def _trouble(seen: list[str], target: str, answer: Response, most: int, scope: Scope) -> Failure | None:
    here = seen[-1]
    if not target or target.partition(":")[0] not in scope.schemes:
        kind, detail = FailureKind.REDIRECT_TARGET, f"Location {answer.header('location')[:200]!r}"
    elif target in seen:
        kind = FailureKind.REDIRECT_LOOP
        detail = " -> ".join([*seen[seen.index(target) :], target])[:1000]
    elif len(seen) > most:
        kind, detail = FailureKind.REDIRECTS, f"more than {most} in a row, next {target[:200]}"
    else:
        return None
    return Failure(here, kind, detail, answer.address, status=answer.status)
