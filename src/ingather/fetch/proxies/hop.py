"""One way through one proxy, as the fetcher for http takes it; and who decides about ways."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from ingather.fetch.proxies.address import Proxy
from ingather.model.resource import Failure, Response
from ingather.model.scope import Scope

__all__ = ["Ask", "Hop", "Routing", "Target"]


@dataclass(slots=True)
class Hop:
    """A proxy, for one request.

    Attributes:
        proxy: where the connection goes.
        why: who named it, for messages.
        named: address ranges in which it may be although they are not public.
        login: user and password for it.
        ca_file: certificates that an HTTPS proxy is believed by instead of the system's (PEM).
        failed: set by the fetcher: it is the proxy that cannot be used, another one may do.
    """

    proxy: Proxy
    why: str = ""
    named: tuple[str, ...] = ()
    login: tuple[str, str] | None = field(default=None, repr=False)
    ca_file: str = ""
    failed: bool = False

    def __str__(self) -> str:
        return f"proxy {self.proxy} ({self.why})" if self.why else f"proxy {self.proxy}"


class Target(NamedTuple):
    """What is asked for, and its origin as a WHATWG parser gives it."""

    url: str
    scheme: str
    host: str
    port: int


Ask = Callable[[Hop | None], Awaitable[Response | Failure]]
"""Makes the request, through a proxy or (``None``) directly."""


class Routing(Protocol):
    """Decides which ways a request takes."""

    async def take(self, target: Target, scope: Scope, ask: Ask) -> Response | Failure:
        """Return the answer of the first way to *target* that leads anywhere; *ask* makes the request."""
