"""At start: what no committed transaction points at goes."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from ingather.catalog.bodies.folder import segments
from ingather.errors import CatalogError

__all__ = ["Tails", "cut_tails"]


class Tails(NamedTuple):
    """What :func:`cut_tails` did and found; segments ascending.

    Attributes:
        cut: (segment, bytes that were cut).
        deleted: (segment, its size): nobody acknowledged anything in it.
        short: (segment, bytes that are missing): acknowledged bytes are gone, which is damage.
        missing: acknowledged segments without a file, which is damage.
    """

    cut: tuple[tuple[int, int], ...] = ()
    deleted: tuple[tuple[int, int], ...] = ()
    short: tuple[tuple[int, int], ...] = ()
    missing: tuple[int, ...] = ()


def cut_tails(folder: Path, acknowledged: Mapping[int, int]) -> Tails:
    """Cut segments of *folder* to their acknowledged ends; delete those without one.

    Call it while nobody appends, with ends of *all* committed places (``Stored.end``), also of
    places that only the text of a page uses. Killed half-way it can simply be called again.

    Args:
        folder: the home's folder of bodies.
        acknowledged: segment number to the first byte behind its last committed record.

    Raises:
        CatalogError: a file could not be cut or deleted.
    """
    cut, deleted, short = [], [], []
    found = segments(folder)
    try:
        for number, path in found.items():
            size = path.stat().st_size
            end = acknowledged.get(number, 0)
            if not end:
                path.unlink()
                deleted.append((number, size))
            elif size > end:
                _truncate(path, end)
                cut.append((number, size - end))
            elif size < end:
                short.append((number, end - size))
    except OSError as error:
        raise CatalogError(f"cannot tidy {folder}: {error.strerror}") from error
    missing = sorted(number for number, end in acknowledged.items() if end and number not in found)
    return Tails(tuple(cut), tuple(deleted), tuple(short), tuple(missing))


def _truncate(path: Path, end: int) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.ftruncate(fd, end)
        os.fdatasync(fd)
    finally:
        os.close(fd)
