"""The robot's states and what may be done in each (section 11 of the robot specification). Pure.

Off: nobody gathers. Running: a run goes on. Idle: the pool is empty; a run begins by itself as soon as something
waits. Paused: no visit begins, the run stands still and keeps its place.
"""

from enum import StrEnum

from ingather.errors import RobotStateError

__all__ = ["COMMANDS", "RobotState", "require"]


class RobotState(StrEnum):
    """What the robot does."""

    OFF = "off"
    IDLE = "idle"
    RUNNING = "running"
    PAUSED = "paused"


_ANY = frozenset(RobotState)
_UP = _ANY - {RobotState.OFF}

COMMANDS: dict[str, frozenset[RobotState]] = {
    "status": _ANY,
    "start": frozenset({RobotState.OFF}),
    "stop": _UP,
    "pause": frozenset({RobotState.IDLE, RobotState.RUNNING}),
    "resume": frozenset({RobotState.PAUSED}),
    "quit": _UP,
    "reload": _ANY,
    "clear": frozenset({RobotState.OFF}),
    "add": _ANY,
    "slow": _ANY,
    "block": _ANY,
    "unblock": _ANY,
    "loglevel": _ANY,
}
"""Commands with the states in which they can be carried out."""

_HINTS = {
    ("start", RobotState.IDLE): "it begins a run by itself when something waits; stop it first to begin anew",
    ("start", RobotState.RUNNING): "it runs already",
    ("start", RobotState.PAUSED): "resume it",
    ("stop", RobotState.OFF): "there is nothing to stop",
    ("quit", RobotState.OFF): "there is nothing to end",
    ("pause", RobotState.OFF): "start it first",
    ("pause", RobotState.PAUSED): "it is paused already",
    ("resume", RobotState.OFF): "start it",
    ("resume", RobotState.IDLE): "it is not paused",
    ("resume", RobotState.RUNNING): "it is not paused",
}


def require(command: str, state: RobotState) -> None:
    """Check that *command* can be carried out in *state*.

    Raises:
        RobotStateError: it cannot; the text names the state, the hint says what to do. Nothing was changed.
    """
    if state in COMMANDS[command]:
        return
    hint = _HINTS.get((command, state), "stop it first")
    raise RobotStateError(f"the robot is {state}: it cannot {command}", state=str(state), hint=hint)
