"""Basic authentication: RFC 7617, in UTF-8."""

from base64 import b64encode

from ingather.fetch.http_dress import Dress, Send
from ingather.fetch.logins.port import Login, challenges
from ingather.model.resource import Failure, Request, Response
from ingather.model.scope import Scope

__all__ = ["Basic", "WhenAsked"]

_UNAUTHORIZED = 401
_MOST = 1_000


class Basic:
    """Name and password in a header, with every request.

    Args:
        user: with its domain, if it has one; no colon.
        password: never shown.
    """

    def __init__(self, user: str, password: str) -> None:
        self._header = b"Authorization: Basic " + b64encode(f"{user}:{password}".encode())

    async def ask(self, request: Request, scope: Scope, send: Send) -> Response | Failure:
        """Ask with the header."""
        return await send(request, scope, Dress((self._header,)))


class WhenAsked:
    """Leaves *login* to origins that want it: the first request goes without, and so do all where no host asks for Basic."""

    def __init__(self, login: Login) -> None:
        self._login = login
        self._wanted: set[str] = set()

    async def ask(self, request: Request, scope: Scope, send: Send) -> Response | Failure:
        """Ask without the login, until the origin wants it."""
        origin = request.url[: request.url.find("/", 8)]
        if origin not in self._wanted:
            answer = await send(request, scope, Dress(private=False))
            if not isinstance(answer, Response) or answer.status != _UNAUTHORIZED:
                return answer
            if not any(scheme == "basic" for scheme, _ in challenges(answer)):
                return answer
            if len(self._wanted) >= _MOST:
                self._wanted.clear()
            self._wanted.add(origin)
        return await self._login.ask(request, scope, send)
