"""Where a canary may be, and that the gate opens for its source and its page alone."""

import asyncio
import socket
from collections.abc import Sequence
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path

import pytest

from ingather.app.home import Home
from ingather.app.runplan import RunPlan
from ingather.app.watch import canary_of
from ingather.conf.sources.source import SourceConf
from ingather.errors import PortInUseError, UsageError
from ingather.fetch.egress import EgressGate, Refusal
from ingather.model.scope import Scope
from ingather.testing.clock import FakeClock

HOST = "127.84.67.2"


class Nobody:
    async def resolve(self, host: str) -> Sequence[str]:
        return (host,)


def wanted(home: Path, text: str, sources: dict[str, SourceConf] | None = None) -> object:
    settings = Home.create(home).settings(environment={"INGATHER_CANARY_LISTEN": text}).settings
    return canary_of(settings, sources or {}, FakeClock())


@pytest.mark.parametrize(
    "text",
    [
        "0.0.0.0:7072",
        "10.0.0.1:7072",
        "localhost:7072",
        "127.0.0.2",
        "127.0.0.2:0",
        "[::1]:7072",
        "127.0.0.2:99999",
    ],
)
def test_an_address_that_is_not_on_loopback_is_refused(home: Path, text: str) -> None:
    with pytest.raises(UsageError, match=r"canary\.listen"):
        wanted(home, text)


def test_none_is_wanted_a_port_is_taken_a_name_is_taken(home: Path) -> None:
    assert wanted(home, "") is None
    with (
        closing(socket.create_server((HOST, 0))) as taken,
        pytest.raises(PortInUseError, match="the canary cannot have"),
    ):
        wanted(home, f"{HOST}:{taken.getsockname()[1]}")
    with pytest.raises(UsageError, match="the source canary"):
        wanted(home, f"{HOST}:7072", {"canary": SourceConf("canary")})


def test_the_gate_opens_for_its_source_and_its_page_alone(home: Path) -> None:
    with closing(socket.create_server((HOST, 0))) as free:
        port = free.getsockname()[1]
    settings = Home.create(home).settings(environment={"INGATHER_CANARY_LISTEN": f"{HOST}:{port}"}).settings
    canary = canary_of(settings, {}, FakeClock())
    assert canary is not None
    try:
        plan = canary.added_to(RunPlan(own_ports=(("127.0.0.1", 7071),)))
        gate = EgressGate(Nobody(), plan.own_ports)
        own = plan.sources["canary"].scope()
        other = Scope("web", addresses=("127.0.0.0/8",))

        def admitted(scope: Scope, url: str, to: str = HOST, at: int = port) -> bool:
            answer = asyncio.run(gate.admit("http", to, at, scope, url=url))
            return not isinstance(answer, Refusal)

        origin = f"http://{HOST}:{port}"
        assert admitted(own, canary.url)
        assert admitted(own, f"{origin}/robots.txt")
        assert not admitted(own, f"{origin}/other")
        assert not admitted(own, f"{canary.url}?x")
        assert not admitted(own, "http://127.0.0.1:7071/", "127.0.0.1", 7071)
        assert not admitted(other, canary.url)
        assert not admitted(
            Scope("canary", addresses=("127.0.0.0/8",)), canary.url
        )  # the name alone opens nothing
        assert gate.peer_refusal(HOST, port, own) == ""
        assert gate.peer_refusal(HOST, port, other)
        connection = HTTPConnection(HOST, port, timeout=60)
        for path, status in (("/canary", 200), ("/robots.txt", 404), ("/", 404)):
            connection.request("GET", path)
            answer = connection.getresponse()
            assert (answer.status, b"canary" in answer.read()) == (status, status == 200)
            connection.close()
    finally:
        canary.close()
