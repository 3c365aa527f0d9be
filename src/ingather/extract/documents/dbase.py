"""dBase tables (dbf): names of the columns, then a line a record, fields apart by tabs.

The code page stands in the header's 30th byte; where it says nothing the bytes decide. Memo fields lie in a file
of their own that nobody sends along.
"""

import struct

from ingather.errors import ExtractError
from ingather.extract.charset import decode
from ingather.extract.documents.draft import Draft

__all__ = ["is_dbase", "read"]

_HEADER = struct.Struct("<4BIHH")
_FIELD = 32
_VERSIONS = frozenset(
    {0x02, 0x03, 0x04, 0x05, 0x30, 0x31, 0x32, 0x43, 0x63, 0x83, 0x8B, 0x8C, 0xCB, 0xE5, 0xF5, 0xFB}
)
_TYPES = frozenset(b"CNDLFMGBIYTOPQVW@+0")
_READ = frozenset(b"CNDLF")
_LANGUAGE_AT, _FIELDS_AT, _END = 29, 32, 0x0D
_DELETED = 0x2A
_DATE_SIZE = 8
_SAMPLE = 200_000
_CODE_PAGES = {
    0x01: "cp437", 0x02: "cp850", 0x03: "cp1252", 0x04: "mac_roman", 0x08: "cp865", 0x09: "cp437", 0x0A: "cp850", 0x0B: "cp437",
    0x0D: "cp437", 0x0E: "cp850", 0x0F: "cp437", 0x10: "cp850", 0x11: "cp437", 0x12: "cp850", 0x13: "cp932", 0x14: "cp850",
    0x15: "cp437", 0x16: "cp850", 0x17: "cp865", 0x18: "cp437", 0x19: "cp437", 0x1A: "cp850", 0x1B: "cp437", 0x1C: "cp863",
    0x1D: "cp850", 0x1F: "cp852", 0x22: "cp852", 0x23: "cp852", 0x24: "cp860", 0x25: "cp850", 0x26: "cp866", 0x37: "cp850",
    0x40: "cp852", 0x4D: "gb18030", 0x4E: "cp949", 0x4F: "cp950", 0x50: "cp874", 0x57: "cp1252", 0x58: "cp1252", 0x59: "cp1252",
    0x64: "cp852", 0x65: "cp866", 0x66: "cp865", 0x67: "cp861", 0x6A: "cp737", 0x6B: "cp857", 0x78: "cp950", 0x79: "cp949",
    0x7A: "gb18030", 0x7B: "cp932", 0x7C: "cp874", 0x7D: "cp1255", 0x7E: "cp1256", 0x86: "cp737", 0x87: "cp852", 0x88: "cp857",
    0xC8: "cp1250", 0xC9: "cp1251", 0xCA: "cp1254", 0xCB: "cp1253", 0xCC: "cp1257",
}  # fmt: skip


def is_dbase(body: bytes) -> bool:
    """Whether the header is one of a dBase table: version, date, sizes and the first field fit together."""
    if len(body) < _FIELDS_AT + _FIELD + 1 or body[0] not in _VERSIONS:
        return False
    _, _, month, day, _, start, size = _HEADER.unpack_from(body)
    return (
        month <= 12  # noqa: PLR2004 (a date)
        and day <= 31  # noqa: PLR2004
        and _FIELDS_AT + _FIELD < start <= len(body)
        and size > 1
        and body[_FIELDS_AT + 11] in _TYPES
        and body[_FIELDS_AT : _FIELDS_AT + 1].strip(b"\0") != b""
        and _END in body[_FIELDS_AT + _FIELD : start]
    )


def read(body: bytes, draft: Draft, _name: str, _content_type: str | None) -> None:
    """Read a table into *draft*.

    Raises:
        ExtractError: ``damaged``.
        LimitReachedError: a limit of the draft's budget.
    """
    if not is_dbase(body):
        raise ExtractError("the table's header is broken", reason="damaged")
    *_, count, start, size = _HEADER.unpack_from(body)
    columns = _columns(body, start)
    if not columns:
        raise ExtractError("the table has no columns", reason="damaged")
    codec = _CODE_PAGES.get(body[_LANGUAGE_AT]) or _guessed(body[start : start + _SAMPLE])
    draft.block("\t".join(_decoded(name, codec) for name, *_ in columns))
    for record in range(count):
        at = start + record * size
        if at + size > len(body):
            draft.flag("partial")
            break
        if body[at] != _DELETED:
            draft.block(
                "\t".join(
                    _shown(body[at + offset : at + offset + width], kind, codec)
                    for _, kind, offset, width in columns
                    if kind in _READ
                )
            )


def _columns(body: bytes, start: int) -> list[tuple[bytes, int, int, int]]:
    """Return name, type, place in the record and width of each column."""
    found, offset = [], 1
    for at in range(_FIELDS_AT, start - _FIELD, _FIELD):
        if body[at] == _END:
            break
        kind, width = body[at + 11], body[at + 16]
        if kind == ord("C"):
            width += body[at + 17] << 8  # long texts keep their high byte where figures have decimals
        found.append((body[at : at + 11].partition(b"\0")[0], kind, offset, width))
        offset += width
    return found


def _shown(field: bytes, kind: int, codec: str) -> str:
    text = _decoded(field, codec).strip(" \0")
    if kind == ord("D") and len(text) == _DATE_SIZE and text.isdecimal():
        return f"{text[:4]}-{text[4:6]}-{text[6:]}"
    return text


def _decoded(data: bytes, codec: str) -> str:
    return data.decode(codec, "replace")


def _guessed(sample: bytes) -> str:
    """Return the encoding of a table that names none: by its own records."""
    if sample.isascii():
        return "cp1252"
    try:
        sample.decode("utf-8")
    except UnicodeDecodeError:
        return decode(sample.replace(b"\0", b" "), content_type="text/plain")[1]
    return "utf-8"
