"""What an operator set of the robot, kept across restarts: off or paused, hosts slowed down or blocked.

One small JSON file, in ``robot-state-dir`` of robot.conf or else in the home; it is not there while everything is as
it is by default. A file that cannot be read counts as off: nobody is fetched from whom an operator had blocked.
"""

import json
import os
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from ingather.errors import IngatherError
from ingather.feeds.trust import write_durably
from ingather.log import get

__all__ = ["FILE", "Kept", "StateFile"]

_log = get("robot")
FILE = "robot-state.json"


class Kept(msgspec.Struct):
    """What is kept. ``state``: ``on``, ``off`` or ``paused``; ``slowed``: least delay in seconds by politeness name."""

    state: str = "on"
    why: str = ""
    at: float = 0.0
    slowed: dict[str, float] = {}
    blocked: list[str] = []


@dataclass(slots=True)
class StateFile:
    """Reads and writes the file.

    Attributes:
        home: the home.
        unreadable: there is a file, and it could not be read.
        folder: ``robot-state-dir`` as written, ``""`` = the home; below the home if it is no whole path.
    """

    home: Path
    folder: str = ""
    kept: Kept = field(default_factory=Kept)
    unreadable: bool = False

    @property
    def path(self) -> Path:
        """Where it lies."""
        return (self.home / self.folder if self.folder else self.home) / FILE

    def read(self) -> Kept:
        """Return what is kept, the defaults if there is no file; one that lies in the home still is moved."""
        path, home = self.path, self.home / FILE
        strayed = not path.exists() and home.exists()
        try:
            self.kept = msgspec.json.decode((home if strayed else path).read_bytes(), type=Kept)
            if strayed:
                self.write(self.kept)
                home.unlink(missing_ok=True)
        except FileNotFoundError:
            self.kept = Kept()
        except (OSError, msgspec.DecodeError, IngatherError) as error:
            _log.error(
                "the robot's state cannot be read: it stays off", file=str(self.path), error=str(error)
            )
            self.unreadable = True
            self.kept = Kept(state="off", why=f"{self.path} cannot be read: {error}")
        return self.kept

    def write(self, kept: Kept) -> None:
        """Keep *kept*, durably; nothing changes if it cannot be written.

        Raises:
            IngatherError: the file cannot be written.
        """
        try:
            if kept == Kept(why=kept.why, at=kept.at):
                self.path.unlink(missing_ok=True)
            else:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                write_durably(self.path, json.dumps(msgspec.to_builtins(kept)) + "\n")
        except OSError as error:
            raise IngatherError(
                f"the robot's state cannot be kept in {self.path}: {error.strerror or error}",
                hint="look at robot-state-dir in robot.conf",
            ) from error
        self.kept = kept

    def move(self, folder: str) -> None:
        """Keep it in another folder from now on.

        Raises:
            IngatherError: it cannot be written there; it stays where it is.
        """
        before = StateFile(self.home, self.folder)
        if before.path == StateFile(self.home, folder).path:
            return
        kept, self.folder = self.kept, folder
        try:
            self.write(kept)
        except IngatherError:
            self.folder = before.folder
            raise
        with suppress(OSError):
            os.unlink(before.path)  # noqa: PTH108 - the file of before
