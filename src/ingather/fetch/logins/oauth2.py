"""OAuth 2, client credentials: RFC 6749 section 4.4. A token is got, used until it ends, and got anew once when a host refuses it."""

import asyncio
import json
from base64 import b64encode
from dataclasses import dataclass, field, replace
from typing import Any, Final
from urllib.parse import quote_plus, urlencode, urlsplit

from ingather.fetch.http_dress import Dress, Send
from ingather.fetch.logins.port import LoginError
from ingather.model.resource import Failure, Request, Response
from ingather.model.scope import Scope
from ingather.ports.clock import Clock

__all__ = ["Client", "OAuth2", "at"]

_UNAUTHORIZED: Final = 401
_OK: Final = 200
_LONGEST: Final = 64 * 1024
_EARLY_S: Final = 30.0
_USUAL_S: Final = 300.0
_REFUSALS: Final = frozenset({"invalid_client", "unauthorized_client", "invalid_grant"})


@dataclass(frozen=True, slots=True)
class Client:
    """Who asks for tokens: the server's address, our name and secret there, what is asked for."""

    token_url: str
    name: str
    secret: str = field(repr=False)
    scope: str = ""
    audience: str = ""
    in_form: bool = False


def at(scope: Scope, url: str) -> Scope:
    """Return *scope* with the host of *url* alone: an operator has named it, so it may be asked though no document is there."""
    parts = urlsplit(url)
    return replace(
        scope,
        hosts=(parts.hostname or "",),
        schemes=frozenset({parts.scheme}),
        ports=frozenset(),
        narrow=None,
    )


class OAuth2:
    """Sends a token that *client* gets; of several requests that want one only one asks for it.

    Args:
        client: who asks.
        clock: how long a token is good.
    """

    def __init__(self, client: Client, clock: Clock) -> None:
        self._client, self._clock = client, clock
        self._lock = asyncio.Lock()
        self._token = b""
        self._until_s = 0.0

    async def ask(self, request: Request, scope: Scope, send: Send) -> Response | Failure:
        """Ask with a token; a refused one is replaced once.

        Raises:
            LoginError: no token was given.
        """
        token = await self._fresh(b"", scope, send)
        answer = await send(request, scope, Dress((b"Authorization: Bearer " + token,)))
        if isinstance(answer, Response) and answer.status == _UNAUTHORIZED:
            token = await self._fresh(token, scope, send)
            answer = await send(request, scope, Dress((b"Authorization: Bearer " + token,)))
        return answer

    async def _fresh(self, refused: bytes, scope: Scope, send: Send) -> bytes:
        """Return a token that is good still and not *refused*."""
        async with self._lock:
            if not self._token or self._token == refused or self._clock.monotonic() >= self._until_s:
                self._token = b""
                self._token, lasts_s = await self._get(scope, send)
                self._until_s = self._clock.monotonic() + max(lasts_s - _EARLY_S, lasts_s / 2)
            return self._token

    async def _get(self, scope: Scope, send: Send) -> tuple[bytes, float]:
        client = self._client
        form = {"grant_type": "client_credentials"}
        form |= {
            key: value for key, value in (("scope", client.scope), ("audience", client.audience)) if value
        }
        headers = [b"Content-Type: application/x-www-form-urlencoded", b"Accept: application/json"]
        if client.in_form:
            form |= {"client_id": client.name, "client_secret": client.secret}
        else:  # RFC 6749 section 2.3.1: both are form-encoded before they are put together
            pair = f"{quote_plus(client.name)}:{quote_plus(client.secret)}"
            headers.append(b"Authorization: Basic " + b64encode(pair.encode()))
        request = Request(client.token_url, max_wire_bytes=_LONGEST, max_decoded_bytes=_LONGEST)
        dress = Dress(tuple(headers), urlencode(form).encode())
        answer = await send(request, at(scope, client.token_url), dress)
        return _token_of(answer)


def _token_of(answer: Response | Failure) -> tuple[bytes, float]:
    if isinstance(answer, Failure):
        raise LoginError(f"no token: {answer.kind}: {answer.detail}")
    said = _json(answer.body)
    if answer.status != _OK:
        why = str(said.get("error", ""))[:64] if said else ""
        known = why.isascii() and why.replace("_", "").isalnum()
        text = f"no token: HTTP {answer.status} {why if known else ''}".rstrip()
        raise LoginError(text, refused=answer.status == _UNAUTHORIZED or why in _REFUSALS)
    token, lasts = said.get("access_token"), said.get("expires_in")
    kind = str(said.get("token_type", "bearer")).lower()
    if (
        not isinstance(token, str)
        or not token
        or not token.isascii()
        or not token.isprintable()
        or " " in token
    ):
        raise LoginError("no token: the answer holds none that can be sent")
    if kind != "bearer":
        raise LoginError("no token: the server gives another kind than bearer")
    seconds = float(lasts) if isinstance(lasts, int | float) and 0 < lasts < 1e9 else _USUAL_S  # noqa: PLR2004 - 30 years
    return token.encode(), seconds


def _json(body: bytes) -> dict[str, Any]:
    try:
        tree = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return tree if isinstance(tree, dict) else {}
