"""How a run goes: visits a second, and the lines of robot.log that tell of progress and of new gatherers."""

from collections import deque

from ingather.ports.clock import Clock
from ingather.robot.frontier.hold import Frontier
from ingather.robot.logs.robotlog import Level, RobotLog
from ingather.robot.settling.intake import Counters
from ingather.robot.supervising import Supervisor

__all__ = ["Progress"]

_POINTS = 20


class Progress:
    """Told by the keeper's clock, twice a second."""

    def __init__(
        self,
        counters: Counters,
        frontier: Frontier,
        supervisor: Supervisor,
        robot_log: RobotLog,
        clock: Clock,
    ) -> None:
        self._counters, self._frontier, self._supervisor = counters, frontier, supervisor
        self._robot_log, self._clock = robot_log, clock
        self._history: deque[tuple[float, int]] = deque(maxlen=_POINTS)
        self._known_pids: set[int] = set()

    def tell(self) -> None:
        """Tell robot.log what happened since the last :meth:`note`."""
        pages, now_s = self._counters.pages, self._clock.wall()
        if self._history and self._history[-1][1] != pages:
            said = f"progress: {pages} visits, {self._frontier.waiting} waiting, {self._frontier.out} in hand"
            self._robot_log.event(Level.PROGRESS, said, now_s)
        pids = set(self._supervisor.pids())
        for pid in sorted(pids - self._known_pids):
            self._robot_log.event(Level.SPAWNING, f"gatherer spawned, process {pid}", now_s)
        self._known_pids = pids
        self._robot_log.flush()

    def note(self) -> None:
        """Remember how many visits there are now."""
        self._history.append((self._clock.monotonic(), self._counters.pages))

    def rate(self) -> float:
        """Visits a second over the last ten seconds or so."""
        if len(self._history) < 2:  # noqa: PLR2004 - a rate needs two points
            return 0.0
        (then, before), (now, after) = self._history[0], self._history[-1]
        return (after - before) / (now - then) if now > then else 0.0
