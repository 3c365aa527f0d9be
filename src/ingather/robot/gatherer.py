"""A gatherer: claims in, reports out, politeness in between.

The event loop holds three things: the schedule (whose turn is it), the visits under way (at
most *max_connections*), and the outbox (finished visits whose bodies are made durable, then
sent in groups). What lies between claim and release is bounded in pages and in bytes: when too
much is sent and not yet kept, no new visit starts. The process holds no state that matters.
"""

import asyncio
from collections.abc import Callable, Coroutine
from math import inf
from random import Random
from typing import Any

from ingather.catalog.bodies import SegmentWriter
from ingather.log import get
from ingather.model.counted import Count
from ingather.model.report import Claim, HostGrant, Report
from ingather.model.resource import Failure, Request, Response
from ingather.model.scope import Scope
from ingather.ports.clock import Clock
from ingather.ports.fetcher import Fetcher
from ingather.ports.renderer import NotAsked
from ingather.ports.resolver import Resolver
from ingather.robot.frontier.schedule import Schedule
from ingather.robot.gathererlimits import GathererLimits
from ingather.robot.outbox import Outbox
from ingather.robot.politeness.asking import Asking
from ingather.robot.politeness.hostbook import HostBook, HostEntry
from ingather.robot.politeness.turns import Turn, Turns
from ingather.robot.politeness.waygate import DIRECTLY, WayFinder, WayGate
from ingather.robot.visit.asked import AskedVisits
from ingather.robot.visit.errands import Errands
from ingather.robot.visit.hopping import Hopping
from ingather.robot.visit.judged import UnfinishedError
from ingather.robot.visit.listed import ListedRules, RulesOf
from ingather.robot.visit.pipeline import Pipeline
from ingather.robot.visit.polling import Polling
from ingather.robot.visit.robotsasking import RobotsAsking
from ingather.robot.wire import (
    Counted,
    Folded,
    HandBack,
    Hello,
    Hold,
    Kept,
    Recall,
    Slow,
    Starts,
    Stop,
    Touched,
    Want,
    Ways,
    Work,
    decode_to_gatherer,
    frame,
    read_frame,
)

__all__ = ["Gatherer", "GathererLimits"]

_log = get("gatherer")


