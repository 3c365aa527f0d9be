"""Between the catalog and what is decided about a visit: what is known of its page goes in, what it teaches is kept."""

from typing import TYPE_CHECKING

from ingather.model.report import Report, Row
from ingather.robot.hints import Hint, Hints, Score, Told, observe
from ingather.robot.recheck import RecheckLimits
from ingather.robot.settle import Known, changed_by

if TYPE_CHECKING:
    from ingather.robot.committing import Writer

__all__ = ["known_of", "learn"]


def known_of(writer: "Writer", report: Report, row: Row, *, limits: RecheckLimits | None) -> Known:
    """Return what the catalog knows of a page beside its row; *limits*: of its source, ``None`` = the common ones."""
    freshness = writer.applier.freshness
    before = freshness.before(report, row)
    scores = {Hint(hint): Score(*score) for hint, score in freshness.scores(row.host).items()}
    told = Told(before.promised_s, before.lastmod_s, before.every_s, before.read_s)
    return Known(before.same, Hints(told, scores), before.rd_expires_s, limits)


def learn(writer: "Writer", report: Report, row: Row, known: Known) -> None:
    """Hold what was said of a page against what its visit found."""
    found = observe(
        known.hints.told, before_s=row.fetched_s, now_s=report.at_s, changed=changed_by(report, row, known)
    )
    for hint, (right, weight) in found.items():
        score = known.hints.scores.get(hint, Score()).with_one(right=right, weight=weight)
        writer.applier.freshness.put_score(row.host, int(hint), score.right, score.wrong)
