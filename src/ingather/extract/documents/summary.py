"""What an OLE document says about itself: SummaryInformation and DocumentSummaryInformation ([MS-OLEPS])."""

import codecs
import datetime as dt
import struct

from ingather.extract.documents.cfb import CompoundFile
from ingather.extract.documents.draft import Draft

__all__ = ["codepage_name", "filetime", "read_properties", "read_summary"]

_SUMMARY = {
    2: "title",
    3: "subject",
    4: "author",
    5: "keywords",
    6: "description",
    7: "template",
    8: "last-author",
    9: "revision",
    11: "printed",
    12: "created",
    13: "modified",
    14: "pages",
    15: "words",
    18: "generator",
}
_DOCUMENT_SUMMARY = {2: "category", 7: "slides", 14: "manager", 15: "company", 28: "language"}
_CODEPAGE = 1
_I4, _LPSTR, _LPWSTR, _FILETIME = 3, 30, 31, 64
_EPOCH = dt.datetime(1601, 1, 1, tzinfo=dt.UTC)
_MOST_PROPERTIES = 1_000
_UTF16 = 1200


def codepage_name(number: int) -> str:
    """Return Python's name of a Windows code page, ``cp1252`` when there is none."""
    special = {_UTF16: "utf-16-le", 10000: "mac_roman", 65001: "utf-8"}
    name = special.get(number, f"cp{number}")
    try:
        return codecs.lookup(name).name
    except LookupError:
        return "cp1252"


def filetime(value: int) -> str:
    """Return a FILETIME (100 ns since 1601) as RFC 3339, ``""`` when it is none."""
    try:
        moment = _EPOCH + dt.timedelta(microseconds=value // 10)
    except OverflowError:
        return ""
    # Editing durations hide in the same type: a document is not older than 1970.
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ") if moment.year >= 1970 else ""  # noqa: PLR2004


def read_summary(file: CompoundFile, draft: Draft) -> None:
    """Read both property sets into the metadata, as far as they can be read."""
    for stream, names in (
        ("\x05SummaryInformation", _SUMMARY),
        ("\x05DocumentSummaryInformation", _DOCUMENT_SUMMARY),
    ):
        data = file.stream(stream)
        if data:
            for number, value in _properties(data).items():
                if number in names and value:
                    draft.meta(names[number], value)


def read_properties(data: bytes, draft: Draft) -> None:
    """Read one property set that is numbered as a summary into the metadata, as far as it can be read."""
    for number, value in _properties(data).items():
        if number in _SUMMARY and value:
            draft.meta(_SUMMARY[number], value)


def _properties(data: bytes) -> dict[int, str]:
    """Return the first section's properties as text."""
    try:
        (section,) = struct.unpack_from("<I", data, 44)
        (count,) = struct.unpack_from("<I", data, section + 4)
        pairs = [
            struct.unpack_from("<II", data, section + 8 + 8 * i) for i in range(min(count, _MOST_PROPERTIES))
        ]
    except struct.error:
        return {}
    codepage = "cp1252"
    found: dict[int, str] = {}
    for number, offset in sorted(pairs):
        try:
            if number == _CODEPAGE:
                codepage = codepage_name(struct.unpack_from("<H", data, section + offset + 4)[0])
            else:
                found[number] = _value(data, section + offset, codepage)
        except struct.error:
            continue
    return found


def _value(data: bytes, position: int, codepage: str) -> str:
    kind, size = struct.unpack_from("<II", data, position)
    kind, start = kind & 0xFFFF, position + 8
    if kind == _I4:
        return str(size) if size else ""
    if kind == _LPSTR:
        text = data[start : start + size].decode(codepage, "replace")
    elif kind == _LPWSTR:
        text = data[start : start + 2 * size].decode("utf-16-le", "replace")
    elif kind == _FILETIME:
        return filetime(struct.unpack_from("<Q", data, start - 4)[0])
    else:
        return ""
    return text.partition("\x00")[0]
