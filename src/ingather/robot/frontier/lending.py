"""Lending hosts to gatherers: who is connected, who has what, whose address may be asked.

The keeper's side of the socket. A gatherer wants work and gets claims with their hosts; it
reports, and the reports go into the intake; it asks for starts at addresses, which are granted here
because an address may carry hosts in many hands.
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from random import Random
from typing import Any

from ingather.catalog.frontier.sqlite_frontier import FrontierQueries
from ingather.log import get
from ingather.model.intent import FEEDS, Intent
from ingather.model.lifecycle import Outcome
from ingather.model.report import Claim, Report, Row
from ingather.ports.clock import Clock
from ingather.robot.frontier.hold import Frontier
from ingather.robot.logs.filterlog import FilterLog
from ingather.robot.politeness.addresses import AddressBook
from ingather.robot.politeness.restraint import Restraints
from ingather.robot.politeness.visitbudget import VisitBudget
from ingather.robot.politeness.ways import LOOK_S, WayBook, WayState
from ingather.robot.settling.intake import Counters, Intake
from ingather.robot.settling.tally import Tally
from ingather.robot.wire import (
    AskCounts,
    AskStart,
    Counted,
    Ended,
    Folded,
    HandBack,
    Hello,
    Hold,
    Recall,
    Refused,
    Reports,
    Rested,
    Slow,
    Starts,
    Touched,
    Want,
    Ways,
    Work,
    decode_to_keeper,
    frame,
    read_frame,
)

__all__ = ["Connection", "Lending", "conditions_of"]

_log = get("lending")
_NOTHING = ("", "", b"")


@dataclass(slots=True, eq=False)
class Connection:
    """A gatherer at the other end of a socket; never used again after it left."""

    slot: int
    writer: asyncio.StreamWriter
    room: int = 0
    lent: set[int] = field(default_factory=set)
    segment: int = 0
    """WARC segment that it last reported in."""

    def send(self, message: object) -> None:
        """Send a message, unless it hung up."""
        if not self.writer.is_closing():
            self.writer.write(frame(message))


class Lending:
    """All connected gatherers; owned by the keeper's loop.

    Args:
        may_lend: whether everything behind the gatherers keeps up (index, disk) and nobody paused us.
        own_host: whether an origin is one of our own hosts.
        changed: set when something happened that waiters should look at.
        max_pages: visits after which nothing more is lent, 0 = no end.
        newest_segment: newest WARC segment that existed at start.
        version: the configuration; what another one described is read again whole.
        tally: what filter-by-max let pass in this run.
        restraints: what an operator or the hours of a source forbid.
        budget: how often hosts may be visited in a day.
    """

    def __init__(  # noqa: PLR0913 - the parts that the keeper wires
        self,
        *,
        queries: FrontierQueries,
        frontier: Frontier,
        intake: Intake,
        counters: Counters,
        addresses: AddressBook,
        clock: Clock,
        dice: Random,
        own_host: Callable[[str], bool],
        may_lend: Callable[[], bool],
        changed: asyncio.Event,
        max_pages: int,
        newest_segment: int,
        version: int,
        tally: Tally | None = None,
        filter_log: FilterLog | None = None,
        restraints: Restraints | None = None,
        budget: VisitBudget | None = None,
    ) -> None:
        self._budget = budget
        self._filter_log = filter_log
        self.tally = tally or Tally()
        self.restraints = restraints or Restraints()
        self._held = False
        self._queries = queries
        self._frontier = frontier
        self._intake = intake
        self._counters = counters
        self._addresses = addresses
        self._clock = clock
        self._dice = dice
        self._own_host = own_host
        self._may_lend = may_lend
        self._changed = changed
        self._max_pages = max_pages
        self._newest_segment = newest_segment
        self.version = version
        self._connections: dict[int, Connection] = {}
        self._sources = queries.sources()
        self._old_hosts = max((host for host, *_ in queries.known_hosts()), default=0)
        self._lent_once: set[str] = set()
        self._address_timer: asyncio.TimerHandle | None = None
        self.addresses_changed = self.ways_changed = False
        self.ways = WayBook()
        self.stopping = False
        self.stop_asked = ""
        """The line of a filter that asked to end the run in order."""

    def __len__(self) -> int:
        return len(self._connections)

    def feed(self) -> None:
        """Give work to everybody who wants some."""
        for connection in self._connections.values():
            self._feed(connection)

    def tell_all(self, message: object) -> None:
        """Send *message* to every gatherer."""
        for connection in self._connections.values():
            connection.send(message)

    def hold(self, *, on: bool) -> None:
        """Have gatherers begin no further visit, or go on."""
        self._held = on
        self.tell_all(Hold(on))

    def block(self, key: str) -> None:
        """Ask a host no more: what waits of it stays, what is out comes back."""
        self.restraints.blocked.add(key)
        self._frontier.shut(key, inf)
        self.tell_all(Recall([key]))

    def unblock(self, key: str) -> None:
        """Ask a host again."""
        self.restraints.blocked.discard(key)
        self._frontier.unshut(key)
        self.feed()

    def slow(self, key: str, delay_s: float) -> None:
        """Keep at least *delay_s* seconds between two starts at a host, 0 = no more."""
        self.tell_all(Slow([(key, self.restraints.slow(key, delay_s))]))

    def look_at_hours(self) -> None:
        """Have the hours of sources obeyed by who has their hosts in hand."""
        floors, resting = self.restraints.turned()
        if floors:
            self.tell_all(Slow(floors))
        if resting:
            now = self._clock.monotonic()
            for key, seconds in resting.items():
                self._rest(key, now + seconds)
            self.tell_all(Recall(list(resting)))

    def _rest(self, key: str, until: float) -> None:
        if key not in self.restraints.blocked:
            self._frontier.shut(key, until)

    def safe_segments(self, newest: int) -> int:
        """Return the number below which no gatherer writes any more; *newest* is the newest that exists."""
        return min(
            (c.segment or self._newest_segment for c in self._connections.values()), default=newest + 1
        )

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Talk to one gatherer until it hangs up; a server's callback."""
        body = await read_frame(reader)
        hello = decode_to_keeper(body) if body is not None else None
        if not isinstance(hello, Hello) or self.stopping:
            writer.close()
            return
        connection = Connection(hello.slot, writer)
        self._connections[hello.slot] = connection
        self._frontier.join(connection)
        if self._held:
            connection.send(Hold(on=True))
        if self.ways:
            connection.send(Ways(self.way_states()))
        try:
            while (body := await read_frame(reader)) is not None:
                self._heard(connection, body)
                if not self._intake.room.is_set():
                    await self._intake.room.wait()
        finally:
            self._left(connection)
            writer.close()

    def _heard(self, connection: Connection, body: bytes) -> None:  # noqa: C901, PLR0912 - one a message
        match decode_to_keeper(body):
            case Want(pages=pages, idle_hosts=idle):
                connection.room = pages
                connection.lent.difference_update(idle)
                self._feed(connection)
            case Reports(reports=reports, hosts=hosts, stop=stop, judged=judged):
                if judged and self._filter_log is not None:
                    self._filter_log.write(judged, self._clock.wall())
                if stop and not self.stop_asked:
                    self.stop_asked = stop
                    _log.warning("a filter asked to stop: no new work", who=stop)
                self._reported(connection, reports)
                now, wall = self._clock.monotonic(), self._clock.wall()
                for host in hosts:
                    self._frontier.host_state(
                        host.id, delay_s=host.delay_s, not_before=now + max(host.not_before_s - wall, 0.0)
                    )
                self._intake.hosts(hosts, len(body))
            case AskStart(token=token, address=address, host_key=host_key):
                now = self._clock.monotonic()
                if host_key:
                    self._touch(host_key, connection, now)
                if self._addresses.request(address, now, holder=connection, ticket=token) <= now:
                    connection.send(Starts([(token, 0.0)]))
                else:
                    self._arm_addresses()
            case AskCounts(token=token, counts=counts):
                connection.send(Counted(token, [self.tally.admit(*asked) for asked in counts]))
                self._intake.counted(self.tally)
            case Ended(addresses=addresses):
                for address in addresses:
                    self._addresses.release(address, holder=connection)
                self._grant_due()
            case Refused(address=address, asked_s=asked_s):
                self._addresses.back_off(
                    address, self._clock.monotonic(), chance=self._dice.random(), asked_s=asked_s
                )
                self.addresses_changed = True
            case HandBack(claims=claims, host_key=key, seconds=seconds):
                self._frontier.key_waits(key, self._clock.monotonic() + seconds)
                self._frontier.handed_back(claims)
                self._changed.set()
            case Rested(claims=claims, source=source, way=way, seconds=seconds):
                if seconds > LOOK_S and not self.ways.knows(source, way):
                    self._frontier.handed_back(claims)  # it leads on again by now
                else:
                    self._frontier.rest(claims, (source, way), self._clock.monotonic() + seconds)
                self._changed.set()
            case Ways(states=states):
                self._learnt_ways(connection, states)
            case Folded(alias=alias, host=host, why=why):
                self._folded(alias, host, why)
            case _:
                return

    def way_states(self) -> list[WayState]:
        """Return what is known of the ways of sources, in wall time."""
        return self.ways.export(self._clock.monotonic(), self._clock.wall())

    def _learnt_ways(self, teller: Connection, states: list[WayState]) -> None:
        """Tell who else goes these ways; who waits for one that leads on again goes."""
        now, wall = self._clock.monotonic(), self._clock.wall()
        self.ways.take(states, now, wall)
        self.ways_changed = True
        for state in states:
            why = state.source, state.way
            self._frontier.rests_on(
                why, now + max(state.not_before_s - wall, 0.0) if state.failures else -inf
            )
        for connection in self._connections.values():
            if connection is not teller:
                connection.send(Ways(states))
        if not all(state.failures for state in states):
            self.feed()

    def _folded(self, alias: str, host: str, why: str) -> None:
        """Note for explain that a host is folded; that nobody could note it stops nothing."""
        now_s = self._clock.wall()

        def note(writer: Any, _: Any) -> None:
            writer.aliases.folded(alias, host, why, now_s)

        _log.info("host folded", alias=alias, host=host, why=why)
        self._intake.job(note).add_done_callback(lambda done: done.cancelled() or done.exception())

    def _reported(self, connection: Connection, reports: list[Report]) -> None:
        self._intake.sent(connection, len(reports))
        counters = self._counters
        for report in reports:
            if report.stored is not None:
                connection.segment = report.stored.segment
            row = self._frontier.claimed(report.id)
            if row is None:  # claimed by a gatherer that was given up: somebody else visits it
                continue
            self._intake.visit(report, row)
            counters.pages += 1
            counters.bytes += report.size
            if report.address and report.outcome != Outcome.BACK_OFF:
                self._addresses.answered(report.address, self._clock.monotonic())

    def _touch(self, host_key: str, asking: Connection, now: float) -> None:
        """Count a hop of a robots.txt to another host as a visit there, whoever has it in hand."""
        holder = self._frontier.holder(host_key)
        if isinstance(holder, Connection) and holder is not asking:
            holder.send(Touched(host_key))
        elif holder is None:
            self._frontier.key_waits(host_key, now + 1.0)

    def _grant_due(self) -> None:
        for grant in self._addresses.due(self._clock.monotonic()):
            holder: Any = grant.holder
            holder.send(Starts([(grant.ticket, 0.0)]))  # type: ignore[list-item]
        self._arm_addresses()

    def _arm_addresses(self) -> None:
        if self._address_timer is not None:
            self._address_timer.cancel()
            self._address_timer = None
        due = self._addresses.next_due()
        if due < inf:
            wait = max(due - self._clock.monotonic(), 0.0)
            self._address_timer = asyncio.get_running_loop().call_later(wait + 0.001, self._grant_due)

    def _left(self, connection: Connection) -> None:
        """A gatherer is gone: what it had waits again, unless it is committed already."""
        if self._connections.get(connection.slot) is connection:
            del self._connections[connection.slot]
        self._addresses.drop(connection)
        self._frontier.lost(connection, keep=self._intake.reported())
        self._changed.set()
        self.feed()

    def _feed(self, connection: Connection) -> None:
        """Give a gatherer work if it wants some and everything behind it keeps up."""
        if connection.room <= 0 or self.stopping or not self._may_lend():
            return
        room = connection.room
        if self._max_pages:
            room = min(room, self._max_pages - self._counters.pages - self._frontier.out)
        if room <= 0:
            return
        rows, hosts, fresh = self._frontier.take(connection, room, self._clock.monotonic())
        if self.restraints.hours:
            rows = self._within_hours(rows)
            hosts = {row.host for row in rows}
        if self._budget is not None and rows:
            rows = self._within_budget(self._budget, rows)
            hosts = {row.host for row in rows}
        if not rows:
            return
        connection.room = 0
        wanted = [host for host in hosts if host not in connection.lent or self._frontier.key(host) in fresh]
        grants = list(self._queries.grants(wanted).values()) if wanted else []
        for grant in grants:
            grant.own = self._own_host(grant.origin)
            grant.visited = grant.id <= self._old_hosts or (
                grant.key in fresh and grant.key in self._lent_once
            )
            self._lent_once.add(grant.key)
            grant.floor_s = self._floor_s(grant.key, rows, grant.id)
        connection.lent.update(hosts)
        connection.send(Work([self._claim(row) for row in rows], grants))

    def _floor_s(self, key: str, rows: list[Row], host: int) -> float:
        if not (self.restraints.hours or self.restraints.slowed):
            return 0.0
        source = next((self._source(row.source) for row in rows if row.host == host), "")
        return self.restraints.floor_s(key, source)

    def _within_hours(self, rows: list[Row]) -> list[Row]:
        """Return the rows whose source may be gathered now; the others wait until its next window opens."""
        kept: list[Row] = []
        back: list[int] = []
        now, restraints = self._clock.monotonic(), self.restraints
        rests = {number: restraints.rests_s(self._source(number)) for number in {row.source for row in rows}}
        for row in rows:
            key = self._frontier.key(row.host)
            if rests[row.source] > 0:
                back.append(row.id)
                self._rest(key, now + rests[row.source])
            else:
                restraints.lent(key, self._source(row.source))
                kept.append(row)
        self._frontier.handed_back(back)
        return kept

    def _within_budget(self, budget: VisitBudget, rows: list[Row]) -> list[Row]:
        """Return the rows whose hosts may be visited once more today; the others wait until tomorrow."""
        keys = [(self._frontier.key(row.host), self._source(row.source)) for row in rows]
        out = self._frontier.out_at({key for key, _ in keys}) - Counter(key for key, _ in keys)
        fits = budget.admits(keys, out)
        for (key, _), fit in zip(keys, fits, strict=True):
            if not fit:
                self._rest(key, self._clock.monotonic() + budget.left_s())
        self._frontier.handed_back([row.id for row, fit in zip(rows, fits, strict=True) if not fit])
        return [row for row, fit in zip(rows, fits, strict=True) if fit]

    def _claim(self, row: Row) -> Claim:
        suspect = row.strikes > 0
        return Claim(
            row.id, row.host, row.path, row.depth, row.max_depth, self._source(row.source), row.hops,
            *conditions_of(row, self.version),
            version=row.version or 0, suspect=suspect, intent=row.intent, pushed=bool(row.pushed),
        )  # fmt: skip

    def _source(self, number: int) -> str:
        if number not in self._sources:
            self._sources = self._queries.sources()
        return self._sources.get(number, "web")


def conditions_of(row: Row, version: int) -> tuple[str, str, bytes]:
    """Return entity tag, date and digest that a visit may use: what is not to be asked conditionally has none.

    Args:
        row: as it is claimed.
        version: of the configuration; what another one described is read again whole to be judged.
    """
    intent = Intent(row.intent)
    if intent in FEEDS:
        return (row.etag, row.last_modified, row.digest) if intent.conditional else _NOTHING
    if row.strikes > 0 or row.version != version or intent is Intent.NEW:
        return _NOTHING
    if not intent.conditional:
        return "", "", row.digest
    return row.etag, row.last_modified, row.digest
