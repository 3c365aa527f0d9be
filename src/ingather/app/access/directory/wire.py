"""One connection to an LDAP server: TLS, bind, search with pages.

Source: RFC 4511; RFC 2696 (pages); RFC 4513 (StartTLS, simple bind). Every wait ends at the connection's deadline, however
slowly the server speaks. Not more than :data:`MOST_BYTES` are taken of one answer.
"""

import socket
import ssl
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Final, NamedTuple, Self

from ingather.app.access.directory.ber import (
    BOOLEAN,
    ENUMERATED,
    INTEGER,
    OCTETS,
    SEQUENCE,
    SET,
    Fields,
    integer,
    length_of,
    octets,
    tlv,
)
from ingather.errors import DirectoryError

__all__ = ["Entry", "Link", "RefusedError", "Server", "Talk"]

MOST_BYTES: Final = 8 << 20
_BIND, _BOUND, _UNBIND, _SEARCH, _ENTRY, _DONE, _REFERENCE, _ASK, _ASKED = (
    0x60, 0x61, 0x42, 0x63, 0x64, 0x65, 0x73, 0x77, 0x78
)  # fmt: skip
_SIMPLE, _CONTROLS = 0x80, 0xA0
_START_TLS: Final = "1.3.6.1.4.1.1466.20037"
_PAGED: Final = "1.2.840.113556.1.4.319"
_CHUNK: Final = 1 << 16
_MOST_PAGES: Final = 10_000
_WHOLE_TREE, _ONE_ENTRY = 2, 0
_RESULTS: Final = {
    1: "operations error", 3: "time limit exceeded", 4: "size limit exceeded", 7: "authentication method not supported",
    8: "stronger authentication required", 10: "referral", 11: "administrative limit exceeded", 12: "critical extension missing",
    13: "confidentiality required", 32: "no such object", 34: "no DN", 48: "inappropriate authentication",
    49: "invalid credentials", 50: "insufficient access rights", 51: "busy", 52: "unavailable", 53: "unwilling to perform",
}  # fmt: skip


class Server(NamedTuple):
    """Where a server listens, and whether it speaks TLS from the first byte (``ldaps``)."""

    host: str
    port: int
    tls: bool

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'ldaps' if self.tls else 'ldap'}://{host}:{self.port}"


