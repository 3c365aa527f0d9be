"""A small LDAP server on loopback, with the parts of Active Directory that OpenLDAP lacks: ranges, the rule in chain.

It evaluates filters over its entries, so that what a client asks decides what it gets; *faults* let it misbehave.
"""

# ruff: noqa: PLR2004 - the protocol's own numbers
import socket
import socketserver
import ssl
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Self

from ingather.app.access.directory.ber import (
    BOOLEAN,
    ENUMERATED,
    OCTETS,
    SEQUENCE,
    SET,
    Fields,
    integer,
    length_of,
    octets,
    tlv,
)
from ingather.app.access.directory.filters import IN_CHAIN

__all__ = ["ScriptedDirectory"]

Values = Mapping[str, Sequence[str | bytes]]


class ScriptedDirectory:
    """Use as a context manager.

    Args:
        entries: DN to attributes; ``userPassword`` is what a bind is compared with and is never told.
        tls: of ``ldaps`` and StartTLS; ``None`` = neither.
        ldaps: whether TLS is spoken from the first byte.
        most_values: values of an attribute that are given at once; the rest by ranges.

    Attributes:
        code: result code of every search when not 0.
        silent: whether connections are taken and nothing is said.
        shouts: bytes that are sent along with the answer to StartTLS.
        binds: names of binds, in order.
        searches: how many were asked, pages counted.
        secured: how many connections got TLS.
    """

    def __init__(
        self,
        entries: Mapping[str, Values],
        *,
        tls: ssl.SSLContext | None = None,
        ldaps: bool = False,
        most_values: int = 1_500,
    ) -> None:
        self.entries = {
            dn: {name.lower(): [_bytes(value) for value in values] for name, values in held.items()}
            for dn, held in entries.items()
        }
        self.names = {name.lower(): name for held in entries.values() for name in held}
        self.tls, self.ldaps, self.most_values = tls, ldaps, most_values
        self.code = 0
        self.silent = False
        self.shouts = b""
        self.binds: list[str] = []
        self.searches = 0
        self.secured = 0
        self.stopped = threading.Event()
        directory = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                with suppress(OSError, EOFError):
                    _Talk(directory, self.request).run()

        class Listener(socketserver.ThreadingTCPServer):
            daemon_threads = False
            allow_reuse_address = True

        self._server = Listener(("127.0.0.1", 0), Handler)
        self.port = int(self._server.server_address[1])
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"{'ldaps' if self.ldaps else 'ldap'}://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stopped.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)

    def fits(self, wanted: tuple[int, bytes], dn: str) -> bool:
        """Whether the entry *dn* fits a filter."""
        tag, body = wanted
        if tag in {0xA0, 0xA1}:
            found = [self.fits(one, dn) for one in Fields(body)]
            return all(found) if tag == 0xA0 else any(found)
        if tag == 0xA2:
            return not self.fits(Fields(body).any(), dn)
        if tag == 0x87:
            return body.decode().lower() == "objectclass" or body.decode().lower() in self.entries[dn]
        fields = Fields(body)
        if tag == 0xA9:
            rule, name, value = fields.text(0x81), fields.text(0x82), fields.take(0x83)
            return rule == IN_CHAIN and self._leads(dn, name.lower(), value.lower(), set())
        name, value = fields.text().lower(), fields.take(OCTETS)
        held = self.entries[dn].get(name, ())
        return value in held if name == "objectsid" else value.lower() in {one.lower() for one in held}

    def _leads(self, dn: str, name: str, value: bytes, met: set[str]) -> bool:
        if dn in met or dn not in self.entries:
            return False
        met.add(dn)
        held = self.entries[dn].get(name, ())
        return any(one.lower() == value or self._leads(one.decode(), name, value, met) for one in held)

    def attributes(self, dn: str, asked: Sequence[str]) -> Iterator[bytes]:
        """Yield the attributes of an entry that were asked for, long ones in ranges."""
        for name in asked:
            plain, _, option = name.lower().partition(";range=")
            held = self.entries[dn].get(plain, ())
            if not held or plain == "userpassword":
                continue
            shown, begin = self.names[plain], int(option.partition("-")[0]) if option else 0
            part = held[begin : begin + self.most_values]
            if option or len(part) < len(held):
                end = "*" if begin + len(part) >= len(held) else str(begin + len(part) - 1)
                shown += f";range={begin}-{end}"
            yield tlv(SEQUENCE, octets(shown), tlv(SET, *map(octets, part)))


