"""The pool of converters: the process side of ``ports.isolation``.

``run`` waits for a free converter, gives it the job, and waits for the answer, the death or the
deadline. One job a converter at a time; a document that hangs holds one converter until its
deadline, never the others. A converter that died, was killed, grew old or did its share
is replaced by a fresh one. Whatever runs in it is told to end with it: its whole process
group is killed, its folder removed.
"""

import asyncio
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Annotated, Self

import msgspec

import ingather
from ingather.app.confined.converter import DONE, READY, SPENT
from ingather.app.confined.process import Converter, ConverterDiedError
from ingather.app.confined.scratch import Scratch
from ingather.errors import ExtractError, IsolationError
from ingather.ports.clock import Clock
from ingather.ports.isolation import Isolation

__all__ = ["LISTING_LIMITS", "ConverterLimits", "ConverterPool", "JobLimits", "PoolStatistics"]

_CODE = "from ingather.app.confined.converter import main; main()"
_START_WITHIN_S = 60.0
_MEMORY_SIGNS = (
    b"memory allocation",
    b"out of memory",
    b"Out of memory",
    b"bad_alloc",
    b"MemoryError",
    b"std::length",
)


@dataclass(frozen=True, slots=True)
class JobLimits:
    """Processor time and time by the clock that one job may take, in seconds."""

    cpu_s: float
    wall_s: float


LISTING_LIMITS = JobLimits(10.0, 10.0)
"""Of the reading of one feed or sitemap."""


@dataclass(frozen=True, slots=True)
class ConverterLimits:
    """What a converter and its jobs may take.

    Attributes:
        jobs: limits by name of the job; any other job has those of ``convert``.
        memory_bytes: private memory of a converter.
        file_bytes: size of any one file that it writes.
        answer_bytes: size of an answer; a larger one counts as death.
        recycle_jobs, recycle_s: a converter is replaced after so many jobs or so long.
    """

    jobs: Mapping[str, JobLimits] = field(
        default_factory=lambda: {
            "convert": JobLimits(20.0, 600.0),
            "page": JobLimits(5.0, 30.0),
            "listing": LISTING_LIMITS,
        }
    )
    memory_bytes: int = 1024 * 1024 * 1024
    file_bytes: int = 64 * 1024 * 1024
    answer_bytes: int = 96 * 1024 * 1024
    recycle_jobs: int = 200
    recycle_s: float = 900.0

    def of(self, job: str) -> JobLimits:
        """Return the limits of *job*."""
        return self.jobs.get(job) or self.jobs.get("convert") or JobLimits(20.0, 600.0)


@dataclass(slots=True)
class PoolStatistics:
    """Counts since the pool was made; ``lost`` by reason (``died``, ``timeout``, ``memory``, ``cpu``)."""

    jobs: int = 0
    refused: int = 0
    started: int = 0
    recycled: int = 0
    lost: dict[str, int] = field(default_factory=dict)


class _Trouble(msgspec.Struct):
    """What a converter says when it has no answer."""

    reason: Annotated[str, msgspec.Meta(pattern=r"\A[a-z][a-z-]{0,40}\Z")]
    text: Annotated[str, msgspec.Meta(max_length=2_000)]


_TROUBLE = msgspec.msgpack.Decoder(_Trouble)


