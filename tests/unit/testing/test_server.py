"""The synthetic web over real sockets, in a thread and in a process; the fetcher without sockets."""

import asyncio
import http.client
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from ingather.model.resource import Failure, FailureKind, Request, Response
from ingather.model.scope import Scope
from ingather.ports.fetcher import Fetcher
from ingather.testing.contracts import FetcherContract, run_contract
from ingather.testing.fetcher import SyntheticFetcher
from ingather.testing.oracle import HostRules
from ingather.testing.process import ServerProcess
from ingather.testing.server import Seen, SyntheticServer, judge_requests
from ingather.testing.web import Answer, SyntheticWeb
from ingather.testing.webshape import WebShape

SMALL = WebShape(sites=3, pages=20)


def get(
    url: str, headers: dict[str, str] | None = None, method: str = "GET", host: str | None = None
) -> tuple[int, bytes, dict[str, str]]:
    address, _, path = url.removeprefix("http://").partition("/")
    name = address if host is None else f"127.0.0.1:{address.rpartition(':')[2]}"
    connection = http.client.HTTPConnection(name, timeout=30)
    try:
        connection.request(method, f"/{path}", headers={"Host": address} | (headers or {}))
        answer = connection.getresponse()
        return answer.status, answer.read(), {k.lower(): v for k, v in answer.getheaders()}
    finally:
        connection.close()


def test_every_site_has_an_address_of_its_own() -> None:
    with SyntheticServer(SyntheticWeb(3, SMALL)) as server:
        assert [o.rpartition(":")[0] for o in server.origins] == [
            "http://127.0.0.1",
            "http://127.0.0.2",
            "http://127.0.0.3",
        ]
        for site in range(3):
            for number in range(20):
                url = server.web.url(site, number)
                status, body, _ = get(url)
                assert (status, body) == (200, server.web.answer(site, server.web.path(site, number)).body)
        assert server.paths(1) == [server.web.path(1, n) for n in range(20)]


@pytest.mark.parametrize("naming", ["port", "name"])
def test_sites_can_be_told_apart_by_port_or_by_name(naming: str) -> None:
    with SyntheticServer(SyntheticWeb(3, SMALL), naming=naming) as server:  # type: ignore[arg-type]
        for site in range(3):
            status, body, _ = get(server.web.url(site, 0), host="127.0.0.1")
            assert (status, body) == (200, server.web.answer(site, "/").body)


def test_a_connection_is_kept_and_remembered() -> None:
    with SyntheticServer(SyntheticWeb(3, SMALL)) as server:
        connection = http.client.HTTPConnection(server.origins[0].removeprefix("http://"), timeout=30)
        for path in ("/", "/robots.txt", "/nowhere"):
            connection.request("GET", path, headers={"User-Agent": "me"})
            connection.getresponse().read()
        connection.close()
        assert [(s.path, s.status, s.agent) for s in server.requests] == [
            ("/", 200, "me"),
            ("/robots.txt", 200, "me"),
            ("/nowhere", 404, "me"),
        ]
        assert len({s.connection for s in server.requests}) == 1
        assert all(s.at_s <= s.ended_s for s in server.requests)


def test_conditional_and_head_requests() -> None:
    with SyntheticServer(SyntheticWeb(3, SMALL)) as server:
        url = server.web.url(0, 1)
        _, _, headers = get(url)
        assert get(url, {"If-None-Match": headers["etag"]})[:2] == (304, b"")
        assert get(url, {"If-Modified-Since": headers["last-modified"]})[:2] == (304, b"")
        assert get(url, {"If-None-Match": '"other"', "If-Modified-Since": headers["last-modified"]})[0] == 200
        status, body, head = get(url, method="HEAD")
        assert (status, body) == (200, b"")
        assert int(head["content-length"]) == len(server.web.answer(0, server.web.path(0, 1)).body)
        server.web.generation = 50
        assert get(url, {"If-None-Match": headers["etag"]})[0] == 200


