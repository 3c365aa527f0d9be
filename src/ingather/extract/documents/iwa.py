"""The archives inside of iWork documents (IWA): Snappy blocks of protocol buffer messages, read within the budget.

An ``.iwa`` member is a row of blocks, each a zero byte, its length in three bytes, and raw Snappy data without a
checksum. Unpacked they are a stream of archives: the length of a header, the header (``ArchiveInfo``: number,
``MessageInfo`` of type and length), the messages.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ingather.errors import ExtractError
from ingather.extract.documents.limits import Budget, LimitReachedError

__all__ = ["Message", "fields_of", "messages_of"]

_HEADER = 4
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_MESSAGE_INFO, _TYPE, _LENGTH = 2, 1, 3
_LONGEST_VARINT = 10
_MOST_VALUES = 1_000_000

Fields = Mapping[int, list[int | bytes]]


class Message(NamedTuple):
    """One message: its type's number, its bytes."""

    type: int
    body: bytes


def messages_of(data: bytes, budget: Budget) -> Iterator[Message]:
    """Yield the messages of an ``.iwa`` member in order.

    Raises:
        ExtractError: ``damaged``; what came before was yielded.
        LimitReachedError: more comes out than may be unpacked.
    """
    stream = _unpacked(data, budget)
    position = 0
    while position < len(stream):
        size, position = _varint(stream, position)
        if not size or position + size > len(stream):
            raise ExtractError("an archive of the document is cut off", reason="damaged")
        header = fields_of(stream[position : position + size])
        position += size
        for info in header.get(_MESSAGE_INFO, ()):
            if isinstance(info, int):
                continue
            told = fields_of(info)
            length = _number(told, _LENGTH)
            yield Message(_number(told, _TYPE), stream[position : position + length])
            position += length


def fields_of(data: bytes) -> Fields:
    """Return the fields of a protocol buffer message by number: integers, and bytes as they are.

    Raises:
        ExtractError: ``damaged``.
        LimitReachedError: more fields than any document needs.
    """
    found: dict[int, list[int | bytes]] = {}
    position = values = 0
    while position < len(data):
        tag, position = _varint(data, position)
        number, wire = tag >> 3, tag & 7
        values += 1
        if values > _MOST_VALUES:
            raise LimitReachedError("elements")
        value: int | bytes
        if wire == _VARINT:
            value, position = _varint(data, position)
        elif wire == _BYTES:
            size, position = _varint(data, position)
            value = data[position : position + size]
            position += size
        elif wire in {_FIXED64, _FIXED32}:
            size = 8 if wire == _FIXED64 else 4
            value = int.from_bytes(data[position : position + size], "little")
            position += size
        else:
            raise ExtractError("an archive of the document holds what is no message", reason="damaged")
        found.setdefault(number, []).append(value)
    return found


def _number(fields: Fields, number: int) -> int:
    value = fields.get(number, [0])[0]
    return value if isinstance(value, int) else 0


def _varint(data: bytes, position: int) -> tuple[int, int]:
    value = 0
    for index in range(_LONGEST_VARINT):
        if position + index >= len(data):
            break
        byte = data[position + index]
        value |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:  # noqa: PLR2004 (the last byte has no high bit)
            return value, position + index + 1
    raise ExtractError("an archive of the document is cut off", reason="damaged")


def _unpacked(data: bytes, budget: Budget) -> bytes:
    most, out, position = budget.limits.unpacked_bytes // 4, bytearray(), 0
    while position + _HEADER <= len(data):
        if data[position]:
            raise ExtractError("an archive of the document has an unknown kind of block", reason="damaged")
        size = int.from_bytes(data[position + 1 : position + _HEADER], "little")
        position += _HEADER
        block = _desnapped(data[position : position + size], most - len(out))
        budget.take_unpacked(len(block))
        out += block
        position += size
    return bytes(out)


def _desnapped(data: bytes, most: int) -> bytes:
    """Undo raw Snappy: literals, and copies of what came out before."""
    expected, position = _varint(data, 0)
    if expected > most:
        raise LimitReachedError("unpacked_bytes")
    out = bytearray()
    while position < len(data) and len(out) < expected:
        tag = data[position]
        position += 1
        if tag & 3 == 0:
            size = (tag >> 2) + 1
            if size > 60:  # noqa: PLR2004 (the length stands in the next one to four bytes)
                count = size - 60
                size = int.from_bytes(data[position : position + count], "little") + 1
                position += count
            out += data[position : position + size]
            position += size
            continue
        if tag & 3 == 1:
            size, count = (tag >> 2 & 7) + 4, 1
            offset = (tag >> 5) << 8 | int.from_bytes(data[position : position + 1], "little")
        else:
            size, count = (tag >> 2) + 1, 2 if tag & 3 == 2 else 4  # noqa: PLR2004
            offset = int.from_bytes(data[position : position + count], "little")
        position += count
        if not 0 < offset <= len(out):
            raise ExtractError("a block of the document cannot be unpacked", reason="damaged")
        start = len(out) - offset
        piece = bytes(out[start : start + size])
        out += (piece * (size // len(piece) + 1))[:size]
    return bytes(out[:expected])
