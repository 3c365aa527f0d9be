"""One way through one proxy, as the fetcher for http takes it; and who decides about ways."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from ingather.model.proxies import Proxy
from ingather.model.resource import Failure, Response
from ingather.model.scope import Scope

__all__ = ["Ask", "Hop", "Reach", "Routing", "Target"]


class Reach(NamedTuple):
    """Where a proxy may be: in *ranges* although they are not public, and (*public*) at every public address.

    What no source can name (link-local, metadata services, multicast) and our own listeners are never among them. The default is
    for proxies that the operator names himself.
    """

    ranges: tuple[str, ...] = ("0.0.0.0/0", "::/0")
    public: bool = True


@dataclass(slots=True)
class Hop:
    """A proxy, for one request.

    Attributes:
        proxy: where the connection goes.
        why: who named it, for messages.
        reach: where it may be.
        login: user and password for it.
        ca_file: certificates that an HTTPS proxy is believed by instead of the system's (PEM).
        failed: set by the fetcher: it is the proxy that cannot be used, another one may do.
        spoke: set by the fetcher: what the proxy said of an answer that it gave in the host's place, ``""`` = nothing.
    """

    proxy: Proxy
    why: str = ""
    reach: Reach = Reach()  # noqa: RUF009 - immutable
    login: tuple[str, str] | None = field(default=None, repr=False)
    ca_file: str = ""
    failed: bool = False
    spoke: str = ""

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

    async def close(self) -> None:
        """End what runs for it."""
