"""robots.txt of an origin: asked for when its first claim comes, then what waited for it goes on, or comes back."""

from collections.abc import Callable
from random import Random
from typing import Protocol

from ingather.fetch import RobotsKind, visit_robots
from ingather.model.lifecycle import Outcome
from ingather.model.report import Claim, Denial, Report
from ingather.model.resource import FailureKind
from ingather.model.scope import Scope
from ingather.model.verdict import Exclusion
from ingather.ports.clock import Clock
from ingather.ports.fetcher import Fetcher
from ingather.robot.frontier.schedule import Schedule
from ingather.robot.politeness.asking import Asking
from ingather.robot.politeness.hostbook import HostBook, HostEntry
from ingather.robot.politeness.turns import Turn, Turns
from ingather.robot.politeness.waygate import WayFinder, WayGate, listed, taken
from ingather.robot.visit.asked import AskedVisits
from ingather.robot.visit.judged import Judged
from ingather.robot.visit.pipeline import Pipeline
from ingather.robot.wire import HandBack

__all__ = ["ROBOTS_PRIORITY", "Gathered", "RobotsAsking"]

ROBOTS_PRIORITY = -1
"""Before every claim of the host."""


class Gathered(Protocol):
    """The gatherer, as far as it hears what becomes of claims."""

    def report(self, report: Report) -> None:
        """A claim ended."""

    def gone(self, count: int) -> None:
        """So many claims are in hand no more, without a report."""

    def learnt(self, entry: HostEntry) -> None:
        """Something is known of a host that the keeper should keep."""

    def send(self, message: object) -> None:
        """Tell the keeper."""