class _Talk:
    def __init__(self, directory: ScriptedDirectory, connection: socket.socket) -> None:
        self._directory, self._socket = directory, connection
        self._socket.settimeout(30)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def run(self) -> None:
        directory = self._directory
        if directory.silent:
            while not directory.stopped.wait(0.05):
                pass
            return
        if directory.ldaps:
            self._secure()
        try:
            while self._one():
                pass
        finally:
            if directory.tls is not None:
                self._socket.close()

    def _secure(self) -> None:
        assert self._directory.tls is not None
        self._socket = self._directory.tls.wrap_socket(self._socket, server_side=True)
        self._directory.secured += 1

    def _one(self) -> bool:
        directory, message = self._directory, Fields(self._message())
        number = message.number()
        tag, body = message.any()
        if tag == 0x42:
            return False
        if tag == 0x77:
            self._say(number, tlv(0x78, _result(0)), more=directory.shouts)
            self._secure()
        elif tag == 0x60:
            self._say(number, tlv(0x61, _result(self._bound(body))))
        elif tag == 0x63:
            self._search(number, body, Fields(message.take(0xA0)))
        return True

    def _bound(self, body: bytes) -> int:
        fields = Fields(body)
        fields.number()
        dn, password = fields.text(), fields.take(0x80)
        self._directory.binds.append(dn)
        if not password:
            return 0  # anonymous, whatever the name: RFC 4513, 5.1.2
        return 0 if password in self._directory.entries.get(dn, {}).get("userpassword", ()) else 49

    def _search(self, number: int, body: bytes, controls: Fields) -> None:
        directory, fields = self._directory, Fields(body)
        directory.searches += 1
        base, scope = fields.text().lower(), fields.number(ENUMERATED)
        for tag in (ENUMERATED, 0x02, 0x02, BOOLEAN):
            fields.take(tag)
        wanted = fields.any()
        asked = [name.decode() for _, name in Fields(fields.take(SEQUENCE))]
        page = Fields(Fields(_control(controls)).take(SEQUENCE))
        size, begin = page.number(), int(page.take(OCTETS) or b"0")
        found = [
            dn
            for dn in directory.entries
            if (dn.lower() == base if scope == 0 else dn.lower().endswith(base))
            and directory.fits(wanted, dn)
        ]
        for dn in found[begin : begin + size]:
            self._say(number, tlv(0x64, octets(dn), tlv(SEQUENCE, *directory.attributes(dn, asked))))
        self._say(number, tlv(0x73, octets("ldap://elsewhere.example/")))
        cookie = str(begin + size) if begin + size < len(found) else ""
        value = tlv(SEQUENCE, integer(0), octets(cookie))
        control = tlv(0xA0, tlv(SEQUENCE, octets("1.2.840.113556.1.4.319"), octets(value)))
        self._say(number, tlv(0x65, _result(directory.code)), control)

    def _say(self, number: int, operation: bytes, controls: bytes = b"", *, more: bytes = b"") -> None:
        self._socket.sendall(tlv(SEQUENCE, integer(number), operation, controls) + more)

    def _message(self) -> bytes:
        head = b""
        while (found := length_of(head)) is None:
            head += self._exactly(1)
        return self._exactly(found[1])

    def _exactly(self, count: int) -> bytes:
        made = b""
        while len(made) < count:
            got = self._socket.recv(count - len(made))
            if not got:
                raise EOFError
            made += got
        return made


def _control(controls: Fields) -> bytes:
    one = Fields(controls.take(SEQUENCE))
    one.take(OCTETS)
    return one.take(OCTETS)


def _result(code: int) -> bytes:
    return integer(code, ENUMERATED) + octets("") + octets("no" if code else "")


def _bytes(value: str | bytes) -> bytes:
    return value.encode() if isinstance(value, str) else value
