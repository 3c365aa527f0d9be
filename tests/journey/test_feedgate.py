"""The feed gate under ``ingather serve``: from a plain socket to search, over TLS, across kills; the order of the disk."""

import re
import shutil
import signal
import socket
import ssl
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ingather.testing.feedwire import FEED, Reply, exchange, shapes
from ingather.testing.rig import Rig, Served, wait_until


def address(served: Served, scheme: str = "http") -> tuple[str, int]:
    found = re.search(rf"^feeds +{scheme}://([^:/]+):(\d+)/xmlfeed$", served.running.out, re.MULTILINE)
    assert found, served.running.out
    return found[1], int(found[2])


def push(served: Served, xml: bytes, source: bytes = b"sample") -> Reply:
    with socket.create_connection(address(served), timeout=60) as sock:
        return exchange(sock, shapes(xml, source)["a"])


def ask(served: Served, path: bytes) -> bytes:
    with socket.create_connection(address(served), timeout=60) as sock:
        return exchange(sock, [b"GET " + path + b" HTTP/1.0 \r\n\r\n"]).body


def said(word: bytes) -> bytes:
    return FEED.replace(b"1 &lt; 2", word)


@pytest.fixture
def rig(home: Path) -> Rig:
    return Rig(home, **{"index.quiet-interval": "0.1s"}).init()


def test_feeds_of_anybody_who_may_are_found_over_http_and_tls_and_the_backlog_falls_to_0(rig: Rig) -> None:
    rig.tune("feeds.proxies", "127.0.0.1")
    feeder = rig.call("token", "add", "cms", "--right", "feeder").out.split()[-1]
    reader = rig.call("token", "add", "site", "--right", "searcher").out.split()[-1]
    with rig.serving() as served:
        wait_until(lambda: "https://" in served.running.out)
        reply = push(served, said(b"elephants"))
        assert reply.body == b"Success"
        code, report = served.admin("/api/" + reply.headers["x-feed-status-url"].partition("/api/")[2])
        assert (code, report["datasource"]) == (200, "sample")
        context = ssl.create_default_context(cafile=str(rig.path / "feeds" / "certificate.pem"))
        host, port = address(served, "https")
        with (
            socket.create_connection((host, port), timeout=60) as bare,
            context.wrap_socket(bare, server_hostname="localhost") as sock,
        ):
            assert (
                exchange(sock, shapes(said(b"giraffes").replace(b"example/1", b"example/3"))["e"]).body
                == b"Success"
            )
        wait_until(lambda: served.found("elephants") == ["http://a.example/1"])
        wait_until(lambda: served.found("giraffes") == ["http://a.example/3"])
        assert ask(served, b"/getbacklogcount") == b"0"
        assert served.get("/sw_version.txt")[0] == 200
        a_program_s_token_pushes_from_anywhere(rig, served, feeder, reader)
        feeds_of_many_clients_are_applied(served)
    assert oct((rig.path / "feeds" / "certificate-key.pem").stat().st_mode)[-3:] == "600"


def a_program_s_token_pushes_from_anywhere(rig: Rig, served: Served, feeder: str, reader: str) -> None:
    head, body = shapes(FEED)["a"]
    for token, status in ((feeder, 200), (reader, 403), (feeder + "x", 403), ("", 403)):
        more = f"\r\nX-Forwarded-For: 203.0.113.9\r\nAuthorization: Bearer {token}\r\n".encode()
        with socket.create_connection(address(served), timeout=60) as sock:
            assert exchange(sock, [head.replace(b"\r\n", more, 1), body]).status == status
    wait_until(lambda: "203.0.113.9" in rig.call("feed", "trust", "--list").out)
    rig.call("feed", "trust", "203.0.113.9")
    with socket.create_connection(address(served), timeout=60) as sock:
        assert (
            exchange(sock, [head.replace(b"\r\n", b"\r\nX-Forwarded-For: 203.0.113.9\r\n", 1), body]).status
            == 200
        )


def feeds_of_many_clients_are_applied(served: Served) -> None:
    with ThreadPoolExecutor(16) as clients:
        feeds = [said(b"word%d" % n).replace(b"example/1", b"example/n%d" % n) for n in range(60)]
        replies = list(clients.map(lambda n: push(served, feeds[n], b"s%d" % (n % 5)).body, range(60)))
        assert set(replies) == {b"Success"}
        wait_until(lambda: ask(served, b"/getbacklogcount") == b"0")
        wait_until(lambda: served.found("word59") == ["http://a.example/n59"])


