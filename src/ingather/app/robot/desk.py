"""How the robot is reached from outside its loop: by the admin listener's threads, and by ``ingather robot``."""

import time
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ingather.app.home import Home
from ingather.app.owner import ask_owner
from ingather.app.publishing import author_here, is_crawl
from ingather.app.robot.atrest import kept_form
from ingather.app.robot.commands import RobotCommands, delay_named, host_named
from ingather.app.robot.rechecking import FIELDS, choose, read_choice, recheck_here
from ingather.app.robot.statefile import Kept, StateFile
from ingather.app.wiring import budget_limits
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.conf import load
from ingather.conf.settings.values import Settings
from ingather.errors import HomeLockedError, RobotStateError

if TYPE_CHECKING:
    from ingather.app.keeper import Gathering

__all__ = ["HomeRobot", "RobotDesk"]

_FIELDS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("start", "stop", "pause", "resume", "quit", "clear"), ()),
    "reload": ("author",), "add": ("url", "depth"), "slow": ("host", "delay"), "block": ("host",), "unblock": ("host",),
    "loglevel": ("level",), "recheck": FIELDS,
}  # fmt: skip
"""What each command takes, in its order."""
Ask = Callable[[Coroutine[Any, Any, Any]], Any]


class RobotDesk:
    """The robot of a served home, for threads; implements :class:`ingather.web.parts.RobotBoard`.

    Args:
        ask: runs a coroutine on the keeper's loop and returns its answer.
    """

    def __init__(self, gathering: "Gathering", ask: Ask) -> None:
        self._robot, self._ask = RobotCommands(gathering), ask

    def status(self) -> dict[str, Any]:
        """Return the status."""
        return self._answer(self._robot.status())

    def command(self, name: str, fields: Mapping[str, str]) -> dict[str, Any]:
        """Carry out a command with its fields: ``url``, ``depth``, ``host``, ``delay``, ``level``, ``author``."""
        call: Callable[..., Coroutine[Any, Any, Any]] = getattr(self._robot, name)
        return self._answer(call(*(fields.get(field, "") for field in _FIELDS[name])))

    def _answer(self, work: Coroutine[Any, Any, Any]) -> dict[str, Any]:
        answer: dict[str, Any] = self._ask(work)
        return answer


class HomeRobot:
    """The robot of a home, whoever has the home: what ``ingather robot`` does.

    While nobody serves the home there is no robot: it is off. What needs none is done all the same.
    """

    def __init__(self, home: Home, settings: Settings) -> None:
        self._home, self._settings = home, settings

    def status(self) -> dict[str, Any]:
        """Return the status; ``process`` says whether there is one. Of a crawl, and without a process, it is what the catalog knows."""
        try:
            lock = self._home.lock("ingather robot")
        except HomeLockedError as locked:
            if is_crawl(locked):
                return {
                    **kept_form(self._home),
                    "state": "running",
                    "process": True,
                    "why": "ingather crawl has the home: a run for itself",
                }
            return {**ask_owner(self._home, self._settings, "robot", None, locked), "process": True}
        with lock:
            kept = self._file().read()
            why = "no process serves this home"
            if kept.state != "on":
                why += f"; the next one leaves the robot {kept.state}"
            return {
                **kept_form(self._home), "state": "off", "process": False, "why": why, "slowed": kept.slowed, "blocked": kept.blocked,
            }  # fmt: skip

    def command(self, name: str, **fields: str) -> dict[str, Any]:
        """Carry out a command.

        Raises:
            RobotStateError: it cannot be done in the state that the robot is in.
            HomeLockedError: a process has the home that takes no commands (a crawl).
        """
        try:
            lock = self._home.lock("ingather robot")
        except HomeLockedError as locked:
            if is_crawl(locked):
                raise RobotStateError(
                    "the robot is running (ingather crawl has the home): it takes no commands",
                    state="running", hint="wait for its end, or interrupt it",
                ) from locked  # fmt: skip
            form = {**fields, "author": author_here()} if name == "reload" else fields
            answer: dict[str, Any] = ask_owner(self._home, self._settings, f"robot/{name}", form, locked)
            return answer
        with lock:
            return self._without(name, fields)

    def _without(self, name: str, fields: Mapping[str, str]) -> dict[str, Any]:
        """Do what needs no robot: what is kept for the next one."""
        file = self._file()
        kept = file.read()
        if name == "recheck":
            choice = read_choice(fields)
            chosen = choose(self._home, choice)
            return {
                "state": "off",
                **recheck_here(self._home, choice, chosen, now_s=time.time(), open_writer=self._writer),
            }
        if name in {"slow", "block", "unblock"}:
            return {"state": "off", **self._restrain(name, fields, file, kept)}
        if name == "start" and kept.state != "on":
            file.write(Kept(slowed=kept.slowed, blocked=kept.blocked))
            return {"state": "off", "note": "no process serves this home; the next one starts the robot"}
        raise RobotStateError(
            f"the robot is off (no process serves this home): it cannot {name}", state="off", hint="run: ingather serve"
        )  # fmt: skip

    @staticmethod
    def _restrain(name: str, fields: Mapping[str, str], file: StateFile, kept: Kept) -> dict[str, Any]:
        key = host_named(fields["host"])
        slowed, blocked = dict(kept.slowed), set(kept.blocked)
        if name == "slow":
            seconds = delay_named(fields["delay"])
            slowed.pop(key, None)
            if seconds:
                slowed[key] = seconds
            said: dict[str, Any] = {"host": key, "delay_s": seconds}
        else:
            blocked = blocked | {key} if name == "block" else blocked - {key}
            said = {"host": key, "blocked": name == "block"}
        file.write(Kept(kept.state, kept.why, kept.at, slowed, sorted(blocked)))
        return said

    def _writer(self, database: Path) -> CatalogWriter:
        return CatalogWriter(database, budgets=budget_limits(self._settings))

    def _file(self) -> StateFile:
        return StateFile(self._home.path, str(load(self._home.config).robot.robot_state_dir))
