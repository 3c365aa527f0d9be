"""A served home tells a program of a feed that ended with errors."""

import hmac
import json
import threading
from collections.abc import Iterator
from hashlib import sha256
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from ingather.testing.feeds import content, feed_xml, record
from ingather.testing.rig import Rig
from ingather.testing.running import PATIENCE_S, wait_until

pytestmark = pytest.mark.timeout(300)

SECRET = "canary-secret-0123456789"  # noqa: S105 - a canary


@pytest.fixture
def posted() -> Iterator[tuple[str, list[tuple[Any, bytes]]]]:
    """Where to post, and what was."""
    made: list[tuple[Any, bytes]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            made.append((self.headers, self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/hook", made
    server.shutdown()
    server.server_close()
    thread.join(10)


def test_a_feed_with_errors_is_told(rig: Rig, posted: tuple[str, list[tuple[Any, bytes]]]) -> None:
    url, told = posted
    (rig.path / "hook-secret").write_text(SECRET)
    (rig.path / "hook-secret").chmod(0o600)
    for name, value in (("url", url), ("secret-file", "hook-secret"), ("addresses", "127.0.0.1")):
        rig.tune(f"notices.{name}", value)
    with rig.serving() as served:
        port = int(wait_until(lambda: served.running.out.partition("/xmlfeed")[0].rpartition(":")[2]))
        for body in (
            feed_xml(record("http://hr.test/good", content("walrus")), datasource="good"),
            feed_xml(
                record("relative", content("walrus")),
                record("http://hr.test/x", content("walrus")),
                datasource="bad",
            ),
        ):
            connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
            connection.request("POST", "/xmlfeed", body, {"Content-Type": "text/xml"})
            assert connection.getresponse().read() == b"Success"
            connection.close()
        wait_until(lambda: told)
        shown = served.running.out + served.running.err
    [(headers, body)] = told
    said = json.loads(body)
    assert (said["kind"], said["about"]["datasource"], said["about"]["rejected"]) == ("feed.errors", "bad", 1)
    at, mac = (part.partition("=")[2] for part in headers["X-Ingather-Signature"].split(","))
    assert hmac.new(SECRET.encode(), at.encode() + b"." + body, sha256).hexdigest() == mac
    assert SECRET not in shown
