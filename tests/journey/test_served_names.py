"""``serve`` as a process: what an address names and is not there is 404, and all ports answer to our names alone."""

import re
import socket
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from ingather.testing.rig import Rig, Served
from ingather.web.endpoint import Endpoint, Listener
from ingather.web.routes import ROUTES

NAMED = [
    e for e in ROUTES if "{" in e.path and e.listener is Listener.ADMIN and not e.path.startswith("/static/")
]
KINDS = {
    "sources": "source",
    "feeds": "feed",
    "runs": "run",
    "reports": "report",
    "sites": "site",
    "traps": "trap",
    "holds": "hold",
}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    rig = Rig(tmp_path_factory.mktemp("names") / "home", **{"listen.names": "search.example"}).init()
    with rig.serving() as made:
        yield made


def ask(served: Served, endpoint: Endpoint, name: str) -> tuple[int, Any]:
    """Ask one address with *name* where it names something."""
    path = endpoint.path[: endpoint.path.index("{")] + name + endpoint.path[endpoint.path.index("}") + 1 :]
    form = {"delay": "2"} if path.endswith("/set") else {}
    return served.admin(path, form if endpoint.methods == ("POST",) else None)


@pytest.mark.parametrize("name", ["nothing", "4711"])
@pytest.mark.parametrize("endpoint", NAMED, ids=lambda e: f"{e.methods[0]}-{e.path}")
def test_what_an_address_names_and_is_not_there_is_404(served: Served, endpoint: Endpoint, name: str) -> None:
    code, answer = ask(served, endpoint, name)
    assert (code, answer["error"]["code"]) == (404, f"no-such-{KINDS[endpoint.path.split('/')[3]]}")
    assert answer["error"]["hint"]


def test_what_a_parameter_names_and_is_not_there_stays_a_bad_request(served: Served) -> None:
    for path in ("reports/excluded?run=9", "rss/feed?feed=9", "runs/compare?a=1&b=2"):
        assert served.admin(f"/api/v1/{path}")[0] == 400, path
    assert served.admin("/api/v1/feeds/empty", {"source": "nothing"})[0] == 400


def raw(place: tuple[str, int], head: str, body: bytes = b"") -> bytes:
    with socket.create_connection(place, timeout=30) as connection:
        connection.sendall(head.replace("|", "\r\n").encode() + b"\r\n\r\n" + body)
        got = b""
        while piece := connection.recv(65_536):
            got += piece
    return got


def places(served: Served) -> dict[str, tuple[str, int]]:
    gate = re.search(r"^feeds +http://([^:/]+):(\d+)/xmlfeed$", served.running.out, re.MULTILINE)
    assert gate
    found = {"gate": (gate[1], int(gate[2]))}
    for name, url in (("search", served.search_url), ("admin", served.admin_url)):
        parts = urlsplit(url)
        found[name] = (str(parts.hostname), int(parts.port or 0))
    return found


@pytest.mark.parametrize(
    "host",
    ["localhost", "search.example:443", "[::1]", socket.gethostname(), socket.gethostname().upper() + "."],
)
def test_every_port_answers_to_the_names_of_machine_and_settings(served: Served, host: str) -> None:
    for name, place in places(served).items():
        path = "/getdtd" if name == "gate" else "/health"
        assert raw(place, f"GET {path} HTTP/1.1|Host: {host}|Connection: close").startswith(
            b"HTTP/1.1 200"
        ), name
        assert raw(place, f"GET {path} HTTP/1.0").startswith((b"HTTP/1.1 200", b"HTTP/1.0 200")), name


def test_no_port_answers_to_a_name_that_somebody_lets_point_here(served: Served) -> None:
    for name, place in places(served).items():
        for path in ("/", "/getdtd", "/health", "/api/v1/search?q=a", "/xmlfeed"):
            answer = raw(place, f"GET {path} HTTP/1.1|Host: rebound.test:{place[1]}|Connection: close")
            assert answer.startswith(b"HTTP/1.1 421"), (name, path)
            assert b"listen.names" in answer
    assert served.running.err.count("called by a name that is not ours") == 1, "said once, for all ports"


def test_no_port_takes_a_body_that_ends_in_two_ways(served: Served) -> None:
    """RFC 9112, sections 6.1 and 6.3: one reader would end it by its chunks, another by its length."""
    body = b"5\r\nname=\r\n0\r\n\r\nGET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    for name, place in places(served).items():
        path = {"gate": "/xmlfeed", "search": "/login", "admin": "/api/v1/remove"}[name]
        for lengths in (
            "Transfer-Encoding: chunked|Content-Length: 5",
            "Content-Length: 99|Transfer-Encoding: chunked",
        ):
            answer = raw(place, f"POST {path} HTTP/1.1|Host: localhost|{lengths}", body)
            assert answer.startswith(b"HTTP/1.1 400"), name
            assert answer.count(b"HTTP/1.1 ") == 1, "what lies behind is no request"
