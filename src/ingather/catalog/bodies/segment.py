"""Appending: bodies and texts to a segment that belongs to one writer."""

import os
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Self

from ingather import __version__
from ingather.catalog.bodies.folder import SegmentNumbers, segment_name, write_error
from ingather.catalog.bodies.warc import conversion_member, response_member, warcinfo_member
from ingather.model.report import Stored

__all__ = ["SegmentWriter"]


class SegmentWriter:
    """Appends to ``body-NNNNNNNN.warc.gz`` files of its own, never to one that existed before.

    Belongs to one thread; only :meth:`sync` may run in another one, appending may go on meanwhile
    (what is appended during a sync needs the next one).
    A segment file is made with the first record and left for a new one at *max_bytes*.

    After a failed append the records before it stand; after a failed :meth:`sync` nothing since
    the last good one may be trusted (a failed fsync is never repeated: the pages count as clean
    although they were not written), and the writer goes on in a new segment.
    """

    def __init__(
        self,
        folder: Path,
        writer: str,
        *,
        next_segment: Callable[[], int] | None = None,
        max_bytes: int = 256 << 20,
        keep_bodies: bool = True,
    ) -> None:
        """Prepare to append below *folder*; nothing is created yet.

        Args:
            folder: the home's folder of bodies; exists.
            writer: who appends, for the first record of each segment (``gatherer-1``).
            next_segment: gives a number that no segment of this home had; default :class:`SegmentNumbers`.
            max_bytes: size at which the next record goes to a new segment.
            keep_bodies: ``False`` keeps texts only.
        """
        self._folder = folder
        self._writer = writer
        self._next_segment = next_segment or SegmentNumbers(folder)
        self._max_bytes = max_bytes
        self._keep_bodies = keep_bodies
        self._fd = -1
        self._segment = 0
        self._end = 0
        self._full: list[int] = []
        self._dirty = False
        self._created = False
        self._syncing = False
        self._prefix = ""
        self._records = 0

    @property
    def segment(self) -> int:
        """Number of the segment that is appended to, 0 = none is open."""
        return self._segment if self._fd >= 0 else 0

    def append(  # noqa: PLR0913 - what a response is, in one call a page
        self,
        url: str,
        status: int,
        headers: Sequence[tuple[str, str]],
        body: bytes,
        text: str,
        *,
        at_s: float,
        digest: bytes,
        http_version: str = "1.1",
    ) -> Stored:
        """Append a response and the text that was made of it; not durable before :meth:`sync`.

        Args:
            url: canonical URL.
            status: HTTP status.
            headers: as received, in order.
            body: decoded bytes.
            text: extracted text; empty = no record.
            at_s: wall time of the response, epoch seconds.
            digest: MD5 of *body*, 16 raw bytes.
            http_version: ``"1.0"``, ``"1.1"``, ``"2"``.

        Raises:
            DiskFullError: no space, quota or file-size limit; nothing was appended.
            CatalogError: the file could not be written; nothing was appended.
        """
        if self._fd < 0 or self._end >= self._max_bytes:
            self._open(at_s)
        response = conversion = b""
        response_id = ""
        if self._keep_bodies:
            response_id = self._record_id()
            response = response_member(
                url,
                status,
                headers,
                body,
                at_s=at_s,
                digest=digest,
                http_version=http_version,
                record_id=response_id,
            )
        if text:
            conversion = conversion_member(
                url, text, at_s=at_s, record_id=self._record_id(), refers_to=response_id
            )
        return self._place(response, conversion)

    def copy(self, response: bytes, conversion: bytes, *, at_s: float) -> Stored:
        """Append finished gzip members of another segment (either may be empty); see ``compaction``.

        Raises:
            DiskFullError: no space, quota or file-size limit; nothing was appended.
            CatalogError: the file could not be written; nothing was appended.
        """
        if self._fd < 0 or self._end >= self._max_bytes:
            self._open(at_s)
        return self._place(response, conversion)

    def sync(self) -> None:
        """Make everything appended so far durable. Blocks for as long as the disk needs.

        Raises:
            CatalogError: what was appended since the last good sync is lost; do not report it.
        """
        full, self._full = self._full, []
        fd, dirty, self._dirty = self._fd, self._dirty, False
        created, self._created = self._created, False
        self._syncing = True
        try:
            while full:
                os.fdatasync(full[-1])
                os.close(full.pop())
            if dirty and fd >= 0:
                os.fdatasync(fd)
            if created:
                _sync_folder(self._folder)
        except OSError as error:
            self._full += full
            self._abandon()
            raise write_error(self._folder, "cannot be made durable", error) from error
        finally:
            self._syncing = False

    def close(self) -> None:
        """Sync and close. The writer may be used again: it begins a new segment.

        Raises:
            CatalogError: see :meth:`sync`; the files are closed all the same.
        """
        self.sync()
        self._abandon()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _record_id(self) -> str:
        self._records += 1
        return f"{self._prefix}-{self._records:012x}"

    def _place(self, response: bytes, conversion: bytes) -> Stored:
        offset = self._end
        self._write(response + conversion)
        text_offset = offset + len(response)
        return Stored(self._segment, offset, len(response), text_offset, len(conversion))

    def _open(self, at_s: float) -> None:
        if self._fd >= 0:
            if self._dirty or self._syncing:
                self._full.append(self._fd)
            else:
                os.close(self._fd)
            self._fd = -1
            self._dirty = False
        number = self._next_segment()
        name = segment_name(number)
        try:
            # Not O_APPEND: a cut after a failed write must move the end back.
            fd = os.open(self._folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise write_error(self._folder / name, "cannot be created", error) from error
        self._fd, self._segment, self._end, self._records = fd, number, 0, 0
        self._created = True
        self._prefix = str(uuid.uuid4())[:23]
        self._write(
            warcinfo_member(
                at_s=at_s,
                record_id=self._record_id(),
                filename=name,
                software=f"Ingather/{__version__}",
                writer=self._writer,
            )
        )

    def _write(self, data: bytes) -> None:
        done = 0
        try:
            while done < len(data):
                done += os.write(self._fd, data[done:] if done else data)
        except OSError as error:
            self._step_back()
            raise write_error(
                self._folder / segment_name(self._segment), "cannot be written", error
            ) from error
        self._end += done
        self._dirty = True

    def _step_back(self) -> None:
        """After a failed write: cut what was written of it, or leave the segment as it is."""
        try:
            os.ftruncate(self._fd, self._end)
            os.lseek(self._fd, self._end, os.SEEK_SET)
        except OSError:
            self._full.append(self._fd)  # what stands in it is synced with the rest
            self._fd = -1
            self._dirty = False
        else:
            if not self._end:  # not even the opening record: do not append bodies to a file without one
                os.close(self._fd)
                self._fd = -1
                self._dirty = False

    def _abandon(self) -> None:
        for fd in (*self._full, self._fd):
            if fd >= 0:
                os.close(fd)
        self._full.clear()
        self._fd = -1
        self._dirty = self._created = False


def _sync_folder(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
