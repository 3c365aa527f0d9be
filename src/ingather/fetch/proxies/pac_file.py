"""A PAC file: fetched from its URL or read from its path, kept, looked at again; the last good one stays in use."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

from ingather.errors import ProxyError
from ingather.fetch.proxies.pac_script import MOST_BYTES
from ingather.log import get
from ingather.model.resource import Failure, Request, Response
from ingather.ports.clock import Clock

__all__ = ["PAC_TYPES", "Load", "PacFile", "kept_name"]

PAC_TYPES: Final = frozenset({"application/x-ns-proxy-autoconfig", "application/x-javascript-config"})
"""Content types of PAC files."""

Load = Callable[[Request], Awaitable[Response | Failure]]
"""Fetches a PAC file: directly, through the egress gate."""

_AGAIN_S: Final = 60.0
_OK, _SAME = 200, 304
_NO_WEB_SERVER: Final = frozenset({400, 403, 405, 407, 501})
"""What a proxy answers to a request that is meant for a web server."""
_log = get("proxy")


class PacFile:
    """One PAC file; belongs to one event loop.

    Args:
        location: URL of http or https, or a whole path.
        load: fetches URLs.
        clock: paces the looks at it.
        fresh_s: a file out of the network is believed for so long; one of this machine is looked at each time it is asked for.
        kept: where the last good one is kept over restarts; ``None`` = nowhere.
        typed: it counts only if its content type says that it is one.
    """

    def __init__(  # noqa: PLR0913 - what a file is kept by
        self, location: str, load: Load, clock: Clock, *, fresh_s: float, kept: Path | None = None, typed: bool = False
    ) -> None:  # fmt: skip
        self.location = location
        self.trouble = ""
        """Why the newest look at it failed, ``""`` if it did not."""
        self._load, self._clock, self._fresh_s, self._typed = load, clock, fresh_s, typed
        self._kept = kept
        self._body: bytes | None = None
        self._is_none = False
        self._etag = self._modified = ""
        self._due_s = float("-inf")
        self._lock = asyncio.Lock()

    @property
    def is_none(self) -> bool:
        """Whether there is something else; known after :meth:`text`, and only where the content type has to say so."""
        return self._is_none

    async def text(self) -> bytes:
        """Return the file as it is now, or as it was when it was last there.

        Raises:
            ProxyError: it was never there.
        """
        if self.location.startswith("/"):
            return await asyncio.to_thread(self._read)
        if self._clock.monotonic() >= self._due_s:
            async with self._lock:
                if self._clock.monotonic() >= self._due_s:
                    await self._look()
        if self._body is None:
            raise ProxyError(f"PAC file {self.location}: {self.trouble}")
        return self._body

    def _read(self) -> bytes:
        try:
            with Path(self.location).open("rb") as stream:
                body = stream.read(MOST_BYTES + 1)
        except OSError as error:
            self.trouble = error.strerror or "cannot be read"
        else:
            self.trouble = f"it is longer than {MOST_BYTES} bytes" if len(body) > MOST_BYTES else ""
            if not self.trouble:
                self._body = body
        if self._body is None:
            raise ProxyError(f"PAC file {self.location}: {self.trouble}")
        return self._body

    async def _look(self) -> None:
        have = self._body is not None
        answer = await self._load(
            Request(
                self.location, etag=self._etag if have else "", last_modified=self._modified if have else ""
            )
        )
        self.trouble = ""
        if isinstance(answer, Failure):
            self.trouble = f"{answer.kind}: {answer.detail}"
        elif answer.status == _OK:
            self._take(answer)
        elif self._typed and answer.status in _NO_WEB_SERVER:
            self._is_none = True
            self.trouble = f"answers {answer.status}"
        elif answer.status != _SAME or not have:
            self.trouble = f"answers {answer.status}"
        if self.trouble:
            _log.warning("PAC file cannot be had", file=self.location, error=self.trouble, in_use=have)
            if not have and self._kept is not None:
                self._body = await asyncio.to_thread(_old, self._kept)
        self._due_s = self._clock.monotonic() + (
            min(_AGAIN_S, self._fresh_s) if self.trouble else self._fresh_s
        )

    def _take(self, answer: Response) -> None:
        kind = answer.header("content-type").partition(";")[0].strip().lower()
        if self._typed and kind not in PAC_TYPES:
            self._is_none = True
            self.trouble = f"its content type is {kind or 'not told'}"
            return
        if not answer.body.strip():
            self.trouble = "it is empty"
            return
        self._is_none = False
        self._body = answer.body
        self._etag, self._modified = answer.header("etag"), answer.header("last-modified")
        if self._kept is not None:
            _keep(self._kept, answer.body)


def kept_name(location: str) -> str:
    """Return the name under which the last good file of *location* is kept."""
    return f"proxy-{hashlib.sha256(location.encode()).hexdigest()[:16]}.pac"


def _keep(path: Path, body: bytes) -> None:
    new = path.with_name(f"{path.name}.new")
    try:
        new.write_bytes(body)
        new.replace(path)
    except OSError as error:
        _log.warning("PAC file cannot be kept", file=str(path), error=error.strerror)


def _old(path: Path) -> bytes | None:
    try:
        return path.read_bytes()[: MOST_BYTES + 1] or None
    except OSError:
        return None
