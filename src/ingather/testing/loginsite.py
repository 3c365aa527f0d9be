"""A site on loopback whose folders want a login of each kind, and which notes what it was shown."""

import json
import re
import secrets
import ssl
from base64 import b64decode, b64encode
from collections import defaultdict
from collections.abc import Callable, Mapping
from hashlib import md5
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from types import TracebackType
from typing import Final, Self
from urllib.parse import parse_qs, quote_plus

import spnego

from ingather.testing.site import html

__all__ = ["KINDS", "LoginSite"]

KINDS: Final = ("basic", "digest", "bearer", "oauth2", "form", "ntlm")
"""Folders that want a login of that kind; ``wrong`` wants basic, ``certificate`` and ``negotiate`` are beside them."""


def _md5(text: str) -> str:
    return md5(text.encode(), usedforsecurity=False).hexdigest()


def _nothing() -> None:
    """Nobody wants to look."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def _site(self) -> "LoginSite":
        assert isinstance(self.server, LoginSite)
        return self.server

    def do_POST(self) -> None:
        site = self._site
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        form = {key: values[0] for key, values in parse_qs(body).items()}
        if self.path == "/token":
            pair = f"crawler:{quote_plus(site.secrets['oauth2'])}".encode()
            good = self.headers["Authorization"] == "Basic " + b64encode(pair).decode()
            answer = (
                {"access_token": site.token, "token_type": "bearer", "expires_in": 3600}
                if good
                else {"error": "invalid_client"}
            )
            self._say(200 if good else 401, json.dumps(answer).encode())
        elif form == {"user": "crawler", "word": site.secrets["form"], "once": "1"}:
            cookie = f"sid={site.session}; Path=/form/; HttpOnly"
            self._say(303, b"", ("Location", "/form/home"), ("Set-Cookie", cookie))
        else:
            self._say(200, b"<p>no")

    def do_GET(self) -> None:
        site = self._site
        site.look()
        part = self.path.split("/")[1]
        for name in ("Authorization", "Cookie"):
            site.shown[self.path].add(self.headers.get(name) or "")
        if self.path == "/robots.txt":
            self._say(404, b"")
        elif self.path == "/form/login":
            field = "<input name=user><input name=word type=password><input name=once type=hidden value=1>"
            self._say(200, f"<form method=post action=/form/in>{field}</form>".encode())
        elif part in {*KINDS, "wrong", "certificate", "negotiate"} and not self._let_in(part):
            return
        else:
            links = [f"/{kind}/{page}" for kind in (*KINDS, "wrong") for page in ("1", "2", "logout")]
            page = html("walrus", *(links if self.path == "/" else ()), text=f"walrus {self.path}")
            self._say(200, page.encode())

    def _let_in(self, part: str) -> bool:  # noqa: PLR0911 - one a kind
        site, shown = self._site, self.headers.get("Authorization", "")
        if part == "ntlm":
            return self._ntlm(shown)
        if part == "form":
            good = f"sid={site.session}" in self.headers.get("Cookie", "")
            if not good:
                self._say(302, b"", ("Location", "/form/login"))
            return good
        if part == "certificate":
            good = isinstance(self.connection, ssl.SSLSocket) and bool(self.connection.getpeercert())
            if not good:
                self._say(403, b"no")
            return good
        if part == "negotiate":
            token = shown.removeprefix("Negotiate ")
            return self._judged(bool(token and site.who(b64decode(token))), "Negotiate")
        if part == "digest":
            said = dict(re.findall(r'(\w+)="?([^",]*)"?', shown.removeprefix("Digest ")))
            one, two = _md5(f"crawler:r:{site.secrets['digest']}"), _md5(f"GET:{self.path}")
            proof = f"{one}:{said.get('nonce')}:{said.get('nc')}:{said.get('cnonce')}:auth:{two}"
            asked = f'Digest realm="r", nonce="{secrets.token_hex(8)}", qop="auth"'
            return self._judged(said.get("response") == _md5(proof), asked)
        if part in {"bearer", "oauth2"}:
            token = site.token if part == "oauth2" else site.secrets["bearer"]
            return self._judged(shown == f"Bearer {token}", "")
        if part == "wrong":
            site.refused += bool(shown)
        pair = f"crawler:{site.secrets['basic']}".encode()
        return self._judged(shown == "Basic " + b64encode(pair).decode(), "Basic realm=r")

    def _judged(self, good: bool, asked: str) -> bool:  # noqa: FBT001 - what was found out
        if not good:
            self._say(401, b"no", *([("WWW-Authenticate", asked)] if asked else []))
        return good

    def _ntlm(self, shown: str) -> bool:
        if getattr(self, "user", "") and not shown:
            return True
        if not shown.startswith("NTLM "):
            return self._judged(False, "NTLM")  # noqa: FBT003 - what was found out
        if not hasattr(self, "context"):
            self.context = spnego.server(protocol="ntlm", options=spnego.NegotiateOptions.use_ntlm)
        try:
            token = self.context.step(b64decode(shown[5:]))
        except spnego.exceptions.SpnegoError:
            del self.context
            return self._judged(False, "NTLM")  # noqa: FBT003 - what was found out
        if not self.context.complete:
            return self._judged(False, "NTLM " + b64encode(token or b"").decode())  # noqa: FBT003 - what was found out
        self.user = self.context.client_principal
        return True

    def _say(self, status: int, body: bytes, *fields: tuple[str, str]) -> None:
        self.send_response(status)
        for name, value in (("Content-Type", "text/html"), ("Content-Length", str(len(body))), *fields):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Say nothing."""


class LoginSite(ThreadingHTTPServer):
    """Each folder keeps to its scheme; a context manager. NTLM asks for the accounts of ``NTLM_USER_FILE``.

    Args:
        secrets: what lets the user ``crawler`` in, by folder.
        token: what the token address gives.
        session: the cookie of who filled the form in.
        tls: with a certificate; clients' are looked at if it says so.
        look: called before each answer.
        who: the account that a Kerberos token proves, ``""`` = none.

    Attributes:
        shown: path to the values of Authorization and Cookie that came with requests for it; ``""`` = none came.
        refused: how often ``/wrong/`` was shown something.
    """

    daemon_threads = True

    def __init__(  # noqa: PLR0913 - what it asks for
        self,
        secrets: Mapping[str, str],
        *,
        token: str = "",
        session: str = "",
        tls: ssl.SSLContext | None = None,
        look: Callable[[], None] = _nothing,
        who: Callable[[bytes], str] = lambda _: "",
    ) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.secrets, self.token, self.session, self.look, self.who = secrets, token, session, look, who
        self.shown: defaultdict[str, set[str]] = defaultdict(set)
        self.refused = 0
        if tls is not None:
            self.socket = tls.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        self.origin = f"{'http' if tls is None else 'https'}://127.0.0.1:{self.server_port}"
        self._thread = Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05})

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: a client that does not believe our certificate breaks off."""

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.shutdown()
        self.server_close()
        self._thread.join(10)
