"""What the death of a gatherer means: a line of robot.log, and a report about the URL that is to blame."""

from collections.abc import Iterable

from ingather.log import get
from ingather.model.intent import FEEDS
from ingather.model.lifecycle import Outcome
from ingather.model.report import Report
from ingather.ports.clock import Clock
from ingather.robot.frontier.hold import Frontier
from ingather.robot.logs.robotlog import RobotLog
from ingather.robot.settling.intake import Counters, Intake
from ingather.robot.supervising import DISK_FULL_EXIT, Death
from ingather.robot.visit.polled import untold

__all__ = ["Mourning"]

_log = get("keeper")


class Mourning:
    """Lives on the keeper's event loop."""

    def __init__(
        self, counters: Counters, frontier: Frontier, intake: Intake, robot_log: RobotLog, clock: Clock
    ) -> None:
        self._counters, self._frontier, self._intake = counters, frontier, intake
        self._robot_log, self._clock = robot_log, clock

    def bury(self, deaths: Iterable[Death], *, leaving: bool, version: int) -> bool:
        """Take note of *deaths*; tell whether one of them found the disk full.

        Args:
            deaths: as the supervisor found them.
            leaving: the gatherers were told to end: whoever ends in order is not missed.
            version: of the configuration in force.
        """
        disk_full = False
        for death in deaths:
            if leaving and not death.code:  # it was told to
                continue
            if death.code == DISK_FULL_EXIT:
                disk_full = True
                continue
            self._counters.deaths += 1
            how = "hangs" if death.hung else f"died (exit {death.code})"
            self._robot_log.serious(f"gatherer {death.slot} {how}", self._clock.wall())
            _log.warning(
                "gatherer ended", gatherer=death.slot, code=death.code, url_id=death.culprit, hung=death.hung
            )
            row = self._frontier.claimed(death.culprit) or self._frontier.last_lost(death.culprit)
            if death.culprit and row is not None:
                detail = "hangs its reader" if death.hung else f"kills its reader (exit {death.code})"
                report = Report(
                    id=row.id,
                    outcome=int(Outcome.QUARANTINED),
                    status=0,
                    at_s=self._clock.wall(),
                    version=version,
                    detail=detail,
                    intent=row.intent,
                )
                if row.intent in FEEDS:
                    report.polled = untold(report)
                self._frontier.claim(row)
                self._intake.visit(report, row)
        return disk_full
