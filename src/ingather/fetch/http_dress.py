"""What goes along with an exchange beside the request itself: header lines, a body, connections of its own.

Only logins (:mod:`ingather.fetch.logins`) dress requests. Nothing of a dress outlives its exchange, so that no request carries
what belongs to another one.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from ingather.model.resource import Failure, Request, Response
from ingather.model.scope import Scope

__all__ = ["Dress", "Lane", "Send"]


@dataclass(frozen=True, eq=False, slots=True)
class Lane:
    """Connections that are kept apart from all others, because they are themselves logged in (client certificates, NTLM).

    Attributes:
        certificate: PEM file of a client certificate, ``""`` = none; *key* is its private key, *passphrase* opens that.
        single: HTTP/1.1 over one connection, and the host's certificate is told (``Dress.peer``).
    """

    certificate: str = ""
    key: str = ""
    passphrase: str = field(default="", repr=False)
    single: bool = False


@dataclass(slots=True)
class Dress:
    """What goes along with one exchange.

    Attributes:
        headers: header lines.
        body: it is sent with POST; ``None`` = GET or HEAD.
        lane: connections to use; ``None`` = those of everybody.
        private: whether the answer is not for everybody.
        opened: afterwards: how many connections were opened for the exchange.
        peer: afterwards: the host's certificate in DER, when the lane asked for it.
    """

    headers: tuple[bytes, ...] = field(default=(), repr=False)
    body: bytes | None = field(default=None, repr=False)
    lane: Lane | None = None
    private: bool = True
    opened: int = 0
    peer: bytes = field(default=b"", repr=False)


Send = Callable[[Request, Scope, Dress], Awaitable[Response | Failure]]
"""One exchange through the egress gate, within the slot of the fetch that it is part of. A value for everything."""
