"""The fetcher for file: trees of this machine and what is mounted there, below the roots that a source names.

A path is walked segment by segment from its root, each opened relative to the one before and never through a symbolic link,
so that nothing that is renamed meanwhile leads out of the tree. A link inside is answered with a redirect to where it leads,
if the source follows links. Devices, pipes and sockets are not even opened. The work is done in threads that nobody waits
for beyond the limits: a file system that hangs holds its threads and not the loop.
"""

import errno
import os
import stat
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from email.utils import formatdate
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path
from typing import Final
from urllib.parse import quote_from_bytes, unquote_to_bytes

from ingather.fetch.limits import Limits
from ingather.fetch.shares.account import Target, target_of
from ingather.fetch.shares.file_facts import facts_of
from ingather.fetch.shares.file_server import TypeOf, described, is_unchanged
from ingather.fetch.shares.file_threads import FileThreads
from ingather.fetch.shares.listing import Entry, listing_response
from ingather.model.resource import LISTING_ENTRIES, Failure, FailureKind, Request, Response
from ingather.model.scope import Scope
from ingather.ports.clock import Clock

__all__ = ["FileFetcher", "FileReach"]

_WALK: Final = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC
_READ: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_CHUNK_BYTES: Final = 1 << 20
_FRESH_S: Final = 2.0
_MOST_NAMES: Final = 5 * LISTING_ENTRIES
_ABSENT: Final = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG})
_DENIED: Final = frozenset({errno.EACCES, errno.EPERM, errno.ELOOP})
_SAFE: Final = "/!$&'()*+,=:@"


@dataclass(frozen=True, slots=True)
class FileReach:
    """What a source may read.

    Attributes:
        roots: whole paths of folders; empty = nothing.
        hidden: patterns of names that begin with a dot and are read all the same.
        links: symbolic links are followed as long as they stay below a root.
        metadata: owner, group and mode are told in headers.
    """

    roots: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    links: bool = False
    metadata: bool = False


class _Refusal(Exception):  # noqa: N818 - a value that travels up two calls, never out of the file
    def __init__(self, status: int, location: str = "") -> None:
        super().__init__(status)
        self.status, self.location = status, location


class FileFetcher:
    """Reads files; see :class:`ingather.ports.fetcher.Fetcher`. Everything it answers is ``authorized``.

    Args:
        limits: size and time of one file.
        clock: for ``elapsed_s`` and for files that changed a moment ago.
        reach: by source.
        never: folders that are never read, with all below them: the home.
        type_of: media types by file name.
        max_threads: at once; more wait, and fail when they have waited too long.
    """

    def __init__(  # noqa: PLR0913 - the parts that app wires
        self,
        limits: Limits,
        *,
        clock: Clock,
        reach: Callable[[str], FileReach],
        never: Sequence[str] = (),
        type_of: TypeOf = lambda _: None,
        max_threads: int = 16,
    ) -> None:
        self._limits, self._clock, self._reach, self._type_of = limits, clock, reach, type_of
        self._never = tuple(os.path.realpath(path) for path in never)
        self._threads = FileThreads(max_threads)

    async def fetch(self, request: Request, scope: Scope) -> Response | Failure:
        """Read ``request.url`` within *scope*; see the port."""
        started_s = self._clock.monotonic()
        got = await self._asked(request, scope)
        return replace(got, elapsed_s=self._clock.monotonic() - started_s)

    async def close(self) -> None:
        """Nothing is kept open; threads that hang are left behind."""

    async def _asked(self, request: Request, scope: Scope) -> Response | Failure:
        url = request.url
        target = target_of(url)
        if isinstance(target, str):
            return Failure(url, FailureKind.PROTOCOL, target)
        if request.method not in {"GET", "HEAD"}:
            return Failure(url, FailureKind.PROTOCOL, f"method {request.method!r} is not for a gatherer")
        reach = self._reach(scope.source)
        root = _root_of(target, reach)
        if target.scheme != "file" or "file" not in scope.schemes:
            refused = f"source {scope.source} does not allow {target.scheme}:"
        elif target.host not in {"", "localhost"}:
            refused = f"{target.host} is another machine; file: is for this one"
        elif scope.only_urls and url not in scope.only_urls:
            refused = f"source {scope.source} may ask for its own page alone"
        elif root is None:
            refused = f"it is below no root of source {scope.source}"
        else:
            refused = ""
        if refused or root is None:
            return Failure(url, FailureKind.EGRESS, refused)
        bare, question, _ = url.partition("?")
        if question:  # files have no queries: one document, one URL
            return Response(url, 301, (("Location", bare),), authorized=True)
        ended = threading.Event()
        reading = _Reading(
            request, target, reach, root, limits=self._limits, never=self._never, type_of=self._type_of,
            now_s=self._clock.wall(), ended=ended,
        )  # fmt: skip
        try:
            got = await self._threads.run(reading.answer, self._limits.total_s)
        finally:
            ended.set()
        if got is None:
            return Failure(url, FailureKind.TOTAL_TIMEOUT, f"no end within {self._limits.total_s:g} s")
        return got


