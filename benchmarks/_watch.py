"""What a command and all its descendants cost: processor time, private memory, and both against its progress.

The kernel's own account of a finished command (``wait4``) counts every process that was waited
for; orphans come to us (we are their reaper), so nothing escapes. While the command runs, each
process of its tree is looked at several times a second: that gives the peak of each one's private
memory and the processor time at each page, without which flatness cannot be told.
"""

import contextlib
import ctypes
import os
import signal
import subprocess
import threading
import time
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["Cost", "Tail", "load", "machine", "tree", "watch"]

_TICKS = os.sysconf("SC_CLK_TCK")
_PR_SET_CHILD_SUBREAPER = 36
_LOOK_S = 0.25
_MEMORY_EVERY = 4


@dataclass
class Cost:
    """What a command cost; ``curve`` holds (pages, processor seconds, wall seconds) as it went."""

    cpu_s: float
    wall_s: float
    status: int
    peaks_mb: dict[str, float] = field(default_factory=dict)
    curve: list[tuple[int, float, float]] = field(default_factory=list)
    shares: dict[str, float] = field(default_factory=dict)
    stalled: bool = False

    def between(self, low: int, high: int) -> float | None:
        """Return pages per CPU-second from page *low* to page *high*; ``None`` when the run was too short."""
        pages = [point[0] for point in self.curve]
        if not pages or pages[-1] < high:
            return None
        seconds = self._cpu_at(high) - self._cpu_at(low)
        return (high - low) / seconds if seconds > 0 else None

    def until(self, high: int) -> float | None:
        """Return pages per CPU-second from the command's start to page *high*."""
        return high / self._cpu_at(high) if self.curve and self.curve[-1][0] >= high else None

    def since(self, low: int) -> float | None:
        """Return pages per CPU-second from page *low* to the last one; start and end of the command not counted."""
        last = self.curve[-1][0] if self.curve else 0
        return self.between(low, last) if last > low + 500 else None

    def _cpu_at(self, page: int) -> float:
        pages = [point[0] for point in self.curve]
        n = bisect_left(pages, page)
        if n == 0:
            return self.curve[0][1]
        (p0, c0, _), (p1, c1, _) = self.curve[n - 1], self.curve[n]
        return c0 + (c1 - c0) * (page - p0) / (p1 - p0)


class Tail:
    """Counts the lines of a growing file that hold a mark; cheap to ask again and again."""

    def __init__(self, path: Path, mark: bytes) -> None:
        self._path, self._mark = path, mark
        self._place = 0
        self._rest = b""
        self._count = 0

    def __call__(self) -> int:
        """Return the count so far."""
        try:
            with self._path.open("rb") as file:
                file.seek(self._place)
                new = file.read()
        except FileNotFoundError:
            return self._count
        self._place += len(new)
        *lines, self._rest = (self._rest + new).split(b"\n")
        self._count += sum(self._mark in line for line in lines)
        return self._count


def watch(  # noqa: PLR0913 - a command and what to do while it runs
    command: Sequence[str],
    *,
    pages: Callable[[], int],
    environment: Mapping[str, str] | None = None,
    output: Path | None = None,
    stop_at: int = 0,
    patience_s: float = 180.0,
    on_page: tuple[int, Callable[[int], None]] | None = None,
) -> Cost:
    """Run *command* to its end and tell its cost.

    Args:
        command: program and arguments.
        pages: tells how many pages it has done by now.
        environment: added to ours.
        output: takes standard output and standard error.
        stop_at: pages after which the command is asked to end (SIGTERM); 0 = never.
        patience_s: time without another page after which it is killed with all its processes; ``stalled`` tells.
        on_page: (page, what to do with the command's process id once that page is reached).
    """
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    sink = output.open("wb") if output else subprocess.DEVNULL
    cost = Cost(0.0, 0.0, 0)
    begun = time.monotonic()
    child = subprocess.Popen(
        list(command), env={**os.environ, **(environment or {})}, stdout=sink, stderr=subprocess.STDOUT, start_new_session=True,
    )  # fmt: skip
    done = threading.Event()
    looking = threading.Thread(
        target=_look, args=(child.pid, cost, pages, done, begun, stop_at, patience_s, on_page), daemon=True
    )
    looking.start()
    try:
        _, status, usage = os.wait4(child.pid, 0)
    except KeyboardInterrupt:
        _kill(child.pid)
        raise
    cost.wall_s = time.monotonic() - begun
    done.set()
    looking.join()
    child.returncode = os.waitstatus_to_exitcode(status)
    cost.status = child.returncode
    cost.cpu_s = usage.ru_utime + usage.ru_stime + _orphans(child.pid)
    if not isinstance(sink, int):
        sink.close()
    return cost


