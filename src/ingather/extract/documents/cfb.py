"""The compound file container ([MS-CFB]): a small file system in a file, read with every chain bounded."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from ingather.errors import ExtractError

__all__ = ["CompoundFile", "Entry"]

_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_HEADER_SIZE = 512
_LAST_REAL_SECTOR = 0xFFFFFFFA
_NO_STREAM = 0xFFFFFFFF
_HEADER_DIFAT = 109
_ENTRY_SIZE = 128
_MOST_ENTRIES = 20_000
_STORAGE, _STREAM, _ROOT = 1, 2, 5
_ENTRY = struct.Struct("<64sHBBIII16sIQQIQ")


@dataclass(frozen=True, slots=True)
class Entry:
    """A storage or stream: path of names from the root, where its bytes begin, how many."""

    path: tuple[str, ...]
    start: int
    size: int
    is_stream: bool


class CompoundFile:
    """Storages and streams of a compound file; ``damaged`` when even the directory cannot be read."""

    def __init__(self, body: bytes) -> None:
        if len(body) < _HEADER_SIZE or not body.startswith(_MAGIC):
            raise ExtractError("not a compound file", reason="damaged")
        self._body = body
        shift, mini_shift = struct.unpack_from("<HH", body, 30)
        if not 7 <= shift <= 16 or not 2 <= mini_shift <= shift:  # noqa: PLR2004 (128 bytes to 64 KiB)
            raise ExtractError("the compound file's header is broken", reason="damaged")
        self._sector_size, self._mini_size = 1 << shift, 1 << mini_shift
        directory, _, self._cutoff, mini_fat, _, difat, _ = struct.unpack_from("<7I", body, 48)
        self._most_sectors = len(body) // self._sector_size + 1
        self._fat = self._read_fat(difat)
        self._mini_fat = self._integers(self._chain_bytes(mini_fat))
        self._mini_stream = b""
        self.entries = list(self._read_directory(self._chain_bytes(directory)))
        if not self.entries:
            raise ExtractError("the compound file's directory is broken", reason="damaged")
        root = self.entries[0]
        self._mini_stream = self._chain_bytes(root.start)[: root.size]
        self._by_path = {
            tuple(name.lower() for name in entry.path): entry for entry in reversed(self.entries)
        }

    def find(self, *path: str) -> Entry | None:
        """Return the entry at *path*, names in any case."""
        return self._by_path.get(tuple(name.lower() for name in path))

    def stream(self, *path: str) -> bytes | None:
        """Return the bytes of the stream at *path*, or ``None``."""
        entry = self.find(*path)
        return self.read(entry) if entry and entry.is_stream else None

    def read(self, entry: Entry) -> bytes:
        """Return the bytes of a stream as far as its chain goes."""
        if entry.size < self._cutoff:
            return self._mini_bytes(entry.start, entry.size)
        return self._chain_bytes(entry.start)[: entry.size]

    def children(self, *path: str) -> list[Entry]:
        """Return what lies directly in the storage at *path*."""
        wanted = tuple(name.lower() for name in path)
        return [e for e in self.entries[1:] if tuple(name.lower() for name in e.path[:-1]) == wanted]

    # --- sectors --------------------------------------------------------------------------------

    def _sector(self, number: int) -> bytes:
        start = (number + 1) * self._sector_size
        return self._body[start : start + self._sector_size]

    @staticmethod
    def _integers(data: bytes) -> tuple[int, ...]:
        return struct.unpack(f"<{len(data) // 4}I", data[: len(data) // 4 * 4])

    def _read_fat(self, difat: int) -> list[int]:
        numbers = list(struct.unpack_from(f"<{_HEADER_DIFAT}I", self._body, 76))
        seen: set[int] = set()
        while difat < _LAST_REAL_SECTOR and difat not in seen and len(seen) < self._most_sectors:
            seen.add(difat)
            more = self._integers(self._sector(difat))
            if not more:
                break
            numbers += more[:-1]
            difat = more[-1]
        fat: list[int] = []
        for number in numbers:
            if number < _LAST_REAL_SECTOR and len(fat) <= self._most_sectors:
                fat += self._integers(self._sector(number))
        return fat

    def _chain(self, start: int, table: list[int] | tuple[int, ...]) -> Iterator[int]:
        number, steps = start, 0
        while number < _LAST_REAL_SECTOR and steps <= len(table):
            yield number
            steps += 1
            number = table[number] if number < len(table) else _NO_STREAM

    def _chain_bytes(self, start: int) -> bytes:
        data = bytearray()
        for number in self._chain(start, self._fat):
            sector = self._sector(number)
            data += sector
            if not sector or len(data) > len(self._body):
                break
        return bytes(data)

    def _mini_bytes(self, start: int, size: int) -> bytes:
        data = bytearray()
        for number in self._chain(start, self._mini_fat):
            data += self._mini_stream[number * self._mini_size : (number + 1) * self._mini_size]
            if len(data) >= size:
                break
        return bytes(data[:size])

    # --- directory ------------------------------------------------------------------------------

    def _read_directory(self, data: bytes) -> Iterator[Entry]:
        count = min(len(data) // _ENTRY_SIZE, _MOST_ENTRIES)
        raw = [_ENTRY.unpack_from(data, index * _ENTRY_SIZE) for index in range(count)]
        if not raw:
            return
        yield Entry((), raw[0][11], raw[0][12], is_stream=False)
        waiting: list[tuple[int, tuple[str, ...]]] = [(raw[0][6], ())]
        seen = {0}
        while waiting:
            index, folder = waiting.pop()
            if index >= count or index in seen:
                continue
            seen.add(index)
            name_bytes, name_size, kind, _, left, right, child, *_, start, size = raw[index]
            name = name_bytes[: max(name_size - 2, 0)].decode("utf-16-le", "replace")
            path = (*folder, name)
            if kind in {_STORAGE, _STREAM, _ROOT}:
                # Version 3 files leave the size's high half undefined.
                yield Entry(path, start, size & 0xFFFFFFFF, is_stream=kind == _STREAM)
            waiting += [(right, folder), (left, folder)]
            if kind == _STORAGE:
                waiting.append((child, path))
