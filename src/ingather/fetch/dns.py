"""The system's resolver behind the resolver port: off the loop, remembered for a short while."""

import asyncio
import contextlib
import re
import socket
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from ingather.fetch.addresses import parse_address
from ingather.ports.clock import Clock

__all__ = ["SystemResolver"]

_NUMBER = re.compile(r"(?:0[xX][0-9a-fA-F]*|[0-9]+)\.?\Z")
_ABSENT = frozenset({socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)})


class SystemResolver:
    """``getaddrinfo`` in threads, all A and AAAA answers, in the system's order of preference.

    Answers live for *ttl_s* seconds (the system tells no TTL), absence for *absent_ttl_s*; an
    error is not remembered. Tasks that ask for one name at once share one question. Belongs to
    one event loop.

    Text that libc would read as an address in an odd spelling (``127.1``, ``0x7f000001``,
    ``2130706433``) is not a name: it has no addresses here.
    """

    def __init__(  # noqa: PLR0913 - bounds with names
        self,
        clock: Clock,
        *,
        ttl_s: float = 60.0,
        absent_ttl_s: float = 30.0,
        timeout_s: float = 10.0,
        max_names: int = 10_000,
        max_threads: int = 16,
    ) -> None:
        self._clock = clock
        self._ttl_s = ttl_s
        self._absent_ttl_s = absent_ttl_s
        self._timeout_s = timeout_s
        self._max_names = max_names
        self._known: OrderedDict[str, tuple[float, tuple[str, ...]]] = OrderedDict()
        self._asking: dict[str, asyncio.Future[tuple[str, ...]]] = {}
        self._threads = ThreadPoolExecutor(max_threads, thread_name_prefix="ingather-dns")

    async def resolve(self, host: str) -> Sequence[str]:
        """Return all addresses of *host*; see :class:`ingather.ports.resolver.Resolver`.

        Raises:
            OSError: the resolver could not be asked or did not answer in time.
        """
        known = self._known.get(host)
        if known is not None and known[0] > self._clock.monotonic():
            return known[1]
        name = host.strip("[]").rstrip(".").lower()
        literal = parse_address(name)
        if literal is not None:
            return (str(literal),)
        if not name or _NUMBER.match(name.rpartition(".")[2]):
            return ()
        asking = self._asking.get(host)
        if asking is None:
            asking = asyncio.get_running_loop().run_in_executor(self._threads, _ask, name)
            self._asking[host] = asking
            asking.add_done_callback(lambda done: self._remember(host, done))
        try:
            return await asyncio.wait_for(asyncio.shield(asking), self._timeout_s)
        except TimeoutError:
            raise TimeoutError(f"no answer for {name} in {self._timeout_s:g} s") from None

    async def close(self) -> None:
        """Let the threads go; questions that are out are not waited for."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _remember(self, host: str, done: asyncio.Future[tuple[str, ...]]) -> None:
        self._asking.pop(host, None)
        if done.cancelled() or done.exception() is not None:
            return
        answer = done.result()
        ttl_s = self._ttl_s if answer else self._absent_ttl_s
        self._known[host] = (self._clock.monotonic() + ttl_s, answer)
        self._known.move_to_end(host)
        while len(self._known) > self._max_names:
            self._known.popitem(last=False)


def _ask(name: str) -> tuple[str, ...]:
    """Ask the system; runs in a thread."""
    try:
        found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except socket.gaierror as error:
        if error.errno in _ABSENT:
            return ()
        raise
    except UnicodeError:  # a label that is empty or too long cannot be asked for
        return ()
    addresses: dict[str, None] = {}
    for family, _, _, _, sockaddr in found:
        if family in {socket.AF_INET, socket.AF_INET6}:
            with contextlib.suppress(TypeError):
                addresses[str(sockaddr[0])] = None
    return tuple(addresses)