class ConverterPool:
    """Runs jobs in converter processes; implements :class:`ingather.ports.isolation.Isolation`.

    Belongs to one event loop (asyncio's own or uvloop). Converters start when they are needed.
    """

    def __init__(  # noqa: PLR0913 (each has its default and is given by name)
        self,
        *,
        count: int,
        clock: Clock,
        limits: ConverterLimits | None = None,
        folder: Path | None = None,
        job_table: str = "ingather.app.confined.converter",
        python_flags: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Make a pool of at most *count* converters.

        Args:
            count: converters, that is, jobs at the same time.
            clock: tells a converter's age.
            limits: what converters and jobs may take; ``None`` = the defaults.
            folder: where converters get their private folders; ours alone, what an earlier run left
                there is removed. ``None`` = a new temporary folder.
            job_table: module with ``JOBS``.
            python_flags: further flags of the interpreter.
            environment: variables beside PATH, HOME, TMPDIR and LANG; nothing else is handed on.
        """
        self._limits = limits or ConverterLimits()
        self._clock = clock
        self._job_table = job_table
        self._python_flags = tuple(python_flags)
        self._environment = dict(environment or {})
        self._folder = folder
        self._own_folder: Path | None = None
        self._scratch: Scratch | None = None
        self._free = asyncio.Semaphore(count)
        self._idle: list[Converter] = []
        self._all: set[Converter] = set()
        self._burials: set[asyncio.Task[tuple[int, bytes]]] = set()
        self._quiet = asyncio.Event()
        self._quiet.set()
        self._closed = False
        self.statistics = PoolStatistics()
        self.measures: tuple[str, ...] = ()
        """How the converters are confined, once the first has started (``ingather.app.confined.confinement``)."""

    @property
    def pids(self) -> tuple[int, ...]:
        """The process ids of the converters that live."""
        return tuple(converter.process.pid for converter in self._all)

    async def __aenter__(self) -> Self:
        """Return the pool."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the pool."""
        await self.close()

    # --- the port -----------------------------------------------------------------------------------

    async def run(self, job: str, body: bytes, options: Mapping[str, str]) -> bytes:
        """Give *body* and *options* to job *job* and return its answer (msgpack).

        Raises:
            IsolationError: ``died``, ``timeout``, ``memory``, ``cpu`` are verdicts on this document;
                ``unavailable`` is none: no converter could be started, or the pool was closed.
            ExtractError: the job refused the document; ``reason`` says why.
        """
        limits = self._limits.of(job)
        order = msgspec.msgpack.encode({"job": job, "options": dict(options), "cpu_s": limits.cpu_s})
        async with self._free:
            converter = await self._handed_over(order, body)
            self.statistics.jobs += 1
            try:
                async with asyncio.timeout(limits.wall_s):
                    status, content = await converter.receive(self._limits.answer_bytes)
            except TimeoutError:
                await self._lose(converter)
                raise self._loss("timeout", f"no answer within {limits.wall_s:g} s") from None
            except ConverterDiedError:
                raise await self._verdict(converter) from None
            except BaseException:
                self._drop(converter)
                raise
            if status == DONE:
                self._release(converter)
                return content
            try:
                trouble = _TROUBLE.decode(content)
            except msgspec.DecodeError:
                await self._lose(converter)
                raise self._loss("died", "the converter's answer is broken") from None
            if status == SPENT:
                await self._lose(converter)
                raise self._loss("memory", trouble.text)
            self._release(converter)
        self.statistics.refused += 1
        raise ExtractError(trouble.text, reason=trouble.reason)

    async def ready(self) -> tuple[str, ...]:
        """Start a converter, if none has been started yet, and return how converters are confined.

        Raises:
            IsolationError: ``unavailable``: none can be started.
        """
        if not self.statistics.started:
            async with self._free:
                self._idle.append(await self._start())
        return self.measures

    async def close(self) -> None:
        """End all converters and remove their folders; jobs under way raise ``unavailable``."""
        self._closed = True
        for converter in list(self._idle):
            self._drop(converter)
        for converter in self._all:
            converter.kill()  # whoever waits for its answer sees it die and buries it
        await self._quiet.wait()
        if self._scratch is not None:
            self._scratch.remove()
            self._scratch = None
        elif self._own_folder is not None:
            with contextlib.suppress(OSError):  # somebody else's files keep it
                self._own_folder.rmdir()
        self._own_folder = None

    # --- one job --------------------------------------------------------------------------------------

    async def _handed_over(self, order: bytes, body: bytes) -> Converter:
        """Return a converter that holds the whole job; one that died idle says nothing about the document."""
        for _ in range(2):
            converter = self._idle.pop() if self._idle else await self._start()
            try:
                async with asyncio.timeout(_START_WITHIN_S):
                    await converter.send(order, body)
            except (ConverterDiedError, TimeoutError):
                await self._lose(converter)
            except BaseException:
                self._drop(converter)
                raise
            else:
                return converter
        raise IsolationError("converters end before they are given anything", reason="unavailable")

    def _release(self, converter: Converter) -> None:
        converter.jobs += 1
        old = self._clock.monotonic() - converter.born >= self._limits.recycle_s
        if self._closed:
            self._drop(converter)
        elif old or converter.jobs >= self._limits.recycle_jobs:
            self.statistics.recycled += 1
            self._drop(converter)
        else:
            self._idle.append(converter)

    def _loss(self, reason: str, text: str) -> IsolationError:
        self.statistics.lost[reason] = self.statistics.lost.get(reason, 0) + 1
        return IsolationError(text, reason=reason)

    async def _verdict(self, converter: Converter) -> IsolationError:
        """Say how a converter ended that should not have."""
        code, tail = await self._lose(converter)
        if self._closed:
            return IsolationError("the converters were closed", reason="unavailable")
        words = " ".join(tail.decode("utf-8", "replace").split())[-500:]
        name = signal.Signals(-code).name if code < 0 else f"exit {code}"
        if -code == signal.SIGXCPU:
            return self._loss("cpu", "the processor time is spent")
        if any(sign in tail for sign in _MEMORY_SIGNS):
            return self._loss("memory", f"{name}: {words}")
        return self._loss("died", f"{name}: {words}" if words else name)

    # --- processes --------------------------------------------------------------------------------------

    async def _start(self) -> Converter:
        if self._closed:
            raise IsolationError("the converters were closed", reason="unavailable")
        try:
            converter = self._spawn()
        except OSError as error:
            raise IsolationError(f"no converter can be started: {error}", reason="unavailable") from error
        self._all.add(converter)
        self._quiet.clear()
        self.statistics.started += 1
        try:
            async with asyncio.timeout(_START_WITHIN_S):
                status, content = await converter.receive(self._limits.answer_bytes)
        except (ConverterDiedError, TimeoutError):
            code, tail = await self._lose(converter)
            words = " ".join(tail.decode("utf-8", "replace").split())[-500:]
            raise IsolationError(
                f"a converter does not start ({code}): {words}", reason="unavailable"
            ) from None
        except BaseException:
            self._drop(converter)
            raise
        if status == READY:
            self.measures = tuple(msgspec.msgpack.decode(content))
        return converter

    def _spawn(self) -> Converter:
        folder = Path(tempfile.mkdtemp(prefix="converter-", dir=self._room()))
        ours, theirs = socket.socketpair()
        errors = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 (lives as long as the process)
        order = {
            "socket": theirs.fileno(),
            "jobs": self._job_table,
            "memory_bytes": self._limits.memory_bytes,
            "file_bytes": self._limits.file_bytes,
            "parent": os.getpid(),
        }
        try:
            ours.settimeout(0)
            process = subprocess.Popen(  # noqa: S603 (our own interpreter and code)
                [sys.executable, "-P", "-s", *self._python_flags, "-c", _CODE, json.dumps(order)],
                stdin=subprocess.DEVNULL,
                stdout=errors,
                stderr=errors,
                cwd=folder,
                env=self._variables(folder),
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        except BaseException:
            ours.close()
            errors.close()
            shutil.rmtree(folder, ignore_errors=True)
            raise
        finally:
            theirs.close()
        return Converter(process, ours, folder, errors, self._clock.monotonic())

    def _variables(self, folder: Path) -> dict[str, str]:
        home = str(folder)
        return {
            "PATH": "/usr/bin:/bin",
            "HOME": home,
            "TMPDIR": home,
            "LANG": "C.UTF-8",
            # The package may run from its source tree.
            "PYTHONPATH": str(Path(ingather.__file__).parent.parent),
            "MALLOC_ARENA_MAX": "2",
            **self._environment,
        }

    def _room(self) -> Path:
        if self._own_folder is None:
            if self._folder is None:
                self._scratch = Scratch("ingather-converters-")
                self._own_folder = self._scratch.path
            else:
                self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                for left in self._folder.glob("converter-*"):
                    shutil.rmtree(left, ignore_errors=True)
                self._own_folder = self._folder
        return self._own_folder

    async def _lose(self, converter: Converter) -> tuple[int, bytes]:
        """End *converter* and return its exit code and its last words."""
        return await asyncio.shield(self._drop(converter))

    def _drop(self, converter: Converter) -> "asyncio.Task[tuple[int, bytes]]":
        """End *converter*, whose socket nobody waits on any more."""
        converter.kill()
        converter.channel.close()
        if converter in self._idle:
            self._idle.remove(converter)
        task = asyncio.create_task(asyncio.to_thread(converter.bury))
        self._burials.add(task)
        task.add_done_callback(lambda _task: self._buried(task, converter))
        return task

    def _buried(self, task: "asyncio.Task[tuple[int, bytes]]", converter: Converter) -> None:
        self._burials.discard(task)
        self._all.discard(converter)
        if not self._all:
            self._quiet.set()


def _fits(pool: ConverterPool) -> Isolation:
    return pool
