"""Who is told of a commit: gatherers that their reports are kept, frontier, index, access log and robot.log.

Nobody is told before the commit.
"""

from collections import Counter

from ingather.model.lifecycle import State
from ingather.ports.clock import Clock
from ingather.robot.frontier.hold import Frontier
from ingather.robot.frontier.lending import Connection
from ingather.robot.indexing.following import IndexFollower
from ingather.robot.logs.accesslog import AccessLog
from ingather.robot.logs.robotlog import RobotLog
from ingather.robot.politeness.visitbudget import VisitBudget
from ingather.robot.settling.committing import Committed
from ingather.robot.settling.figures import Figures
from ingather.robot.settling.intake import Counters
from ingather.robot.wire import Kept

__all__ = ["Telling"]


class Telling:
    """Lives on the keeper's event loop."""

    def __init__(  # noqa: PLR0913 - everybody who is told
        self,
        *,
        frontier: Frontier,
        index: IndexFollower,
        counters: Counters,
        access_log: AccessLog,
        robot_log: RobotLog,
        clock: Clock,
        figures: Figures,
        budget: VisitBudget | None = None,
    ) -> None:
        self._budget = budget
        self._figures = figures
        self._frontier, self._index, self._counters = frontier, index, counters
        self._access_log, self._robot_log, self._clock = access_log, robot_log, clock

    def told(self, done: Committed, senders: Counter[object]) -> None:
        """Tell everybody what is durable now; *senders* has how many reports came from whom."""
        applied, frontier = done.applied, self._frontier
        urls = [frontier.origin(item.row.host) + item.row.path for item in done.settled]
        if self._budget is not None:
            for item in done.settled:
                if item.report.status or item.report.elapsed_s:
                    self._budget.visited(frontier.key(item.row.host))
        frontier.settled(item.row.id for item in done.settled)
        again: Counter[int] = Counter(item.row.host for item in done.settled if item.state == State.WAITING)
        again.update(applied.waiting)
        frontier.woken(again)
        frontier.rewind(applied.ahead)
        for sender, count in senders.items():
            if isinstance(sender, Connection):
                sender.send(Kept(count))
        self._index.push(applied.changes)
        self._counters.found += applied.new_urls
        for _, limit in applied.refused:
            self._counters.limits[limit] += 1
        self._figures.told(done, urls)
        self._access_log.write(done.settled, urls, applied.refused, self._clock.wall())
        self._robot_log.visits(done.settled, urls, applied.refused, self._clock.wall())
        self._robot_log.flush()
