"""What a converter gives up before it sees a stranger's byte: the network, privileges, most of its limits.

Every step is best effort and none needs root; which ones took is told to the pool and shown
to the operator. Linux only: the calls go through libc, for no wheel brings them.
"""

import contextlib
import ctypes
import os
import platform
import resource
import signal
import struct
import sys
from pathlib import Path

__all__ = ["MEASURES", "confine", "limit_cpu"]

MEASURES = ("dies-with-parent", "limits", "network-namespace", "no-new-privileges", "seccomp")
"""Every measure by name, as :func:`confine` reports those that took."""

_PR_SET_PDEATHSIG, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 1, 22, 38
_SECCOMP_MODE_FILTER = 2
_CLONE_NEWNET, _CLONE_NEWUSER = 0x40000000, 0x10000000

_LOAD_WORD, _JUMP_EQUAL, _JUMP_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW = 0x7FFF0000
_REFUSE = 0x00050001  # SECCOMP_RET_ERRNO with EPERM
_KILL = 0x80000000
_NUMBER_AT, _ARCHITECTURE_AT = 0, 4
_X32 = 0x40000000

# Machine -> (AUDIT_ARCH, numbers of the calls that could reach other processes, hosts or privileges, or
# leave the process group): socket, connect, bind, ptrace, process_vm_readv, process_vm_writev, io_uring_setup,
# bpf, keyctl, mount, setns, unshare, userfaultfd, perf_event_open, kexec_load, execve, execveat, setsid, setpgid.
_CALLS: dict[str, tuple[int, tuple[int, ...]]] = {
    "x86_64": (
        0xC000003E,
        (41, 42, 49, 101, 310, 311, 425, 321, 250, 165, 308, 272, 323, 298, 246, 59, 322, 112, 109),
    ),
    "aarch64": (
        0xC00000B7,
        (198, 203, 200, 117, 270, 271, 425, 280, 219, 40, 268, 97, 282, 241, 104, 221, 281, 157, 154),
    ),
}

_OPEN_FILES = 256


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))  # type: ignore[mutable-override]


def confine(*, memory_bytes: int, file_bytes: int, parent: int) -> tuple[str, ...]:
    """Confine this process and return the names of the measures that took.

    Args:
        memory_bytes: private memory (``RLIMIT_DATA``; not address space, which threads merely reserve).
        file_bytes: size of any file it writes.
        parent: process that started it; it ends with that one, however that one ends.

    The names are those of :data:`MEASURES`.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group: the pool decides
    libc = ctypes.CDLL(None, use_errno=True)
    taken = []
    if libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) == 0:
        taken.append("dies-with-parent")
    if os.getppid() != parent:
        sys.exit(0)  # it died before the line above
    with contextlib.suppress(OSError):
        # When the machine runs out of memory a converter goes first.
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
    _limit(resource.RLIMIT_DATA, memory_bytes)
    _limit(resource.RLIMIT_FSIZE, file_bytes)
    _limit(resource.RLIMIT_CORE, 0)
    _limit(resource.RLIMIT_NOFILE, _OPEN_FILES)
    taken.append("limits")
    # Without CAP_SYS_ADMIN a network of one's own takes a user name space of one's own first.
    if libc.unshare(_CLONE_NEWNET) == 0 or libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET) == 0:
        taken.append("network-namespace")
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0:
        taken.append("no-new-privileges")
        if _install_filter(libc):
            taken.append("seccomp")
    return tuple(taken)


def limit_cpu(seconds: float) -> None:
    """Let the kernel end this process (SIGXCPU) after *seconds* more of processor time, rounded up."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    soft = int(used.ru_utime + used.ru_stime + seconds) + 1
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(
        resource.RLIMIT_CPU, (soft if hard == resource.RLIM_INFINITY else min(soft, hard), hard)
    )


def _limit(which: int, value: int) -> None:
    _, hard = resource.getrlimit(which)
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)  # inherited from a parent that is limited itself
    resource.setrlimit(which, (value, value))


def _install_filter(libc: ctypes.CDLL) -> bool:
    """Refuse (EPERM) the calls of the table for good; a foreign calling convention is killed."""
    known = _CALLS.get(platform.machine())
    if known is None:
        return False
    architecture, numbers = known
    steps = [(_LOAD_WORD, 0, 0, _ARCHITECTURE_AT), (_JUMP_EQUAL, 1, 0, architecture), (_RETURN, 0, 0, _KILL)]
    steps.append((_LOAD_WORD, 0, 0, _NUMBER_AT))
    steps.append((_JUMP_AT_LEAST, len(numbers) + 1, 0, _X32))
    steps += [(_JUMP_EQUAL, len(numbers) - index, 0, number) for index, number in enumerate(numbers)]
    steps += [(_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _REFUSE)]
    code = b"".join(struct.pack("=HBBI", *step) for step in steps)
    program = _Program(len(steps), code)
    return bool(libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0) == 0)
