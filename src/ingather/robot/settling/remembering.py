"""Between the catalog and what is decided about a visit: what is known of its page goes in, what it teaches is kept."""

from collections.abc import Callable

from ingather.model.report import Report, Row
from ingather.robot.frontier.recheck import RecheckLimits
from ingather.robot.frontier.sampling import Due, Pulse, SamplingLimits, beat, split_due
from ingather.robot.politeness.visitbudget import day_of
from ingather.robot.settling.hints import Hint, Hints, Score, Told, observe
from ingather.robot.settling.settle import Known, changed_by
from ingather.robot.settling.writing import Writer

__all__ = ["known_of", "learn", "promote", "promote_asked"]

_NO_HINTS = Hints()
_NOTHING = Known(hints=_NO_HINTS)


def known_of(writer: Writer, report: Report, row: Row, *, limits: RecheckLimits | None) -> Known:
    """Return what the catalog knows of a page beside its row; *limits*: of its source, ``None`` = the common ones."""
    freshness = writer.applier.freshness
    before = freshness.before(report, row)
    # Nearly all first visits: nothing was said, and the answer promises nothing.
    if row.fetched_s is None and report.expires_s is None and not freshness.listed:
        if before.rd_expires_s is None and limits is None:
            return _NOTHING
        return Known(None, _NO_HINTS, before.rd_expires_s, limits)
    scores = {Hint(hint): Score(*score) for hint, score in freshness.scores(row.host).items()}
    told = Told(before.promised_s, before.lastmod_s, before.every_s, before.read_s)
    return Known(before.same, Hints(told, scores), before.rd_expires_s, limits)


def learn(writer: Writer, report: Report, row: Row, known: Known) -> None:
    """Hold what was said of a page against what its visit found."""
    if row.fetched_s is not None:
        _compare(writer, report, row, known)
    if writer.applier.freshness.counts_days and (report.status or report.elapsed_s):
        writer.applier.freshness.visited(row.host, day_of(report.at_s))


def _compare(writer: Writer, report: Report, row: Row, known: Known) -> None:
    changed = changed_by(report, row, known)
    found = observe(known.hints.told, before_s=row.fetched_s, now_s=report.at_s, changed=changed)
    for hint, (right, weight) in found.items():
        score = known.hints.scores.get(hint, Score()).with_one(right=right, weight=weight)
        writer.applier.freshness.put_score(row.host, int(hint), score.right, score.wrong)
    if changed is not None:
        _feel(writer, report, row, changed=changed)


def _feel(writer: Writer, report: Report, row: Row, *, changed: bool) -> None:
    """Keep the pulse of a page's host."""
    freshness = writer.applier.freshness
    before = Pulse(*freshness.pulse(row.host))
    after = beat(before, changed=changed)
    if after != before:
        freshness.put_pulse(row.host, after.quiet, after.sampled, after.since_s)
    if changed and before.sampled:
        freshness.as_planned(row.host, report.at_s)


def promote_asked(writer: Writer, limit: int, *, now_s: float) -> dict[int, int]:
    """Put at most *limit* URLs into the frontier that pushed records ask for and a limit delayed; return how many at which host.

    Whether their hosts are quiet does not matter: somebody said that they changed.
    """
    return writer.registry.wake_asked(now_s, limit)


def promote(
    writer: Writer,
    limit: int,
    limits: SamplingLimits,
    *,
    now_s: float,
    most_s: Callable[[str], float],
) -> dict[int, int]:
    """Put at most *limit* URLs whose time has come into the frontier, a sample of quiet hosts; return how many at which host.

    Not those that pushed records ask for: :func:`promote_asked`.

    Args:
        writer: inside a transaction.
        limit: URLs that are looked at.
        limits: when a host is quiet.
        now_s: wall time.
        most_s: longest interval of a source, by name.
    """
    if not limits.after:
        return writer.registry.promote_due(now_s, limit)
    freshness, names = writer.applier.freshness, writer.applier.names
    due: dict[int, list[Due]] = {}
    woken: dict[int, int] = {}
    for url_id, host, source, fetched_s, missing in freshness.due(now_s, limit):
        if missing:  # its deletion waits for this look: it is no sample of anything
            freshness.wake([url_id])
            woken[host] = woken.get(host, 0) + 1
            continue
        due.setdefault(host, []).append(Due(url_id, fetched_s, most_s(names.source_name(source))))
    for host, pages in due.items():
        before = Pulse(*freshness.pulse(host))
        split = split_due(before, pages, limits, now_s=now_s)
        freshness.wake(split.visit)
        freshness.postpone(split.later)
        if split.pulse != before:
            freshness.put_pulse(host, split.pulse.quiet, split.pulse.sampled, split.pulse.since_s)
        if split.visit:
            woken[host] = woken.get(host, 0) + len(split.visit)
    return woken
