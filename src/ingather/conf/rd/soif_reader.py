"""The lenient SOIF reader: a stream of bytes in, objects out, memory bounded (specification 12.1, DEC-35).

Published samples count wrongly and have blanks for the tab, so this takes what can be understood in one way
only, with a warning, and refuses the rest. An error of counting ends the reading: behind it nobody can say
whether a line is an attribute or part of some page's text, and a page must not be able to write objects of
its own. Complete objects before it are kept.

``E-SOIF-HEAD`` no object begins here. ``E-SOIF-NAME`` no attribute begins here. ``E-SOIF-COUNT`` the count is
wrong and the value's end cannot be guessed. ``E-SOIF-TRUNC`` the input ends inside an object. These four end the
reading. ``E-SOIF-SIZE`` and ``E-SOIF-MANY`` refuse one object. ``W-SOIF-DELIM`` no tab after the colon.
``W-SOIF-COUNT`` the count is wrong, the line was taken. ``W-SOIF-CHARSET`` bytes that are not of the charset.
"""

import io
import re
from collections.abc import Iterator
from typing import Protocol

from ingather.conf.rd.soif import (
    MOST_ATTRIBUTES,
    MOST_HEAD_BYTES,
    MOST_NAME_BYTES,
    MOST_OBJECT_BYTES,
    MOST_VALUE_BYTES,
    SoifFinding,
    SoifObject,
    known_charset,
    split_name,
)

__all__ = ["MOST_FINDINGS", "ByteSource", "SoifReader", "read_soif"]

#: Findings kept in full; all are counted.
MOST_FINDINGS = 1_000

_CHUNK = 256 * 1024
#: As much as the longest attribute head that is read, blanks included.
_LOOK = MOST_NAME_BYTES + 128
_BLANKS = re.compile(rb"[ \t\r\n]*")
_HEAD = re.compile(rb"@([A-Za-z][A-Za-z0-9_.-]{0,63})[ \t]{0,32}\{([^\n]*)\n")
_ATTRIBUTE = re.compile(
    rb"[ \t]{0,32}([^\s{}@\x00-\x20\x7f][^\s{}\x00-\x20\x7f]{0,255})[ \t]{0,16}\{[ \t]{0,16}([0-9]{1,18})[ \t]{0,16}\}[ \t]{0,16}:"
)
_END = re.compile(rb"[ \t]{0,64}\}")
_SPACES = re.compile(rb" *")


class ByteSource(Protocol):
    """What is read from: a binary file, or anything with its ``read``."""

    def read(self, size: int, /) -> bytes:
        """At most *size* bytes; empty at the end."""


class _StopError(Exception):
    """An error behind which nothing can be trusted."""


