"""What ``serve`` saw of the certificates of crawled hosts, as it lies in ``run/host-certificates.json``."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

__all__ = ["FILE", "Seen", "kept_certificates", "near_ends"]

FILE: Final = "host-certificates.json"
_SOON_S: Final = 30 * 86_400.0
"""From when on an end is near."""


class Seen(msgspec.Struct):
    """What was seen of a host: when it was *looked* at, when its certificate *ends* (wall seconds, ``None`` = unknown), *trouble*: why none came."""

    looked: float
    ends: float | None = None
    trouble: str = ""


def kept_certificates(run: Path) -> dict[str, Seen]:
    """Return what was seen of each host; empty if nothing is known."""
    try:
        return msgspec.json.decode((run / FILE).read_bytes(), type=dict[str, Seen])
    except (OSError, msgspec.DecodeError):
        return {}


def near_ends(run: Path, now_s: float) -> Iterator[tuple[str, float]]:
    """Yield the hosts whose certificates end soon, or ended, with the wall time."""
    for name, seen in sorted(kept_certificates(run).items()):
        if seen.ends is not None and seen.ends - now_s < _SOON_S:
            yield name, seen.ends
