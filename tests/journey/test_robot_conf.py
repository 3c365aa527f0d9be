"""Parameters of robot.conf, each seen in what the robot does."""

import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from ingather.app import wiring
from ingather.catalog.packing import unpack_attributes
from ingather.conf import load
from ingather.conf.settings.values import Settings
from ingather.conf.sources.source import SourceConf
from ingather.model.lifecycle import Outcome
from ingather.testing.rig import Rig

PAGES = {
    "/": '<a href="/one">1</a> <a href="/large">L</a> <a href="/closed">C</a>',
    "/one": '<a href="/two">2</a>',
    "/two": "far",
    "/large": "x" * 3000,
    "/closed": "closed",
    "/robots.txt": "User-agent: curious\nDisallow: /closed\n",
}


@pytest.fixture
def asked() -> Iterator[tuple[str, list[tuple[str, Mapping[str, str]]]]]:
    seen: list[tuple[str, Mapping[str, str]]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
            body = PAGES[self.path].encode()
            self.send_response(200)
            kind = "text/plain" if self.path == "/robots.txt" else "text/html"
            for name, value in (("Content-Type", kind), ("Content-Length", str(len(body)))):
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Nothing is said."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", seen
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def conf(rig: Rig, text: str) -> None:
    (rig.path / "config" / "robot.conf").write_text(text)


def test_what_hosts_see_and_what_the_description_says(
    rig: Rig, asked: tuple[str, list[tuple[str, Mapping[str, str]]]]
) -> None:
    origin, seen = asked
    conf(
        rig,
        "email=op@corp.example\nuser-agent=Curious/1.0\nreferer=http://who.example/\ndepth=1\nmax-filesize-kb=2\n"
        "enable-ip=yes\nloglevel=5\ncsid=x-catalog://h.example:80/name\nserver-delay=0\n",
    )
    filters = rig.path / "config" / "filter.conf"
    filters.write_text(filters.read_text().replace('src="md5,', 'src="csid,md5,'))
    assert rig.run("crawl", "--quiet", "--own-host", origin[7:], origin + "/").status == 0
    paths = [path for path, _ in seen]
    assert sorted(paths) == ["/", "/large", "/one", "/robots.txt"]  # depth, and robots.txt under our own name
    head = dict(seen)["/"]
    assert (head["from"], head["referer"]) == ("op@corp.example", "http://who.example/")
    assert head["user-agent"] == "Curious/1.0 (+mailto:op@corp.example)"
    known = rig.known()
    assert known[f"{origin}/large"].outcome is not Outcome.INDEXED
    assert f"{origin}/two" not in rig.shown()
    packed = rig.rows("select attrs from page where id = ?", known[f"{origin}/one"].id)[0][0]
    attributes = unpack_attributes(packed, "")
    assert list(attributes["ip"]) == ["127.0.0.1"]
    assert list(attributes["csid"]) == ["x-catalog://h.example:80/name"]
    log = (rig.path / "log" / "robot.log").read_text()
    assert f"<URL:{origin}/one>: RD generated" in log
    assert f"<URL:{origin}/one>: retrieved: status 200" in log
    assert "gatherer spawned" in log
    assert "Starting Points: 1 defined" in log
    assert f"<URL:{origin}/two>: filtered" in log


def test_robots_txt_is_disobeyed_with_a_trace(
    rig: Rig, asked: tuple[str, list[tuple[str, Mapping[str, str]]]]
) -> None:
    origin, seen = asked
    conf(rig, "user-agent=curious\nenable-robots-txt=no\nenable-ip=no\nloglevel=0\n")
    assert rig.run("crawl", "--quiet", "--own-host", origin[7:], origin + "/").status == 0
    assert "/closed" in [path for path, _ in seen]
    assert f"{origin}/large" in rig.shown()
    packed = rig.rows("select attrs from page where id = ?", rig.known()[f"{origin}/large"].id)[0][0]
    assert "ip" not in unpack_attributes(packed, "")
    log = (rig.path / "log" / "robot.log").read_text()
    assert log.count("\n") == 1
    assert "ERROR: robots.txt is not obeyed (robot.conf:2)" in log
    assert rig.rows("select subject, detail from event where kind = 'robots-off'") == [
        ("configuration 1", "robots.txt is not obeyed (robot.conf:2)")
    ]


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("max-connections=20", 20),
        ("max-connections=20\nengine-concurrent=6", 6),
        ("max-connections=4\nengine-concurrent=9", 4),
    ],
)
def test_workers_are_never_more_than_connections(rig: Rig, line: str, value: int) -> None:
    conf(rig, line + "\n")
    settings = Settings()
    share = settings.count("gather.gatherers")
    limits = wiring.gatherer_limits(settings, load(rig.path / "config").robot)
    assert limits.max_connections == max(value // share, 1)


def test_values_reach_the_limits_they_name(rig: Rig) -> None:
    conf(
        rig,
        "connect-timeout=3\nconvert-timeout=44\nmax-working=640\nmax-memory=5000\nindex-after-ngenerated=2\n"
        "site-max-connections=5\nserver-delay=2.5\nmax-filesize-kb=7\n",
    )
    robot, settings = load(rig.path / "config").robot, Settings()
    fetch = wiring.fetch_limits(settings, robot)
    assert (fetch.connect_s, fetch.max_wire_bytes) == (3.0, 7 * 1024)
    assert wiring.converter_limits(settings, robot).jobs["convert"].wall_s == 44.0
    assert wiring.gatherer_limits(settings, robot).working == 640 // settings.count("gather.gatherers")
    follow = wiring.follow_limits(settings, robot)
    assert (follow.collect_s, follow.report_bytes) == (120.0, 5000)
    policy = wiring.host_policy(settings, robot, SourceConf(), own=False)
    assert (policy.delay_s, policy.max_connections) == (2.5, 5)
    assert wiring.follow_limits(settings).collect_s == 0


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("max-connections=20\nengine-concurrent=1", 1),
        ("max-connections=20\nengine-concurrent=3", 3),
        ("max-connections=2", 2),
    ],
)
def test_so_many_visits_at_a_time_and_no_more(rig: Rig, line: str, count: int) -> None:
    """engine-concurrent and max-connections: each page waits until *count* are asked for at once; no request comes beside them."""
    together, condition, here, most = count, threading.Condition(), [0], [0]

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            with condition:
                here[0] += 1
                most[0] = max(most[0], here[0])
                condition.notify_all()
                if self.path not in {"/", "/robots.txt"}:
                    condition.wait_for(lambda: most[0] >= together, 60)
            links = "".join(f'<a href="/{n}">x</a>' for n in range(12))
            body = b"" if self.path == "/robots.txt" else f"{self.path} {links}".encode()
            with condition:
                here[0] -= 1  # before the answer: the next request may come as soon as it is read
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Nothing is said."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    origin = f"http://127.0.0.1:{server.server_port}"
    conf(rig, f"{line}\n")
    try:
        ran = rig.tune("gather.gatherers", "1").run(
            "crawl", "--quiet", "--own-host", origin[7:], origin + "/"
        )
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert ran.status == 0
    assert most[0] == count
    assert len(rig.shown()) == 13