def test_gsa_T47_a_feed_that_was_acknowledged_survives_a_kill(rig: Rig) -> None:
    rig.tune("listen.search", "127.0.0.1:0").tune("listen.admin", "127.0.0.1:0")
    with rig.start("serve") as running:
        served = Served(running, (rig.path / "admin-token").read_text().strip())
        assert push(served, said(b"first")).body == b"Success"
        with socket.create_connection(address(served)) as half:
            head, body = shapes(said(b"torn") * 5000)["a"]
            half.sendall(head + body[: len(body) // 2])
            wait_until(lambda: list((rig.path / "feeds" / "spool").glob("*.part")))
            assert push(served, said(b"second").replace(b"example/1", b"example/9")).body == b"Success"
            running.signal(signal.SIGKILL)
            running.end()
    (rig.path / "feeds" / "spool" / ("0" * 32)).write_bytes(FEED)
    with rig.serving() as served:
        assert len(list((rig.path / "feeds" / "spool").iterdir())) == 2
        wait_until(lambda: served.found("first") == ["http://a.example/1"])
        wait_until(lambda: served.found("second") == ["http://a.example/9"])
        assert served.found("torn") == []


def test_a_named_port_that_is_taken_is_an_error_and_a_well_known_one_a_note(rig: Rig) -> None:
    rig.tune("listen.search", "127.0.0.1:0").tune("listen.admin", "127.0.0.1:0")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        rig.tune("feeds.port", str(taken.getsockname()[1]))
        ran = rig.run("serve")
        assert ran.status == 1
        assert "feeds.port" in ran.err
    rig.tune("feeds.listen", "")
    with rig.serving() as served:
        assert "feeds " not in served.running.out


def test_a_certificate_that_cannot_be_used_is_said(rig: Rig) -> None:
    rig.tune("listen.search", "127.0.0.1:0").tune("listen.admin", "127.0.0.1:0")
    rig.tune("feeds.certificate", "nothing.pem")
    ran = rig.run("serve")
    assert ran.status == 1
    assert "feeds.certificate-key" in ran.err


def end_tracer(tracing: "subprocess.Popen[bytes]") -> None:
    """End strace, which leaves its process as it was; it must not outlive the test, whatever happened."""
    tracing.terminate()
    try:
        tracing.wait(20)
    except subprocess.TimeoutExpired:
        tracing.kill()
        tracing.wait(20)


@pytest.mark.skipif(shutil.which("strace") is None, reason="no strace")
def test_the_row_follows_the_file_and_success_follows_the_row(rig: Rig, tmp_path: Path) -> None:
    rig.tune("listen.search", "127.0.0.1:0").tune("listen.admin", "127.0.0.1:0")
    with rig.start("serve") as running:
        served = Served(running, (rig.path / "admin-token").read_text().strip())
        trace = tmp_path / "trace"
        calls = "trace=fsync,fdatasync,rename,renameat,renameat2,sendto,sendmsg,write,writev"
        said_by_strace = tmp_path / "strace.err"
        with said_by_strace.open("wb") as sink:
            tracing = subprocess.Popen(
                [str(shutil.which("strace")), "-f", "-y", "-e", calls, "-s", "300", "-o", str(trace), "-p", str(running.process.pid)],
                stderr=sink,
            )  # fmt: skip
        try:
            wait_until(lambda: b"attached" in said_by_strace.read_bytes() or tracing.poll() is not None)
            if tracing.poll() is not None:
                pytest.skip("strace may not attach here")
            assert push(served, FEED).body == b"Success"
        finally:
            end_tracer(tracing)
        running.signal(signal.SIGTERM)
        running.end()
    lines = trace.read_text("utf-8", "replace").splitlines()

    def first(pattern: str, after: int = -1) -> int:
        return next(n for n, line in enumerate(lines) if n > after and re.search(pattern, line))

    synced = first(r"f(data)?sync\(\d+<[^>]*/spool/[0-9a-f]{32}\.part>")
    renamed = first(r"rename.*\.part", synced)
    folder = first(r"fsync\(\d+<[^>]*/spool>", renamed)
    row = first(r"f(data)?sync\(\d+<[^>]*catalog\.db-wal>", folder)
    assert first(r"HTTP/1.1 200 OK") > row
