"""What becomes of a URL after a visit: pure decisions, carried out by the catalog.

A report and the row that was claimed go in; the row's next state, its next visit, whether the
index must learn of it, and a deletion that must be *proposed* come out. Nothing here deletes:
the proposal goes to :mod:`ingather.robot.settling.deletion`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ingather.model.lifecycle import Outcome, State
from ingather.model.report import Report, Row, Settled
from ingather.model.resource import FailureKind
from ingather.model.verdict import Exclusion
from ingather.robot.frontier.recheck import Recheck, RecheckLimits, next_visit
from ingather.robot.politeness.backoff import BackOffLimits, after_failure
from ingather.robot.settling.deletion import DeletionReason
from ingather.robot.settling.hints import Hint, Hints, Trust, promise

__all__ = ["Known", "SettleRules", "changed_by", "settle"]

_DESCRIBED = frozenset({Outcome.INDEXED, Outcome.CONVERSION_FAILED, Outcome.DUPLICATE})
_TRANSIENT = frozenset({Outcome.BACK_OFF, Outcome.SERVER_ERROR, Outcome.FAILED, Outcome.ROBOTS_UNREACHABLE})
_PROPOSES = {
    Outcome.ENUMERATED: DeletionReason.RULES,
    Outcome.EXCLUDED: DeletionReason.RULES,
    Outcome.REDIRECTED: DeletionReason.RULES,
    Outcome.NOINDEX: DeletionReason.NOINDEX,
    Outcome.ROBOTS: DeletionReason.ROBOTS,
}
"""What a document that has an RD is proposed for deletion for; nothing else proposes."""
_GONE = 410
_MINUTE_S = 60.0


@dataclass(frozen=True, slots=True)
class SettleRules:
    """Limits that settling obeys, and whether this is a run that ends (``crawl``) and for how long it waits for a host.

    ``own``: bounds of the interval of sources that set theirs, by name.
    """

    recheck: RecheckLimits = field(default_factory=RecheckLimits)
    own: Mapping[str, RecheckLimits] = field(default_factory=dict)
    back_off: BackOffLimits = field(default_factory=BackOffLimits)
    strike_s: float = 600.0
    max_strikes: int = 2
    one_shot: bool = False
    patience_s: float = 90.0


@dataclass(frozen=True, slots=True)
class Known:
    """What the catalog knows of a URL beside its row.

    Attributes:
        same: a body that came differs from the last one in bytes alone: what a person would call a change is none;
            ``None`` = nobody can tell, so bytes count.
        hints: what was said of its changes.
        rd_expires_s: wall time at which its description expires, as it states itself; ``None`` = it does not.
        limits: bounds of its source's interval; ``None`` = those of the rules.
    """

    same: bool | None = None
    hints: Hints = field(default_factory=Hints)
    rd_expires_s: float | None = None
    limits: RecheckLimits | None = None


_NOTHING = Known()


def changed_by(report: Report, row: Row, known: Known = _NOTHING) -> bool | None:
    """Return whether a visit found another content than the one before; ``None`` = it could not tell."""
    outcome = Outcome(report.outcome)
    if outcome is Outcome.UNCHANGED:
        return False
    if outcome not in _DESCRIBED or row.fetched_s is None:
        return None
    return row.digest != report.digest and not known.same


def settle(  # noqa: PLR0911 - one an outcome
    report: Report, row: Row, *, rules: SettleRules, chance: float, known: Known = _NOTHING
) -> Settled:
    """Decide about one visit.

    Args:
        report: what the gatherer says.
        row: the URL as it stood when it was claimed.
        rules: limits.
        chance: dice in [0, 1) that spreads visits.
        known: what else is known of the URL.
    """
    outcome = Outcome(report.outcome)
    if outcome in _DESCRIBED:
        return _described(report, row, rules, chance, known)
    if outcome in _TRANSIENT:
        return _transient(report, row, rules, chance, known)
    if outcome is Outcome.UNCHANGED:
        plan = _plan(report, row, rules, chance, known, changed=False)
        return _settled(report, row, due_s=plan.due_s, wait_s=plan.interval_s)
    if outcome is Outcome.QUARANTINED:  # it killed its gatherer: the second time it is left alone
        strikes = row.strikes + 1
        state = State.QUARANTINED if strikes >= rules.max_strikes else State.WAITING
        return _settled(report, row, state=state, strikes=strikes, wait_s=row.wait_s)
    plan = _plan(report, row, rules, chance, known, changed=None)
    if outcome is Outcome.NOT_FOUND:
        return _missing(report, row, plan)
    if (
        outcome is Outcome.EXCLUDED and not report.status and row.version is None
    ):  # judged anew with other rules or depth
        return _settled(report, row, state=State.EXCLUDED)
    propose = _PROPOSES.get(outcome, "") if row.version is not None else ""
    if propose and report.denial is not None and report.denial.category == Exclusion.ALIAS:
        propose = DeletionReason.ALIAS
    keep = row.version is not None or outcome is not Outcome.ENUMERATED
    return _settled(report, row, due_s=plan.due_s, wait_s=plan.interval_s, propose=propose, keep=keep)


def _described(report: Report, row: Row, rules: SettleRules, chance: float, known: Known) -> Settled:
    changed = changed_by(report, row, known)
    plan = _plan(report, row, rules, chance, known, changed=changed)
    state, due_s, strikes = State.DONE, plan.due_s, 0
    if report.strike:  # its converter died: once more soon, then never until it changes or is released
        strikes = row.strikes + 1 if row.digest == report.digest else 1
        if strikes >= rules.max_strikes:
            return _settled(
                report,
                row,
                state=State.QUARANTINED,
                wait_s=plan.interval_s,
                strikes=strikes,
                put=True,
                keep=False,
            )
        due_s = report.at_s + rules.strike_s
    return _settled(
        report, row, state=state, due_s=due_s, wait_s=plan.interval_s, strikes=strikes, put=True, keep=False
    )


def _transient(report: Report, row: Row, rules: SettleRules, chance: float, known: Known) -> Settled:
    cause: FailureKind | int = report.status or _failure_kind(report.detail)
    attempt = after_failure(
        cause, failures=row.fails, chance=chance, asked_s=report.retry_s, limits=rules.back_off
    )
    fails = attempt.failures if attempt else row.fails + 1
    if attempt is not None and attempt.wait is not None:
        if rules.one_shot and report.retry_s is not None and attempt.wait.seconds <= rules.patience_s:
            # The host said when to come back, and the run will still be there.
            return _settled(
                report,
                row,
                state=State.WAITING,
                wait_s=row.wait_s,
                fails=fails,
                missing_s=row.missing_s,
                strikes=row.strikes,
            )
        due_s, wait_s = report.at_s + attempt.wait.seconds, row.wait_s
    else:
        plan = _plan(report, row, rules, chance, known, changed=None)
        due_s, wait_s = plan.due_s, plan.interval_s
    return _settled(
        report, row, due_s=due_s, wait_s=wait_s, fails=fails, missing_s=row.missing_s, strikes=row.strikes
    )


def _missing(report: Report, row: Row, plan: Recheck) -> Settled:
    """404 and 410: a described document is proposed at each look; when the next one is the deletion policy says, at least a minute later."""
    missing = row.missing_s if row.missing_s is not None else report.at_s
    if row.version is None:
        return _settled(report, row, due_s=plan.due_s, wait_s=plan.interval_s, missing_s=missing)
    reason = DeletionReason.GONE if report.status == _GONE else DeletionReason.NOT_FOUND
    return _settled(
        report, row, due_s=report.at_s + _MINUTE_S, wait_s=row.wait_s, missing_s=missing, propose=reason
    )


def _plan(  # noqa: PLR0913 - a visit with its circumstances
    report: Report, row: Row, rules: SettleRules, chance: float, known: Known, *, changed: bool | None
) -> Recheck:
    limits, hints, told = known.limits or rules.recheck, known.hints, known.hints.told
    fresh_s = None if report.expires_s is None else report.expires_s - report.at_s
    return next_visit(
        report.at_s,
        interval_s=row.wait_s,
        changed=changed,
        chance=chance,
        expires_s=promise(
            fresh_s,
            hints.trust(Hint.PROMISE),
            interval_s=row.wait_s or limits.first_s,
            now_s=report.at_s,
            chance=chance,
        ),
        rd_expires_s=known.rd_expires_s,
        every_s=told.every_s if hints.trust(Hint.CHANGEFREQ) is Trust.PROVED else None,
        announced=told.lastmod_s is not None and hints.trust(Hint.LASTMOD) is Trust.PROVED,
        limits=limits,
    )


def _settled(  # noqa: PLR0913 - the fields of a value
    report: Report,
    row: Row,
    *,
    state: State = State.DONE,
    due_s: float | None = None,
    wait_s: float | None = None,
    fails: int = 0,
    missing_s: float | None = None,
    strikes: int = 0,
    put: bool = False,
    propose: str = "",
    keep: bool = True,
) -> Settled:
    return Settled(
        report=report, row=row, state=int(state), due_s=due_s, wait_s=wait_s, fails=fails, missing_s=missing_s,
        strikes=strikes, put=put, propose=str(propose), keep_description=keep,
    )  # fmt: skip


def _failure_kind(detail: str) -> FailureKind:
    try:
        return FailureKind(detail.partition(":")[0])
    except ValueError:
        return FailureKind.INTERNAL
