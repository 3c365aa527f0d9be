"""``application/x-www-form-urlencoded``, correctly encoded or with the XML as it is (GSA feeds specification, 4.2 g and h)."""

import re
from enum import Enum, auto
from typing import Final
from urllib.parse import unquote_to_bytes

from ingather.web.feedgate.form import Form
from ingather.web.feedgate.refusal import bad

__all__ = ["UrlEncoded"]

_LOOK: Final = 4096
_STEP: Final = 16 * 1024
_XML: Final = re.compile(rb"<\?xml|<!DOCTYPE|<gsafeed|<xmlgroups", re.IGNORECASE)


class _State(Enum):
    NAME = auto()
    LOOK = auto()
    VALUE = auto()
    XML = auto()


class UrlEncoded:
    """Reads pairs into a form.

    If the payload's value begins with XML that is not encoded, all from there to the last ``>`` of the body is the
    payload, untouched: ``+``, ``%`` and ``&`` are its own. What pairs follow the last ``>`` are read.
    """

    def __init__(self, form: Form) -> None:
        self._form = form
        self._state = _State.NAME
        self._buffer = b""

    def feed(self, piece: bytes) -> None:
        """Take the next bytes.

        Raises:
            RefusedError: see :class:`Form`; a name is too long.
        """
        for at in range(0, len(piece), _STEP):
            self._buffer += piece[at : at + _STEP]
            self._go(final=False)

    def finish(self) -> None:
        """Read what is left.

        Raises:
            RefusedError: see :class:`Form`.
        """
        self._go(final=True)
        if self._state is _State.XML:
            self._form.end()
            rest, self._buffer, self._state = self._buffer, b"", _State.NAME
            at = rest.find(b"&")
            if at >= 0:
                self._buffer = rest[at + 1 :]
                self._go(final=True)
        if self._state is _State.VALUE:
            self._form.end()
        elif self._buffer.strip():
            self._empty(self._buffer)

    def _go(self, *, final: bool) -> None:
        steps = {
            _State.NAME: self._name,
            _State.LOOK: self._look,
            _State.VALUE: self._value,
            _State.XML: self._xml,
        }
        while steps[self._state](final=final):
            pass

    def _name(self, *, final: bool) -> bool:
        equals, ampersand = self._buffer.find(b"="), self._buffer.find(b"&")
        if equals < 0 and ampersand < 0:
            if len(self._buffer) > _LOOK:
                raise bad("the body is neither a form nor XML")
            return False
        if equals < 0 or 0 <= ampersand < equals:
            self._empty(self._buffer[:ampersand])
            self._buffer = self._buffer[ampersand + 1 :]
            return True
        if equals > _LOOK:
            raise bad("the name of a field is too long")
        name = _decoded(self._buffer[:equals]).decode("utf-8", "replace").strip()
        self._buffer = self._buffer[equals + 1 :]
        self._form.begin(name)
        self._state = _State.LOOK if self._form.is_payload(name) else _State.VALUE
        return True

    def _empty(self, name: bytes) -> None:
        text = _decoded(name).decode("utf-8", "replace").strip()
        if text:
            self._form.begin(text)
            self._form.end()

    def _look(self, *, final: bool) -> bool:
        head = self._buffer[:_LOOK].partition(b"&")[0]
        found = _XML.search(head)
        if found:
            self._buffer = self._buffer[found.start() :]
            self._state = _State.XML
            return True
        if final or len(self._buffer) >= _LOOK or len(head) < len(self._buffer):
            self._state = _State.VALUE
            return True
        return False

    def _value(self, *, final: bool) -> bool:
        value, ampersand, rest = self._buffer.partition(b"&")
        if not ampersand and not final:
            cut = value.rfind(b"%", -2)
            if cut >= 0:
                value, rest = value[:cut], value[cut:]
        self._buffer = rest
        if value:
            self._form.piece(_decoded(value))
        if ampersand:
            self._form.end()
            self._state = _State.NAME
        return bool(ampersand)

    def _xml(self, *, final: bool) -> bool:
        cut = self._buffer.rfind(b">") + 1
        if not cut and len(self._buffer) > _LOOK:
            cut = len(self._buffer)  # longer than any fields behind the XML: it is text inside
        if cut:
            self._form.piece(self._buffer[:cut])
            self._buffer = self._buffer[cut:]
        return False


def _decoded(raw: bytes) -> bytes:
    return unquote_to_bytes(raw.replace(b"+", b" "))
