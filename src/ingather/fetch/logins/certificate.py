"""Client certificates: the connection shows who we are, so this login has connections of its own."""

from pathlib import Path

from ingather.fetch.http_dress import Dress, Lane, Send
from ingather.model.resource import Failure, Request, Response
from ingather.model.scope import Scope

__all__ = ["Certificate"]


class Certificate:
    """Shows a certificate to hosts that ask for one.

    Args:
        certificate: PEM file with the certificate and its chain.
        key: PEM file with the private key.
        passphrase: of the key; empty = it has none.
    """

    def __init__(self, certificate: Path, key: Path, passphrase: str = "") -> None:
        self._lane = Lane(str(certificate), str(key), passphrase)

    async def ask(self, request: Request, scope: Scope, send: Send) -> Response | Failure:
        """Ask over a connection that shows the certificate."""
        return await send(request, scope, Dress(lane=self._lane))
