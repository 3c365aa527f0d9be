"""Harvest summarizers as processes (specification 14.2): no shell, one argument, limits on everything.

The program gets a file of its own in a folder of its own that is removed afterwards, no input and an almost
empty environment. The kernel limits its processor time, memory, files; we limit its time by the clock and its
output, and end its whole process group. What is built in runs in a converter.
"""

import asyncio
import contextlib
import os
import resource
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from ingather.app.confined.scratch import Scratch
from ingather.conf.filters.programs import BUILT_IN_PROGRAMS, find_program
from ingather.conf.rd.soif_reader import read_soif
from ingather.errors import ExtractError, IsolationError
from ingather.ports.isolation import Isolation

__all__ = ["ProgramLimits", "Summarizers", "read_attributes"]

_CHUNK = 64 * 1024
_MOST_WORDS = 500
_BURIAL_S = 10.0


@dataclass(frozen=True, slots=True)
class ProgramLimits:
    """What one run of a program may take."""

    wall_s: float = 600.0
    output_bytes: int = 1024 * 1024
    memory_bytes: int = 1024 * 1024 * 1024
    file_bytes: int = 64 * 1024 * 1024
    open_files: int = 256


class Summarizers:
    """Runs programs; implements :class:`ingather.ports.summarizer.Summarizer`; one event loop's.

    Args:
        isolation: runs what is built in.
        bindir: robot.conf's folder of programs.
        folder: where programs get their folders; ``None`` = the system's.
        count: programs at the same time.
    """

    def __init__(
        self,
        *,
        isolation: Isolation,
        bindir: str = "",
        limits: ProgramLimits | None = None,
        folder: Path | None = None,
        count: int = 1,
    ) -> None:
        self._isolation = isolation
        self._bindir = bindir
        self._limits = limits or ProgramLimits()
        self._folder = folder
        self._free = asyncio.Semaphore(max(count, 1))

    async def summarize(
        self, program: str, body: bytes, *, content_type: str
    ) -> Mapping[str, tuple[str, ...]]:
        """Return what *program* says about *body*; as :class:`~ingather.ports.summarizer.Summarizer` has it."""
        path = find_program(program, bindir=self._bindir)
        if path is None and program.lower() in BUILT_IN_PROGRAMS:
            answer = await self._isolation.run("summary", body, {"content_type": content_type})
            return msgspec.msgpack.decode(answer, type=dict[str, tuple[str, ...]])
        if path is None:
            raise IsolationError(f"there is no program {program}", reason="unavailable")
        async with self._free:
            output = await self._run(path, body)
        return read_attributes(output)

    async def _run(self, path: Path, body: bytes) -> bytes:
        scratch = await asyncio.to_thread(Scratch, "ingather-summary-", self._folder)
        room = scratch.path
        try:
            file = room / "body"
            await asyncio.to_thread(file.write_bytes, body)
            with (room / "errors").open("w+b") as errors:
                return await self._process(path, file, room, errors.fileno())
        except OSError as error:
            raise IsolationError(
                f"{path} cannot be run: {error.strerror or error}", reason="unavailable"
            ) from error
        finally:
            await asyncio.to_thread(scratch.remove)

    async def _process(self, path: Path, file: Path, room: Path, errors: int) -> bytes:
        process = await asyncio.create_subprocess_exec(
            str(path),
            str(file),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=errors,
            cwd=room,
            env=self._variables(room, path),
            start_new_session=True,
        )
        try:
            self._confine(process.pid)
            async with asyncio.timeout(self._limits.wall_s):
                output = await self._output(process)
                code = await process.wait()
        except TimeoutError:
            raise IsolationError(
                f"{path.name} took longer than {self._limits.wall_s:g} s", reason="timeout"
            ) from None
        finally:
            # What it started ends with it; it leads a group of its own.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await asyncio.shield(_buried(process))
        if code:
            words = " ".join(os.pread(errors, 4 * _MOST_WORDS, 0).decode("utf-8", "replace").split())[
                :_MOST_WORDS
            ]
            raise IsolationError(
                f"{path.name} ended with {code}{': ' if words else ''}{words}", reason="died"
            )
        return output

    async def _output(self, process: asyncio.subprocess.Process) -> bytes:
        pieces: list[bytes] = []
        size = 0
        while process.stdout is not None and (piece := await process.stdout.read(_CHUNK)):
            size += len(piece)
            if size > self._limits.output_bytes:
                raise ExtractError(f"more than {self._limits.output_bytes} bytes of output", reason="output")
            pieces.append(piece)
        return b"".join(pieces)

    def _confine(self, pid: int) -> None:
        limits = self._limits
        for which, value in (
            (resource.RLIMIT_CORE, 0),
            (resource.RLIMIT_CPU, int(limits.wall_s) + 1),
            (resource.RLIMIT_DATA, limits.memory_bytes),
            (resource.RLIMIT_FSIZE, limits.file_bytes),
            (resource.RLIMIT_NOFILE, limits.open_files),
        ):
            with contextlib.suppress(OSError, ValueError):  # it has ended already, or is limited lower
                resource.prlimit(pid, which, (value, value))

    def _variables(self, room: Path, path: Path) -> dict[str, str]:
        folders = [self._bindir, str(path.parent), os.environ.get("PATH", "/usr/bin:/bin")]
        found = {
            "PATH": os.pathsep.join(dict.fromkeys(folder for folder in folders if folder)),
            "HOME": str(room),
            "TMPDIR": str(room),
            "LANG": "C.UTF-8",
        }
        if "HARVEST_HOME" in os.environ:
            found["HARVEST_HOME"] = os.environ["HARVEST_HOME"]
        return found


async def _buried(process: asyncio.subprocess.Process) -> None:
    """Wait for a killed program; what it wrote is read away first.

    ``wait`` does not return before the pipe's end was seen, and a pipe in which too much lies is not read.
    """
    with contextlib.suppress(TimeoutError):  # a descendant that left the group may hold the pipe
        async with asyncio.timeout(_BURIAL_S):
            while process.stdout is not None and await process.stdout.read(_CHUNK):
                pass
            await process.wait()


def read_attributes(output: bytes) -> dict[str, tuple[str, ...]]:
    """Read a SOIF attribute list, or one whole object, leniently.

    Raises:
        ExtractError: it cannot be read to its end, or is more than one object; ``reason`` is ``output``.
    """
    whole = (
        output if output.lstrip().startswith(b"@") else b"@SUMMARY { -\n" + output.rstrip(b"\n") + b"\n}\n"
    )
    objects, findings = read_soif(whole)
    for finding in findings:
        if finding.is_error:
            raise ExtractError(f"the output is no SOIF: {finding}", reason="output")
    if len(objects) > 1:
        raise ExtractError("the output holds more than one object", reason="output")
    found: dict[str, tuple[str, ...]] = {}
    for name, values in (objects[0].texts() if objects else {}).items():
        kept = tuple(value for value in values if value.strip())
        if kept:
            found[name.lower()] = kept
    return found
