"""What comes in is bounded, what goes out carries its headers."""

import asyncio
from dataclasses import replace

import pytest
from starlette.testclient import TestClient
from starlette.types import Message

from ingather.web import AdminParts, RequestLimits, WebLimits, admin_app
from ingather.web.boundary import CONTENT_SECURITY_POLICY


@pytest.mark.parametrize(
    "path", ["/", "/health", "/api/v1/status", "/nope", "/metrics", "/static/nope", "/static/../x"]
)
def test_every_answer_has_the_security_headers(admin: TestClient, path: str) -> None:
    for method in ("GET", "POST", "HEAD", "OPTIONS"):
        headers = admin.request(method, path).headers
        assert headers["content-security-policy"] == CONTENT_SECURITY_POLICY
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["referrer-policy"] == "same-origin"
        assert headers["cross-origin-opener-policy"] == "same-origin"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert "cache-control" in headers
        assert "server" not in headers
        assert "access-control-allow-origin" not in headers


def test_the_policy_allows_nothing_inline_and_nothing_foreign() -> None:
    assert "unsafe" not in CONTENT_SECURITY_POLICY
    assert CONTENT_SECURITY_POLICY.startswith("default-src 'none'; script-src 'self';")


def test_long_addresses_are_refused(admin: TestClient) -> None:
    answer = admin.get("/health?q=" + "x" * 25_000)
    assert (answer.status_code, answer.json()["error"]["code"]) == (414, "uri-too-long")


def test_large_heads_are_refused(admin: TestClient) -> None:
    answer = admin.get("/health", headers={"x": "y" * 40_000})
    assert (answer.status_code, answer.json()["error"]["code"]) == (431, "headers-too-large")
    many = admin.get("/health", headers=[(f"x{i}", "y") for i in range(120)])
    assert many.status_code == 431


def test_two_host_headers_are_refused(admin: TestClient) -> None:
    assert admin.get("/health", headers=[("host", "localhost"), ("host", "localhost")]).status_code == 400


def test_a_body_that_drips_is_given_up(admin_parts: AdminParts) -> None:
    app = admin_app(replace(admin_parts, limits=WebLimits(request=RequestLimits(body_s=0.01))))
    sent: list[Message] = []

    async def receive() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/login",
        "raw_path": b"/login",
        "query_string": b"",
        "headers": [(b"host", b"localhost"), (b"content-length", b"10")],
        "scheme": "http",
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8081),
        "root_path": "",
        "http_version": "1.1",
    }
    asyncio.run(app(scope, receive, send))
    assert sent[0]["status"] == 408


def test_problems_have_one_shape_for_programs_and_a_page_for_people(admin: TestClient) -> None:
    answer = admin.get("/nope", headers={"accept": "*/*"})
    assert answer.status_code == 404
    assert set(answer.json()) == {"error"}
    assert set(answer.json()["error"]) == {"code", "message", "hint"}
    page = admin.get("/nope", headers={"accept": "text/html"})
    assert page.status_code == 404
    assert page.headers["content-type"].startswith("text/html")
    assert "Not Found." in page.text
    api = admin.get("/api/v1/nope", headers={"accept": "text/html"})
    assert api.json()["error"]["code"] == "not-found"
