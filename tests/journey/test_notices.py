"""A served home tells programs and people what happened."""

import hmac
import json
import shutil
import subprocess
import threading
from collections.abc import Iterator
from hashlib import sha256
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from ingather.app.certificates import ensure_certificate
from ingather.testing.feeds import content, feed_xml, record
from ingather.testing.mailserver import mail_server
from ingather.testing.rig import Rig
from ingather.testing.running import PATIENCE_S, wait_until
from ingather.testing.site import Site

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


@pytest.mark.skipif(not shutil.which("openssl"), reason="openssl is not installed")
def test_holds_failing_sources_certificates_and_runs_are_told(
    rig: Rig, site: Site, posted: tuple[str, list[tuple[Any, bytes]]]
) -> None:
    url, told = posted
    site.page("/", "Walrus", text="walrus")
    rig.site(site.origin)
    assert rig.run("crawl", "--json").status == 0
    rig.alter("insert into hold (source, reason, opened, urls) select source, 'gone', 1, 1 from url limit 1")
    rig.alter("insert into hold_item (id, hold, at) select u.id, h.id, 1 from url u, hold h")
    rig.alter(
        "insert into host (origin, hkey, robots_kind, robots_since) values ('http://down.test', 'down.test', 'unreachable', 1)"
    )
    made = ensure_certificate(rig.path / "feeds")
    asked = ["req", "-x509", "-key", str(made[1]), "-days", "20", "-subj", "/CN=a", "-out", str(made[0])]
    subprocess.run([str(shutil.which("openssl")), *asked], check=True, capture_output=True)
    (rig.path / "hook-secret").write_text(SECRET)
    (rig.path / "hook-secret").chmod(0o600)
    with mail_server() as post:
        for name, value in (
            ("url", url), ("secret-file", "hook-secret"), ("addresses", "127.0.0.1"), ("mail-to", "ops@a.test"), ("mail-from", "i@a.test"),
            ("mail-server", f"127.0.0.1:{post.port}"), ("mail-tls", "none"), ("mail-every", "1s"),
        ):  # fmt: skip
            rig.tune(f"notices.{name}", value)
        with rig.serving() as served:
            site.page("/new", "New", text="walrus")
            assert served.admin("/api/v1/robot/add", {"url": site.url("/new")})[0] == 200
            wanted = {"hold", "source.failing", "certificate", "run.ended"}
            wait_until(lambda: {headers["X-Ingather-Kind"] for headers, _ in told} >= wanted)
            wait_until(lambda: sum(mail.as_string().count("\n2") for mail in post.mails) >= len(wanted))
    said = {headers["X-Ingather-Kind"]: json.loads(body)["about"] for headers, body in told}
    assert said["hold"]["documents"] == 1
    assert said["source.failing"]["subject"] == "http://down.test"
    assert said["certificate"]["subject"] == "certificate.pem"
    assert said["run.ended"]["figures"]["visits"]
    assert {mail["To"] for mail in post.mails} == {"ops@a.test"}


def test_a_run_of_crawl_is_told_before_the_command_ends(
    rig: Rig, site: Site, posted: tuple[str, list[tuple[Any, bytes]]]
) -> None:
    url, told = posted
    (rig.path / "hook-secret").write_text(SECRET)
    (rig.path / "hook-secret").chmod(0o600)
    for name, value in (("url", url), ("secret-file", "hook-secret"), ("addresses", "127.0.0.1")):
        rig.tune(f"notices.{name}", value)
    site.page("/", "Walrus", text="walrus")
    runs = []
    for _ in range(2):
        ended = rig.crawl(site.origin)
        assert ended.status == 0
        runs.append(json.loads(ended.out)["run"])
    said = [json.loads(body) for _, body in told]
    assert [(note["kind"], note["about"]["run"], note["about"]["holds"]) for note in said] == [
        ("run.ended", run, 0) for run in runs
    ]
