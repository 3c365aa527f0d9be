"""How many pages link to each document: one array beside the index, replaced whole.

``prior.bin`` = ``INGPRIOR``, version, number of entries, CRC-32 of the entries, then unsigned
32-bit numbers (all little endian): entry *n* is the number of distinct public pages that link
to catalog row *n*. It stands outside the index because it changes with other people's pages:
a link pass writes a new file and renames it into place.
"""

import os
import struct
import sys
import zlib
from array import array
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from ingather.errors import IndexDamagedError

__all__ = ["PRIOR_NAME", "counts", "read_prior", "write_prior"]

PRIOR_NAME: Final = "prior.bin"

_HEAD: Final = struct.Struct("<8sIIQ")
_MAGIC: Final = b"INGPRIOR"
_VERSION: Final = 1
_MAX: Final = 0xFFFFFFFF


def counts(pairs: Iterable[tuple[int, int]]) -> "array[int]":
    """Return the array of (catalog row, inlinks) *pairs*, in any order; rows not named have none."""
    found = array("I")
    for row, number in pairs:
        if row >= len(found):
            found.frombytes(bytes((row + 1 - len(found) + (len(found) >> 3)) * found.itemsize))
        found[row] = min(number, _MAX)
    return found


def write_prior(folder: Path, entries: "array[int]") -> None:
    """Replace the prior in *folder* by *entries* (unsigned 32-bit), durably and at once.

    Raises:
        OSError: it could not be written; the old one stands.
    """
    data = _little(entries).tobytes()
    beside = folder / f"{PRIOR_NAME}.new"
    with beside.open("wb") as out:
        out.write(_HEAD.pack(_MAGIC, _VERSION, len(entries), zlib.crc32(data)))
        out.write(data)
        out.flush()
        os.fsync(out.fileno())
    beside.replace(folder / PRIOR_NAME)
    here = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(here)
    finally:
        os.close(here)


def read_prior(folder: Path) -> "array[int]":
    """Return the prior of *folder*; an empty array if no link pass has written one.

    Raises:
        IndexDamagedError: the file is there and does not read back as written.
    """
    place = folder / PRIOR_NAME
    try:
        data = place.read_bytes()
    except FileNotFoundError:
        return array("I")
    except OSError as error:
        raise _damaged(place, str(error)) from error
    if len(data) < _HEAD.size:
        raise _damaged(place, "it is cut short")
    magic, version, number, crc = _HEAD.unpack_from(data)
    body = data[_HEAD.size :]
    if magic != _MAGIC or version != _VERSION:
        raise _damaged(place, "it is not a file of this version")
    entries = array("I")
    if len(body) != number * entries.itemsize or zlib.crc32(body) != crc:
        raise _damaged(place, "its checksum does not fit")
    entries.frombytes(body)
    return _little(entries)


def _little(entries: "array[int]") -> "array[int]":
    if sys.byteorder == "little":
        return entries
    turned = array("I", entries)
    turned.byteswap()
    return turned


def _damaged(place: Path, why: str) -> IndexDamagedError:
    msg = f"{place}: the link counts cannot be used: {why}"
    return IndexDamagedError(msg, place=str(place), hint="the next link pass writes them anew")
