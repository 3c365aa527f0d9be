"""Starting Chromium, locked in, and ending it with everything that it started."""

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from ingather.app.confined.scratch import Scratch
from ingather.app.rendering.finding import Found
from ingather.app.rendering.flags import command_line

__all__ = ["LaunchError", "Launched", "launch"]

_CODE = "from ingather.app.rendering.locking import main; main()"
_PATIENCE_S = 60.0
_STDERR_TAIL = 2_000
_TOLD = 4096


class LaunchError(Exception):
    """No browser could be started; the text says why."""


@dataclass(slots=True)
class Launched:
    """A running browser: its process (which leads a group of its own), the channel to it, and the listener in its network."""

    process: "subprocess.Popen[bytes]"
    channel: socket.socket
    listening: socket.socket
    measures: tuple[str, ...]
    errors: IO[bytes]
    folder: Scratch | None = field(default=None)

    def kill(self) -> None:
        """End the browser and everything that it started; returns when its process is buried. Blocks briefly."""
        # As long as nobody waits for it for good its group keeps its number.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait()

    def bury(self) -> str:
        """Kill it, free what it held, and return its last words. Blocks briefly."""
        self.kill()
        size = os.fstat(self.errors.fileno()).st_size
        words = os.pread(self.errors.fileno(), _STDERR_TAIL, max(size - _STDERR_TAIL, 0))
        self.errors.close()
        if self.folder is not None:
            self.folder.remove()
        return " ".join(words.decode("utf-8", "replace").split())


async def launch(  # noqa: PLR0913 - what the settings say of a browser
    found: Found,
    *,
    memory_bytes: int,
    disk_bytes: int,
    heap_mib: int,
    hidden: Sequence[Path] = (),
    unsafe: bool = False,
    namespaces: bool = True,
) -> Launched:
    """Start the browser and return it as soon as it is locked in.

    Args:
        found: program and user.
        memory_bytes: private memory of each of its processes.
        disk_bytes: everything that it writes, together where it gets files of its own.
        heap_mib: most MiB of one page's scripts.
        hidden: folders that it shall not see; the home.
        unsafe: as root when there is nobody else to be, and then without its sandbox.
        namespaces: whether it gets a network and files of its own where the kernel gives them.

    Raises:
        LaunchError: it could not be started.
    """
    scratch = Scratch("ingather-browser-")
    folder = scratch.path
    if found.uid is not None:
        os.chown(folder, found.uid, found.uid)
    rooted = os.geteuid() == 0 and found.uid is None
    order: dict[str, object] = {
        "namespaces": namespaces,
        "uid": found.uid,
        "parent": os.getpid(),
        "memory_bytes": memory_bytes,
        "disk_bytes": disk_bytes,
        "temporary": tempfile.gettempdir(),
        "profile": str(folder),
        "hidden": [str(path) for path in hidden],
        "command": command_line(
            found.program, profile=str(folder), heap_mib=heap_mib, sandboxed=not (rooted and unsafe)
        ),
    }
    process, ours, told, errors = _spawn(order, scratch)
    listening: socket.socket | None = None
    why = "it ended at once"
    try:
        told.settimeout(_PATIENCE_S)
        said, descriptors, _, _ = await asyncio.to_thread(socket.recv_fds, told, _TOLD, 1)
        if said and descriptors:
            listening = socket.socket(fileno=descriptors[0])
            launched = Launched(
                process, ours, listening, tuple(json.loads(said)["measures"]), errors, scratch
            )
            if "own-files" in launched.measures:  # its own lies over this one, and goes with it
                scratch.remove()
                launched.folder = None
            return launched
    except OSError as error:
        why = str(error)
    finally:
        told.close()
        if listening is None:
            ours.close()
            why = Launched(process, ours, ours, (), errors, scratch).bury()[-500:] or why
    raise LaunchError(f"it could not be locked in: {why}")


def _spawn(
    order: dict[str, object], scratch: Scratch
) -> "tuple[subprocess.Popen[bytes], socket.socket, socket.socket, IO[bytes]]":
    """Start the program that locks itself in; return it, our end of the channel, where it tells of itself, its last words."""
    ours, theirs = socket.socketpair()
    told, telling = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    errors = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
    order |= {"told": telling.fileno(), "channel": theirs.fileno()}
    try:
        process = subprocess.Popen(  # noqa: S603 - our own interpreter and code
            [sys.executable, "-P", "-s", "-c", _CODE, json.dumps(order)],
            stdin=subprocess.DEVNULL,
            stdout=errors,
            stderr=errors,
            env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"},
            pass_fds=(theirs.fileno(), telling.fileno()),
            start_new_session=True,
        )
    except BaseException:
        for one in (ours, told, errors):
            one.close()
        scratch.remove()
        raise
    finally:
        theirs.close()
        telling.close()
    return process, ours, told, errors
