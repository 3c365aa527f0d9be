"""Gatherer processes: spawned, watched, killed when they hang, replaced when they die.

Spawned, never forked. A gatherer that parses one URL for longer than allowed is killed; the
shared slot names the URL, which gets a strike. What it had claimed waits again.
"""

from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path

from ingather.log import get
from ingather.ports.clock import Clock
from ingather.robot.handing import Handed, begin
from ingather.robot.slot import Slot

__all__ = ["DISK_FULL_EXIT", "Death", "Supervisor"]

DISK_FULL_EXIT = 75
"""Exit code of a gatherer that could not write for want of space: nobody's fault, worth another try later."""

_log = get("keeper")


@dataclass(frozen=True, slots=True)
class Death:
    """A gatherer ended: its slot, exit code, the row that it was parsing (0 = none), whether it was killed for hanging."""

    slot: int
    code: int | None
    culprit: int
    hung: bool


@dataclass(slots=True)
class _Child:
    process: BaseProcess
    slot: Slot
    born: float
    pid: int


class Supervisor:
    """Keeps *count* gatherers alive; owned by the keeper's loop.

    Args:
        target: module-level function that a fresh interpreter imports; called with (slot, *arguments*).
        arguments: picklable; the same for every gatherer. A change counts for who is spawned after it.
        folder: where the shared slots lie.
        parse_s: longest time on one page before the gatherer counts as hung.
        silent_s: longest time without a sign of life before it does ...
        start_s: ... and the longest time to its first one: a fresh interpreter on a busy machine is slow.
    """

    def __init__(  # noqa: PLR0913 - the parts that app wires
        self,
        target: Callable[..., None],
        arguments: tuple[object, ...],
        folder: Path,
        clock: Clock,
        *,
        count: int,
        parse_s: float = 30.0,
        silent_s: float = 60.0,
        start_s: float = 120.0,
    ) -> None:
        self._target = target
        self.arguments = arguments
        self._folder = folder
        self._clock = clock
        self._count = count
        self._parse_s = parse_s
        self._silent_s = silent_s
        self._start_s = max(start_s, silent_s)
        self._children: dict[int, _Child] = {}
        self._context = get_context("spawn")
        self._quick_deaths = 0
        self.restarts = 0

    def start(self) -> None:
        """Spawn all that are missing."""
        for number in range(self._count):
            if number not in self._children:
                self._spawn(number)

    def _spawn(self, number: int) -> None:
        slot = Slot(self._folder / f"gatherer-{number}.slot")
        slot.end()
        slot.beat(0.0)
        with Handed(*self.arguments) as handed:
            process = self._context.Process(
                target=begin, args=(self._target, handed, number), name=f"gatherer-{number}", daemon=True
            )
            process.start()
        self._children[number] = _Child(process, slot, self._clock.monotonic(), process.pid or 0)

    def check(self) -> list[Death]:
        """Kill who hangs, bury who died, spawn replacements; return who was lost."""
        now = self._clock.monotonic()
        deaths: list[Death] = []
        for number, child in list(self._children.items()):
            culprit, since = child.slot.read()
            beat = child.slot.last_beat()
            silence = now - max(beat, child.born)
            stuck = (
                now - since if culprit and since > 0 else 0.0
            )  # read between two stores it has an id and no time
            hung = stuck > self._parse_s or silence > (self._silent_s if beat else self._start_s)
            if hung:
                _log.warning(
                    "gatherer hangs", gatherer=number, url_id=culprit, seconds=round(max(stuck, silence), 1)
                )
                child.process.kill()
                child.process.join(5)
            if not child.process.is_alive():
                culprit, _ = child.slot.read()
                child.process.join(0)
                deaths.append(Death(number, child.process.exitcode, culprit, hung))
                child.slot.close()
                child.process.close()
                del self._children[number]
                if deaths[-1].code != DISK_FULL_EXIT:
                    self._quick_deaths = self._quick_deaths + 1 if now - child.born < 5 and not culprit else 0  # noqa: PLR2004 - seconds
        return deaths

    def replace(self) -> None:
        """Spawn replacements for who was lost."""
        missing = self._count - len(self._children)
        if missing:
            self.restarts += missing
            self.start()

    @property
    def failing(self) -> bool:
        """Whether gatherers die again and again right after their start: something is wrong with the installation."""
        return self._quick_deaths >= 5  # noqa: PLR2004 - in a row

    def pids(self) -> list[int]:
        """Process ids of the living; may be asked while another thread is in :meth:`stop`, which closes the processes."""
        return [child.pid for child in list(self._children.values())]

    def stop(self, grace_s: float = 10.0) -> None:
        """Wait for everybody to end after they were told; kill who does not."""
        self._quick_deaths = 0
        for child in self._children.values():
            child.process.join(grace_s)
            if child.process.is_alive():
                child.process.kill()
                child.process.join(5)
            child.slot.close()
            child.process.close()
        self._children.clear()
