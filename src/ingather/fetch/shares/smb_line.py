"""One connection to an SMB server, spoken by ``smbprotocol``: its socket is ours, its answers are bounded, nothing is followed.

The library is an extra of the installation, so this file is imported when the first server is asked. SMB 2 and 3 alone. Who logs in
signs, and an answer that is neither signed nor encrypted then is refused; the server may ask for encryption. Links and DFS
referrals are not followed. One thread uses a line at a time; :meth:`SmbLine.cancel` may come from another one.
"""

import contextlib
import logging
import socket
import struct
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from ingather.fetch.shares.account import Account
from ingather.fetch.shares.listing import Entry
from smbprotocol.connection import Connection
from smbprotocol.exceptions import SMBException, SMBResponseException
from smbprotocol.header import Commands, NtStatus, Smb2Flags, SMB2HeaderResponse
from smbprotocol.open import Open, SMB2QueryDirectoryResponse
from smbprotocol.session import Session
from smbprotocol.tree import TreeConnect

__all__ = ["Found", "SmbClosedError", "SmbLine", "SmbRefusedError", "SmbStatusError"]

_FRAME_BYTES: Final = 2 << 20
_BLOCK_BYTES: Final = 1 << 16
_CREDIT_BLOCKS: Final = 8
_GUEST: Final = "Guest"
_IMPERSONATION: Final = 2
_READ: Final = 0x1 | 0x80  # data or entries, and attributes
_SHARED_BY_ALL: Final = 0x7
_OPEN: Final = 0x1
_FOLDER_ONLY, _FILE_ONLY = 0x1, 0x40
_FULL_ENTRIES: Final = 2
_ENTRY: Final = struct.Struct("<IIQQQQQQIII")
_HIDDEN, _DIRECTORY, _REPARSE = 0x2, 0x10, 0x400
_LEADS_ELSEWHERE: Final = frozenset({0xA0000003, 0xA000000C, 0x8000000A, 0x80000012})
"""Reparse tags: mount point, symbolic link, DFS and its replication."""
_MORE_ENTRIES_NONE: Final = frozenset({0x80000006, 0xC000000F})
_END_OF_FILE: Final = 0xC0000011

# The library tells of accounts and, in detail, of every message; what matters is in our answers.
for _name in ("smbprotocol", "spnego"):
    logging.getLogger(_name).setLevel(logging.CRITICAL + 1)


class SmbClosedError(Exception):
    """The connection ended, or what came over it cannot be trusted."""


class SmbRefusedError(Exception):
    """The server did not let the account in."""


class SmbStatusError(Exception):
    """The server answered a request with a status that is no success.

    Args:
        status: NTSTATUS.
    """

    def __init__(self, status: int) -> None:
        super().__init__(f"NTSTATUS 0x{status:08x}")
        self.status = status


@dataclass(frozen=True, slots=True)
class Found:
    """An opened file or folder.

    Attributes:
        handle: the library's.
        size: bytes.
        modified_s: last write, seconds since 1970; ``None`` = not known.
    """

    handle: Any
    size: int
    modified_s: float | None


