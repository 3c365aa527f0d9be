"""Bytes to physical lines: encoding, line ends (rules L1 and L2)."""

from dataclasses import dataclass

from ingather.conf.report import Report
from ingather.model.diagnostic import Place

__all__ = ["Line", "decode", "physical_lines"]


@dataclass(frozen=True, slots=True)
class Line:
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
    """Split *text* at CRLF, LF and CR; a NUL is reported (``E-BINARY``) and taken as a blank."""
    parts = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if not parts[-1]:
        parts.pop()
    if "\0" in text:
        number, part = next((n, p) for n, p in enumerate(parts, start=1) if "\0" in p)
        report.add("E-BINARY", Place(file, number, part.index("\0") + 1), "NUL byte: this is not a text file")
        parts = [p.replace("\0", " ") for p in parts]
    return [Line(number, part) for number, part in enumerate(parts, start=1)]
