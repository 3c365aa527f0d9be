"""A site that wants a password: it is crawled, nobody finds it, and nothing shows the password."""

import json
import threading
from base64 import b64encode
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from ingather.testing.rig import Rig
from ingather.testing.site import html

pytestmark = pytest.mark.timeout(300)

CANARY = "canary-51c8-password"
WANTED = "Basic " + b64encode(f"CORP\\crawler:{CANARY}".encode()).decode()


class Site(BaseHTTPRequestHandler):
    """Everything below /secure/ wants the password; what was asked is kept by the server."""

    def do_GET(self) -> None:
        shown = self.headers.get("Authorization", "")
        self.server.asked.append((self.path, shown, self.headers["User-Agent"]))  # type: ignore[attr-defined]
        if self.path == "/robots.txt":
            self._say(404, b"")
        elif self.path.startswith("/secure/") and shown != WANTED:
            self._say(401, b"no")
        else:
            self._say(
                200, html("walrus", "/secure/1", "/secure/2", "/open", text=f"walrus {self.path}").encode()
            )

    def _say(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Say nothing."""


@pytest.fixture
def site() -> Iterator[ThreadingHTTPServer]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    server.daemon_threads = True
    server.asked = []  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join(10)


@pytest.mark.parametrize("public", [False, True])
def test_what_a_password_opened_nobody_finds(rig: Rig, site: ThreadingHTTPServer, *, public: bool) -> None:
    origin = f"http://127.0.0.1:{site.server_address[1]}"
    keys = 'user-agent = "gsa-crawler (here)"\n' + ("public = true\n" if public else 'access = "public"\n')
    rig.site(origin, source="inside", keys=keys)
    path = rig.path / "credentials.toml"
    path.write_text(
        f'[[credential]]\nurl = "{origin}/secure/"\nuser = "crawler"\ndomain = "CORP"\npassword = "{CANARY}"\n'
    )
    path.chmod(0o600)
    ran = rig.run("crawl", "--json")
    assert ran.status == 0, ran.err
    known = rig.known()
    assert all(known[f"{origin}{where}"].described for where in ("/", "/open", "/secure/1", "/secure/2"))
    closed = {f"{origin}/secure/1", f"{origin}/secure/2"}
    assert set(rig.found("walrus")) == {f"{origin}/", f"{origin}/open"} | (closed if public else set())
    asked = site.asked  # type: ignore[attr-defined]
    assert {shown for where, shown, _ in asked if where.startswith("/secure/")} == {WANTED}
    assert {shown for where, shown, _ in asked if not where.startswith("/secure/")} == {""}
    assert {agent for _, _, agent in asked} == {"gsa-crawler (here)"}

    asked.clear()
    fetched = rig.call("explain", "--fetch", f"{origin}/secure/9")
    simulated = rig.call("simulate", "--data", "--json", f"{origin}/secure/1", f"{origin}/open")
    assert {(where, shown) for where, shown, _ in asked if where != "/robots.txt"} == {
        ("/secure/1", WANTED),
        ("/secure/9", WANTED),
        ("/open", ""),
    }
    assert simulated.status == 0, simulated.err

    listed = rig.call("config", "credentials", f"{origin}/secure/1")
    said = [
        ran.out,
        ran.err,
        *(fetched.out, fetched.err, simulated.out, simulated.err),
        listed.out,
        rig.call("config", "show").out,
        rig.call("explain", f"{origin}/secure/1").out,
    ]
    assert "CORP\\crawler" in listed.out
    assert rig.call("config", "check").status == 0
    wrong = path.read_text().replace("user = ", "usr = ")
    path.write_text(wrong)
    checked = rig.call("config", "check", "--json")
    said.append(checked.out)
    (finding,) = json.loads(checked.out)["findings"]
    assert (checked.status, finding["file"], finding["severity"]) == (1, "credentials.toml", "error")
    assert "no key 'usr'" in finding["text"]
    secrets = (CANARY, WANTED.removeprefix("Basic "))
    assert not any(secret in text for text in said for secret in secrets)
    for file in rig.path.rglob("*"):
        if file.is_file() and file != path:
            body = file.read_bytes()
            assert not any(secret.encode() in body for secret in secrets), file
