"""Bytes to physical lines: encoding, line ends (rules L1 and L2)."""

from typing import NamedTuple

from ingather.conf.report import Report
from ingather.model.diagnostic import Place

__all__ = ["MAX_LINES", "Line", "decode", "is_binary", "physical_lines"]


MAX_LINES = 1_000_000


class Line(NamedTuple):
    """One line as it stands in the file, without its end; *number* from 1."""

    number: int
    text: str


def decode(body: bytes, file: str, report: Report) -> str:
    """Return the text of a configuration file: UTF-8, else Latin-1 (``W-ENCODING``); a BOM is dropped."""
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = body[: error.start]
        line = before.count(b"\n") + 1
        column = error.start - (before.rfind(b"\n") + 1) + 1
        report.tolerate(
            "W-ENCODING",
            Place(file, line, column),
            f"byte 0x{body[error.start]:02x} is not UTF-8: the file is read as Latin-1",
            hint="save the file as UTF-8",
        )
        return body.decode("latin-1")


def physical_lines(text: str, file: str, report: Report) -> list[Line]:
    """Split *text* at CRLF, LF and CR; of a text with a NUL (``E-BINARY``) nothing is read."""
    if "\0" in text:
        _binary(text, file, report)
        return []
    parts = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if len(parts) > MAX_LINES:
        report.add(
            "E-FILE",
            Place(file, MAX_LINES + 1),
            f"more than {MAX_LINES} lines",
            hint="nothing of it was read",
        )
        return []
    if not parts[-1]:
        parts.pop()
    return list(map(Line._make, enumerate(parts, start=1)))


def is_binary(body: bytes, file: str, report: Report) -> bool:
    """Tell whether *body* is no text, after reporting it (``E-BINARY``)."""
    at = body.find(b"\0")
    if at < 0:
        return False
    _binary(body[: at + 1].decode("latin-1"), file, report)
    return True


def _binary(text: str, file: str, report: Report) -> None:
    at = text.index("\0")
    before = text[:at].replace("\r\n", "\n").replace("\r", "\n")
    place = Place(file, before.count("\n") + 1, len(before) - before.rfind("\n"))
    hint = "it looks like UTF-16: save it as UTF-8" if text[:2] in _UTF16 or at <= 1 else None
    report.add("E-BINARY", place, "NUL byte: this is not a text file", hint=hint)


_UTF16 = ("\xff\xfe", "\xfe\xff")
