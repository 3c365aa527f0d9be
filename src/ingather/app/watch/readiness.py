"""Whether a served home can do its work now, with every reason why not. Nothing is asked of disk or network."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ingather.web.parts import Readiness

if TYPE_CHECKING:
    from ingather.app.keeper import Gathering

__all__ = ["Facts", "facts_of", "readiness"]


@dataclass(frozen=True, slots=True)
class Facts:
    """The figures that readiness depends on.

    Attributes:
        keeper_failed, index_broken, disk_full, clock_trusted: states of the parts.
        robot: off, idle, running or paused.
        gatherers: processes at work.
        waiting: URLs of the pool.
        lag, lag_most: changes that the index has not taken up, and from how many on gathering waits for it.
        findings: damages that the last full check found.
        canary: what is wrong with the canary, ``""`` = nothing, or there is none.
        stopping: the process has been asked to end.
    """

    keeper_failed: bool = False
    index_broken: bool = False
    disk_full: bool = False
    clock_trusted: bool = True
    robot: str = "idle"
    gatherers: int = 1
    waiting: int = 0
    lag: int = 0
    lag_most: int = 5_000
    findings: int = 0
    canary: str = ""
    stopping: bool = False


def facts_of(gathering: "Gathering", *, findings: int = 0, canary: str = "", stopping: bool = False) -> Facts:
    """Return the figures of the moment; may be called from any thread."""
    keeper, follower = gathering.keeper, gathering.follower
    return Facts(
        keeper_failed=keeper.failed is not None,
        index_broken=bool(follower.broken),
        disk_full=keeper.disk_full,
        clock_trusted=keeper.clock_trusted,
        robot=str(gathering.conductor.state),
        gatherers=keeper.gatherers,
        waiting=keeper.frontier.waiting,
        lag=follower.lag,
        lag_most=gathering.settings.count("index.max-lag"),
        findings=findings,
        canary=canary,
        stopping=stopping,
    )


def readiness(facts: Facts, *, searching: bool) -> Readiness:
    """Return whether a listener's work can be done; the texts are fit for everybody.

    Args:
        facts: the figures of the moment.
        searching: the search listener asks: only what stops searches counts, and there are no notes.
    """
    stops = {
        "stopping": facts.stopping and "this process is about to end",
        "keeper": facts.keeper_failed and "the keeper failed; its log says why",
        "index": facts.index_broken and "the index stopped: ingather index check says why",
    }
    if searching:
        return Readiness(_told(stops))
    idle_hands = facts.robot == "running" and facts.waiting > 0 and not facts.gatherers
    behind = facts.lag > facts.lag_most
    slows = {
        "disk": facts.disk_full and "the disk is full up to the reserve: no new work",
        "clock": not facts.clock_trusted
        and "the clock jumped: nothing expires and nothing is deleted until it is plausible",
        "gatherers": idle_hands and "URLs wait and no gatherer is connected",
        "lag": behind and f"the index is {facts.lag} changes behind: gathering waits for it",
        "damage": bool(facts.findings)
        and f"the last full check found {facts.findings} damages: ingather catalog check",
        "canary": facts.canary,
    }
    notes = [f"the robot is {facts.robot}"] if facts.robot in {"off", "paused"} else []
    return Readiness(_told({**stops, **slows}), tuple(notes))


def _told(found: Mapping[str, str | bool]) -> tuple[tuple[str, str], ...]:
    return tuple((name, text) for name, text in found.items() if isinstance(text, str) and text)