class _Wire:
    """The transport: a socket that was connected and judged before; frames are bounded. Implements what the library asks of one."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self.connected = True

    def connect(self) -> None:
        """Do nothing: it is connected."""

    def close(self) -> None:
        """Wake whoever waits at the socket; any thread."""
        self.connected = False
        with contextlib.suppress(OSError):
            self._sock.shutdown(socket.SHUT_RDWR)

    def release(self) -> None:
        """Give the socket back, when nobody uses it any more."""
        self._sock.close()

    def send(self, message: Any) -> None:
        data = message if isinstance(message, bytes) else message.pack()
        self._sock.sendall(struct.pack(">I", len(data)) + data)

    def recv(self, _timeout: float) -> bytes | None:
        head = self._exactly(4)
        if head is None:
            return None
        size = int.from_bytes(head, "big")
        if not 0 < size <= _FRAME_BYTES:
            raise SmbClosedError(f"a message of {size} bytes")
        return self._exactly(size)

    def _exactly(self, size: int) -> bytes | None:
        got = bytearray()
        while len(got) < size:
            try:
                piece = self._sock.recv(size - len(got))
            except OSError:
                piece = b""
            if not piece:
                self.connected = False
                return None
            got += piece
        return bytes(got)


class _Connection(Connection):
    """The library's connection over a wire of ours, with less trust."""

    def __init__(self, wire: _Wire, host: str, port: int, *, signed: bool) -> None:
        self._wire = wire
        super().__init__(uuid.uuid4(), host, port, require_signing=signed)

    @property
    def transport(self) -> Any:
        """The wire; a socket that the library would open is not wanted."""
        return self._wire

    @transport.setter
    def transport(self, _its: Any) -> None:
        """Leave the wire in its place."""

    def receive(
        self,
        request: Any,
        wait: bool = True,  # noqa: FBT001, FBT002 - the library's
        timeout: float | None = None,
        resolve_symlinks: bool = True,  # noqa: FBT001, FBT002 - the library's
    ) -> SMB2HeaderResponse:
        """Wait for an answer; never ask again where a link leads."""
        del resolve_symlinks
        return super().receive(request, wait=wait, timeout=timeout, resolve_symlinks=False)

    def verify_signature(self, header: SMB2HeaderResponse, session_id: int, force: bool = False) -> None:  # noqa: FBT001, FBT002 - the library's
        """Refuse what is not signed although it must be (MS-SMB2 section 3.2.5.1.3); it comes here when it was not encrypted."""
        session = self.session_table.get(session_id)
        if session is not None and not force and (session.signing_required or session.encrypt_data):
            unsigned = not header["flags"].has_flag(Smb2Flags.SMB2_FLAGS_SIGNED)
            pending = header["status"].get_value() == NtStatus.STATUS_PENDING
            if (
                (unsigned or session.encrypt_data)
                and not pending
                and header["command"].get_value() != Commands.SMB2_SESSION_SETUP
            ):
                raise SMBException("an answer without a signature")
        super().verify_signature(header, session_id, force=force)


