"""Digest authentication: RFC 7616 (MD5, SHA-256, SHA-512-256, each with ``-sess``), and RFC 2069 where a host knows no more.

The answer to a challenge serves later requests too, with a count, so that most of them go out once. libcurl could do this as well, but
keeps what it knows by handle, and ours are used for everybody.
"""

import hashlib
import re
import secrets
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from ingather.fetch.http_dress import Dress, Send
from ingather.fetch.logins.port import LoginError, challenges
from ingather.model.resource import Failure, Request, Response
from ingather.model.scope import Scope

__all__ = ["Digest"]

_UNAUTHORIZED: Final = 401
_HASHES: Final = {"md5": "md5", "sha-256": "sha256", "sha-512-256": "sha512_256"}
_ORDER: Final = ("sha-512-256", "sha-256", "md5")
_PAIR: Final = re.compile(r'([!#$%&\'*+.^_`|~0-9A-Za-z-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,]*))')
_MOST: Final = 64


@dataclass(slots=True)
class _Challenge:
    realm: str
    nonce: str
    opaque: str | None
    algorithm: str
    """As the host wrote it, ``""`` if it did not."""
    qop: str
    user_hash: bool
    count: int = 0


class Digest:
    """Proves that it knows the password, without sending it.

    Args:
        user, password: of the account.
    """

    def __init__(self, user: str, password: str) -> None:
        self._user, self._password = user, password
        self._known: dict[str, _Challenge] = {}

    async def ask(self, request: Request, scope: Scope, send: Send) -> Response | Failure:
        """Ask with an answer to the last challenge; to a new one the request is sent once more.

        Raises:
            LoginError: the host's challenge cannot be answered.
        """
        slash = request.url.find("/", 8)
        origin, target = request.url[:slash], request.url[slash:].partition("#")[0]
        known = self._known.get(origin)
        headers = () if known is None else (self._header(known, request.method, target),)
        answer = await send(request, scope, Dress(headers, private=known is not None))
        if not isinstance(answer, Response) or answer.status != _UNAUTHORIZED:
            return answer
        challenge = _read(answer)
        if challenge is None:
            if known is None:
                raise LoginError("the host does not offer Digest authentication")
            return answer
        fresh, stale = challenge
        if known is not None and not stale and fresh.nonce == known.nonce:
            return answer  # it was ours that it refused
        if len(self._known) >= _MOST:
            self._known.clear()
        self._known[origin] = fresh
        answer = await send(request, scope, Dress((self._header(fresh, request.method, target),)))
        if isinstance(answer, Response) and answer.status == _UNAUTHORIZED:
            self._known.pop(origin, None)
        return answer

    def _header(self, known: _Challenge, method: str, target: str) -> bytes:
        known.count += 1
        name = known.algorithm.lower() or "md5"
        session = name.endswith("-sess")
        digest = _HASHES[name.removesuffix("-sess")]

        def h(text: str) -> str:
            return hashlib.new(digest, text.encode(), usedforsecurity=False).hexdigest()

        nonce_count, own = f"{known.count:08x}", secrets.token_hex(16)
        secret = h(f"{self._user}:{known.realm}:{self._password}")
        if session:
            secret = h(f"{secret}:{known.nonce}:{own}")
        middle = f"{known.nonce}:{nonce_count}:{own}:{known.qop}" if known.qop else known.nonce
        response = h(f"{secret}:{middle}:{h(f'{method}:{target}')}")
        user = h(f"{self._user}:{known.realm}") if known.user_hash else self._user
        parts = [_named(user), f"realm={_quoted(known.realm)}", f"nonce={_quoted(known.nonce)}", f"uri={_quoted(target)}", f'response="{response}"']  # fmt: skip
        if known.algorithm:
            parts.append(f"algorithm={known.algorithm}")
        if known.qop:
            parts += [f"qop={known.qop}", f"nc={nonce_count}", f'cnonce="{own}"']
        elif session:
            parts.append(f'cnonce="{own}"')
        if known.opaque is not None:
            parts.append(f"opaque={_quoted(known.opaque)}")
        if known.user_hash:
            parts.append("userhash=true")
        return f"Authorization: Digest {', '.join(parts)}".encode()


def _read(answer: Response) -> tuple[_Challenge, bool] | None:
    """Return the strongest challenge that we can answer, and whether only the nonce was too old."""
    found: dict[str, tuple[_Challenge, bool]] = {}
    for scheme, rest in challenges(answer):
        if scheme != "digest":
            continue
        pairs = {
            m[1].lower(): re.sub(r"\\(.)", r"\1", m[2]) if m[2] is not None else m[3]
            for m in _PAIR.finditer(rest)
        }
        algorithm = pairs.get("algorithm", "")
        plain = (algorithm.lower() or "md5").removesuffix("-sess")
        offered = [word.strip().lower() for word in pairs.get("qop", "").split(",") if word.strip()]
        if plain not in _HASHES or "nonce" not in pairs or (offered and "auth" not in offered):
            continue
        made = _Challenge(
            pairs.get("realm", ""), pairs["nonce"], pairs.get("opaque"), algorithm, "auth" if offered else "",
            pairs.get("userhash", "").lower() == "true",
        )  # fmt: skip
        found.setdefault(plain, (made, pairs.get("stale", "").lower() == "true"))
    return next((found[name] for name in _ORDER if name in found), None)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _named(user: str) -> str:
    """Return the user's name; what is not ASCII goes as RFC 8187 has it."""
    if user.isascii():
        return f"username={_quoted(user)}"
    return "username*=UTF-8''" + quote(user, safe="")
