"""NTLM (MS-NLMP): three messages that log a connection in. One connection, kept for this login alone, one request at a time.

libcurl as we have it knows no NTLM; the messages come from pyspnego: NTLMv2, and over TLS bound to the host's certificate (RFC 5929).
"""

import asyncio
import struct
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from typing import Final

import spnego
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from spnego.channel_bindings import GssChannelBindings
from spnego.exceptions import SpnegoError

from ingather.fetch.http_dress import Dress, Lane, Send
from ingather.fetch.logins.port import LoginError, challenges
from ingather.model.resource import Failure, Request, Response
from ingather.model.scope import Scope

__all__ = ["Ntlm"]

_UNAUTHORIZED: Final = 401
_TRIES: Final = 2


class Ntlm:
    """Logs one connection in and asks over it.

    Args:
        user: of the account, without its domain.
        domain: ``""`` = the host's own.
        password: never shown.
    """

    def __init__(self, user: str, domain: str, password: str) -> None:
        self._account = f"{domain}\\{user}" if domain else user
        self._password = password
        self._lane = Lane(single=True)
        self._lock = asyncio.Lock()
        self._in = False

    async def ask(self, request: Request, scope: Scope, send: Send) -> Response | Failure:
        """Ask over the connection; it is logged in first where it is new.

        Raises:
            LoginError: the host offers no NTLM, or breaks it off.
        """
        async with self._lock:
            if self._in:
                answer = await send(request, scope, Dress(lane=self._lane))
                self._in = isinstance(answer, Response) and answer.status != _UNAUTHORIZED
                if self._in or not isinstance(answer, Response):
                    return answer
            for _ in range(_TRIES):
                made = await self._log_in(request, scope, send)
                if made is not None:
                    return made
            raise LoginError("the host closes the connection within the NTLM handshake")

    async def _log_in(self, request: Request, scope: Scope, send: Send) -> Response | Failure | None:
        """Exchange the messages; ``None``: they went over different connections, which says nothing."""
        dress = Dress(lane=self._lane)
        try:
            client = spnego.client(
                self._account, self._password, protocol="ntlm", options=spnego.NegotiateOptions.use_ntlm
            )
            scheme = b"NTLM"
            dress.headers = (_header(scheme, client.step()),)
            answer = await send(request, scope, dress)
            if not isinstance(answer, Response) or answer.status != _UNAUTHORIZED:
                return answer
            challenge = _challenge(answer)
            second = Dress(
                (_header(scheme, _answered(client, challenge, _bound_to(dress.peer))),), lane=self._lane
            )
        except SpnegoError as error:
            raise LoginError(f"NTLM: {type(error).__name__}") from None  # its text may quote messages
        answer = await send(request, scope, second)
        if second.opened:
            return None
        self._in = isinstance(answer, Response) and answer.status != _UNAUTHORIZED
        return answer


def _answered(
    client: spnego.ContextProxy, challenge: bytes, bound_to: GssChannelBindings | None
) -> bytes | None:
    try:
        return client.step(challenge, channel_bindings=bound_to)
    except (ValueError, LookupError, TypeError, struct.error):  # what it raises for messages that are none
        raise LoginError("the host's NTLM message is broken") from None


def _header(scheme: bytes, token: bytes | None) -> bytes:
    return b"Authorization: " + scheme + b" " + b64encode(token or b"")


def _challenge(answer: Response) -> bytes:
    offered = challenges(answer)
    for scheme, rest in offered:
        if scheme == "ntlm" and rest:
            try:
                return b64decode(rest, validate=True)
            except Base64Error:
                raise LoginError("the host's NTLM message is broken") from None
    if any(scheme == "ntlm" for scheme, _ in offered):
        raise LoginError("the host does not go on with the NTLM handshake")
    names = ", ".join(sorted({scheme for scheme, _ in offered if scheme.isalnum()})) or "nothing"
    raise LoginError(f"the host does not offer NTLM, but {names}"[:200])


def _bound_to(certificate: bytes) -> GssChannelBindings | None:
    """Bind to the host's certificate: RFC 5929 section 4."""
    if not certificate:
        return None
    try:
        used = x509.load_der_x509_certificate(certificate).signature_hash_algorithm
    except (ValueError, TypeError):
        return None
    weak = used is None or isinstance(used, hashes.MD5 | hashes.SHA1)
    digest = hashes.Hash(hashes.SHA256() if used is None or weak else used)
    digest.update(certificate)
    return GssChannelBindings(application_data=b"tls-server-end-point:" + digest.finalize())
