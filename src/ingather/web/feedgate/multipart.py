"""``multipart/form-data`` as it comes: boundaries of any characters, parts of any size, with or without a file name.

A delimiter is a line of its own, begun by CRLF or, if the first one ended so, by a bare line feed. Bytes of a
part are handed on as they come and never decoded (RFC 7578; GSA feeds specification, sections 4.2 and 6).
"""

import re
from enum import Enum, auto
from typing import Final

from ingather.web.feedgate.form import Form
from ingather.web.feedgate.refusal import bad

__all__ = ["Multipart"]

_HEADER_BYTES: Final = 8192
_LOOK_AHEAD: Final = 256
_AFTER: Final = re.compile(rb"(--)?[ \t]*(\r?\n|\r?\Z)")
_NAME: Final = re.compile(rb";\s*name\s*=\s*(?:\"((?:[^\"\\]|\\.)*)\"|([^\s;]+))", re.IGNORECASE)
_WHOLE: Final = frozenset({b"", b"7bit", b"8bit", b"binary"})


class _State(Enum):
    PREAMBLE = auto()
    HEADERS = auto()
    BODY = auto()
    END = auto()


class Multipart:
    """Reads a body between delimiters into a form."""

    def __init__(self, boundary: bytes, form: Form) -> None:
        self._mark = b"\n--" + boundary
        self._crlf = False
        self._form = form
        self._state = _State.PREAMBLE
        # The first delimiter may stand at the very start, where no line end precedes it.
        self._buffer = b"\n"
        self._headers: list[bytes] = []
        self._header_bytes = 0
        self._skip = 0
        """Bytes at the start of the buffer that were put back and belong to no part."""

    def feed(self, piece: bytes) -> None:
        """Take the next bytes.

        Raises:
            RefusedError: see :class:`Form`; a part's head cannot be read.
        """
        self._buffer = self._buffer + piece if self._buffer else piece
        self._go(final=False)

    def finish(self) -> None:
        """See that the closing delimiter has come.

        Raises:
            RefusedError: it has not: the body was cut off.
        """
        self._go(final=True)
        if self._state is _State.PREAMBLE:
            raise bad("the body has no part between the boundaries that Content-Type names")
        if self._state is not _State.END:
            raise bad("the body ends before its closing boundary")

    def _go(self, *, final: bool) -> None:
        while self._state is not _State.END:
            step = self._header_line if self._state is _State.HEADERS else self._content
            if not step(final=final):
                return
        self._buffer = b""

    def _content(self, *, final: bool) -> bool:
        """Hand on what lies before the next delimiter; return whether one was passed."""
        buffer, mark = self._buffer, self._mark
        at = buffer.find(mark)
        while at >= 0:
            behind = at + len(mark)
            match = _AFTER.match(buffer, behind)
            if match is not None and (final or match[2].endswith(b"\n")):
                self._part_ends(buffer[:at])
                if match[1]:
                    self._state = _State.END
                else:
                    self._begin_part(crlf=match[2].startswith(b"\r"))
                self._buffer = buffer[match.end() :]
                return True
            if not final and len(buffer) - behind < _LOOK_AHEAD and b"\n" not in buffer[behind:]:
                self._emit(buffer[:at])
                self._buffer = buffer[at:]
                return False
            at = buffer.find(mark, at + 1)
        keep = min(len(buffer), len(mark) - 1)
        split = len(buffer) - keep
        self._emit(buffer[:split])
        self._buffer = buffer[split:]
        return False

    def _emit(self, data: bytes) -> None:
        if self._state is _State.BODY and data:
            skipped = min(self._skip, len(data))
            self._skip -= skipped
            self._form.piece(data[skipped:] if skipped else data)

    def _part_ends(self, data: bytes) -> None:
        if self._state is _State.BODY:
            self._emit(data)
            self._skip = 0
            self._form.end()

    def _begin_part(self, *, crlf: bool) -> None:
        if self._state is _State.PREAMBLE and crlf:
            self._mark = b"\r" + self._mark
        self._state = _State.HEADERS
        self._headers, self._header_bytes = [], 0

    def _header_line(self, *, final: bool) -> bool:
        line, feed, rest = self._buffer.partition(b"\n")
        self._header_bytes += len(line) if feed else 0
        if self._header_bytes + (0 if feed else len(line)) > _HEADER_BYTES:
            raise bad("the head of a part is too long")
        if not feed:
            return False
        line = line.rstrip(b"\r")
        if line:
            self._headers.append(line)
            self._buffer = rest
            return True
        # The line end that closes the head may begin the next delimiter (an empty part), so it is put back.
        self._buffer = (b"\r\n" if self._mark.startswith(b"\r") else b"\n") + rest
        self._open()
        return True

    def _open(self) -> None:
        name, media = b"", b""
        for line in self._headers:
            key, _, value = line.partition(b":")
            kind = key.strip().lower()
            if kind == b"content-disposition":
                found = _NAME.search(value)
                name = (
                    (re.sub(rb"\\(.)", rb"\1", found[1]) if found[1] is not None else found[2])
                    if found
                    else b""
                )
            elif kind == b"content-type":
                media = value.partition(b";")[0].strip().lower()
            elif kind == b"content-transfer-encoding" and value.strip().lower() not in _WHOLE:
                raise bad("a part is sent in base64 or quoted-printable; send its bytes as they are")
        self._form.begin(name.decode("utf-8", "replace"), media.decode("latin-1"))
        self._state = _State.BODY
        self._skip = len(self._mark) - len(self._mark.lstrip(b"\r\n"))
