"""Asking a PAC file: names resolved for it, answers kept, what is broken told once for a while."""

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Callable
from typing import Final, NamedTuple
from urllib.parse import urlsplit

import msgspec

from ingather.errors import ExtractError, IsolationError, ProxyError, UnitError
from ingather.fetch.proxies.address import read_answer
from ingather.fetch.proxies.hop import Target
from ingather.fetch.proxies.pac_file import PacFile
from ingather.fetch.proxies.pac_script import Said, state_of
from ingather.log import get
from ingather.model.proxies import Proxy
from ingather.ports.clock import Clock
from ingather.ports.isolation import Isolation
from ingather.ports.resolver import Resolver

__all__ = ["NoPacFileError", "Pac", "PacAnswer", "shown_url"]

_MOST_NAMES: Final = 20
_MOST_ANSWERS: Final = 10_000
_DNS_S: Final = 15.0
_BROKEN_S: Final = 30.0
_NOT_ITS_DOING: Final = frozenset({"died", "unavailable"})
"""Ends of the process that say little about the file: somebody killed it. It is asked once more."""
_log = get("proxy")
_SAID: Final = msgspec.json.Decoder(Said)


class NoPacFileError(ProxyError):
    """The PAC file itself cannot be had."""


class PacAnswer(NamedTuple):
    """What the file said, and the ways that are in it (``None`` = directly)."""

    text: str
    ways: tuple[Proxy | None, ...]


class Pac:
    """One PAC file with the process that runs it; belongs to one event loop.

    Args:
        file: the file.
        isolation: runs the job ``pac`` (``app.reaching.pac_jobs``); this file's own, so that a bad one holds up nobody else.
        resolver: names that the script asks for, at most 20 for an answer.
        own: this machine's addresses.
        clock: the time that the script sees, and the age of answers.
        keep_s: an answer holds for so long.
    """

    def __init__(  # noqa: PLR0913 - the parts of one question
        self, file: PacFile, isolation: Isolation, resolver: Resolver, own: Callable[[], tuple[str, ...]], clock: Clock, *, keep_s: float
    ) -> None:  # fmt: skip
        self.file = file
        self._isolation, self._resolver, self._own, self._clock = isolation, resolver, own, clock
        self._keep_s = keep_s
        self._digest = b""
        self._answers: OrderedDict[str, tuple[float, PacAnswer | str]] = OrderedDict()
        self._asking: dict[str, asyncio.Task[PacAnswer | str]] = {}

    async def ask(self, target: Target) -> PacAnswer:
        """Return its answer for *target*.

        Raises:
            NoPacFileError: it cannot be had.
            ProxyError: it cannot be asked, or makes no sense.
        """
        try:
            body = await self.file.text()
        except ProxyError as error:
            raise NoPacFileError(error.text, hint=error.hint) from error
        digest = hashlib.sha256(body).digest()
        if digest != self._digest:
            self._digest = digest
            self._answers.clear()
        url = shown_url(target)
        kept = self._answers.get(url)
        if kept is None or kept[0] <= self._clock.monotonic():
            asking = self._asking.get(url)
            if asking is None:
                asking = self._asking[url] = asyncio.create_task(self._answer(body, digest, url, target.host))
                asking.add_done_callback(lambda _done: self._asking.pop(url, None))
            found = await asyncio.shield(asking)
        else:
            found = kept[1]
        if isinstance(found, str):
            raise ProxyError(f"PAC file {self.file.location}: {found}")
        return found

    async def close(self) -> None:
        """End its process and what is being asked."""
        for task in list(self._asking.values()):
            task.cancel()
        await asyncio.gather(*self._asking.values(), return_exceptions=True)
        await self._isolation.close()

    async def _answer(self, body: bytes, digest: bytes, url: str, host: str) -> PacAnswer | str:
        try:
            try:
                said = await self._evaluate(body, url, host)
            except IsolationError as error:
                if error.reason not in _NOT_ITS_DOING:
                    raise
                said = await self._evaluate(body, url, host)
            found: PacAnswer | str = said.error or PacAnswer(said.answer, read_answer(said.answer))
        except (ProxyError, ExtractError, UnitError) as error:
            found = error.text
        except IsolationError as error:
            found = f"the process that runs it ended ({error.reason}: {error.text})"
        if isinstance(found, str):
            _log.warning("PAC file failed", file=self.file.location, url=url, error=found)
        if digest == self._digest:
            keep_s = min(_BROKEN_S, self._keep_s) if isinstance(found, str) else self._keep_s
            self._answers[url] = (self._clock.monotonic() + keep_s, found)
            self._answers.move_to_end(url)
            while len(self._answers) > _MOST_ANSWERS:
                self._answers.popitem(last=False)
        return found

    async def _evaluate(self, body: bytes, url: str, host: str) -> Said:
        known: dict[str, tuple[str, ...]] = {}
        own = await asyncio.to_thread(self._own)
        try:
            async with asyncio.timeout(None) as patience:
                while True:
                    state = state_of(known, own, self._clock.wall())
                    told = await self._isolation.run(
                        "pac", body, {"url": url, "host": host.strip("[]"), "state": state}
                    )
                    said = _SAID.decode(told)
                    if not said.needs:
                        return said
                    if len(known) + 1 > _MOST_NAMES:
                        raise ProxyError(f"it resolves more than {_MOST_NAMES} names")
                    if (
                        patience.when() is None
                    ):  # names take their time, not the script, which has limits of its own
                        patience.reschedule(asyncio.get_running_loop().time() + _DNS_S)
                    known[said.needs[0]] = await self._resolved(said.needs[0])
        except TimeoutError:
            raise ProxyError(f"its names are not resolved within {_DNS_S:g} s") from None
        except msgspec.DecodeError:
            raise ProxyError("its process gave no answer") from None

    async def _resolved(self, name: str) -> tuple[str, ...]:
        try:
            return tuple(await self._resolver.resolve(name))
        except (OSError, UnicodeError):
            return ()


def shown_url(target: Target) -> str:
    """Return the URL that a PAC file sees: without user, and of https the origin alone, as in browsers."""
    parts = urlsplit(target.url)
    host = f"[{target.host}]" if ":" in target.host and not target.host.startswith("[") else target.host
    port = "" if parts.port is None else f":{target.port}"
    origin = f"{target.scheme}://{host}{port}"
    if target.scheme == "https":
        return f"{origin}/"
    query = f"?{parts.query}" if parts.query else ""
    return f"{origin}{parts.path or '/'}{query}"
