"""A login that the protocol itself makes (ftp, sftp, shares): it only goes along, so that its refusals are counted."""

from ingather.fetch.http_dress import Dress, Send
from ingather.model.resource import Failure, Request, Response
from ingather.model.scope import Scope

__all__ = ["Through"]


class Through:
    """Asks once, as it is; implements :class:`ingather.fetch.logins.Login`."""

    async def ask(self, request: Request, scope: Scope, send: Send) -> Response | Failure:
        """Ask."""
        return await send(request, scope, Dress())
