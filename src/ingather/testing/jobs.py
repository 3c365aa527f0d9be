"""Jobs that misbehave on demand: the table for tests of isolation (``ConverterPool(job_table="ingather.testing.jobs")``).

The body says how much or how long where that makes sense; the option ``marker`` names a file to leave behind.
"""

import ctypes
import os
import signal
import socket
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import msgspec

from ingather.app.confined.converter import JOBS as REAL_JOBS
from ingather.app.confined.converter import Job
from ingather.errors import ExtractError

__all__ = ["JOBS", "stand_by"]

_MEBIBYTE = 1024 * 1024


def _echo(body: bytes, options: Mapping[str, str]) -> bytes:
    """Give the body back, with the options and the process id."""
    return msgspec.msgpack.encode({"body": body, "options": dict(options), "pid": os.getpid()})


def _hang(_body: bytes, options: Mapping[str, str]) -> bytes:
    """Sleep for ever without using processor time; touches *marker* first."""
    if marker := options.get("marker"):
        Path(marker).touch()
    while True:
        time.sleep(3600)


def _spin(_body: bytes, _options: Mapping[str, str]) -> bytes:
    """Use processor time for ever."""
    while True:
        pass


def _eat_memory(body: bytes, _options: Mapping[str, str]) -> bytes:
    """Hold as many MiB as the body says."""
    held = [bytearray(b"x") * _MEBIBYTE for _ in range(int(body))]
    return str(len(held)).encode()


def _eat_all_memory(_body: bytes, _options: Mapping[str, str]) -> bytes:
    """Hold memory to the last small object: nothing is left to tell it with."""
    held: list[object] = []
    while True:
        held = [held, bytearray(64), f"{len(held)}{held[:0]}" * 8]


def _exit(body: bytes, _options: Mapping[str, str]) -> bytes:
    """End the process with the status that the body says."""
    os._exit(int(body))


def _crash(body: bytes, _options: Mapping[str, str]) -> bytes:
    """Die of the signal that the body names, after a last word on standard error."""
    sys.stderr.write("last words\n")
    sys.stderr.flush()
    os.kill(os.getpid(), signal.Signals[body.decode()])
    return b""


def _abort_for_memory(_body: bytes, _options: Mapping[str, str]) -> bytes:
    """Abort the way native code does when an allocation fails."""
    sys.stderr.write("memory allocation of 4096 bytes failed\n")
    sys.stderr.flush()
    os.abort()


def _print(body: bytes, _options: Mapping[str, str]) -> bytes:
    """Write the body to standard output and error, from Python and from the C library, then answer."""
    sys.stdout.write(body.decode())
    sys.stdout.flush()
    os.write(1, body)
    os.write(2, body)
    ctypes.CDLL(None).puts(b"from C")
    return b"done"


def _refuse(body: bytes, _options: Mapping[str, str]) -> bytes:
    """Refuse the document for the reason that the body says."""
    raise ExtractError("refused on demand", reason=body.decode())


def _stumble(_body: bytes, _options: Mapping[str, str]) -> bytes:
    """Raise what no job should raise."""
    raise KeyError("stumbled")


def _long_answer(body: bytes, _options: Mapping[str, str]) -> bytes:
    """Answer with as many bytes as the body says."""
    return bytes(int(body))


def _write_file(body: bytes, _options: Mapping[str, str]) -> bytes:
    """Write a file of as many bytes as the body says into the temporary folder; say what happened."""
    try:
        Path("file").write_bytes(bytes(int(body)))
    except OSError as error:
        return f"refused {error.errno}".encode()
    return b"written"


def _connect(body: bytes, _options: Mapping[str, str]) -> bytes:
    """Try to connect to the port on loopback that the body says; say what happened."""
    try:
        with socket.create_connection(("127.0.0.1", int(body)), timeout=5):
            return b"connected"
    except OSError as error:
        return f"refused {error.errno}".encode()


def _run_program(_body: bytes, _options: Mapping[str, str]) -> bytes:
    """Try to become another program; say what happened."""
    try:
        os.execv("/bin/true", ["true"])  # noqa: S606 (meant to be refused)
    except OSError as error:
        return f"refused {error.errno}".encode()


def _leave_child(_body: bytes, options: Mapping[str, str]) -> bytes:
    """Fork a child that sleeps for ever, write its id to *marker*, then hang."""
    child = os.fork()
    if child == 0:
        while True:
            time.sleep(3600)
    Path(options["marker"]).write_text(str(child), encoding="ascii")
    return _hang(b"", {})


def stand_by(_number: int) -> None:
    """Be a gatherer that never gives a sign of life."""
    signal.pause()


def _surroundings(_body: bytes, _options: Mapping[str, str]) -> bytes:
    """Tell the process's folder, its mode, its environment and process group."""
    here = Path.cwd()
    return msgspec.msgpack.encode(
        {
            "folder": str(here),
            "mode": here.stat().st_mode & 0o777,
            "environment": dict(os.environ),
            "group": os.getpgid(0),
            "pid": os.getpid(),
            "interrupt": signal.getsignal(signal.SIGINT) == signal.SIG_IGN,
        }
    )


JOBS: Mapping[str, Job] = {
    **REAL_JOBS,
    "echo": _echo,
    "hang": _hang,
    "spin": _spin,
    "eat-memory": _eat_memory,
    "eat-all-memory": _eat_all_memory,
    "exit": _exit,
    "crash": _crash,
    "abort-for-memory": _abort_for_memory,
    "print": _print,
    "refuse": _refuse,
    "stumble": _stumble,
    "long-answer": _long_answer,
    "write-file": _write_file,
    "connect": _connect,
    "run-program": _run_program,
    "leave-child": _leave_child,
    "surroundings": _surroundings,
}
