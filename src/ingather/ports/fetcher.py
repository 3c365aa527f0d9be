"""Asking hosts for resources."""

from typing import Protocol

from ingather.model.resource import Failure, Request, Response
from ingather.model.scope import Scope

__all__ = ["Fetcher"]


class Fetcher(Protocol):
    """One request, one response or one typed failure; never an exception for what the network did.

    The fetcher does not follow redirects (3xx is a response), does not wait for politeness,
    keeps no cookies, and opens sockets only through the egress gate with *scope*. Content
    encoding is removed within limits. Any number of calls may run in one event loop; one
    instance belongs to one loop. Cancelling a call closes its connection.
    """

    async def fetch(self, request: Request, scope: Scope) -> Response | Failure:
        """Ask for ``request.url`` within *scope*."""

    async def close(self) -> None:
        """Close all connections; later calls are an error of the caller."""