class SmbLine:
    """A connection that is logged in.

    Args:
        sock: connected; belongs to the line from now on.
        host, port: of the server, as the URL names it.
        account: ``None`` = a guest, who signs nothing.
        negotiate_s: limit of the first exchange.

    Raises:
        SmbClosedError: the server ended it, or does not speak SMB 2.
        SmbRefusedError: it does not let the account in.
        SmbStatusError: it said something else.
    """

    def __init__(
        self, sock: socket.socket, host: str, port: int, account: Account | None, negotiate_s: float
    ) -> None:
        self._wire = _Wire(sock)
        self._host, self._account = host, account
        self._connection = _Connection(self._wire, host, port, signed=account is not None)
        self._trees: dict[str, TreeConnect] = {}
        try:
            with _told():
                self._connection.connect(timeout=max(1, int(negotiate_s)))
            self._session = self._logged_in()
        except BaseException:
            self.close()
            raise

    def cancel(self) -> None:
        """End it from another thread: whoever waits for an answer gets :class:`SmbClosedError`."""
        self._wire.close()

    def close(self) -> None:
        """Close the connection; no farewell."""
        with contextlib.suppress(Exception):
            self._connection.disconnect(close=False)
        self._wire.release()

    def opened(self, share: str, path: str, *, folder: bool) -> Found:
        """Open *path* (segments joined with backslashes) of *share* for reading."""
        with _told():
            handle = Open(self._tree(share), path)
            handle.create(
                _IMPERSONATION, _READ, 0, _SHARED_BY_ALL, _OPEN, _FOLDER_ONLY if folder else _FILE_ONLY
            )
            written = handle.last_write_time
            modified_s = written.timestamp() if written.tzinfo is not None and written.year > 1970 else None  # noqa: PLR2004 - the epoch
            return Found(handle, int(handle.end_of_file), modified_s)

    def closed(self, found: Found) -> None:
        """Close what was opened."""
        with contextlib.suppress(SmbStatusError), _told():
            found.handle.close()

    def content(self, found: Found, most: int) -> tuple[bytes, bool]:
        """Return a file's first *most* bytes, and whether it goes on."""
        got = bytearray()
        while len(got) <= most:
            length = min(self._block(), most + 1 - len(got))
            try:
                with _told():
                    piece = found.handle.read(len(got), length)
            except SmbStatusError as error:
                if error.status != _END_OF_FILE:
                    raise
                piece = b""
            if not piece:
                break
            if len(piece) > length:
                raise SmbClosedError("more content than was asked for")
            got += piece
        return bytes(got[:most]), len(got) > most

    def entries(self, found: Found) -> Iterator[Entry]:
        """Yield what a folder holds, without what is hidden and what leads elsewhere."""
        connection, session, tree = self._connection, self._session, found.handle.tree_connect
        while True:
            try:
                with _told():
                    query, _ = found.handle.query_directory("*", _FULL_ENTRIES, flags=0, send=False)
                    asked = connection.send(query, session.session_id, tree.tree_connect_id)
                    answer = SMB2QueryDirectoryResponse()
                    answer.unpack(connection.receive(asked)["data"].get_value())
                    data: bytes = answer["buffer"].get_value()
            except SmbStatusError as error:
                if error.status in _MORE_ENTRIES_NONE:
                    return
                raise
            yield from _read_entries(data)

    def _tree(self, share: str) -> TreeConnect:
        tree = self._trees.get(share)
        if tree is None:
            tree = TreeConnect(self._session, rf"\\{self._host}\{share}")
            tree.connect(require_secure_negotiate=self._account is not None)
            tree.is_dfs_share = False  # its names are taken as they are: referrals are not followed
            self._trees[share] = tree
        return tree

    def _block(self) -> int:
        """Return how many bytes one request may ask for: a credit pays for 64 KiB."""
        connection = self._connection
        window = connection.sequence_window
        credits_left = min(window["high"] - window["low"], _CREDIT_BLOCKS)
        blocks = max(credits_left, 1) if connection.supports_multi_credit else 1
        return max(1, min(blocks * _BLOCK_BYTES, int(connection.max_read_size)))

    def _logged_in(self) -> Session:
        account = self._account
        # NTLM outright: Kerberos would ask servers that no gate has seen.
        session = Session(
            self._connection, account.user if account else _GUEST, account.password if account else "",
            require_encryption=False, auth_protocol="ntlm",
        )  # fmt: skip
        try:
            with _told():
                session.connect()
        except SmbStatusError as error:
            raise SmbRefusedError(str(error)) from None
        except SmbClosedError as error:
            if "as a guest" in str(error):
                raise SmbRefusedError("it takes the account for a guest") from None
            raise
        return session


@contextlib.contextmanager
def _told() -> Iterator[None]:
    """Turn what the library raises into one of our three errors; it parses what a stranger sent, so that may be anything."""
    try:
        yield
    except (SmbStatusError, SmbClosedError):
        raise
    except SMBResponseException as error:
        raise SmbStatusError(int(error.status)) from None
    except Exception as error:  # noqa: BLE001 - see above
        raise SmbClosedError(f"{type(error).__name__}: {error}"[:300]) from None


def _read_entries(data: bytes) -> Iterator[Entry]:
    """Read FileFullDirectoryInformation (MS-FSCC section 2.4.14) of one answer."""
    at = 0
    while True:
        try:
            following, _, _, _, _, _, _, _, attributes, length, tag = _ENTRY.unpack_from(data, at)
        except struct.error:
            raise SmbClosedError("a broken list of entries") from None
        start = at + _ENTRY.size
        elsewhere = attributes & _REPARSE and tag in _LEADS_ELSEWHERE
        if not attributes & _HIDDEN and not elsewhere:
            with contextlib.suppress(UnicodeDecodeError):
                yield Entry(
                    data[start : start + length].decode("utf-16-le"), folder=bool(attributes & _DIRECTORY)
                )
        if not following:
            return
        if following < _ENTRY.size:
            raise SmbClosedError("a broken list of entries")
        at += following
