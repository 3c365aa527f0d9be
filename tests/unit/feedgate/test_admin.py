"""The same addresses on the admin listener, with a token instead of a trusted address."""

import gzip
from collections.abc import Iterator
from typing import Any

import pytest
from prometheus_client import CollectorRegistry
from starlette.testclient import TestClient

from ingather.testing.clock import FakeClock
from ingather.testing.feedgate import RunningGate
from ingather.testing.feedwire import FEED, shapes
from ingather.web import AdminParts, Health, Secret, admin_app

TOKEN = "Pwq3-a-token-that-is-long-enough-7fT"  # noqa: S105
BEARER = {"authorization": f"Bearer {TOKEN}"}


@pytest.fixture
def client(gate: RunningGate) -> Iterator[TestClient]:
    never: Any = None
    parts = AdminParts(
        token=Secret(TOKEN), clock=FakeClock(), registry=CollectorRegistry(), health=Health, explain=never, status=never,
        operations=never, intake=gate.intake,
    )  # fmt: skip
    with TestClient(admin_app(parts), base_url="http://127.0.0.1:8081") as made:
        yield made


@pytest.mark.parametrize("shape", ["a", "b", "c", "e", "f", "h", "raw"])
def test_shapes_are_taken_with_the_token(gate: RunningGate, client: TestClient, shape: str) -> None:
    head, body = shapes(FEED * 200)[shape]
    lines = head.decode().split("\r\n")
    fields = dict(line.split(": ", 1) for line in lines[1:] if ": " in line)
    for name in ("Host", "Content-Length", "Transfer-Encoding"):
        fields.pop(name, None)
    if shape == "b":
        body = gzip.compress(shapes(FEED * 200)["a"][1])
    path = lines[0].split()[1]
    assert client.post(path, content=body, headers=fields).status_code == 401
    assert not gate.desk.accepted
    answer = client.post(path, content=body, headers=fields | BEARER)
    assert (answer.status_code, answer.content) == (200, b"Success")
    assert answer.headers["x-feed-id"]
    assert gate.desk.last.body.rstrip() == (FEED * 200).rstrip()


def test_refusals_say_why_and_keep_nothing(gate: RunningGate, client: TestClient) -> None:
    answer = client.post("/xmlfeed?datasource=9bad&feedtype=full", content=FEED * 500, headers=BEARER)
    assert answer.status_code == 400
    assert b"datasource" in answer.content
    assert gate.left() == []


def test_texts(client: TestClient) -> None:
    assert client.get("/getbacklogcount", headers=BEARER).text == "0"
    assert client.get("/getbacklogcount").status_code == 401
    assert "<!ELEMENT acl " in client.get("/getdtd", headers=BEARER).text
    assert "<!ELEMENT acl " in client.get("/gsafeed.dtd").text
    assert client.get("/sw_version.txt").text == "7.4.0-1"
    page = client.get("/xmlfeed", headers=BEARER | {"accept": "text/html"})
    assert page.status_code == 405
    assert "<form" in page.text
    assert client.get("/xmlgroups", headers=BEARER).status_code == 405
