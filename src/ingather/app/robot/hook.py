"""``cmd-hook``: the operator's program after a run (DEC-19). No shell; it runs in the home, under limits.

The words of the command are split as a shell would; nothing is expanded. It gets the environment of the robot with
``bindir`` before ``PATH`` and ``tmpdir`` as ``TMPDIR``, and ``INGATHER_RUN``; it gets no input. What it started ends with
it, or at its time.
"""

import asyncio
import contextlib
import os
import resource
import shlex
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = ["HookEnd", "HookLimits", "hook_variables", "run_hook"]

_CHUNK = 16 * 1024


@dataclass(frozen=True, slots=True)
class HookLimits:
    """What one call may take: time, output that is kept, one file that it writes, open files."""

    wall_s: float = 600.0
    output_bytes: int = 64 * 1024
    file_bytes: int = 1 << 30
    open_files: int = 1024


@dataclass(frozen=True, slots=True)
class HookEnd:
    """How it ended: exit status (``None`` = it could not be called or took too long), and why or what it said last."""

    code: int | None
    said: str = ""

    @property
    def text(self) -> str:
        """For the log."""
        how = f"exit {self.code}" if self.code is not None else "failed"
        return f"{how}: {self.said}" if self.said else how


async def run_hook(
    command: str, home: Path, *, variables: Mapping[str, str], limits: HookLimits | None = None
) -> HookEnd:
    """Call *command* and wait for its end; never raises for what the program does."""
    limits = limits or HookLimits()
    try:
        words = shlex.split(command)
    except ValueError as error:
        return HookEnd(None, f"cmd-hook cannot be read: {error}")
    if not words or not words[0].startswith("/"):
        return HookEnd(None, "cmd-hook must be the full path of a program")
    try:
        process = await asyncio.create_subprocess_exec(
            *words,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            cwd=home,
            env=dict(variables),
            start_new_session=True,
        )
    except OSError as error:
        return HookEnd(None, f"{words[0]} cannot be run: {error.strerror or error}")
    _confine(process.pid, limits)
    said = bytearray()
    try:
        async with asyncio.timeout(limits.wall_s):
            await _listen(process, said, limits.output_bytes)
            code = await process.wait()
    except TimeoutError:
        return HookEnd(None, f"it took longer than {limits.wall_s:g} s")
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        await asyncio.shield(_buried(process))
    return HookEnd(code, _last_words(said) if code else "")


def hook_variables(*, bindir: str, tmpdir: str, run: int) -> dict[str, str]:
    """Return the environment of the program: the robot's own, and what robot.conf adds."""
    found = dict(os.environ)
    if bindir:
        found["PATH"] = os.pathsep.join([bindir, found.get("PATH", "/usr/bin:/bin")])
    if tmpdir:
        found["TMPDIR"] = tmpdir
    found["INGATHER_RUN"] = str(run)
    return found


async def _listen(process: asyncio.subprocess.Process, said: bytearray, most: int) -> None:
    """Read what it says to the end; the last *most* bytes are kept."""
    while process.stdout is not None and (piece := await process.stdout.read(_CHUNK)):
        said += piece
        del said[:-most]


async def _buried(process: asyncio.subprocess.Process) -> None:
    """Wait for the end of a killed program; a descendant that left its group may hold the pipe for longer."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(10.0):
            while process.stdout is not None and await process.stdout.read(_CHUNK):
                pass
            await process.wait()


def _confine(pid: int, limits: HookLimits) -> None:
    for which, value in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, limits.file_bytes),
        (resource.RLIMIT_NOFILE, limits.open_files),
    ):
        with contextlib.suppress(OSError, ValueError):  # it has ended already, or is limited lower
            resource.prlimit(pid, which, (value, value))


def _last_words(said: bytes | bytearray) -> str:
    return " ".join(bytes(said[-2_000:]).decode("utf-8", "replace").split())[-500:]
