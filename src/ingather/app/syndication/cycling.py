"""Cycles of sources, step by step: each step is one transaction, and finds out from the catalog where it stands.

A cycle asks for the polls of all feeds that are due; when they have ended it asks for the checks that are due, within its
budget, and ends. What was asked for and did not happen yet is asked for still, also after a crash.
"""

from heapq import merge
from typing import Final

import msgspec

from ingather.app.syndication.desk import Desk
from ingather.app.syndication.records import feed_facts, registration, source_facts, source_row
from ingather.catalog.sqlite_apply import Applied
from ingather.catalog.syndication.sqlite_syndication_rows import FeedRow, SourceRow
from ingather.robot.settling.writing import Writer
from ingather.syndication.clocks import horizon
from ingather.syndication.facts import FeedState, Registration, SourceFacts

__all__ = ["Cycling"]

_UNCOUNTED: Final = 5_000
"""Visits that need no budget, asked for in one step; the next cycle asks for the rest."""
_KEPT_S: Final = 90 * 86_400.0
_PRUNED: Final = 1_000
_PATIENCE_S: Final = 3_600.0
"""A poll that waits for longer (its host asked to be left alone) holds no cycle up."""


class Cycling:
    """Moves the cycles of a home on; lives in the writer's thread.

    Args:
        desk: carries out what the decider rules.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._pruned_s = 0.0

    def step(self, writer: Writer, applied: Applied, *, clock_trusted: bool = True) -> float | None:
        """Move every source on as far as it goes; return the wall time of the next thing to be done, ``None`` = none.

        A source whose cycle runs has something to be done at once.
        """
        soonest: float | None = None
        for number, name in self._desk.numbers():
            at = self._source(writer, number, name, applied, clock_trusted=clock_trusted)
            if at is not None and (soonest is None or at < soonest):
                soonest = at
        now_s = writer.applier.now_s
        if abs(now_s - self._pruned_s) > 3600:  # noqa: PLR2004 - once an hour is enough
            self._pruned_s = now_s
            writer.syndication.prune(now_s - _KEPT_S, _PRUNED)
        return soonest

    def force(self, writer: Writer) -> None:
        """Let every feed be due, whatever its clocks say: a run of its own polls each once."""
        now_s = writer.applier.now_s
        for number, name in self._desk.numbers():
            if not self._active(writer, number, name):
                continue
            for feed in self._pollable(writer, number):
                if feed.asked_s is None:
                    facts = msgspec.structs.replace(
                        feed_facts(feed), due_s=now_s, why="a run of its own", urgent=True
                    )
                    self._desk.carrying(writer, number, Applied()).put_feed(feed, facts)

    def running(self, writer: Writer) -> bool:
        """Whether the cycle of any source runs."""
        return any(
            (row := writer.syndication.source(number)) is not None and row.cycle is not None
            for number, _ in self._desk.numbers()
        )

    # -- one source ---------------------------------------------------------------------------

    def _active(self, writer: Writer, number: int, name: str) -> bool:
        return (
            self._desk.sources[name].conf.syndication.enable_indexer
            and name not in writer.registry.disabled_sources()
        )

    @staticmethod
    def _pollable(writer: Writer, number: int) -> list[FeedRow]:
        return [
            feed
            for feed in writer.syndication.feeds(number)
            if feed.configured and not feed.paused and feed.state != FeedState.GONE
        ]

    def _source(
        self, writer: Writer, number: int, name: str, applied: Applied, *, clock_trusted: bool
    ) -> float | None:
        store, now_s = writer.syndication, writer.applier.now_s
        row = store.source(number)
        if row is None:
            return None
        if not self._active(writer, number, name):
            if row.next_s is not None:
                row.next_s = None
                store.put_source(row)
            return None
        facts = source_facts(row)
        if facts.held:
            facts = self._desk.reconcile(writer, row, facts, applied)
        if facts.cycle is None:
            at = self._begin(writer, row, facts, applied)
            if at > now_s:
                return at
            row = store.source(number) or row
            facts = source_facts(row)
        patience_s = min(max(self._desk.deciders[name].limits.discovery_interval_s, 60.0), _PATIENCE_S)
        polls = store.asked_feeds(number, now_s - patience_s)
        if facts.cycle is not None and not (polls or store.waiting_pages(number)):
            return self._end(writer, row, facts, applied, clock_trusted=clock_trusted)
        return now_s

    def _begin(self, writer: Writer, row: SourceRow, facts: SourceFacts, applied: Applied) -> float:
        store, now_s = writer.syndication, writer.applier.now_s
        decider = self._desk.deciders[self._desk.name(row.id)]
        rows = {feed.id: feed for feed in self._pollable(writer, row.id) if feed.asked_s is None}
        feeds = [feed_facts(feed) for feed in rows.values()]
        at, _ = decider.next_cycle(facts, feeds, now_s)
        if at > now_s:
            if row.next_s != at:
                row.next_s = at
                store.put_source(row)
            return at
        ruling = decider.begin_cycle(facts, feeds, now_s)
        carrying = self._desk.carrying(writer, row.id, applied)
        cycle = store.begin_cycle(row.id, now_s, len(ruling.asks))
        store.put_source(source_row(row.id, ruling.source, next_s=now_s, cycle=cycle.id))
        carrying.events(ruling.events)
        for asked in ruling.asks:
            facts_ = msgspec.structs.replace(asked.feed, why=asked.why)
            carrying.poll(rows[asked.feed.id], facts_, asked.intent)
        return now_s

    def _end(
        self, writer: Writer, row: SourceRow, facts: SourceFacts, applied: Applied, *, clock_trusted: bool
    ) -> float:
        """Ask for what is due, and end the cycle."""
        store, now_s, number = writer.syndication, writer.applier.now_s, row.id
        decider = self._desk.deciders[self._desk.name(number)]
        carrying = self._desk.carrying(writer, number, applied)
        for feed in store.feeds(number):
            if decider.lapses(feed_facts(feed), now_s):
                carrying.feed(feed, decider.lapse(feed_facts(feed), self._desk.book(writer, number), now_s))
        due = decider.due(facts, self.due_list(writer, number), now_s)
        for each in due.rulings:
            carrying.document(each)
        rows = {feed.id: feed for feed in store.feeds(number) if feed.configured}
        ended = decider.end_cycle(due.source, [feed_facts(feed) for feed in rows.values()], now_s)
        for changed in ended.feeds:
            carrying.put_feed(rows[changed.id], changed)
        if row.cycle is not None and (cycle := store.cycle(row.cycle)) is not None:
            cycle.ended_s = now_s
            cycle.checks = due.source.cycle.checks if due.source.cycle is not None else 0
            store.put_cycle(cycle)
        pollable = [feed_facts(feed) for feed in self._pollable(writer, number)]
        at, _ = decider.next_cycle(ended.source, pollable, now_s)
        last = row.cycle
        carrying.events(ended.events)
        store.put_source(source_row(number, ended.source, next_s=at, cycle=None))
        if clock_trusted:
            self._desk.delete(writer, number, applied, cycle=last)
        return at

    def due_list(self, writer: Writer, number: int) -> list[Registration]:
        """Return registrations of a source for which something is to be done, longest due first, as many as a cycle may ask for."""
        store, now_s = writer.syndication, writer.applier.now_s
        limits = self._desk.deciders[self._desk.name(number)].limits
        far_s = now_s + horizon(limits)
        found = [
            [
                registration(row)
                for row in store.due_documents(number, now_s, far_s=far_s, counted=counted, limit=limit)
            ]
            for counted, limit in ((True, limits.max_checks_per_cycle + 1), (False, _UNCOUNTED))
        ]
        inorder = list(merge(*found, key=lambda r: r.due_s or 0.0))
        mine = store.owned(number, [each.key for each in inorder])
        return [each for each in inorder if each.key in mine or self._desk.keeps(writer, number, each.key)]
