"""A small OpenID Connect provider on loopback: everybody whom the test names is logged in there already.

It is strict: client, redirect address, PKCE and the client's secret have to be right, a code is good once. ID tokens
are not signed, which the code flow allows a client not to look at; what they say may be spoilt on purpose.
"""

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, urlencode, urlsplit

__all__ = ["OidcProvider"]


class OidcProvider:
    """Use as a context manager.

    Attributes:
        claims: of whoever logs in next; ``sub`` has to be there. Those in *told* come by user info alone.
        told: names of claims that the ID token leaves out.
        spoilt: members of the ID token that are replaced on purpose (``None`` = left out).
    """

    def __init__(self, *, client: str, secret: str, back: str) -> None:
        self.client, self.secret, self.back = client, secret, back
        self.claims: dict[str, Any] = {"sub": "1", "preferred_username": "anna@corp"}
        self.told: frozenset[str] = frozenset()
        self.spoilt: dict[str, Any] = {}
        self.exchanges = 0
        self._codes: dict[str, dict[str, str]] = {}
        self._access: dict[str, dict[str, Any]] = {}
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                provider._get(self)

            def do_POST(self) -> None:
                provider._post(self)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.issuer = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        )

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _get(self, handler: BaseHTTPRequestHandler) -> None:
        parts = urlsplit(handler.path)
        asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
        if parts.path == "/.well-known/openid-configuration":
            _answer(
                handler,
                {
                    "issuer": self.issuer,
                    "authorization_endpoint": f"{self.issuer}/authorize",
                    "token_endpoint": f"{self.issuer}/token",
                    "userinfo_endpoint": f"{self.issuer}/userinfo",
                },
            )
        elif parts.path == "/authorize":
            self._authorize(handler, asked)
        elif parts.path == "/userinfo":
            token = handler.headers.get("Authorization", "").removeprefix("Bearer ")
            known = self._access.get(token)
            _answer(handler, known or {"error": "invalid_token"}, 200 if known else 401)
        else:
            _answer(handler, {"error": "not found"}, 404)

    def _authorize(self, handler: BaseHTTPRequestHandler, asked: Mapping[str, str]) -> None:
        right = (
            asked.get("response_type") == "code"
            and asked.get("client_id") == self.client
            and asked.get("redirect_uri") == self.back
            and asked.get("code_challenge_method") == "S256"
            and "openid" in asked.get("scope", "").split()
            and {"state", "nonce", "code_challenge"} <= asked.keys()
        )
        if not right:
            _answer(handler, {"error": "invalid_request"}, 400)
            return
        code = secrets.token_urlsafe(16)
        self._codes[code] = dict(asked)
        handler.send_response(302)
        said = urlencode({"code": code, "state": asked["state"], "iss": self.issuer})
        handler.send_header("Location", f"{self.back}?{said}")
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    def _post(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers.get("Content-Length", "0"))).decode()
        form = {name: values[0] for name, values in parse_qs(body).items()}
        pair = base64.b64encode(f"{self.client}:{self.secret}".encode()).decode()
        asked = self._codes.pop(form.get("code", ""), None)
        challenge = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        self.exchanges += 1
        if handler.headers.get("Authorization") != f"Basic {pair}":
            _answer(handler, {"error": "invalid_client"}, 401)
        elif (
            asked is None
            or form.get("grant_type") != "authorization_code"
            or form.get("redirect_uri") != self.back
            or _b64(challenge) != asked["code_challenge"]
        ):
            _answer(handler, {"error": "invalid_grant"}, 400)
        else:
            access = secrets.token_urlsafe(16)
            self._access[access] = dict(self.claims)
            token = self._id_token(asked["nonce"])
            _answer(handler, {"access_token": access, "token_type": "Bearer", "id_token": token})

    def _id_token(self, nonce: str) -> str:
        now_s = int(time.time())
        claims = {
            "iss": self.issuer, "aud": self.client, "iat": now_s, "exp": now_s + 300, "nonce": nonce,
            **{name: value for name, value in self.claims.items() if name not in self.told},
            **self.spoilt,
        }  # fmt: skip
        kept = {name: value for name, value in claims.items() if value is not None}
        return ".".join(_b64(json.dumps(part).encode()) for part in ({"alg": "none"}, kept)) + "."


def _answer(handler: BaseHTTPRequestHandler, tree: Mapping[str, Any], status: int = 200) -> None:
    body = json.dumps(tree).encode()
    handler.send_response(status)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def _b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
