"""What the admin listener answers to programs."""

from dataclasses import replace
from threading import Event
from typing import Any

import pytest
from starlette.testclient import TestClient

from ingather.errors import CatalogError, DiskFullError, IndexDamagedError
from ingather.web import AdminParts, Health, WebLimits, admin_app

TOKEN = "Pwq3-a-token-that-is-long-enough-7fT"  # noqa: S105 - as in conftest


def refused(parts: AdminParts, error: Exception) -> Any:
    def status() -> dict[str, Any]:
        raise error

    with TestClient(admin_app(replace(parts, status=status)), base_url="http://127.0.0.1") as client:
        return client.get("/api/v1/status", headers={"authorization": f"Bearer {TOKEN}"})


def test_status_is_the_document_as_it_is(operator: TestClient) -> None:
    answer = operator.get("/api/v1/status")
    assert answer.headers["content-type"] == "application/json"
    assert answer.json()["rates"] == {"pages_s": 12.5}


def test_explain_asks_the_network_only_on_request(operator: TestClient) -> None:
    url = "https://intranet.example/a b?x=1&y=2"
    assert operator.get("/api/v1/explain", params={"url": url}).json()["fetch"] is False
    answer = operator.get("/api/v1/explain", params={"url": url, "fetch": "1"}).json()
    assert answer["fetch"] is True
    assert answer["url"] == url


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("", "missing-parameter"),
        ("url=", "missing-parameter"),
        ("url=nothing", "bad-url"),
        ("url=a://b&url=c://d", "bad-parameter"),
        ("url=a://b&fetch=maybe", "bad-parameter"),
    ],
)
def test_explain_names_what_is_wrong(operator: TestClient, query: str, code: str) -> None:
    answer = operator.get(f"/api/v1/explain?{query}")
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == code


def test_holds_are_listed_and_decided(operator: TestClient, ledger: Any) -> None:
    assert [hold["id"] for hold in operator.get("/api/v1/holds").json()] == [3]
    assert operator.post("/api/v1/holds/3/release", json={}).json() == {"hold": 3, "documents": 12}
    assert ledger.closed == {3: True}
    assert operator.get("/api/v1/holds").json() == []


def test_a_hold_can_be_discarded(operator: TestClient, ledger: Any) -> None:
    assert operator.post("/api/v1/holds/3/discard").status_code == 200
    assert ledger.closed == {3: False}


@pytest.mark.parametrize("number", ["4", "x", "-3", "3.0", "9" * 30, "\u0663"])
def test_a_hold_that_is_not_open_is_refused(operator: TestClient, ledger: Any, number: str) -> None:
    answer = operator.post(f"/api/v1/holds/{number}/release", json={})
    assert answer.status_code in {400, 404}
    assert answer.json()["error"]["message"]
    assert not ledger.closed


def test_removing_and_putting_back(operator: TestClient, ledger: Any) -> None:
    target = "https://intranet.example/old/*"
    assert operator.post("/api/v1/remove", json={"url": target}).json() == {"removed": 1, "target": target}
    assert ledger.removed == {target}
    assert operator.post("/api/v1/undelete", data={"url": target}).json() == {"restored": 1, "target": target}
    assert not ledger.removed


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"{}", "application/json", 400),
        (b'{"url": ""}', "application/json", 400),
        (b'{"url": "nothing"}', "application/json", 400),
        (b'{"url": ["https://x.example/"]}', "application/json", 400),
        (b'["https://x.example/"]', "application/json", 400),
        (b'{"url"', "application/json", 400),
        (b"\xff\xfe", "application/json", 400),
        (b"[" * 60_000, "application/json", 400),
        (b"url=a&url=b", "application/x-www-form-urlencoded", 400),
        (b"url=%ff\xff", "application/x-www-form-urlencoded", 400),
        (b"&".join(b"a%d=1" % i for i in range(99)), "application/x-www-form-urlencoded", 400),
        (b"url=https://x.example/", "text/plain", 415),
        (b"--x", "multipart/form-data; boundary=x", 415),
        (b"x" * 70_000, "application/json", 413),
    ],
)
def test_bodies_that_cannot_be_read_change_nothing(
    operator: TestClient, ledger: Any, body: bytes, kind: str, status: int
) -> None:
    answer = operator.post("/api/v1/remove", content=body, headers={"content-type": kind})
    assert answer.status_code == status
    assert set(answer.json()["error"]) == {"code", "message", "hint"}
    assert not ledger.removed


def test_a_body_of_unknown_length_is_cut_off(operator: TestClient, ledger: Any) -> None:
    answer = operator.post(
        "/api/v1/remove", content=iter([b"x" * 10_000] * 7), headers={"content-type": "application/json"}
    )
    assert answer.status_code == 413
    assert not ledger.removed


def test_metrics_are_the_registry_and_the_requests(operator: TestClient) -> None:
    operator.get("/api/v1/status")
    operator.get("/nobody/asked/for/this")
    operator.request("BREW", "/")
    text = operator.get("/metrics")
    assert text.headers["content-type"].startswith("text/plain; version=")
    assert "ingather_pages 7.0" in text.text
    assert (
        'ingather_http_requests_total{listener="admin",method="GET",route="/api/v1/status",status="200"} 1.0'
        in text.text
    )
    assert 'route="unmatched"' in text.text
    assert "nobody" not in text.text
    assert "BREW" not in text.text


def test_health_says_when_it_is_not(admin_parts: AdminParts) -> None:
    parts = replace(admin_parts, health=lambda: Health(ok=False, text="the catalog cannot be written"))
    with TestClient(admin_app(parts), base_url="http://127.0.0.1") as client:
        answer = client.get("/health")
    assert answer.status_code == 503
    assert answer.json() == {"status": "the catalog cannot be written"}


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (DiskFullError("free space is below the reserve", hint="free some"), 507, "disk-full"),
        (IndexDamagedError("broken", hint="run: ingather index rebuild"), 503, "index-unavailable"),
        (CatalogError("the catalog could not be written"), 503, "catalog-unavailable"),
    ],
)
def test_troubles_of_other_rooms_are_told(
    admin_parts: AdminParts, error: Exception, status: int, code: str
) -> None:
    answer = refused(admin_parts, error)
    assert answer.status_code == status
    assert answer.json()["error"]["code"] == code


def test_what_nobody_foresaw_is_told_without_its_inside(
    admin_parts: AdminParts, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = refused(admin_parts, RuntimeError(f"secret {TOKEN}"))
    assert answer.status_code == 500
    assert answer.json()["error"]["code"] == "internal-error"
    assert TOKEN not in answer.text
    assert "x-content-type-options" in answer.headers
    capsys.readouterr()


def test_calls_that_hang_are_given_up(admin_parts: AdminParts) -> None:
    ended = Event()

    def status() -> dict[str, Any]:
        ended.wait(20)
        return {}

    parts = replace(admin_parts, status=status, limits=WebLimits(admin_s=0.01))
    try:
        with TestClient(admin_app(parts), base_url="http://127.0.0.1") as client:
            answer = client.get("/api/v1/status", headers={"authorization": f"Bearer {TOKEN}"})
            assert answer.status_code == 503
            assert answer.json()["error"]["code"] == "timeout"
            assert answer.headers["retry-after"] == "1"
            ended.set()
    finally:
        ended.set()
