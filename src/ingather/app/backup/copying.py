"""Files into a backup and out of it: hashed on the way, synced, and read again from the disk."""

import errno
import hashlib
import os
from pathlib import Path
from typing import Final

from ingather.app.backup.manifest import FileEntry
from ingather.errors import CatalogDamagedError, DiskFullError, HomeError, IngatherError

__all__ = ["copy_file", "digest_of", "same", "sync_folder", "trouble_of"]

_CHUNK: Final = 1 << 20
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def copy_file(source: int, to: Path, path: str, *, mode: int, end: int | None = None) -> FileEntry:
    """Copy the open file *source* from its begin, up to *end* if that is given, into the new file *to*; return its entry.

    *path*: what the entry calls it. Folders on the way are made.

    Raises:
        CatalogDamagedError: *source* ends before *end*.
        OSError: reading or writing failed.
    """
    to.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    digest, at = hashlib.sha256(), 0
    with os.fdopen(os.open(to, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as out:
        while end is None or at < end:
            piece = os.pread(source, _CHUNK if end is None else min(_CHUNK, end - at), at)
            if not piece:
                break
            digest.update(piece)
            out.write(piece)
            at += len(piece)
        out.flush()
        os.fchmod(out.fileno(), mode)
        os.fsync(out.fileno())
    if end is not None and at < end:
        raise CatalogDamagedError(f"{path} has {at} bytes, {end} are acknowledged", place=path)
    return FileEntry(path, at, digest.hexdigest(), mode)


def digest_of(path: Path) -> tuple[int, str]:
    """Return size and SHA-256 of a file, read from the disk rather than from memory where the system allows it.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return os.fstat(file.fileno()).st_size, digest


def same(folder: Path, entry: FileEntry) -> str:
    """Return what is wrong with the file of *entry* below *folder*, ``""`` = nothing."""
    try:
        size, digest = digest_of(folder / entry.path)
    except OSError as error:
        return f"{entry.path}: {error.strerror}"
    if size != entry.size:
        return f"{entry.path}: it has {size} bytes, {entry.size} were written"
    return "" if digest == entry.sha256 else f"{entry.path}: its bytes are not those that were written"


def sync_folder(folder: Path) -> None:
    """Make names in *folder* durable."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def trouble_of(error: OSError, place: Path) -> IngatherError:
    """Return what to raise from a failure of the file system."""
    where = error.filename or place
    if error.errno in _FULL:
        return DiskFullError(
            f"no space left for {where}", hint="make room, or name another place; nothing was left behind"
        )
    return HomeError(f"{where}: {error.strerror}", hint="nothing was left behind")
