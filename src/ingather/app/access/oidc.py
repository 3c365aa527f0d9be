"""OpenID Connect: authorization code flow with PKCE, as a relying party of one provider.

Source: OpenID Connect Core 1.0, section 3.1; RFC 7636 (PKCE, S256); RFC 9207 (issuer in the answer). The ID token comes
straight from the provider's token endpoint over verified TLS, which section 3.1.3.7 (6) lets stand for its
signature; so no JWT library is needed. Plain HTTP is spoken to loopback addresses alone.

What a login needs until the browser comes back is in the browser's own cookie, sealed by a key of this process:
logins that nobody ends take no memory, and a restart ends those under way.
"""

import base64
import hashlib
import hmac
import json
import secrets
import ssl
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any, Final, TypeGuard
from urllib.parse import quote, urlencode, urlsplit

from ingather.app.home import Home
from ingather.conf.settings.values import Settings
from ingather.errors import IngatherError, UsageError
from ingather.ports.clock import Clock
from ingather.web.auth import Vouched

__all__ = ["OidcConf", "Provider", "ProviderError", "provider_of"]

_PATIENCE_S: Final = 10.0
_MOST_BYTES: Final = 256 << 10
_METADATA_S: Final = 3_600.0
_LOGIN_S: Final = 600.0
_SKEW_S: Final = 120.0
_LONGEST_TARGET: Final = 1_500  # a cookie has 4 KiB
_LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})


class ProviderError(IngatherError):
    """The identity provider cannot be asked, or what it says is wrong; the text is fit for the log."""


@dataclass(frozen=True, slots=True)
class OidcConf:
    """One provider, and what we are there.

    Attributes:
        issuer: as it writes itself.
        client: our client id.
        back: address of ``/login/return`` as browsers reach it.
        secret: of the client, ``""`` = a public client (PKCE alone).
        user: claim that names the user as access lists spell him.
        groups: claim with his groups, ``""`` = none.
        scope: what is asked for.
    """

    issuer: str
    client: str
    back: str
    secret: str = field(default="", repr=False)
    user: str = "preferred_username"
    groups: str = ""
    scope: str = "openid profile email"


