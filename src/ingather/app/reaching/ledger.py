"""``HOME/run/logins/``: refusals of each credential, counted by all processes together, so that no account is locked by us.

An attempt is counted before it is made; what happens to it takes it back or lets it stand. A process that dies meanwhile leaves it counted,
and nobody waits for it: who tries holds a lock on a file beside, which the system gives back.
"""

import fcntl
import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from shlex import quote
from typing import Final

from ingather.fetch.logins.port import Closed
from ingather.log import get

__all__ = ["FileLedger", "Refusals", "forget", "refusals"]

_LOOK_S: Final = 2.0
_FIRST_WAIT_S: Final = 30.0
_MOST_WAIT_S: Final = 3600.0
_TRIAL_S: Final = 180.0
_UNSAFE: Final = re.compile(r"[^a-z0-9._-]")
_log = get("fetch")


@dataclass(slots=True)
class Refusals:
    """What is known of a credential that was refused.

    Attributes:
        name: of the credential.
        mark: tells whether its secret was set anew since.
        refused: how often in a row.
        last_s: when last, wall time.
        said_s: when a host last said so: after an attempt whose process died nobody waits.
        trial_s: since when an attempt is being made, 0 = none is.
        attempts: after so many it is suspended; 0 = never.
        text: what the host said.
    """

    name: str
    mark: str = ""
    refused: int = 0
    last_s: float = 0.0
    said_s: float = 0.0
    trial_s: float = 0.0
    attempts: int = 3
    text: str = ""

    @property
    def suspended(self) -> bool:
        """Whether it is not tried any more."""
        return 0 < self.attempts <= self.refused


def refusals(run: Path) -> list[Refusals]:
    """Return what all credentials of a home have against them; *run* is the home's folder of that name."""
    found = []
    for path in sorted((run / "logins").glob("*.json")):
        with suppress(OSError, ValueError, TypeError):
            found.append(Refusals(**json.loads(path.read_bytes())))
    return [one for one in found if one.refused]


def forget(run: Path, name: str) -> bool:
    """Let a credential be tried again; return whether anything was against it."""
    found = [one for one in refusals(run) if one.name == name]
    for one in found:
        _path(run, one.name).unlink(missing_ok=True)
    return bool(found)


class FileLedger:
    """One credential's count; implements :class:`ingather.fetch.logins.port.Ledger`. One thread.

    Args:
        run: the home's folder of that name.
        name: of the credential.
        mark: of its secret: what was counted against another one does not count.
        attempts: refusals in a row after which it is suspended; 0 = never.
        wall, monotonic: clocks.
    """

    def __init__(  # noqa: PLR0913 - what a count consists of
        self, run: Path, name: str, mark: str, attempts: int, *, wall: Callable[[], float], monotonic: Callable[[], float]
    ) -> None:  # fmt: skip
        self._path = _path(run, name)
        self._new = Refusals(name, mark, attempts=attempts)
        self._wall, self._monotonic = wall, monotonic
        self._looked_s = float("-inf")
        self._seen = self._new
        self._begun = False
        self._turn: int | None = None

    def __del__(self) -> None:
        self._give_turn()

    def begin(self, *, eager: bool = False) -> Closed | bool:
        """Count an attempt before it is made."""
        with self._changing() as state:
            now_s = self._wall()
            self._take_turn()
            if self._turn is None and 0 < state.trial_s <= now_s < state.trial_s + _TRIAL_S:
                return False
            closed = _judged(state, now_s)
            if closed is not None and not (eager and state.refused == 1 and not state.suspended):
                self._give_turn()
                return closed
            state.refused += 1
            state.last_s = state.trial_s = now_s
        self._begun = True
        return True

    def doubted(self) -> bool:
        """Whether refusals that hosts spoke are counted against it."""
        state = self._read()
        return state.said_s > 0 and state.refused > int(self._begun)

    def ended(self, *, refused: bool, text: str = "") -> None:
        """Let the attempt stand, or take it back."""
        with self._changing() as state:
            state.trial_s = 0.0
            if not refused:
                state.refused -= int(self._begun)
            else:
                state.refused += int(not self._begun)
                state.last_s = state.said_s = self._wall()
                state.text = text
                told = {"credential": state.name, "refused": state.refused, "why": text}
                if state.suspended:
                    _log.error(
                        "credential suspended: it is not tried until its secret is set anew or it is resumed",
                        **told,
                    )
                else:
                    _log.warning("credential refused", **told)
        self._over()

    def succeeded(self) -> None:
        """Forget what was counted."""
        self._over()
        self._path.unlink(missing_ok=True)

    def _over(self) -> None:
        self._begun, self._looked_s = False, float("-inf")
        self._give_turn()

    def closed(self, *, eager: bool = True) -> Closed | None:
        """Return why it is not used now; looks at the file every two seconds."""
        state = self._look()
        # A first refusal of what had been taken may be one page's: the next request finds out.
        return None if state.trial_s or (eager and state.refused <= 1) else _judged(state, self._wall())

    def tried(self) -> bool:
        """Whether an attempt is being made, by any process; looks at the file every two seconds."""
        if not 0 < self._look().trial_s <= self._wall() < self._seen.trial_s + _TRIAL_S:
            return False
        if self._turn is not None:
            return True
        self._take_turn()  # had by nobody: who tried is dead
        free = self._turn is not None
        self._give_turn()
        return not free

    def _take_turn(self) -> None:
        """Take the turn to try, unless somebody alive has it."""
        if self._turn is not None:
            return
        path = self._path.with_suffix(".trying")
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
        else:
            self._turn = descriptor

    def _give_turn(self) -> None:
        turn, self._turn = self._turn, None
        if turn is not None:
            os.close(turn)

    def _look(self) -> Refusals:
        if self._monotonic() - self._looked_s >= _LOOK_S:
            self._looked_s = self._monotonic()
            self._seen = self._read()
        return self._seen

    def _read(self) -> Refusals:
        try:
            state = Refusals(**json.loads(self._path.read_bytes()))
        except (OSError, ValueError, TypeError):
            return Refusals(**asdict(self._new))
        if state.mark != self._new.mark:
            return Refusals(**asdict(self._new))
        state.attempts = self._new.attempts
        return state

    @contextmanager
    def _changing(self) -> Iterator[Refusals]:
        folder = self._path.parent
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            state = self._read()
            yield state
            if state.refused <= 0:
                self._path.unlink(missing_ok=True)
                return
            new = self._path.with_name(f".{self._path.name}.{os.getpid()}.new")
            new.write_text(json.dumps(asdict(state)), "utf-8")
            new.replace(self._path)
        finally:
            os.close(descriptor)


def _path(run: Path, name: str) -> Path:
    return run / "logins" / f"{_UNSAFE.sub('_', name)}.json"


def _judged(state: Refusals, now_s: float) -> Closed | None:
    if not state.refused:
        return None
    if state.suspended:
        text = f"suspended after {state.refused} refusals in a row; {state.text}; set its secret anew, or: ingather secret resume {quote(state.name)}"
        return Closed(text)
    wait_s = min(_FIRST_WAIT_S * 2 ** (state.refused - 1), _MOST_WAIT_S)
    left_s = state.said_s + wait_s - now_s
    if 0 < left_s <= wait_s:
        return Closed(f"it was refused {state.refused} times in a row and waits; {state.text}", left_s)
    return None
