"""``POST /api/v1/rdm``: for administrators alone, larger bodies than elsewhere, SOIF out."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from starlette.testclient import TestClient

from ingather.web import AdminParts, Secret, admin_app

TOKEN = "Pwq3-another-token-long-enough-8aX"  # noqa: S105
PATH = "/api/v1/rdm"


@pytest.fixture
def client(admin_parts: AdminParts) -> Iterator[TestClient]:
    parts = replace(
        admin_parts, token=Secret(TOKEN), rdm=lambda body: (200 if body else 400, b"%d" % len(body))
    )
    with TestClient(admin_app(parts), base_url="http://127.0.0.1:8081", follow_redirects=False) as made:
        made.headers["authorization"] = f"Bearer {TOKEN}"
        yield made


def test_a_message_of_megabytes_is_answered_as_soif(client: TestClient) -> None:
    answer = client.post(PATH, content=b"x" * (8 << 20))
    assert (answer.status_code, answer.text) == (200, str(8 << 20))
    assert answer.headers["content-type"] == "application/index.obj"
    assert client.post(PATH, content=b"").status_code == 400


def test_more_is_refused_and_elsewhere_much_less(client: TestClient) -> None:
    assert client.post(PATH, content=b"x" * ((8 << 20) + 1)).status_code == 413
    assert client.post(PATH, content=iter([b"x" * (8 << 20), b"x"])).status_code == 413
    assert client.post("/api/v1/remove", content=b"x" * 70_000).status_code == 413


def test_nobody_else_may_ask(client: TestClient) -> None:
    assert client.post(PATH, content=b"x", headers={"authorization": "Bearer no"}).status_code == 401
    assert client.get(PATH).status_code == 405
