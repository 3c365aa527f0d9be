"""A site with a login of each kind is crawled by serve: everything is read, nobody finds it, and no output has a secret in any form."""

import hashlib
import json
import os
import re
import secrets
import threading
from base64 import b64decode, b64encode
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, quote, quote_plus

import pytest
import spnego

from ingather.app.secrets import KeyFile, SecretStore
from ingather.testing.canaries import Canaries
from ingather.testing.rig import Rig
from ingather.testing.site import html

pytestmark = pytest.mark.timeout(300)

KINDS = ("basic", "digest", "bearer", "oauth2", "form", "ntlm")
SECRETS = {kind: f"Kanari+{kind}/{number}7c" for number, kind in enumerate((*KINDS, "wrong"))}
ASKED = (
    *tuple(f"/api/v1/{name}" for name in ("status", "sources", "robot", "reports/errors", "sites", "runs")),
    "/metrics",
)
TOKEN, SESSION = "kanari-access-81d2", "kanari-session-0a4f"


CANARIES = Canaries((*SECRETS.values(), TOKEN, SESSION))
spoken = CANARIES.spoken


def md5(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


class Site(BaseHTTPRequestHandler):
    """Each part of the site keeps to its scheme; while it is asked it looks at all command lines of the machine."""

    protocol_version = "HTTP/1.1"

    @property
    def _server(self) -> "Server":
        assert isinstance(self.server, Server)
        return self.server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        form = {key: values[0] for key, values in parse_qs(body).items()}
        if self.path == "/token":
            pair = f"crawler:{quote_plus(SECRETS['oauth2'])}".encode()
            good = self.headers["Authorization"] == "Basic " + b64encode(pair).decode()
            answer = (
                {"access_token": TOKEN, "token_type": "bearer", "expires_in": 3600}
                if good
                else {"error": "invalid_client"}
            )
            self._say(200 if good else 401, json.dumps(answer).encode())
        elif form == {"user": "crawler", "word": SECRETS["form"], "once": "1"}:
            self._say(
                303, b"", ("Location", "/form/home"), ("Set-Cookie", f"sid={SESSION}; Path=/form/; HttpOnly")
            )
        else:
            self._say(200, b"<p>no")

    def do_GET(self) -> None:
        self._server.look()
        part = self.path.split("/")[1]
        if self.path == "/robots.txt":
            self._say(404, b"")
        elif self.path == "/form/login":
            field = "<input name=user><input name=word type=password><input name=once type=hidden value=1>"
            self._say(200, f"<form method=post action=/form/in>{field}</form>".encode())
        elif part in {*KINDS, "wrong"} and not self._let_in(part):
            return
        else:
            links = [f"/{kind}/{page}" for kind in (*KINDS, "wrong") for page in ("1", "2", "logout")]
            self._say(
                200, html("walrus", *(links if self.path == "/" else ()), text=f"walrus {self.path}").encode()
            )

    def _let_in(self, part: str) -> bool:
        shown = self.headers.get("Authorization", "")
        asks: tuple[tuple[str, str], ...] = ()
        if part == "ntlm":
            return self._ntlm(shown)
        if part == "form":
            good = f"sid={SESSION}" in self.headers.get("Cookie", "")
            if not good:
                self._say(302, b"", ("Location", "/form/login"))
            return good
        if part == "digest":
            said = dict(re.findall(r'(\w+)="?([^",]*)"?', shown.removeprefix("Digest ")))
            one, two = md5(f"crawler:r:{SECRETS['digest']}"), md5(f"GET:{self.path}")
            proof = f"{one}:{said.get('nonce')}:{said.get('nc')}:{said.get('cnonce')}:auth:{two}"
            good = said.get("response") == md5(proof)
            asks = (("WWW-Authenticate", f'Digest realm="r", nonce="{secrets.token_hex(8)}", qop="auth"'),)
        elif part in {"bearer", "oauth2"}:
            good = shown == "Bearer " + (TOKEN if part == "oauth2" else SECRETS["bearer"])
        else:
            pair = f"crawler:{SECRETS['basic']}".encode()
            good, asks = (
                shown == "Basic " + b64encode(pair).decode(),
                (("WWW-Authenticate", "Basic realm=r"),),
            )
        if part == "wrong":
            self._server.refused += bool(shown)
        if not good:
            self._say(401, b"no", *asks)
        return good

    def _ntlm(self, shown: str) -> bool:
        if getattr(self, "user", "") and not shown:
            return True
        if not shown.startswith("NTLM "):
            self._say(401, b"no", ("WWW-Authenticate", "NTLM"))
            return False
        if not hasattr(self, "context"):
            self.context = spnego.server(protocol="ntlm", options=spnego.NegotiateOptions.use_ntlm)
        token = self.context.step(b64decode(shown[5:]))
        if not self.context.complete:
            self._say(401, b"go on", ("WWW-Authenticate", "NTLM " + b64encode(token or b"").decode()))
            return False
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


class Server(ThreadingHTTPServer):
    daemon_threads = True
    refused = 0

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Site)
        self.spoken: list[str] = []

    def look(self) -> None:
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                self.spoken += spoken(str(path), path.read_bytes())
            except OSError:  # it ended
                continue


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    (tmp_path / "accounts").write_text(f"CORP:crawler:{SECRETS['ntlm']}\n")
    monkeypatch.setenv("NTLM_USER_FILE", str(tmp_path / "accounts"))
    server = Server()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join(10)


