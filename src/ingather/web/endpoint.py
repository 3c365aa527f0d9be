"""One line of the route table: where, how, on which listener, for whom."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum

from starlette.requests import Request
from starlette.responses import Response

__all__ = ["Endpoint", "Handler", "Listener", "Role"]

Handler = Callable[[Request], Awaitable[Response]]


class Listener(StrEnum):
    """The two doors: what everybody may reach, and what only the operator may."""

    SEARCH = "search"
    ADMIN = "admin"


class Role(StrEnum):
    """Who may call: ``PUBLIC`` whoever reaches the listener, ``ADMIN`` who holds the admin token."""

    PUBLIC = "public"
    ADMIN = "admin"


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
