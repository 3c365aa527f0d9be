"""What the admin listener needs of the robot."""

from collections.abc import Mapping
from typing import Any, Protocol

__all__ = ["RobotBoard"]


class RobotBoard(Protocol):
    """The robot under control; what ``ingather robot`` does. Called from several threads."""

    def status(self) -> Mapping[str, Any]:
        """Return its state and figures."""

    def command(self, name: str, fields: Mapping[str, str]) -> Mapping[str, Any]:
        """Carry out a command of ``robot-commands.md`` with its fields; the answer has ``state``.

        Raises:
            RobotStateError: it cannot be done in the state that the robot is in.
            UsageError: a field is wrong.
            ConfigurationError: a configuration is refused; the old one stays.
        """
