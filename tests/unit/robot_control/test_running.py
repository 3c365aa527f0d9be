from itertools import product

import pytest

from ingather.errors import RobotStateError
from ingather.robot.running import COMMANDS, RobotState, require

ALLOWED = {
    RobotState.OFF: {"start", "clear"},
    RobotState.IDLE: {"stop", "pause", "quit"},
    RobotState.RUNNING: {"stop", "pause", "quit"},
    RobotState.PAUSED: {"stop", "resume", "quit"},
}
ALWAYS = {"status", "reload", "add", "slow", "block", "unblock", "loglevel"}


@pytest.mark.parametrize(("command", "state"), list(product(sorted(COMMANDS), RobotState)))
def test_what_a_state_does_not_allow_is_refused_and_names_it(command: str, state: RobotState) -> None:
    if command in ALLOWED[state] | ALWAYS:
        require(command, state)
        return
    with pytest.raises(RobotStateError) as caught:
        require(command, state)
    assert caught.value.text == f"the robot is {state}: it cannot {command}"
    assert caught.value.state == state
    assert caught.value.hint
