"""Fetchers by protocol: the product's own, and those that plug-ins bring."""

from collections.abc import Mapping

from ingather.model.resource import Failure, Request, Response
from ingather.model.scope import Scope
from ingather.ports.fetcher import Fetcher

__all__ = ["ByProtocol"]


class ByProtocol:
    """Hands each request to the fetcher of its protocol; implements :class:`ingather.ports.fetcher.Fetcher`.

    Args:
        usual: takes every protocol that has none of its own.
        own: fetchers by protocol (``ftp``); they go before the usual one.
    """

    def __init__(self, usual: Fetcher, own: Mapping[str, Fetcher]) -> None:
        self._usual = usual
        self._own = dict(own)

    async def fetch(self, request: Request, scope: Scope) -> Response | Failure:
        """Ask for ``request.url`` within *scope*."""
        protocol = request.url.partition(":")[0].lower()
        return await self._own.get(protocol, self._usual).fetch(request, scope)

    async def close(self) -> None:
        """Close all fetchers."""
        for fetcher in dict.fromkeys((*self._own.values(), self._usual)):  # one may take several protocols
            await fetcher.close()


def _fits(made: ByProtocol) -> Fetcher:
    return made