def test_an_answer_can_be_overridden_for_a_while() -> None:
    with SyntheticServer(SyntheticWeb(3, SMALL)) as server:
        url = f"{server.origins[0]}/"
        server.override(url, lambda times: Answer(503, (("Retry-After", "1"),)) if times < 2 else None)
        assert [get(url)[0] for _ in range(3)] == [503, 503, 200]
        server.override(url, Answer(410))
        assert get(url)[0] == 410
        server.override(url, None)
        assert get(url)[0] == 200


def test_slow_answers_keep_their_order() -> None:
    with SyntheticServer(SyntheticWeb(3, SMALL), latency_s=0.01) as server:
        connection = http.client.HTTPConnection(server.origins[0].removeprefix("http://"), timeout=30)
        for _ in range(3):
            connection.request("GET", "/")
            assert connection.getresponse().read() == server.web.answer(0, "/").body
        connection.close()
        assert all(s.ended_s > s.at_s for s in server.requests)


def test_what_a_server_saw_can_be_judged() -> None:
    seen = [Seen(n * 0.5, n * 0.5 + 0.1, "127.0.0.1:80", "/", 200, 1) for n in range(3)]
    assert [v.rule for v in judge_requests(seen)] == ["delay", "delay"]
    assert judge_requests(seen, {"127.0.0.1:80": HostRules(0.0, 9, own=True)}) == []
    assert judge_requests([s._replace(at_s=s.at_s * 2, ended_s=s.ended_s * 2) for s in seen]) == []


def test_a_web_can_be_served_by_a_process_of_its_own() -> None:
    with ServerProcess("--seed", "3", "--sites", "2", "--pages", "20") as server:
        web = SyntheticWeb(3, WebShape(sites=2, pages=20), origins=server.origins)
        url = web.url(1, 5)
        assert get(url)[1] == web.answer(1, web.path(1, 5)).body
        server.generation(40)
        web.generation = 40
        assert get(url)[1] == web.answer(1, web.path(1, 5)).body
        assert [f"http://{seen.host}{seen.path}" for seen in server.requests()] == [url, url]


def test_a_taken_port_is_said_so() -> None:
    with SyntheticServer(SyntheticWeb(3, SMALL)) as server:
        port = server.origins[0].rpartition(":")[2]
        done = subprocess.run(
            [sys.executable, "-m", "ingather.testing.web", "--port", port],
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert "cannot listen" in done.stderr


class TestSyntheticFetcher(FetcherContract):
    def make(self, web: SyntheticWeb) -> Fetcher:
        return SyntheticFetcher(web)

    @contextmanager
    def world(self) -> Iterator[SyntheticWeb]:
        yield SyntheticWeb(self.seed, self.shape)


def test_a_contract_runs_without_pytest() -> None:
    names = run_contract(TestSyntheticFetcher)
    assert "test_a_page_comes_back_whole" in names


def test_the_fetcher_can_be_made_to_fail() -> None:
    fetcher = SyntheticFetcher(SyntheticWeb(3, SMALL))
    url = fetcher.web.url(0, 0)

    def ask() -> Response | Failure:
        return asyncio.run(fetcher.fetch(Request(url), Scope()))

    fetcher.overrides[url] = FailureKind.TLS
    assert isinstance(got := ask(), Failure)
    assert got.kind is FailureKind.TLS
    fetcher.overrides[url] = Answer(404)
    assert isinstance(got := ask(), Response)
    assert got.status == 404
    fetcher.overrides[url] = lambda request: Response(request.url, 418)
    assert isinstance(got := ask(), Response)
    assert got.status == 418
    assert [request.url for request in fetcher.requests] == [url] * 3


def test_requests_can_be_read_as_json_lines() -> None:
    with SyntheticServer(SyntheticWeb(3, SMALL)) as server:
        get(server.origins[0] + "/")
        lines = get(server.origins[0] + "/-/requests")[1].decode().splitlines()
        assert [Seen(*json.loads(line)).path for line in lines] == ["/"]