class Provider:
    """What :class:`ingather.web.auth.SignOn` promises; any thread may ask.

    Raises:
        UsageError: an address is neither https nor loopback, or something is missing.
    """

    def __init__(self, conf: OidcConf, clock: Clock) -> None:
        for name, url in (("access.oidc-issuer", conf.issuer), ("access.oidc-return", conf.back)):
            _require_safe(name, url)
        if not conf.client or not conf.user:
            raise UsageError(
                "access.oidc-issuer wants access.oidc-client and access.oidc-user", hint="see ingather.toml"
            )
        self._conf = conf
        self._clock = clock
        self._seal = secrets.token_bytes(32)
        self._tls = ssl.create_default_context()
        self._lock = threading.Lock()
        self._metadata: dict[str, Any] = {}
        self._read_s = 0.0

    def begin(self, target: str) -> tuple[str, str]:
        """Return the address of the provider's login, and the sealed cookie."""
        endpoint = self._endpoint("authorization_endpoint")
        state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
        challenge = _b64(hashlib.sha256(verifier.encode()).digest())
        asked = urlencode(
            {
                "response_type": "code", "client_id": self._conf.client, "redirect_uri": self._conf.back,
                "scope": self._conf.scope, "state": state, "nonce": nonce,
                "code_challenge": challenge, "code_challenge_method": "S256",
            }
        )  # fmt: skip
        target = target if len(target) <= _LONGEST_TARGET else "/"
        kept = [state, nonce, verifier, target, self._clock.monotonic()]
        return f"{endpoint}{'&' if '?' in endpoint else '?'}{asked}", self._sealed(kept)

    def finish(self, said: Mapping[str, str], kept: str) -> Vouched | None:
        """Exchange the code and check what the provider says."""
        opened = self._opened(kept)
        if opened is None:
            return None
        state, nonce, verifier, target, at_s = opened
        if not 0 <= self._clock.monotonic() - at_s <= _LOGIN_S:
            return None
        if not hmac.compare_digest(said.get("state", "").encode(), state.encode()):
            return None
        if said.get("iss", self._conf.issuer) != self._conf.issuer or not said.get("code"):
            return None
        answer = self._exchange(said["code"], verifier)
        claims = _payload(answer.get("id_token"))
        self._check(claims, nonce)
        return self._vouched(self._completed(claims, answer), target)

    # -- what the provider says -------------------------------------------------------------------

    def _exchange(self, code: str, verifier: str) -> dict[str, Any]:
        conf = self._conf
        form = {
            "grant_type": "authorization_code", "code": code, "redirect_uri": conf.back, "code_verifier": verifier
        }  # fmt: skip
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        if conf.secret:
            pair = f"{quote(conf.client, safe='')}:{quote(conf.secret, safe='')}".encode()
            headers["Authorization"] = "Basic " + base64.b64encode(pair).decode()
        else:
            form["client_id"] = conf.client
        return self._ask(self._endpoint("token_endpoint"), headers, urlencode(form))

    def _check(self, claims: Mapping[str, Any], nonce: str) -> None:
        """Section 3.1.3.7, all that is left of it without a signature."""
        conf, now_s = self._conf, self._clock.wall()
        audience = claims.get("aud")
        audiences = audience if isinstance(audience, list) else [audience]
        expires, issued = claims.get("exp"), claims.get("iat")
        wrong = (
            "iss" if claims.get("iss") != conf.issuer
            else "aud" if conf.client not in audiences
            else "azp" if claims.get("azp", conf.client if len(audiences) == 1 else None) != conf.client
            else "exp" if not _is_time(expires) or expires + _SKEW_S < now_s
            else "iat" if not _is_time(issued) or issued - _SKEW_S > now_s
            else "nonce" if claims.get("nonce") != nonce
            else "sub" if not isinstance(claims.get("sub"), str) or not claims["sub"]
            else ""
        )  # fmt: skip
        if wrong:
            raise ProviderError(f"the ID token of {conf.issuer} has the wrong {wrong}")

    def _completed(self, claims: dict[str, Any], answer: Mapping[str, Any]) -> dict[str, Any]:
        """Add what only the user info endpoint says; it must speak of the same person."""
        wanted = {self._conf.user, self._conf.groups} - {""}
        endpoint, token = self._known().get("userinfo_endpoint"), answer.get("access_token")
        if wanted <= claims.keys() or not endpoint or not isinstance(token, str):
            return claims
        more = self._ask(self._endpoint("userinfo_endpoint"), {"Authorization": f"Bearer {token}"})
        if more.get("sub") != claims["sub"]:
            raise ProviderError(f"the user info of {self._conf.issuer} is about somebody else")
        return {**more, **claims}

    def _vouched(self, claims: Mapping[str, Any], target: str) -> Vouched:
        user = claims.get(self._conf.user)
        if not isinstance(user, str) or not user.strip():
            raise ProviderError(
                f"{self._conf.issuer} says nothing of {self._conf.user!r}", hint="see access.oidc-user"
            )
        if self._conf.user == "email" and claims.get("email_verified") is False:
            raise ProviderError(f"{self._conf.issuer} has not verified the e-mail address")
        groups = claims.get(self._conf.groups, ()) if self._conf.groups else ()
        named = [groups] if isinstance(groups, str) else groups
        if not isinstance(named, list | tuple) or not all(isinstance(name, str) for name in named):
            raise ProviderError(f"{self._conf.groups!r} of {self._conf.issuer} is no list of names")
        return Vouched(user, tuple(named), target)

    # -- asking ------------------------------------------------------------------------------------

    def _known(self) -> dict[str, Any]:
        with self._lock:
            now_s = self._clock.monotonic()
            if not self._metadata or now_s - self._read_s > _METADATA_S:
                url = self._conf.issuer.rstrip("/") + "/.well-known/openid-configuration"
                found = self._ask(url, {})
                if found.get("issuer") != self._conf.issuer:
                    raise ProviderError(f"{url} speaks for another issuer", hint="see access.oidc-issuer")
                self._metadata, self._read_s = found, now_s
            return self._metadata

    def _endpoint(self, name: str) -> str:
        url = self._known().get(name)
        if not isinstance(url, str):
            raise ProviderError(f"{self._conf.issuer} has no {name}")
        try:
            _require_safe(name, url)
        except UsageError as error:
            raise ProviderError(error.text) from error
        return url

    def _ask(self, url: str, headers: Mapping[str, str], body: str | None = None) -> dict[str, Any]:
        parts = urlsplit(url)
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection = (
            HTTPSConnection(parts.netloc, timeout=_PATIENCE_S, context=self._tls)
            if parts.scheme == "https"
            else HTTPConnection(parts.netloc, timeout=_PATIENCE_S)
        )
        try:
            method = "GET" if body is None else "POST"
            connection.request(method, path, body, {"Accept": "application/json", **headers})
            response = connection.getresponse()
            text = response.read(_MOST_BYTES + 1)
            answer = json.loads(text) if len(text) <= _MOST_BYTES else None
        except (OSError, HTTPException, ValueError, RecursionError) as error:
            raise ProviderError(f"{parts.netloc} cannot be asked: {error}", hint="try again later") from error
        finally:
            connection.close()
        if response.status != 200 or not isinstance(answer, dict):  # noqa: PLR2004 - RFC 9110
            raise ProviderError(f"{parts.netloc}{parts.path} answered {response.status}", hint="try again")
        return answer

    # -- the cookie ----------------------------------------------------------------------------------

    def _sealed(self, kept: list[Any]) -> str:
        text = json.dumps(kept).encode()
        return f"{_b64(text)}.{_b64(self._mac(text))}"

    def _opened(self, cookie: str) -> list[Any] | None:
        text, _, mac = cookie.partition(".")
        try:
            whole, shown = _unb64(text), _unb64(mac)
        except ValueError:
            return None
        if not hmac.compare_digest(shown, self._mac(whole)):
            return None
        found: list[Any] = json.loads(whole)
        return found

    def _mac(self, text: bytes) -> bytes:
        return hmac.digest(self._seal, text, "sha256")


