"""What happens in the browser's process before it is the browser: what it may not have is taken away, then it is started.

Runs as a program of its own between us and Chromium. Each measure is best effort, and those that took are told. The order matters:
name spaces and mounts while we may still make them, then another user, then the death signal, which a change of
user would clear. Linux only: the calls go through libc.
"""

import array
import contextlib
import ctypes
import fcntl
import json
import os
import resource
import signal
import socket
import struct
import sys
from pathlib import Path
from typing import Any

__all__ = ["LOCKS", "main"]

LOCKS = ("own-network", "own-files", "other-user", "dies-with-parent", "limits")
"""Every measure by name."""

_PR_SET_PDEATHSIG = 1
_CLONE_NEWNS, _CLONE_NEWUSER, _CLONE_NEWNET = 0x00020000, 0x10000000, 0x40000000
_MS_NOSUID, _MS_NODEV, _MS_NOEXEC, _MS_REC, _MS_PRIVATE = 2, 4, 8, 16384, 1 << 18
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1
_OPEN_FILES = 4096
_TO_BROWSER, _FROM_BROWSER = 3, 4
"""Where Chromium looks for ``--remote-debugging-pipe``."""


def main() -> None:
    """Lock this process in as the order in ``argv[1]`` says and become the browser; the target of the launcher."""
    order = json.loads(sys.argv[1])
    libc = ctypes.CDLL(None, use_errno=True)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches everybody: who started us decides
    taken = _own_spaces(libc, order)
    listening = socket.create_server(("127.0.0.1", 0))
    uid = order["uid"]
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
        taken.append("other-user")
    if libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) == 0:
        taken.append("dies-with-parent")
    if os.getppid() != order["parent"]:
        sys.exit(0)  # it died before the line above
    with contextlib.suppress(OSError):
        # When the machine runs out of memory a browser goes first.
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
    _limit(resource.RLIMIT_DATA, order["memory_bytes"])
    _limit(resource.RLIMIT_FSIZE, order["disk_bytes"])
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_NOFILE, _OPEN_FILES)
    taken.append("limits")
    _become(order, taken, listening)


def _become(order: dict[str, Any], taken: list[str], listening: socket.socket) -> None:
    port = listening.getsockname()[1]
    profile = order["profile"]
    os.makedirs(profile, mode=0o700, exist_ok=True)  # noqa: PTH103 - before anything is loaded for pathlib's sake
    with socket.socket(fileno=order["told"]) as told:
        said = json.dumps({"measures": taken, "port": port}).encode()
        rights = array.array("i", [listening.fileno()])
        told.sendmsg([said], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
    listening.close()
    channel = fcntl.fcntl(order["channel"], fcntl.F_DUPFD, _FROM_BROWSER + 1)
    os.dup2(channel, _TO_BROWSER)
    os.dup2(channel, _FROM_BROWSER)
    os.closerange(
        _FROM_BROWSER + 1, _OPEN_FILES
    )  # Chromium takes a descriptor that it does not know for an attack
    command = [word.replace("{port}", str(port)) for word in order["command"]]
    variables = {
        "PATH": "/usr/bin:/bin",
        "HOME": profile,
        "TMPDIR": order["temporary"],
        "LANG": "C.UTF-8",
        "TZ": "UTC",
    }
    os.chdir("/")
    os.execve(command[0], command, variables)  # noqa: S606 - the browser that the operator has installed


def _own_spaces(libc: ctypes.CDLL, order: dict[str, Any]) -> list[str]:
    """Give this process a network with nothing in it, and its own empty folders in place of some."""
    if not order["namespaces"]:
        return []
    uid, gid = os.geteuid(), os.getegid()
    if libc.unshare(_CLONE_NEWNS | _CLONE_NEWNET) != 0:
        if libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNS | _CLONE_NEWNET) != 0:
            return []
        for name, text in (
            ("setgroups", "deny"),
            ("uid_map", f"{uid} {uid} 1"),
            ("gid_map", f"{gid} {gid} 1"),
        ):
            Path(f"/proc/self/{name}").write_text(text, encoding="ascii")
    taken = ["own-network"]
    _loopback_up()
    if libc.mount(None, b"/", None, _MS_REC | _MS_PRIVATE, None) != 0:
        return taken
    options = f"size={order['disk_bytes']},mode=1777".encode()
    flags = _MS_NOSUID | _MS_NODEV | _MS_NOEXEC
    if libc.mount(b"tmpfs", order["temporary"].encode(), b"tmpfs", flags, options) == 0:
        taken.append("own-files")
        for folder in order[
            "hidden"
        ]:  # what lay below the folder for temporary files is out of sight already
            libc.mount(b"tmpfs", os.fsencode(folder), b"tmpfs", flags, b"size=4k,mode=0")
    return taken


def _loopback_up() -> None:
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        request = struct.pack("16sH14x", b"lo", 0)
        (_, flags) = struct.unpack("16sH14x", fcntl.ioctl(asking, _SIOCGIFFLAGS, request))
        fcntl.ioctl(asking, _SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", flags | _IFF_UP))


def _limit(which: int, value: int) -> None:
    _, hard = resource.getrlimit(which)
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)  # inherited from a gatherer that is limited itself
    resource.setrlimit(which, (value, value))
