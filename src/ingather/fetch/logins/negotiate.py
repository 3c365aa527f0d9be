"""Negotiate (RFC 4559) with Kerberos: a token for each request, out of a keytab, from a helper process.

The host sees the account of the keytab; no password is anywhere. One process a keytab, because the ticket cache is the environment's.
"""

import asyncio
import base64
import os
import select
import subprocess
import sys
import weakref
from pathlib import Path
from typing import IO, Final
from urllib.parse import urlsplit

from ingather.fetch.http_dress import Dress, Send
from ingather.fetch.logins.port import LoginError
from ingather.model.resource import Failure, Request, Response
from ingather.model.scope import Scope

__all__ = ["Negotiate", "principal_of"]

_WAIT_MS: Final = 25_000
"""So long a KDC may take; a gatherer that ends waits 30 s for what it fetches."""
_PASSED_ON: Final = ("KRB5_CONFIG", "LANG", "LC_ALL", "PATH", "TZ")
_WRONG: Final = ("reauthentication failed", "integrity check failed", "revoked", "expired")
_VERSION: Final = b"\x05\x02"


def principal_of(keytab: bytes) -> str:
    """Return the first principal of a keytab (MIT's format, version 2), ``""`` if it holds none."""
    if keytab[:2] != _VERSION:
        return ""
    at = 2
    while at + 4 <= len(keytab):
        size = int.from_bytes(keytab[at : at + 4], "big", signed=True)
        at += 4
        if size <= 0:  # a hole, or the end
            if not size:
                break
            at -= size
            continue
        entry = keytab[at : at + size]
        count, place = int.from_bytes(entry[:2], "big"), 2
        parts = []
        for _ in range(count + 1):
            length = int.from_bytes(entry[place : place + 2], "big")
            parts.append(entry[place + 2 : place + 2 + length].decode("utf-8", "replace"))
            place += 2 + length
        return f"{'/'.join(parts[1:])}@{parts[0]}"
    return ""


class Negotiate:
    """Shows a ticket with every request.

    Args:
        keytab: of the account.
    """

    def __init__(self, keytab: Path) -> None:
        self._keytab = keytab
        self._lock = asyncio.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._end: weakref.finalize[[subprocess.Popen[bytes]], Negotiate] | None = None

    async def ask(self, request: Request, scope: Scope, send: Send) -> Response | Failure:
        """Ask with a token for the URL's host.

        Raises:
            LoginError: there is none.
        """
        host = urlsplit(request.url).hostname or ""
        async with self._lock:
            try:
                said = await asyncio.to_thread(self._token, host)
            except asyncio.CancelledError:
                self.close()  # the thread reads the end of the helper's output, so that nobody waits for the KDC
                raise
        if not said or said.startswith("!"):
            why = said[1:] or "the helper process does not answer"
            raise LoginError(f"Kerberos: {why}", refused=any(word in why for word in _WRONG))
        try:
            base64.b64decode(said, validate=True)
        except ValueError:
            raise LoginError("Kerberos: the helper process gives no token") from None
        return await send(request, scope, Dress((b"Authorization: Negotiate " + said.encode(),)))

    def close(self) -> None:
        """End the helper process; it also ends when this login is given up."""
        self._process = None
        if self._end is not None:
            self._end()

    def _token(self, host: str) -> str:
        process = self._process
        if process is None or process.poll() is not None:
            self.close()
            process = self._process = self._started()
            self._end = weakref.finalize(self, _ended, process)
        try:
            assert process.stdin is not None  # noqa: S101 - pipes were asked for
            assert process.stdout is not None  # noqa: S101
            process.stdin.write(host.encode("idna") + b"\n")
            process.stdin.flush()
            return _line(process.stdout)
        except (OSError, UnicodeError, ValueError):
            if self._process is process:  # else who asked gave it up, and another one may be there
                self.close()
            return ""

    def _started(self) -> subprocess.Popen[bytes]:
        environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        environment |= {
            "KRB5_CLIENT_KTNAME": f"FILE:{self._keytab}",
            "KRB5CCNAME": "MEMORY:ingather",
            "HOME": "/",
        }
        return subprocess.Popen(
            [sys.executable, "-I", "-m", "ingather.fetch.http_tickets"], env=environment, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0,
        )  # fmt: skip


def _ended(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()
    process.wait()


def _line(pipe: IO[bytes]) -> str:
    """Read a line, or raise ``OSError`` when none comes."""
    data = b""
    while not data.endswith(b"\n"):
        poll = select.poll()  # not select(): numbers of our sockets are large
        poll.register(pipe, select.POLLIN | select.POLLHUP)
        if not poll.poll(_WAIT_MS):
            raise TimeoutError
        chunk = os.read(pipe.fileno(), 1 << 16)
        if not chunk:
            raise BrokenPipeError
        data += chunk
    return data.decode("utf-8", "replace").strip()
