"""Small binary forms inside rows: visit history, RD attributes, link keys."""

import struct
from collections.abc import Iterable, Mapping

import msgspec

from ingather.model.description import Attributes
from ingather.model.lifecycle import Outcome
from ingather.ports.catalog import Visit

__all__ = [
    "EMPTY_ATTRIBUTES",
    "HISTORY_BYTES",
    "pack_attributes",
    "pack_keys",
    "pack_visit",
    "raw_visits",
    "remember",
    "unpack_attributes",
    "unpack_keys",
    "unpack_visits",
]

_VISIT = struct.Struct("<dBHIIx")  # wall seconds, outcome, status, milliseconds, directive: 20 bytes
HISTORY_BYTES = 12 * _VISIT.size
"""What a row remembers: twelve visits."""

_decode_attributes = msgspec.msgpack.Decoder(dict[str, tuple[str | int, ...]]).decode

EMPTY_ATTRIBUTES = msgspec.msgpack.encode({})

_PREFIX_FROM = 512  # a value shorter than this is cheaper kept than compared


def pack_visit(at_s: float, outcome: int, status: int, elapsed_s: float, directive: int) -> bytes:
    """Pack one visit for the front of a row's history."""
    milliseconds = min(max(int(elapsed_s * 1000), 0), 0xFFFFFFFF)
    return _VISIT.pack(at_s, outcome, status & 0xFFFF, milliseconds, directive)


def remember(visit: bytes, history: bytes) -> bytes:
    """Put a packed visit in front of a row's history; the oldest is forgotten."""
    return visit + history[: HISTORY_BYTES - _VISIT.size]


def unpack_visits(blob: bytes | None) -> list[tuple[Visit, int]]:
    """Return (visit, directive id) newest first."""
    if not blob:
        return []
    whole = len(blob) - len(blob) % _VISIT.size
    return [
        (Visit(at_s=at, outcome=Outcome(outcome), status=status, detail=f"{ms} ms"), directive)
        for at, outcome, status, ms, directive in _VISIT.iter_unpack(blob[:whole])
    ]


def raw_visits(blob: bytes | None) -> Iterable[tuple[float, int, int, int, int]]:
    """Return (wall seconds, outcome, status, milliseconds, directive id) of each visit, newest first, for walks over many rows."""
    return _VISIT.iter_unpack(blob[: len(blob) - len(blob) % _VISIT.size]) if blob else ()


def pack_attributes(attributes: Mapping[str, tuple[str, ...]], text: str) -> bytes:
    """Pack RD attributes; a long value that is the beginning of *text* becomes its length."""
    small: dict[str, list[str | int]] = {}
    for name, values in attributes.items():
        small[name] = [
            len(value) if len(value) >= _PREFIX_FROM and text.startswith(value) else value for value in values
        ]
    return msgspec.msgpack.encode(small)


def unpack_attributes(blob: bytes, text: str | None) -> Attributes:
    """Return the attributes; without *text* values that live in it are left out."""
    found: Attributes = {}
    for name, values in _decode_attributes(blob).items():
        if len(values) == 1 and isinstance(values[0], str):  # almost all
            found[name] = values  # type: ignore[assignment]  # strings alone
            continue
        kept: list[str] = []
        for value in values:
            if isinstance(value, str):
                kept.append(value)
            elif text is not None:
                kept.append(text[:value])
        if kept:
            found[name] = tuple(kept)
    return found


def pack_keys(keys: Iterable[int]) -> bytes:
    """Pack signed 64-bit URL keys, 8 bytes each."""
    values = list(keys)
    return struct.pack(f"<{len(values)}q", *values)


def unpack_keys(blob: bytes) -> tuple[int, ...]:
    """Return the keys of a links blob."""
    return struct.unpack(f"<{len(blob) // 8}q", blob)
