"""From reports to one transaction: settle, apply, let the deletion policy rule. Runs in the writer's thread."""

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import TypeVar

from ingather.catalog.deletion.sqlite_deletion import SourceFacts
from ingather.catalog.deletion.sqlite_evidence import Seen
from ingather.catalog.sqlite_apply import Applied
from ingather.model.report import HostReport, Report, Row, Settled
from ingather.robot.settling.deletion import (
    CONFIRMED,
    Decision,
    DeletionPolicy,
    DeletionReason,
    Ledger,
    Proposal,
    Ruling,
)
from ingather.robot.settling.remembering import known_of, learn
from ingather.robot.settling.settle import SettleRules, settle
from ingather.robot.settling.writing import Syndicator, Writer

__all__ = ["Batch", "Committed", "Committer", "carry_out", "ledger_of"]

_REFUSALS = frozenset({401, 403})

T = TypeVar("T")


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
        syndicator: Syndicator | None = None,
    ) -> None:
        self._syndicator = syndicator
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
        try:
            return self._writer.transaction(lambda writer: self._apply(writer, batch))
        except BaseException:
            if self._syndicator is not None:
                self._syndicator.forget()
            raise

    def _settled(self, writer: Writer, batch: Batch) -> list[Settled]:
        """Decide about each visit by what is known of its page, and learn from it."""
        settled: list[Settled] = []
        for report, row in batch.visits:
            name = writer.applier.names.source_name(row.source)
            known = known_of(writer, report, row, limits=self._rules.own.get(name))
            settled.append(settle(report, row, rules=self._rules, chance=self._dice.random(), known=known))
            learn(writer, report, row, known)
        return settled

    def _apply(self, writer: Writer, batch: Batch) -> Committed:
        applied, syndicator = Applied(), self._syndicator
        writer.applier.now_s = self._now_s()
        settled = self._settled(writer, batch)
        for at, item in enumerate(settled):
            report = item.report
            older = writer.pending_acls.visited(item, applied)
            if report.controls is not None or report.status in _REFUSALS:
                settled[at] = writer.controls.apply(item, applied)
            if older is not None:
                writer.pending_acls.visited_before(report.id, older, applied)
            own = syndicator.settle(writer, settled[at], applied) if syndicator is not None else None
            if own is None:
                writer.applier.settle(settled[at], applied)
            else:
                settled[at] = own
        if syndicator is not None and settled:
            syndicator.close(writer, applied, clock_trusted=self._clock_trusted())
        if batch.counted:
            writer.counts.add(batch.counted)
        if batch.hosts:
            writer.applier.hosts(batch.hosts)
            if syndicator is not None:
                syndicator.hosts(writer, batch.hosts, applied)
        if applied.proposals:
            self._rule(writer, settled, applied)
        answers = [job(writer, applied) for job in batch.jobs]
        more = writer.applier.discoveries.carry_on(applied)
        return Committed(applied, settled, answers, more)

    def _rule(self, writer: Writer, settled: list[Settled], applied: Applied) -> None:
        """Let the policy rule on what the visits proposed, source by source, and carry it out."""
        visits = {item.row.id: item for item in settled}
        ids = [url_id for url_id, _, _ in applied.proposals]
        held, looks = writer.deletions.held_among(ids), writer.deletions.evidence.looks(ids)
        by_source: dict[int, list[Proposal]] = {}
        for url_id, source, reason in applied.proposals:
            missing_s = visits[url_id].row.missing_s if url_id in visits else None
            by_source.setdefault(source, []).append(
                Proposal(
                    url_id, DeletionReason(reason), missing_s, held=url_id in held, looks=looks[url_id] + 1
                )
            )
        now_s = self._now_s()
        for source, proposals in by_source.items():
            facts = writer.deletions.facts(source, now_s)
            rulings = self._policies(facts.name).judge(
                proposals,
                ledger_of(facts),
                now_s=now_s,
                one_shot=self._rules.one_shot,
                clock_trusted=self._clock_trusted(),
            )
            reasons = {proposal.url_id: proposal.reason for proposal in proposals}
            for ruling in rulings:
                carry_out(
                    writer,
                    ruling,
                    reasons[ruling.url_id],
                    source,
                    now_s,
                    applied,
                    visit=visits.get(ruling.url_id),
                )


def ledger_of(facts: SourceFacts) -> Ledger:
    """Return a source's account as the policy reads it."""
    return Ledger(
        documents=facts.documents, deleted_24h=facts.deleted_24h, held=facts.held, waiting=facts.missing,
        secure=facts.access != "public", kept=facts.kept,
    )  # fmt: skip


def carry_out(  # noqa: PLR0913, PLR0917 - a ruling with its circumstances
    writer: Writer,
    ruling: Ruling,
    reason: DeletionReason,
    source: int,
    now_s: float,
    applied: Applied,
    *,
    visit: Settled | None = None,
    detail: str = "",
) -> None:
    """Do what the policy ruled, and keep what it ruled on: the visit's answer, or *detail* where nobody visited."""
    deletions, url_id, decision = writer.deletions, ruling.url_id, ruling.decision
    if decision is Decision.IGNORE:
        return
    seen = Seen(url_id, source, str(reason), str(decision), ruling.why, detail=detail)
    if visit is None:
        deletions.observe(seen, now_s)
    else:
        report = visit.report
        verdict = None if report.denial is None else writer.applier.names.directive(report.denial)
        seen = seen._replace(
            outcome=report.outcome, status=report.status or None, verdict=verdict, detail=report.detail
        )
        deletions.observe(seen, report.at_s)
    if decision is Decision.DELETE:
        deletions.delete(url_id, str(reason), now_s, applied, gone=reason in CONFIRMED)
        return
    if decision is Decision.HOLD:
        deletions.hold(
            url_id, source, str(reason), now_s, hidden=ruling.hidden, applied=applied, why=ruling.why
        )
    if ruling.again_s is not None:
        deletions.look_again(url_id, ruling.again_s, whole=reason not in CONFIRMED)
