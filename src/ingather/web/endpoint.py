"""One line of the route table: where, how, on which listener, for whom."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum

from starlette.requests import Request
from starlette.responses import Response

__all__ = ["Endpoint", "Handler", "Listener", "Role"]

Handler = Callable[[Request], Awaitable[Response]]


class Listener(StrEnum):
    """The two doors: where people search, and what the operator reaches."""

    SEARCH = "search"
    ADMIN = "admin"


class Role(StrEnum):
    """Who may call.

    ``ANONYMOUS``: whoever reaches the listener. ``SEARCHER``: who logged in, for whom a proxy vouches, or a token
    with that right. ``FEEDER``: a token with that right. ``ADMINISTRATOR``: the admin token or one with that right,
    which may do everything on the admin listener.
    """

    ANONYMOUS = "anonymous"
    SEARCHER = "searcher"
    FEEDER = "feeder"
    ADMINISTRATOR = "administrator"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A path with its methods (``GET`` answers ``HEAD`` too); *purpose* stands in the reference.

    ``methods`` other than GET are for changes of state and get the proofs of
    :class:`ingather.web.auth.Guard` whatever the role.
    """

    listener: Listener
    path: str
    methods: tuple[str, ...]
    role: Role
    handler: Handler
    purpose: str