class RefusedError(DirectoryError):
    """The server said no; *code* is its result code."""

    def __init__(self, text: str, code: int) -> None:
        super().__init__(text, hint="see docs/how-to/use-a-directory.md")
        self.code = code


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry: its name, and its attributes by lower-case description, options included."""

    dn: str
    values: Mapping[str, Sequence[bytes]]

    def first(self, names: Sequence[str]) -> str:
        """Return the first value, as a text, of the first of *names* that has one; ``""`` = none."""
        for name in names:
            for value in self.values.get(name.lower(), ()):
                with suppress(UnicodeDecodeError):
                    if text := value.decode().strip():
                        return text
        return ""


@dataclass(frozen=True, slots=True)
class Talk:
    """How servers are spoken to.

    Attributes:
        tls: verifies certificates; the server's name is checked as well.
        start_tls: whether plain connections are turned into TLS before anything else is said.
        timeout_s: of one connection, from its begin to its end.
        page: entries of a page.
        monotonic: the clock of deadlines.
    """

    tls: ssl.SSLContext
    start_tls: bool
    timeout_s: float
    page: int
    monotonic: Callable[[], float]


class Link:
    """An open connection; a context manager.

    Raises:
        DirectoryError: it cannot be had, or its certificate is not good.
    """

    def __init__(self, server: Server, talk: Talk) -> None:
        self._server, self._talk = server, talk
        self._deadline = talk.monotonic() + talk.timeout_s
        self._number = 0
        self._kept = bytearray()
        self._socket: socket.socket | None = None
        try:
            self._socket = socket.create_connection((server.host, server.port), timeout=self._left())
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if server.tls:
                self._secure()
            elif talk.start_tls:
                self._start_tls()
        except OSError as error:
            self.close()
            raise self._trouble(error) from error
        except DirectoryError:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Say goodbye and close."""
        connection, self._socket = self._socket, None
        if connection is None:
            return
        with suppress(OSError):
            connection.settimeout(0.2)
            connection.sendall(tlv(SEQUENCE, integer(self._number + 1), tlv(_UNBIND)))
        connection.close()

    def bind(self, dn: str, password: str) -> None:
        """Say who we are; both empty = nobody in particular.

        Raises:
            RefusedError: the server does not believe it.
            DirectoryError: it cannot be asked, or a password is missing (a server would take that for anonymous and say yes).
        """
        if bool(dn) != bool(password):
            raise DirectoryError(
                "a bind wants a name and a password", hint="see directory.bind-password-file"
            )
        self._send(tlv(_BIND, integer(3), octets(dn), octets(password, _SIMPLE)))
        tag, body, _ = self._answer()
        if tag != _BOUND:
            raise self._odd()
        self._require(body, f"the bind as {dn or 'nobody'}")

    def search(
        self, base: str, wanted: bytes, names: Sequence[str], *, below: bool = True
    ) -> Iterator[Entry]:
        """Yield the entries at or *below* base that fit, of all pages; continuation references are left out.

        Raises:
            RefusedError: the server gave only a part of them, or none.
            DirectoryError: it cannot be asked.
        """
        cookie = b""
        asked = tlv(SEQUENCE, *map(octets, names))
        scope = integer(_WHOLE_TREE if below else _ONE_ENTRY, ENUMERATED)
        limit_s = max(int(self._talk.timeout_s), 1)
        operation = tlv(
            _SEARCH, octets(base), scope, integer(0, ENUMERATED), integer(0), integer(limit_s), tlv(BOOLEAN, b"\0"), wanted, asked
        )  # fmt: skip
        for _ in range(_MOST_PAGES):
            value = tlv(SEQUENCE, integer(self._talk.page), octets(cookie))
            self._send(operation, tlv(_CONTROLS, tlv(SEQUENCE, octets(_PAGED), octets(value))))
            while True:
                tag, body, controls = self._answer()
                if tag == _ENTRY:
                    yield _entry(body)
                elif tag == _DONE:
                    break
                elif tag != _REFERENCE:
                    raise self._odd()
            self._require(body, f"the search below {base!r}")
            cookie = _cookie(controls)
            if not cookie:
                return
        raise self._odd()

    # -- bytes -------------------------------------------------------------------------------------

    def _start_tls(self) -> None:
        self._send(tlv(_ASK, octets(_START_TLS, 0x80)))
        tag, body, _ = self._answer()
        if tag != _ASKED:
            raise self._odd()
        self._require(body, "StartTLS")
        if self._kept:  # said before the key was agreed: anybody could have said it
            raise self._odd()
        self._secure()

    def _secure(self) -> None:
        plain = self._open()
        plain.settimeout(self._left())
        self._socket = self._talk.tls.wrap_socket(plain, server_hostname=self._server.host)

    def _send(self, operation: bytes, controls: bytes = b"") -> None:
        self._number += 1
        connection = self._open()
        try:
            connection.settimeout(self._left())
            connection.sendall(tlv(SEQUENCE, integer(self._number), operation, controls))
        except OSError as error:
            raise self._trouble(error) from error

    def _answer(self) -> tuple[int, bytes, bytes]:
        """Return tag and content of the next answer to what was asked last, and its controls."""
        message = Fields(self._message())
        number = message.number()
        tag, body = message.any()
        if number != self._number:  # also 0, the notice that the server ends the connection
            raise self._odd()
        controls = b""
        while message.more:
            kind, content = message.any()
            if kind == _CONTROLS:
                controls = content
        return tag, body, controls

    def _message(self) -> bytes:
        connection = self._open()
        while True:
            found = length_of(bytes(self._kept[:6]))
            if found is not None:
                if self._kept[0] != SEQUENCE or found[1] > MOST_BYTES:
                    raise self._odd()
                end = sum(found)
                if len(self._kept) >= end:
                    message = bytes(self._kept[found[0] : end])
                    del self._kept[:end]
                    return message
            try:
                connection.settimeout(self._left())
                got = connection.recv(_CHUNK)
            except OSError as error:
                raise self._trouble(error) from error
            if not got:
                raise DirectoryError(f"{self._server} closed the connection", hint="try again later")
            self._kept += got

    def _open(self) -> socket.socket:
        if self._socket is None:
            raise DirectoryError(f"the connection to {self._server} is closed")
        return self._socket

    def _left(self) -> float:
        left = self._deadline - self._talk.monotonic()
        if left <= 0:
            raise DirectoryError(
                f"{self._server} took longer than {self._talk.timeout_s:g} s", hint="see directory.timeout"
            )
        return left

    def _require(self, body: bytes, what: str) -> None:
        fields = Fields(body)
        code = fields.number(ENUMERATED)
        if code:
            fields.take(OCTETS)
            said = fields.text()[:200]  # the server's own words, which have none of ours in them
            name = _RESULTS.get(code, "result")
            raise RefusedError(
                f"{self._server} refused {what}: {name} ({code}){': ' + said if said else ''}", code
            )

    def _odd(self) -> DirectoryError:
        return DirectoryError(f"{self._server} answered out of turn", hint="see directory.servers")

    def _trouble(self, error: OSError) -> DirectoryError:
        if isinstance(error, ssl.SSLCertVerificationError):
            return DirectoryError(
                f"the certificate of {self._server} is not good: {error.verify_message}",
                hint="name the authority that signed it in directory.ca-file",
            )
        why = "it took too long" if isinstance(error, TimeoutError) else error.strerror or str(error)
        return DirectoryError(f"{self._server} cannot be asked: {why}", hint="see directory.servers")


def _entry(body: bytes) -> Entry:
    fields = Fields(body)
    dn = fields.text()
    values: dict[str, list[bytes]] = {}
    for tag, content in Fields(fields.take(SEQUENCE)):
        if tag == SEQUENCE:
            one = Fields(content)
            name = one.text().lower()
            values[name] = [value for _, value in Fields(one.take(SET))]
    return Entry(dn, values)


def _cookie(controls: bytes) -> bytes:
    for _, content in Fields(controls):
        fields = Fields(content)
        if fields.text() != _PAGED:
            continue
        while fields.more:
            tag, value = fields.any()
            if tag == OCTETS:
                page = Fields(Fields(value).take(SEQUENCE))
                page.take(INTEGER)
                return page.take(OCTETS)
    return b""
