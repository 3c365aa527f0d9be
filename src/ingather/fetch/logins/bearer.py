"""A token that does not change: RFC 6750 section 2.1."""

from ingather.fetch.http_dress import Dress, Send
from ingather.model.resource import Failure, Request, Response
from ingather.model.scope import Scope

__all__ = ["Bearer"]


class Bearer:
    """Sends *token* with every request."""

    def __init__(self, token: str) -> None:
        self._header = b"Authorization: Bearer " + token.encode("ascii")

    async def ask(self, request: Request, scope: Scope, send: Send) -> Response | Failure:
        """Ask with the token."""
        return await send(request, scope, Dress((self._header,)))
