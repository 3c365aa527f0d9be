"""One converter process as its pool holds it: the socket, the folder, the last words."""

import asyncio
import contextlib
import os
import shutil
import signal
import socket
import subprocess
from pathlib import Path
from typing import IO

from ingather.app.confined.converter import ANSWER, REQUEST

__all__ = ["Converter", "ConverterDiedError"]

_STDERR_TAIL = 2_000


class ConverterDiedError(Exception):
    """The other end of the socket closed; *began*: the job had been handed over completely."""

    def __init__(self, *, began: bool) -> None:
        super().__init__()
        self.began = began


class Converter:
    """One process: its socket, its folder, what it wrote to standard error."""

    def __init__(
        self,
        process: "subprocess.Popen[bytes]",
        channel: socket.socket,
        folder: Path,
        errors: IO[bytes],
        born: float,
    ) -> None:
        self.process = process
        self.channel = channel
        self.folder = folder
        self.errors = errors
        self.born = born
        self.jobs = 0
        self.measures: tuple[str, ...] = ()

    async def receive(self, most: int) -> tuple[int, bytes]:
        """Return the next answer (status, content)."""
        status, size = ANSWER.unpack(await self._exactly(ANSWER.size))
        if size > most:
            raise ConverterDiedError(began=True)
        return status, await self._exactly(size)

    async def send(self, order: bytes, body: bytes) -> None:
        """Hand over one job."""
        loop = asyncio.get_running_loop()
        try:
            await loop.sock_sendall(self.channel, REQUEST.pack(len(order), len(body)) + order)
            if body:  # without one the job has begun already, and its end is no fault of handing over
                await loop.sock_sendall(self.channel, body)
        except OSError as error:
            raise ConverterDiedError(began=False) from error

    async def _exactly(self, size: int) -> bytes:
        loop = asyncio.get_running_loop()
        buffer = bytearray(size)
        view, filled = memoryview(buffer), 0
        while filled < size:
            try:
                count = await loop.sock_recv_into(self.channel, view[filled:])
            except OSError as error:
                raise ConverterDiedError(began=True) from error
            if not count:
                raise ConverterDiedError(began=True)
            filled += count
        return bytes(buffer)

    def kill(self) -> None:
        """End the process and everything that it started; returns at once."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            self.process.kill()

    def bury(self) -> tuple[int, bytes]:
        """Wait for the end of a killed process, free what it held; return exit code and its last words. Blocks briefly."""
        with contextlib.suppress(ChildProcessError):
            os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOWAIT)
        # As long as nobody waits for it for good its group keeps its number: what it started ends too.
        self.kill()
        code = self.process.wait()
        size = os.fstat(self.errors.fileno()).st_size
        words = os.pread(self.errors.fileno(), _STDERR_TAIL, max(size - _STDERR_TAIL, 0))
        self.errors.close()
        shutil.rmtree(self.folder, ignore_errors=True)
        return code, words