def provider_of(home: Home, settings: Settings, clock: Clock) -> Provider | None:
    """Return the provider that the settings name, if they name one.

    Raises:
        UsageError: a setting is wrong, or the file of the secret cannot be read.
    """
    issuer = settings.text("access.oidc-issuer").strip()
    if not issuer:
        return None
    secret = ""
    if file := settings.text("access.oidc-secret-file"):
        try:
            secret = (home.path / file).read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(
                f"access.oidc-secret-file: {home.path / file} cannot be read: {error}",
                hint="the path is below the home",
            ) from error
    conf = OidcConf(
        issuer=issuer,
        client=settings.text("access.oidc-client"),
        back=settings.text("access.oidc-return"),
        secret=secret,
        user=settings.text("access.oidc-user"),
        groups=settings.text("access.oidc-groups"),
        scope=settings.text("access.oidc-scope"),
    )
    return Provider(conf, clock)


def _require_safe(name: str, url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme == "https" and parts.netloc:
        return
    if parts.scheme != "http" or parts.hostname not in _LOOPBACK:
        raise UsageError(f"{name}: {url!r} is no https address", hint="providers are asked over TLS")


def _payload(token: object) -> dict[str, Any]:
    parts = token.split(".") if isinstance(token, str) else []
    if len(parts) == 3:  # noqa: PLR2004 - header, payload, signature (RFC 7515)
        try:
            claims = json.loads(_unb64(parts[1]))
        except (ValueError, RecursionError):
            claims = None
        if isinstance(claims, dict):
            return claims
    raise ProviderError("the provider gave no ID token that can be read")


def _is_time(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _unb64(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