class RobotsAsking:
    """Asks for robots.txt when it is the host's turn, and rules by it.

    Args:
        gatherer: hears what becomes of claims.
        fetcher: not watched for ways: what happens to robots.txt is told here.
        schedule, hosts, turns, ways, finder, asking, asked, pipeline, scopes, clock, dice: the gatherer's own.
    """

    def __init__(  # noqa: PLR0913 - the parts of a gatherer
        self,
        gatherer: Gathered,
        fetcher: Fetcher,
        *,
        schedule: "Schedule[Claim | HostEntry | Turn]",
        hosts: HostBook,
        turns: Turns,
        ways: WayGate,
        finder: WayFinder,
        asking: Asking,
        asked: AskedVisits,
        pipeline: Pipeline,
        scopes: Callable[[str], Scope],
        clock: Clock,
        dice: Random,
    ) -> None:
        self._fetcher, self._schedule, self._hosts, self._turns = fetcher, schedule, hosts, turns
        self._ways, self._finder, self._asking, self._asked = ways, finder, asking, asked
        self._pipeline, self._scopes, self._clock, self._dice = pipeline, scopes, clock, dice
        self._report, self._gone, self._learnt = gatherer.report, gatherer.gone, gatherer.learnt
        self._send = gatherer.send

    def blocks(self, claim: Claim, entry: HostEntry) -> bool:
        """Whether *claim* must wait for robots.txt, or the filters deny it before anybody is asked for that; it is taken over then."""
        if not (self._hosts.must_ask_robots(entry) and self._asked.obeys_robots(claim)):
            return False
        report = self._pipeline.judge(claim, entry.origin).report
        if report is not None:  # nobody is asked for robots.txt on behalf of what the filters deny
            self._report(report)
            return True
        entry.blocked.append(claim)
        if not entry.asking:
            entry.asking = True
            self._schedule.add(entry.key, entry, ROBOTS_PRIORITY)
        return True

    async def ask(self, entry: HostEntry, key: str) -> None:  # noqa: C901 - one visit with its hops, told in order
        """Ask for robots.txt of an origin, then let its claims go on."""
        source = self._ways.asker(entry)
        if not source:
            entry.asking = False
            self._schedule.put_back(key, None)
            return
        scope, fetcher = self._scopes(source), self._ways.watched(self._fetcher)
        held: list[str] = []
        started = False

        async def admit(url: str) -> bool:
            nonlocal started
            if not started:
                await self._finder.find(url, scope)
                address = await self._turns.start(entry.hostname, key, own=entry.own)
                if address is None:
                    return False
                held.append(address)
                started = True
            elif not self._hosts.is_own(
                url
            ):  # a hop to another host is a visit there: the keeper gives leave
                await self._finder.find(url, scope)
                host_key, hostname = self._hosts.name_of(url)
                hop = await self._turns.address(hostname)
                if hop:
                    await self._asking.leave(hop, host_key)
                    held.append(hop)
            return True

        try:
            state = await visit_robots(
                fetcher, f"{entry.origin}/robots.txt", scope, clock=self._clock, previous=entry.robots,
                limits=self._hosts.limits, admit=admit,
            )  # fmt: skip
        finally:
            if started:
                self._schedule.finished(key)
            for address in held:
                self._asking.release(address)
        if not started:  # the host asked for time meanwhile: robots.txt is asked for when it is over
            self._schedule.put_back(key, entry, ROBOTS_PRIORITY)
            return
        entry.asking = False
        if fetcher.lost is not None:
            self._no_way(entry, key, source, state.detail)
            return
        if state.kind is RobotsKind.UNREACHABLE and state.detail.startswith(FailureKind.EGRESS):
            self._refused(entry, source, state.detail)
            return
        self._hosts.learnt(entry, state)
        waiting, entry.blocked = entry.blocked, []
        if state.kind is RobotsKind.UNREACHABLE:
            self._closed(entry, key, waiting, state.expires_s - self._clock.wall())
        else:
            self._schedule.admit(entry.clock)
            for claim in waiting:
                self._schedule.add(key, claim)
        self._learnt(entry)

    def _no_way(self, entry: HostEntry, key: str, source: str, detail: str) -> None:
        """The way of *source* to robots.txt failed, which says nothing of the host: others ask by theirs."""
        waiting = taken(entry, source)
        rest = (self._ways.rests(waiting[0], entry.origin) if waiting else None) or ("", 0.0)
        why = f"{FailureKind.PROXY}: robots.txt: {detail}"
        told = [claim for claim in waiting if not listed(claim)][:1]
        for claim in told:
            self._report(self._pipeline.ended(claim, Outcome.FAILED, detail=why, retry_s=rest[1]))
        self._ways.back([claim for claim in waiting if claim not in told], *rest)
        if entry.blocked:
            entry.asking = True
            self._schedule.add(entry.key, entry, ROBOTS_PRIORITY)

    def _refused(self, entry: HostEntry, source: str, detail: str) -> None:
        """Our own gate refused to ask on behalf of *source*, which says nothing of the host: others ask by theirs, and so does it when more is admitted."""
        for claim in taken(entry, source):
            self._report(self._pipeline.ended(claim, Outcome.FAILED, detail=detail))
        if entry.blocked:
            entry.asking = True
            self._schedule.add(entry.key, entry, ROBOTS_PRIORITY)

    def _closed(self, entry: HostEntry, key: str, waiting: list[Claim], seconds: float) -> None:
        """Nothing may be fetched from an origin whose robots.txt cannot be had: say so once, hand the rest back."""
        for claim in waiting[:1]:
            judged = self._pipeline.judge(claim, entry.origin)
            report = judged.report or self.obeyed(judged, entry)
            if report is not None:
                self._report(report)
        self._gone(len(waiting[1:]))
        self._schedule.back_off(key, self._clock.monotonic(), chance=self._dice.random(), asked_s=seconds)
        self._send(HandBack([claim.id for claim in waiting[1:]], key, seconds))

    def obeyed(self, judged: Judged, entry: HostEntry) -> Report | None:
        """Return the report of a visit that robots.txt forbids or makes impossible."""
        claim = judged.claim
        ruling = self._hosts.ruling(entry, judged.url)
        if ruling is None or not self._asked.obeys_robots(claim):
            return None
        outcome, reason, where = ruling
        denial = Denial(str(Exclusion.ROBOTS), where, reason, self._pipeline.version)
        return self._pipeline.ended(claim, outcome, detail=reason, denial=denial)
