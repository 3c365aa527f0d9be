"""What the operating system gives: versions, limits, clock, names, confinement."""

import asyncio
import ctypes
import os
import platform
import resource
import sys
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from ingather import __version__
from ingather.app.confined.sandbox import probe
from ingather.app.doctor.finding import Finding, error, fine, warning
from ingather.app.wiring import converter_limits
from ingather.catalog.sqlite_memory import sqlite_version
from ingather.catalog.sqlite_open import guard_version
from ingather.conf import RobotConf
from ingather.conf.settings.values import Settings
from ingather.errors import CatalogError, HomeError, IngatherError
from ingather.fetch.dns import SystemResolver
from ingather.ports.clock import Clock

__all__ = ["check_clock", "check_limits", "check_names", "check_sandbox", "check_versions"]

_PYTHON: Final = (3, 11)
_DESCRIPTORS: Final = 4_096
_DAY_S: Final = 86_400.0
_NOT_SYNCHRONISED: Final = 5
"""TIME_ERROR of adjtimex(2)."""
_MOST_HOSTS: Final = 5
_MIB: Final = 1 << 20
_PACKAGES: Final = ("pycurl", "tantivy", "lxml", "pypdfium2")


def check_versions() -> Iterator[Finding]:
    """Look at the versions of what we stand on."""
    python = platform.python_version()
    if sys.version_info[:2] < _PYTHON:
        yield error("versions", f"Python {python} is too old", "install Python 3.11 or newer")
        return
    try:
        guard_version()
    except CatalogError as trouble:
        yield error("versions", trouble.text, trouble.hint or "")
        return
    known = []
    for name in _PACKAGES:
        try:
            known.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            yield error("versions", f"the package {name} is missing", "install Ingather anew")
    yield fine(
        "versions",
        f"Ingather {__version__}, Python {python}, SQLite {sqlite_version()}, {', '.join(known)}, "
        f"{platform.system()} {platform.release()}",
    )


def check_limits(settings: Settings) -> Iterator[Finding]:
    """Look at what this process may have: descriptors, sizes of files, memory."""
    _, files = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files != resource.RLIM_INFINITY and files < _DESCRIPTORS:
        yield warning(
            "limits",
            f"a process may have {files} open files at most",
            f"allow {_DESCRIPTORS}: LimitNOFILE= of the systemd unit, or ulimit -Hn",
        )
    size, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    segment = settings.size("gather.segment-size")
    if size != resource.RLIM_INFINITY and size < 2 * segment:
        yield error(
            "limits",
            f"no file may grow beyond {size:,} bytes, files of bodies have {segment:,}",
            "lift LimitFSIZE= of the systemd unit (ulimit -f), or lower gather.segment-size",
        )
    wanted = _wanted_bytes(settings)
    given = _memory_bytes()
    if given and wanted > given:
        yield warning(
            "limits",
            f"gatherers and index may take {wanted // _MIB:,} MiB together, this machine gives {given // _MIB:,}",
            "lower gather.gatherers or gather.gatherer-memory, or give it more memory",
        )
    shown = "any number of" if files == resource.RLIM_INFINITY else f"{files:,}"
    yield fine(
        "limits", f"{shown} open files, {given // _MIB:,} MiB of memory, {os.cpu_count() or 1} processors"
    )


def check_clock(clock: Clock, last_known_s: float | None) -> Iterator[Finding]:
    """Compare the clock with what the catalog and our own files remember, and ask the kernel whether it is kept right."""
    now_s = clock.wall()
    ours_s = Path(__file__).stat().st_mtime
    for what, at_s in (("the catalog's last run", last_known_s), ("this program's own files", ours_s)):
        if at_s is not None and now_s < at_s - _DAY_S:
            yield error(
                "clock",
                f"the clock is {(at_s - now_s) / _DAY_S:.0f} days before {what}",
                "set the clock; until then nothing expires and nothing is deleted",
            )
            return
    if _synchronised() is False:
        yield warning(
            "clock",
            "the clock is plausible, but the kernel says that nothing keeps it right",
            "run a time service (systemd-timesyncd, chrony); in a container the host's counts",
        )
        return
    yield fine("clock", "the clock is plausible")


def check_names(hosts: Sequence[str], clock: Clock) -> Iterator[Finding]:
    """Ask for the addresses of some of *hosts*, as fetching would."""
    if not hosts:
        yield fine("dns", "no starting point names a host")
        return
    asked = list(dict.fromkeys(hosts))[:_MOST_HOSTS]
    answers = asyncio.run(_resolve(asked, clock))
    bad = [(host, why) for host, why in answers if why]
    for host, why in bad:
        yield warning("dns", f"{host}: {why}", "look at the name in <Site>, /etc/resolv.conf and the network")
    if len(bad) < len(asked):
        yield fine("dns", f"{len(asked) - len(bad)} of {len(asked)} hosts of starting points have addresses")


async def _resolve(hosts: Sequence[str], clock: Clock) -> list[tuple[str, str]]:
    resolver = SystemResolver(clock, max_threads=_MOST_HOSTS)

    async def one(host: str) -> tuple[str, str]:
        try:
            found = await resolver.resolve(host)
        except OSError as trouble:
            return host, f"nobody could be asked: {trouble.strerror or trouble}"
        return host, "" if found else "has no address"

    try:
        return list(await asyncio.gather(*(one(host) for host in hosts)))
    finally:
        await resolver.close()


def check_sandbox(settings: Settings, robot: RobotConf, clock: Clock, folder: Path) -> Iterator[Finding]:
    """Start one converter in *folder* and ask how the kernel confines it."""
    try:
        found = asyncio.run(probe(converter_limits(settings, robot), clock, folder))
    except (OSError, IngatherError) as trouble:
        raise HomeError(f"no converter could be tried: {trouble}") from trouble
    if found.trouble:
        yield error(
            "sandbox",
            f"no converter can be started: {found.trouble}",
            "PDF and Office files are not read until that is mended",
        )
    elif found.missing:
        yield warning(
            "sandbox",
            f"converters are confined in part; missing: {', '.join(found.missing)}",
            "use a kernel with Landlock and seccomp, or a container that does not forbid them",
        )
    else:
        yield fine("sandbox", f"converters are confined by {', '.join(found.measures)}")


def _synchronised() -> bool | None:
    """Whether something keeps the clock right; ``None`` = the kernel does not tell."""
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        answer = libc.adjtimex(
            ctypes.create_string_buffer(1_024)
        )  # modes 0: read only; larger than the structure
    except (OSError, AttributeError):
        return None
    return None if answer < 0 else answer != _NOT_SYNCHRONISED


def _wanted_bytes(settings: Settings) -> int:
    gatherers = settings.count("gather.gatherers") * settings.size("gather.gatherer-memory")
    return gatherers + settings.size("index.memory") + settings.size("catalog.cache")


def _memory_bytes() -> int:
    """Memory of this machine, or of the control group that we are in if that is less; 0 = not known."""
    try:
        found = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return 0
    try:
        group = Path("/sys/fs/cgroup/memory.max").read_text("ascii").strip()
    except OSError:
        return found
    return min(found, int(group)) if group.isdigit() else found