class SoifReader:
    """Iterate once over the objects of *source*; *findings* grows on the way.

    Memory: one object (at most 64 MiB) and a buffer. ``errors`` and ``warnings`` count every finding,
    ``findings`` keeps the first 1,000. ``offset`` is how far the reading came.
    """

    def __init__(self, source: ByteSource, *, charset: str = "utf-8") -> None:
        self._source = source
        self._charset = known_charset(charset)
        self._buffer = b""
        self._at = 0
        self._base = 0
        self._ended = False
        self._number = 0
        self._passed = 0
        self.findings: list[SoifFinding] = []
        self.errors = 0
        self.warnings = 0

    @property
    def offset(self) -> int:
        """Bytes read so far."""
        return self._base + self._at

    def __iter__(self) -> Iterator[SoifObject]:
        if self._have(3) and self._buffer.startswith(b"\xef\xbb\xbf"):
            self._at = 3
        try:
            while self._skip_blanks():
                read = self._object()
                if read is not None:
                    yield read
        except _StopError:
            return

    # -- the buffer --

    def _have(self, size: int) -> bool:
        """Whether *size* bytes from here on are in the buffer, after reading as far as needed."""
        if len(self._buffer) - self._at >= size:
            return True
        if self._ended:
            return False
        kept = [self._buffer[self._at :]]
        have = len(kept[0])
        self._base += self._at
        self._at = 0
        while have < size:
            piece = self._source.read(max(_CHUNK, min(size - have, MOST_VALUE_BYTES)))
            if not piece:
                self._ended = True
                break
            kept.append(piece)
            have += len(piece)
        self._buffer = b"".join(kept)
        return have >= size

    def _skip_blanks(self) -> bool:
        """Go to the next byte that is no blank; false at the end of input."""
        while True:
            found = _BLANKS.match(self._buffer, self._at)
            self._at = found.end() if found else self._at
            if self._at < len(self._buffer):
                return True
            if not self._have(1):
                return False

    def _skip(self, size: int) -> bool:
        """Pass over *size* bytes without keeping them; false when the input ends before."""
        while size > 0:
            if not self._have(1):
                return False
            step = min(size, len(self._buffer) - self._at)
            self._at += step
            size -= step
        return True

    # -- findings --

    def _note(self, code: str, offset: int, attribute: str, text: str) -> None:
        if code.startswith("E-"):
            self.errors += 1
        else:
            self.warnings += 1
        if len(self.findings) < MOST_FINDINGS:
            self.findings.append(SoifFinding(code, offset, self._number, attribute, text))

    def _stop(self, code: str, offset: int, attribute: str, text: str) -> _StopError:
        self._note(code, offset, attribute, f"{text}; the rest of the input is not read")
        return _StopError()

    def _truncated(self, offset: int, attribute: str) -> _StopError:
        end = self._base + len(self._buffer)
        return self._stop(
            "E-SOIF-TRUNC", offset, attribute, f"the input ends at byte {end}, inside this object"
        )

    # -- the grammar --

    def _object(self) -> SoifObject | None:
        """The object that begins here; None when it was read past and refused."""
        self._number += 1
        begin = self.offset
        template, url = self._head(begin)
        collected: dict[str, list[tuple[int, bytes]]] = {}
        count = size = 0
        refused = ""
        while True:
            if not self._skip_blanks():
                raise self._truncated(begin, "")
            self._have(_LOOK)
            end = _END.match(self._buffer, self._at)
            if end:
                self._at = end.end()
                break
            offset = self.offset
            name, value = self._attribute(offset, keep=not refused)
            count += 1
            size += len(value or b"")
            if value is None:
                refused = refused or "value"
            elif count > MOST_ATTRIBUTES and not refused:
                refused = "many"
                self._note(
                    "E-SOIF-MANY",
                    offset,
                    name,
                    f"an object has at most {MOST_ATTRIBUTES} attributes; it is refused",
                )
            elif size > MOST_OBJECT_BYTES and not refused:
                refused = "size"
                self._note(
                    "E-SOIF-SIZE",
                    offset,
                    name,
                    f"an object has at most {MOST_OBJECT_BYTES} bytes; it is refused",
                )
            if refused:
                collected.clear()
            elif value is not None:
                base, number = split_name(name)
                collected.setdefault(base, []).append((number, value))
        if refused:
            return None
        values = {
            name: (pairs[0][1],)
            if len(pairs) == 1
            else tuple(v for _, v in sorted(pairs, key=lambda pair: pair[0]))
            for name, pairs in collected.items()
        }
        return SoifObject(template, url, values, self._charset, begin)

    def _head(self, begin: int) -> tuple[str, str]:
        while (line := self._buffer.find(b"\n", self._at)) < 0:
            have = len(self._buffer) - self._at
            if have > MOST_HEAD_BYTES or not self._have(have + 1):
                break
        found = _HEAD.match(self._buffer, self._at) if 0 <= line - self._at <= MOST_HEAD_BYTES else None
        if not found:
            if self._ended and line < 0 and self._buffer.startswith(b"@", self._at):
                raise self._truncated(begin, "")
            raise self._stop(
                "E-SOIF-HEAD", begin, "", 'an object begins with "@TEMPLATE { URL" on a line of its own'
            )
        self._at = found.end()
        url = found[2].strip(b" \t\r").decode("utf-8", "replace")
        return found[1].decode("ascii").upper(), "" if url == "-" else url

    def _attribute(self, offset: int, *, keep: bool) -> tuple[str, bytes | None]:
        """The name as written and its value; no value: it is too long, and was passed over."""
        found = _ATTRIBUTE.match(self._buffer, self._at)
        if not found:
            if self._ended and self._buffer.find(b"\n", self._at) < 0:
                raise self._truncated(offset, "")
            raise self._stop(
                "E-SOIF-NAME", offset, "", 'an attribute begins with "name{bytes}:", an object ends with "}"'
            )
        name = found[1].decode("utf-8", "replace")
        size = int(found[2])
        self._at = found.end()
        self._delimiter(offset, name)
        if size > MOST_VALUE_BYTES:
            if keep:
                text = f"a value has at most {MOST_VALUE_BYTES} bytes, this one says {size}; its object is refused"
                self._note("E-SOIF-SIZE", offset, name, text)
            if not self._skip(size):
                raise self._truncated(offset, name)
            if not self._line_ends(0):
                raise self._stop("E-SOIF-COUNT", offset, name, f"no line ends after {size} bytes")
            return name, None
        self._have(size + 2)
        if len(self._buffer) - self._at >= size and self._line_ends(size):
            value = self._buffer[self._at - size - self._passed : self._at - self._passed]
        else:
            value = self._repaired(offset, name, size)
        if not value.isascii():
            try:
                value.decode(self._charset)
            except UnicodeDecodeError as error:
                text = (
                    f"byte {error.start} of the value is not {self._charset}; as text it reads U+FFFD there"
                )
                self._note("W-SOIF-CHARSET", offset, name, text)
        return name, value

    def _delimiter(self, offset: int, name: str) -> None:
        """Pass one tab; or, warned, the blanks that stand in its place."""
        self._have(1)
        if self._buffer.startswith(b"\t", self._at):
            self._at += 1
            return
        while True:
            found = _SPACES.match(self._buffer, self._at)
            self._at = found.end() if found else self._at
            if self._at < len(self._buffer) or not self._have(1):
                break
        self._note("W-SOIF-DELIM", offset, name, "a tab belongs after the colon")

    def _line_ends(self, size: int) -> bool:
        """Whether a line end follows *size* bytes; then it is passed and ``_passed`` says how long it was."""
        self._have(size + 2)
        end = self._at + size
        for mark in (b"\n", b"\r\n"):
            if self._buffer.startswith(mark, end):
                self._at = end + len(mark)
                self._passed = len(mark)
                return True
        return False

    def _repaired(self, offset: int, name: str, size: int) -> bytes:
        """The line as the value, when what follows it is plainly an attribute or the object's end."""
        while (line := self._buffer.find(b"\n", self._at)) < 0:
            have = len(self._buffer) - self._at
            if have > MOST_VALUE_BYTES or not self._have(have + 1):
                break
        if line < 0 and self._ended:
            raise self._truncated(offset, name)
        if 0 <= line - self._at <= MOST_VALUE_BYTES:
            length = line - self._at
            self._have(length + 1 + _LOOK)
            line = self._at + length
            after = line + 1
            if after >= len(self._buffer):
                raise self._truncated(offset, name)
            if _END.match(self._buffer, after) or _ATTRIBUTE.match(self._buffer, after):
                value = self._buffer[self._at : line].removesuffix(b"\r")
                self._at = after
                self._note("W-SOIF-COUNT", offset, name, f"the value has {len(value)} bytes, not {size}")
                return value
        raise self._stop(
            "E-SOIF-COUNT",
            offset,
            name,
            f"no line ends after {size} bytes, and where the value ends is unclear",
        )


def read_soif(data: bytes, *, charset: str = "utf-8") -> tuple[list[SoifObject], list[SoifFinding]]:
    """Every object of *data*, and what was found on the way."""
    reader = SoifReader(io.BytesIO(data), charset=charset)
    return list(reader), reader.findings