class _Reading:
    """One request, in its thread."""

    def __init__(  # noqa: PLR0913 - what one request consists of
        self,
        request: Request,
        target: Target,
        reach: FileReach,
        root: str,
        *,
        limits: Limits,
        never: Sequence[str],
        type_of: TypeOf,
        now_s: float,
        ended: threading.Event,
    ) -> None:
        self._request, self._target, self._reach, self._root = request, target, reach, root
        self._limits, self._never, self._type_of = limits, never, type_of
        self._now_s, self._ended = now_s, ended
        self._parts = [
            part for part in unquote_to_bytes(target.path)[len(os.fsencode(root)) :].split(b"/") if part
        ]

    def answer(self) -> Response | Failure:  # noqa: PLR0911 - one a way to end
        """Walk, look, read."""
        url = self._request.url
        with ExitStack() as kept:
            try:
                top = self._top(kept)
            except OSError as error:  # a mount that is gone: that says nothing of any file
                return Failure(url, FailureKind.CLOSED, f"root {self._root}: {error.strerror}")
            except _Refusal as refusal:
                return self._plain(refusal.status)
            try:
                return self._read(self._walk(top, kept))
            except _Refusal as refusal:
                return self._plain(refusal.status, refusal.location)
            except OSError as error:
                if error.errno in _DENIED:
                    return self._plain(403)
                if error.errno not in _ABSENT:
                    return Failure(url, FailureKind.CLOSED, error.strerror or str(error))
            try:
                return self._absent(top)
            except OSError as error:
                return Failure(url, FailureKind.CLOSED, f"root {self._root}: {error.strerror}")

    # -- the way there ----------------------------------------------------------------------------

    def _top(self, kept: ExitStack) -> int:
        top = os.open(self._root, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        kept.callback(os.close, top)
        place = str(Path(f"/proc/self/fd/{top}").readlink())
        if any(place == never or place.startswith(f"{never}/") for never in self._never):
            raise _Refusal(403)
        return top

    def _walk(self, top: int, kept: ExitStack) -> int:
        """Return what the path leads to, opened for looking at it alone."""
        here = top
        never = _identities(self._never)
        for number, part in enumerate(self._parts):
            name = os.fsdecode(part)
            if not _is_shown(name, self._reach.hidden):
                raise _Refusal(403)
            there = os.open(part, _WALK, dir_fd=here)
            kept.callback(os.close, there)
            found = os.fstat(there)
            if stat.S_ISLNK(found.st_mode):
                raise self._linked(number, os.readlink(part, dir_fd=here))
            if (found.st_dev, found.st_ino) in never:
                raise _Refusal(403)
            if number < len(self._parts) - 1 and not stat.S_ISDIR(found.st_mode):
                raise _Refusal(404)
            here = there
        return here

    def _linked(self, number: int, leads: bytes) -> _Refusal:
        """Return the answer at a link: a redirect to where it leads below a root of the source, else a refusal.

        What stands before it are real folders, so the way can be reckoned by the names alone.
        """
        if not self._reach.links:
            return _Refusal(403)
        before = b"/".join([os.fsencode(self._root.rstrip("/")), *self._parts[:number]])
        whole = leads if leads.startswith(b"/") else before + b"/" + leads
        place = os.path.normpath(b"/".join([whole, *self._parts[number + 1 :]]))
        slash = b"/" if self._target.is_folder and place != b"/" else b""
        if _root_of_path(place, self._reach) is None:
            return _Refusal(403)
        return _Refusal(301, f"file://{quote_from_bytes(place + slash, safe=_SAFE)}")

    def _absent(self, top: int) -> Response | Failure:
        """Answer 404, unless nothing is there at all: then it was unmounted, most likely."""
        fd = _opened(top)
        try:
            with os.scandir(fd) as entries:
                empty = next(entries, None) is None
        finally:
            os.close(fd)
        if empty:
            detail = f"root {self._root} is empty: is it mounted?"
            return Failure(self._request.url, FailureKind.CLOSED, detail)
        return self._plain(404)

    # -- what is there ----------------------------------------------------------------------------

    def _read(self, there: int) -> Response | Failure:
        found = os.fstat(there)
        if stat.S_ISDIR(found.st_mode):
            if not self._target.is_folder:
                return self._plain(301, f"{self._request.url}/")
            return self._folder(there)
        if not stat.S_ISREG(found.st_mode):
            return self._plain(403)
        if self._target.is_folder:
            return self._plain(404)
        return self._file(there, found)

    def _folder(self, there: int) -> Response:
        entries, more = [], False
        fd = _opened(there)
        try:
            with os.scandir(fd) as found:
                for one in islice(found, _MOST_NAMES):
                    if self._ended.is_set():
                        break
                    entry = self._entry(one)
                    if entry is not None:
                        entries.append(entry)
                more = next(found, None) is not None
        finally:
            os.close(fd)
        answer = listing_response(self._request, entries, authorized=True)
        return replace(answer, cut=True) if more else answer

    def _entry(self, one: "os.DirEntry[str]") -> Entry | None:
        if not _is_shown(one.name, self._reach.hidden):
            return None
        if one.is_symlink():
            return Entry(one.name) if self._reach.links else None
        if one.is_dir(follow_symlinks=False):
            return Entry(one.name, folder=True)
        return Entry(one.name) if one.is_file(follow_symlinks=False) else None

    def _file(self, there: int, found: os.stat_result) -> Response | Failure:
        request = self._request
        etag, modified = self._validators(found)
        media_type = self._type_of(os.fsdecode(self._parts[-1]))
        facts = facts_of(found) if self._reach.metadata else ()
        if is_unchanged(request, etag, modified):
            return Response(request.url, 304, (*described(None, -1, etag, modified), *facts), authorized=True)
        most = request.max_wire_bytes or self._limits.max_wire_bytes
        if most and found.st_size > most and not request.cut:
            return Failure(request.url, FailureKind.TOO_LARGE, f"{found.st_size} bytes, more than {most}")
        body, cut = b"", False
        size = found.st_size
        if request.method == "GET":
            fd = _opened(there)
            try:
                body, cut = self._content(fd, most or size + _CHUNK_BYTES)
                after = os.fstat(fd)
            finally:
                os.close(fd)
            if cut and not request.cut:
                return Failure(request.url, FailureKind.TOO_LARGE, f"it grew beyond {most} bytes")
            if (after.st_size, after.st_mtime_ns) != (size, found.st_mtime_ns):  # somebody writes
                etag = modified = ""
            size = after.st_size if cut else len(body)
        return Response(
            request.url, 200, (*described(media_type, size, etag, modified), *facts), body, len(body), cut=cut, authorized=True
        )  # fmt: skip

    def _content(self, fd: int, most: int) -> tuple[bytes, bool]:
        chunks: list[bytes] = []
        room = most
        while not self._ended.is_set():
            chunk = os.read(fd, min(_CHUNK_BYTES, room + 1))
            if not chunk:
                return b"".join(chunks), False
            chunks.append(chunk[:room])
            if len(chunk) > room:
                return b"".join(chunks), True
            room -= len(chunk)
        raise OSError(errno.ETIMEDOUT, "nobody waits for it any more")

    def _validators(self, found: os.stat_result) -> tuple[str, str]:
        """Return (etag, last-modified); none for what changed a moment ago and may do so again within the same tick."""
        if abs(self._now_s - found.st_mtime) < _FRESH_S:
            return "", ""
        etag = f'"{found.st_size:x}-{found.st_mtime_ns:x}-{found.st_ino:x}"'
        return etag, formatdate(int(found.st_mtime), usegmt=True)

    def _plain(self, status: int, location: str = "") -> Response:
        headers = (("Location", location),) if location else ()
        return Response(self._request.url, status, headers, authorized=True)


def _root_of(target: Target, reach: FileReach) -> str | None:
    return _root_of_path(unquote_to_bytes(target.path), reach)


def _root_of_path(path: bytes, reach: FileReach) -> str | None:
    """Return the deepest root that *path* is, or lies below; ``None`` = none."""
    fitting = [
        root
        for root in reach.roots
        if root == "/" or path == os.fsencode(root) or path.startswith(os.fsencode(f"{root}/"))
    ]
    return max(fitting, key=len, default=None)


def _is_shown(name: str, hidden: Sequence[str]) -> bool:
    return not name.startswith(".") or any(fnmatchcase(name, pattern) for pattern in hidden)


def _identities(paths: Sequence[str]) -> set[tuple[int, int]]:
    found = set()
    for path in paths:
        with suppress(OSError):
            state = os.stat(path)  # noqa: PTH116 - one call
            found.add((state.st_dev, state.st_ino))
    return found


def _opened(fd: int) -> int:
    """Open for reading what *fd* only points at; it is the same thing, whatever its name is by now."""
    return os.open(f"/proc/self/fd/{fd}", _READ)
