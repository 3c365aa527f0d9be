"""The shared slot: a gatherer writes the URL that it is about to parse, the keeper watches it.

24 bytes of a memory-mapped file: catalog row (0 = none), the monotonic second at which parsing
began, and the monotonic second of the gatherer's last sign of life. When a gatherer hangs or
dies the slot names the culprit; one that hangs without one is known by its silence.
"""

import mmap
import struct
from pathlib import Path

__all__ = ["Slot"]

_FORM = struct.Struct("<qd")
_BEAT = struct.Struct("<d")
_SIZE = _FORM.size + _BEAT.size


class Slot:
    """One gatherer's slot; both sides map the same file. One writer."""

    def __init__(self, path: Path) -> None:
        with path.open("a+b") as file:
            if file.seek(0, 2) < _SIZE:
                file.write(bytes(_SIZE))
                file.flush()
            self._map = mmap.mmap(file.fileno(), _SIZE)

    def begin(self, url_id: int, now_s: float) -> None:
        """Say that *url_id* is parsed from now (monotonic seconds)."""
        _FORM.pack_into(self._map, 0, url_id, now_s)

    def end(self) -> None:
        """Say that nothing is parsed."""
        _FORM.pack_into(self._map, 0, 0, 0.0)

    def read(self) -> tuple[int, float]:
        """Return (catalog row or 0, since when)."""
        url_id, since = _FORM.unpack_from(self._map, 0)
        return url_id, since

    def beat(self, now_s: float) -> None:
        """Give a sign of life (monotonic seconds)."""
        _BEAT.pack_into(self._map, _FORM.size, now_s)

    def last_beat(self) -> float:
        """Return when the last sign of life was given, 0 = none yet."""
        return float(_BEAT.unpack_from(self._map, _FORM.size)[0])

    def close(self) -> None:
        """Unmap; the file stays for the other side."""
        self._map.close()