def _orphans(session: int) -> float:
    """Wait for processes that the command left behind, at most ten seconds; return what they cost."""
    seconds, deadline = 0.0, time.monotonic() + 10
    left = [pid for pid, (_, of) in _processes().items() if of == session]
    while left and time.monotonic() < deadline:
        for pid in list(left):
            try:
                ended, _, usage = os.wait4(pid, os.WNOHANG)
            except ChildProcessError:
                left.remove(pid)
                continue
            if ended:
                seconds += usage.ru_utime + usage.ru_stime
                left.remove(pid)
        if left:
            time.sleep(0.02)
    return seconds


def _look(  # noqa: PLR0913, PLR0917 - what watch() was asked, for its thread
    root: int,
    cost: Cost,
    pages: Callable[[], int],
    done: threading.Event,
    begun: float,
    stop_at: int,
    patience_s: float,
    on_page: tuple[int, Callable[[int], None]] | None,
) -> None:
    seconds: dict[int, float] = {}
    roles: dict[int, str] = {}
    turn = 0
    while True:
        ended = done.wait(_LOOK_S)
        for pid, role in tree(root).items():
            roles.setdefault(pid, role)
            used = _cpu(pid)
            if used is not None:
                seconds[pid] = used
            if turn % _MEMORY_EVERY == 0:
                cost.peaks_mb[role] = max(cost.peaks_mb.get(role, 0.0), _private_mb(pid))
        turn += 1
        count = pages()
        if not cost.curve or count > cost.curve[-1][0]:
            cost.curve.append((count, sum(seconds.values()), time.monotonic() - begun))
        if on_page is not None and count >= on_page[0]:
            on_page[1](root)
            on_page = None
        if not ended and _halt(root, cost, time.monotonic() - begun, stop_at, patience_s):
            stop_at = 0
        if ended:
            break
    for pid, used in seconds.items():
        cost.shares[roles[pid]] = cost.shares.get(roles[pid], 0.0) + used


def _halt(root: int, cost: Cost, elapsed_s: float, stop_at: int, patience_s: float) -> bool:
    """Ask the command to end when it did enough pages, and tell so; kill it when it stands still."""
    pages, _, at_s = cost.curve[-1]
    if elapsed_s - at_s > patience_s:
        cost.stalled = True
        _kill(root)
    if stop_at and pages >= stop_at:
        os.kill(root, signal.SIGTERM)
        return True
    return False


def _kill(session: int) -> None:
    """Kill the command of that process id and all that it started; it leads a session of its own."""
    for pid in [pid for pid, (_, of) in _processes().items() if of == session]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _processes() -> dict[int, tuple[int, int]]:
    """Return parent and session of every process of the machine."""
    found: dict[int, tuple[int, int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            found[int(entry.name)] = (int(fields[1]), int(fields[3]))
    return found


def tree(root: int) -> dict[int, str]:
    """Return the command's processes with what each one is: ``main``, ``child``, ``grandchild``, ``tracker``."""
    processes = _processes()
    found = {root: "main"} if root in processes else {}
    layer = {root}
    for name in ("child", "grandchild", "deeper"):
        layer = {pid for pid, (parent, _) in processes.items() if parent in layer}
        for pid in layer:
            found[pid] = "tracker" if _is_tracker(pid) else name
    return found


def _is_tracker(pid: int) -> bool:
    try:
        return b"resource_tracker" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def _cpu(pid: int) -> float | None:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / _TICKS


def _private_mb(pid: int) -> float:
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in text.splitlines() if line.startswith("Private_")) / 1024


def load() -> tuple[float, float, float]:
    """Return the load of the machine over 1, 5 and 15 minutes."""
    one, five, fifteen = os.getloadavg()
    return round(one, 2), round(five, 2), round(fifteen, 2)


def machine() -> str:
    """Return what the machine is, in a line."""
    model = "unknown processor"
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30)
    release = os.uname()
    return f"{os.cpu_count()} cores of {model}, {memory:.0f} GiB, {release.sysname} {release.release}"