def test_every_kind_of_login_reads_its_pages_and_no_output_has_a_secret(
    rig: Rig, site: Server, tmp_path: Path
) -> None:
    origin = f"http://127.0.0.1:{site.server_address[1]}"
    names = ", ".join(f'"{kind}"' for kind in (*KINDS, "wrong"))
    rig.site(origin, source="inside", keys=f"credentials = [{names}]\n")
    more = {
        "bearer": "", "oauth2": f'user = "crawler"\ntoken-url = "{origin}/token"\n', "ntlm": 'user = "crawler"\ndomain = "CORP"\n',
        "form": f'user = "crawler"\nform-url = "{origin}/form/login"\nuser-field = "user"\nsecret-field = "word"\n',
    }  # fmt: skip
    for kind in (*KINDS, "wrong"):
        keys = more.get(kind, 'user = "crawler"\n')
        real = "basic" if kind == "wrong" else kind
        rig.toml(f'[credential.{kind}]\nkind = "{real}"\nurl = "{origin}/{kind}/"\nsecret = "{kind}"\n{keys}')
    said: list[str] = []

    def tell(*words: str) -> str:
        ran = rig.call(*words)
        said.extend((ran.out, ran.err))
        return ran.out

    store = SecretStore(rig.path, KeyFile.of(rig.path, "", os.environ))
    for kind, value in SECRETS.items():
        store.set(kind, value, 1.0)
    rig.tune("log.level", "debug")
    with rig.serving() as served:
        served.rest(visits=3 * len(KINDS))
        said.extend(str(served.admin(path)) for path in ASKED)
        said.append(str(served.admin("/api/v1/explain?url=" + quote(f"{origin}/wrong/1"))))
        said.append(served.running.out)
        said.append(served.running.err)
    known = rig.known()
    for kind in KINDS:
        assert known[f"{origin}/{kind}/1"].described, (kind, known[f"{origin}/{kind}/1"])
        assert known[f"{origin}/{kind}/2"].described, kind
    assert rig.found("walrus") == [f"{origin}/"]
    assert site.refused <= 3
    explained = tell("explain", f"{origin}/wrong/1")
    assert "credential wrong" in explained
    for words in (("explain", "--fetch", f"{origin}/digest/9"), ("explain", "--fetch", f"{origin}/ntlm/9"), ("explain", f"{origin}/form/logout"),
                  ("config", "show"), ("config", "show", "--json"), ("config", "check"), ("config", "credentials"), ("secret", "list"),
                  ("secret", "list", "--json"), ("report", "errors"), ("doctor",), ("simulate", "--data", f"{origin}/basic/9"), ("backup", str(tmp_path / "backup"))):  # fmt: skip
        tell(*words)
    assert any("its key is not in the backup" in text for text in said)
    for value in SECRETS.values():  # the search finds what is there
        assert spoken("control", b"x" + b64encode(b"user:" + value.encode()))
        assert spoken("control", f"?word={quote_plus(value)}&".encode())
    assert not [one for text in said for one in spoken("output", text.encode())]
    assert site.spoken == []
    for folder in (rig.path, tmp_path / "backup"):
        assert any(path.is_file() for path in folder.rglob("*"))
        assert CANARIES.kept(folder) == []
