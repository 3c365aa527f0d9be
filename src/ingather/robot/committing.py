"""From reports to one transaction: settle, apply, let the deletion policy rule. Runs in the writer's thread."""

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Protocol, TypeVar

from ingather.catalog.sqlite_apply import Applied, Applier
from ingather.catalog.sqlite_controls import HeaderControls
from ingather.catalog.sqlite_counts import RunCounts
from ingather.catalog.sqlite_deletion import Deletions
from ingather.catalog.sqlite_frontier import FrontierQueries
from ingather.catalog.sqlite_memory import Memory
from ingather.catalog.sqlite_pruning import Pruning
from ingather.catalog.sqlite_registry import Registry
from ingather.model.report import HostReport, Report, Row, Settled
from ingather.robot.deletion import Decision, DeletionPolicy, DeletionReason, Ledger, Proposal
from ingather.robot.settle import SettleRules, settle

__all__ = ["Batch", "Committed", "Committer", "Writer"]

_REFUSALS = frozenset({401, 403})

T = TypeVar("T")


class Writer(Protocol):
    """The catalog's one writer as the robot uses it."""

    applier: Applier
    registry: Registry
    deletions: Deletions
    frontier: FrontierQueries
    memory: Memory
    pruning: Pruning
    controls: HeaderControls
    counts: RunCounts

    def transaction(self, work: "Callable[[Writer], T]") -> T:
        """Run *work* in one durable transaction."""


@dataclass(slots=True)
class Batch:
    """What goes into one transaction: visits with the rows that were claimed, hosts, and other writers' jobs.

    ``counted``: what filter-by-max let pass; it is kept no later than the visit that it was let pass for.
    """

    visits: list[tuple[Report, Row]] = field(default_factory=list)
    hosts: list[HostReport] = field(default_factory=list)
    jobs: list[Callable[[Writer, Applied], object]] = field(default_factory=list)
    counted: list[tuple[int, int]] = field(default_factory=list)


@dataclass(slots=True)
class Committed:
    """A durable batch: what it did, its settled visits, the jobs' answers, and whether work was put off to the next one."""

    applied: Applied
    settled: list[Settled]
    answers: list[object]
    more: bool = False


class Committer:
    """Carries batches into the catalog; one thread."""

    def __init__(  # noqa: PLR0913 - the parts that app wires
        self,
        writer: Writer,
        *,
        rules: SettleRules,
        policies: Callable[[str], DeletionPolicy],
        dice: Random,
        now_s: Callable[[], float],
        clock_trusted: Callable[[], bool],
    ) -> None:
        self._writer = writer
        self._rules = rules
        self._policies = policies
        self._dice = dice
        self._now_s = now_s
        self._clock_trusted = clock_trusted

    def commit(self, batch: Batch) -> Committed:
        """Apply *batch* whole; durable when this returns.

        Raises:
            CatalogError: nothing of it was kept.
        """
        rules, dice = self._rules, self._dice
        settled = [settle(report, row, rules=rules, chance=dice.random()) for report, row in batch.visits]
        return self._writer.transaction(lambda writer: self._apply(writer, settled, batch))

    def _apply(self, writer: Writer, settled: list[Settled], batch: Batch) -> Committed:
        applied = Applied()
        writer.applier.now_s = self._now_s()
        for at, item in enumerate(settled):
            report = item.report
            if report.controls is not None or report.status in _REFUSALS:
                settled[at] = writer.controls.apply(item, applied)
            writer.applier.settle(settled[at], applied)
        if batch.counted:
            writer.counts.add(batch.counted)
        if batch.hosts:
            writer.applier.hosts(batch.hosts)
        if applied.proposals:
            self._rule(writer, settled, applied)
        answers = [job(writer, applied) for job in batch.jobs]
        more = writer.applier.discoveries.carry_on(applied)
        return Committed(applied, settled, answers, more)

    def _rule(self, writer: Writer, settled: list[Settled], applied: Applied) -> None:
        """Let the policy rule on what the visits proposed, source by source, and carry it out."""
        missing = {item.row.id: item.row.missing_s for item in settled}
        held = writer.deletions.held_among([url_id for url_id, _, _ in applied.proposals])
        by_source: dict[int, list[Proposal]] = {}
        for url_id, source, reason in applied.proposals:
            by_source.setdefault(source, []).append(
                Proposal(url_id, DeletionReason(reason), missing.get(url_id), held=url_id in held)
            )
        now_s = self._now_s()
        for source, proposals in by_source.items():
            facts = writer.deletions.facts(source, now_s)
            ledger = Ledger(
                documents=facts.documents, deleted_24h=facts.deleted_24h, held=facts.held, waiting=facts.missing,
                secure=facts.access != "public",
            )  # fmt: skip
            rulings = self._policies(facts.name).judge(
                proposals,
                ledger,
                now_s=now_s,
                one_shot=self._rules.one_shot,
                clock_trusted=self._clock_trusted(),
            )
            reasons = {proposal.url_id: proposal.reason for proposal in proposals}
            for ruling in rulings:
                reason = reasons[ruling.url_id]
                if ruling.decision is Decision.DELETE:
                    gone = reason in (DeletionReason.NOT_FOUND, DeletionReason.GONE)
                    writer.deletions.delete(ruling.url_id, str(reason), now_s, applied, gone=gone)
                elif ruling.decision is Decision.HOLD:
                    writer.deletions.hold(
                        ruling.url_id, source, str(reason), now_s, hidden=ruling.hidden, applied=applied
                    )