class Gatherer:
    """One gatherer; :meth:`run` until the keeper says stop or is gone."""

    def __init__(  # noqa: PLR0913 - the parts that app wires
        self,
        *,
        slot: int,
        pid: int,
        pipeline: Pipeline,
        polling: Polling,
        fetcher: Fetcher,
        resolver: Resolver,
        segment: SegmentWriter,
        hosts: HostBook,
        scopes: Callable[[str], Scope],
        clock: Clock,
        dice: Random,
        headers: tuple[tuple[str, str], ...] = (),
        limits: GathererLimits | None = None,
        rules: RulesOf = lambda _: None,
        sitemaps: ListedRules | None = None,
        ways: WayFinder = DIRECTLY,
    ) -> None:
        self._slot, self._pid = slot, pid
        self._ways = WayGate(
            ways, scopes=scopes, clock=clock, dice=dice, send=self.send, again=self._again, gone=self.gone
        )
        plain, fetcher = fetcher, self._ways.watched(fetcher)
        self._pipeline, self._fetcher = pipeline, fetcher
        self._hosts, self._scopes = hosts, scopes
        self._clock, self._dice = clock, dice
        self._limits = limits or GathererLimits()
        self._headers = headers
        self._schedule: Schedule[Claim | HostEntry | Turn] = Schedule(max_items=1 << 30)
        self._tasks: set[asyncio.Task[None]] = set()
        self._in_hand = 0
        self._wanting = False
        self._stopping = self._held = False
        self._over = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None
        self._timer_due = 0.0
        self._writer: asyncio.StreamWriter | None = None
        wake = asyncio.Event()
        self._asking = Asking(self.send, seed=pipeline.seed, released=wake.set)
        self._turns = Turns(
            schedule=self._schedule, asking=self._asking, resolver=resolver, hosts=hosts, clock=clock, dice=dice,
            send=self.send, pump=self._pump, stopping=lambda: self._stopping, waits=self._waits,
            hold_s=self._limits.hold_s,
        )  # fmt: skip
        hopping = Hopping(
            fetcher=fetcher, hosts=hosts, turns=self._turns, ways=ways, clock=clock, version=pipeline.version
        )
        self._asked = AskedVisits(
            pipeline=pipeline, polling=polling, fetcher=fetcher, rules=rules, clock=clock, sitemaps=sitemaps, hopping=hopping,
        )  # fmt: skip
        self._errands = Errands(hopping, shape=pipeline.shape)
        self._robots = RobotsAsking(
            self, plain, schedule=self._schedule, hosts=hosts, turns=self._turns, ways=self._ways, finder=ways,
            asking=self._asking, asked=self._asked, pipeline=pipeline, scopes=scopes, clock=clock, dice=dice,
        )  # fmt: skip
        self._outbox = Outbox(
            self.send, drain=self._drained, wake=wake, limits=self._limits, sync=segment.sync, pipeline=pipeline,
            asking=self._asking,
        )  # fmt: skip
        self._broken: BaseException | None = None

    async def run(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Work for the keeper at the other end until it stops us or hangs up."""
        self._writer = writer
        self.send(Hello(self._slot, self._pid))
        listening = asyncio.create_task(self._listen(reader))
        flushing = asyncio.create_task(self._outbox.run())
        for task in (listening, flushing):
            task.add_done_callback(self._ended_by_itself)
        try:
            self._pump()
            await self._over.wait()
            if self._broken is not None:
                raise self._broken
            if self._tasks:
                await asyncio.wait(self._tasks, timeout=30)
            await self._outbox.flush()
        finally:
            for task in (listening, flushing, *self._tasks):
                task.cancel()
            await asyncio.gather(listening, flushing, *self._tasks, return_exceptions=True)
            await self._ways.close()

    def _ended_by_itself(self, task: asyncio.Task[None]) -> None:
        """Listening or sending failed: nothing goes on without them, the keeper replaces us."""
        if not task.cancelled() and (error := task.exception()) is not None:
            self._broken = error
            self._over.set()

    def send(self, message: object) -> None:
        """Tell the keeper, if it is still there."""
        if self._writer is not None and not self._writer.is_closing():
            self._writer.write(frame(message))

    async def _drained(self) -> None:
        if self._writer is not None:
            await self._writer.drain()

    # -- from the keeper --------------------------------------------------------------------------

    async def _listen(self, reader: asyncio.StreamReader) -> None:  # noqa: C901, PLR0912 - one a message
        while (body := await read_frame(reader)) is not None:
            match decode_to_gatherer(body):
                case Work(claims=claims, hosts=grants):
                    self._wanting = False
                    self._take(claims, grants)
                case Kept(reports=count):
                    self._outbox.kept(count)
                case Starts(grants=grants):
                    self._asking.granted(grants)
                case Counted(token=token, answers=answers):
                    self._asking.counted(token, answers)
                case Touched(host_key=key):
                    self._hosts.touched(key)
                case Hold(on=on):
                    self._held = on
                case Recall(host_keys=keys):
                    self._recalled(keys)
                case Slow(floors=floors):
                    for key, floor_s in floors:
                        clock = self._hosts.slow(key, floor_s)
                        if clock is not None:
                            self._schedule.admit(clock)
                case Ways(states=states):
                    self._ways.told(states)
                case Stop():
                    self._stopping = True
            self._pump()
        self._stopping = True
        self._over.set()

    def _take(self, claims: list[Claim], grants: list[HostGrant]) -> None:
        sources = {claim.host: claim.source for claim in claims}
        for grant in grants:
            entry = self._hosts.lend(grant, sources.get(grant.id, "web"))
            self._schedule.admit(entry.clock)
        self._in_hand += len(claims)
        for claim in claims:
            entry = self._hosts.entry(claim.host)
            self._schedule.admit(entry.clock)
            rest = self._ways.rests(claim, entry.origin)
            if rest is not None:
                self._ways.back([claim], *rest)
                continue
            if not self._robots.blocks(claim, entry):
                self._schedule.add(entry.key, claim)

    # -- whose turn -------------------------------------------------------------------------------

    def _pump(self) -> None:
        """Start every visit whose turn it is; called whenever something changed, never waits."""
        if self._stopping or self._broken is not None:
            self._over.set()
            self._turns.drop()
            return
        if self._held:
            return
        limits, schedule, now = self._limits, self._schedule, self._clock.monotonic()
        while len(self._tasks) - self._turns.waiting < limits.max_connections and self._outbox.room:
            turn = schedule.next(now)
            if isinstance(turn, float):
                if turn < inf:
                    self._look_again(turn)
                break
            item, key = turn
            if isinstance(item, Turn):
                self._turns.has_turn(item, key)
                continue
            self._spawn(
                self._robots.ask(item, key) if isinstance(item, HostEntry) else self._visit(item, key)
            )
        if not self._wanting and self._in_hand < limits.working // 2:
            self._wanting = True
            self.send(Want(limits.working - self._in_hand, self._idle_hosts()))

    def _look_again(self, wait_s: float) -> None:
        """Pump in *wait_s*; one timer, the earliest."""
        loop = asyncio.get_running_loop()
        due = loop.time() + wait_s
        if self._timer is not None:
            if self._timer_due <= due:
                return
            self._timer.cancel()
        # Not the handle's own when(): for a time that is now the loop gives one without.
        self._timer, self._timer_due = loop.call_at(due, self._timed), due

    def _timed(self) -> None:
        self._timer = None
        self._pump()

    def _idle_hosts(self) -> list[int]:
        """Hand back hosts that have nothing to do, once there are many."""
        if len(self._hosts) <= self._limits.hosts:
            return []
        idle = self._schedule.idle_hosts()
        dropped = self._hosts.forget(idle, self._clock.monotonic())
        for key in idle:
            if not any(True for _ in self._hosts.siblings(key)):
                self._schedule.remove(key)
        return dropped

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._broken = error  # a visit's own failures are reports: this is ours, the keeper replaces us
        self._pump()

    # -- a visit ----------------------------------------------------------------------------------

    async def _visit(self, claim: Claim, key: str) -> None:  # noqa: C901 - a visit, told in order
        entry = self._hosts.entry(claim.host)
        if not self._ways.goes(claim, entry):
            self._schedule.put_back(key, None)
            return
        judged = await self._pipeline.admitted(claim, entry.origin)
        if judged.report is None:
            judged.report = self._robots.obeyed(judged, entry)
        if judged.report is not None:
            judged.evaluation.end()
            self._schedule.put_back(key, None)
            self.report(judged.report)
            return
        scope = self._scopes(claim.source)
        got = self._ways.refused(claim, judged.url)
        address = ""
        if got is None:
            leave = await self._turns.start(entry.hostname, key, own=entry.own)
            if leave is None:
                judged.evaluation.end()
                self._schedule.put_back(key, claim)
                return
            address = leave
        else:
            self._schedule.put_back(key, None)
        request = Request(
            judged.url, claim.etag, claim.last_modified, headers=self._headers,
            long_head=self._pipeline.heeds(claim),
        )  # fmt: skip
        asked = self._asked if claim.intent else None
        if asked is not None:
            request = asked.request(judged, request)
        if got is None:
            try:
                got = await (
                    asked.fetch(judged, request, scope) if asked else self._fetcher.fetch(request, scope)
                )
            finally:
                self._schedule.finished(key)
                self._asking.release(address)
            self._turns.answered(key, judged.url, got)
        if self._ways.waits(claim, got):
            judged.evaluation.end()
            return
        try:
            report = await (
                asked.report(judged, request, got, scope) if asked else self._pipeline.process(judged, got)
            )
        except UnfinishedError:  # we end: the claim waits at the keeper, as if nobody had gone
            return
        if report is not None:
            self.report(report)

    async def counts(self, asked: list[Count]) -> dict[str, bool]:
        """Ask the keeper, who counts for the whole run, whether one more may pass; the answers by role."""
        return await self._asking.counts(asked)

    async def errand(self, request: Request, scope: Scope) -> Response | Failure | NotAsked:
        """Ask for what a page needs; see :data:`ingather.ports.renderer.Errand`."""
        return await self._errands.ask(request, scope)

    def folded(self, alias: str, host: str, why: str) -> None:
        """Tell the keeper that the keys of *alias* become those of *host*."""
        self.send(Folded(alias, host, why))

    def _waits(self, key: str, seconds: float) -> None:
        """Tell the keeper of a host that asked for time; for long it goes back there."""
        for entry in self._hosts.siblings(key):
            self.learnt(entry)
            if seconds > self._limits.hold_s:
                self._hand_back(entry, key, seconds)
            return

    def _hand_back(self, entry: HostEntry, key: str, seconds: float) -> None:
        """Give the keeper the claims of a host that wants to be left alone."""
        items = self._schedule.remove(key)
        self._schedule.admit(entry.clock)
        claims = [item.id for item in items if isinstance(item, Claim)]
        self._turns.drop([item for item in items if isinstance(item, Turn)])
        for sibling in self._hosts.siblings(key):
            claims += [claim.id for claim in sibling.blocked]
            sibling.blocked.clear()
            if sibling in items:
                sibling.asking = False
        self._in_hand -= len(claims)
        self.send(HandBack(claims, key, seconds))

    def _recalled(self, keys: list[str]) -> None:
        """Give the keeper the claims of hosts that nobody is to ask now."""
        for key in keys:
            for entry in list(self._hosts.siblings(key))[:1]:
                self._hand_back(entry, key, 0.0)

    def learnt(self, entry: HostEntry) -> None:
        """Something is known of a host that the keeper should keep."""
        self._outbox.learnt(self._hosts.report(entry))

    # -- what comes back and goes -----------------------------------------------------------------

    def _again(self, claim: Claim, key: str) -> None:
        """Let a claim whose way was found wait for its turn once more."""
        if not self._schedule.add(key, claim):
            self.gone(1)
            self.send(HandBack([claim.id], key, 0.0))
        self._pump()

    def gone(self, count: int) -> None:
        """So many claims went back without a visit."""
        self._in_hand -= count

    def report(self, report: Report) -> None:
        """A claim ended: on its way to the keeper."""
        self._in_hand -= 1
        self._outbox.add(report)
