"""Who gets in, and what proves that a change was meant."""

import asyncio
import re
from dataclasses import replace
from typing import Any

import pytest
from starlette.testclient import TestClient

from ingather.errors import UsageError
from ingather.testing.clock import FakeClock
from ingather.web import AdminParts, Secret, admin_app
from ingather.web.auth import TokenGate
from ingather.web.endpoint import Endpoint, Listener, Role
from ingather.web.failures import WebError
from ingather.web.routes import ROUTES

TOKEN = "Pwq3-a-token-that-is-long-enough-7fT"  # noqa: S105 - as in conftest
ADMIN = "http://127.0.0.1:8081"
JSON = {"accept": "application/json"}
PAGE = {"accept": "text/html"}
ADMIN_ROUTES = [e for e in ROUTES if e.listener is Listener.ADMIN]


def csrf(page: str) -> str:
    found = re.search(r'name="csrf" value="([^"]+)"', page)
    assert found
    return found[1]


@pytest.mark.parametrize("endpoint", ADMIN_ROUTES, ids=lambda e: f"{e.methods[0]} {e.path}")
def test_without_credentials_every_admin_route_is_refused(admin: TestClient, endpoint: Endpoint) -> None:
    path, method = endpoint.path.format(id="3", name="page.css", run="3"), endpoint.methods[0]
    answer = admin.request(method, path, headers=JSON)
    if endpoint.role is not Role.ANONYMOUS:
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"].startswith("Bearer")
        assert answer.json()["error"]["code"] == "unauthorized"
    else:
        assert path in {"/health", "/ready", "/login", "/static/page.css", "/gsafeed.dtd", "/sw_version.txt"}
        assert answer.status_code in {200, 401, 404}
    assert TOKEN not in answer.text


@pytest.mark.parametrize(
    "path", ["/nope", "/api/v1/secret", "/api/v1/status/", "/docs", "/openapi.json", "/static/"]
)
def test_what_the_table_lacks_does_not_exist(operator: TestClient, path: str) -> None:
    assert operator.get(path, headers=JSON).status_code == 404


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/api/v1/remove"), ("POST", "/api/v1/status"), ("DELETE", "/"), ("PUT", "/api/v1/holds")],
)
def test_other_methods_are_refused_with_those_allowed(operator: TestClient, method: str, path: str) -> None:
    answer = operator.request(method, path, headers=JSON)
    assert answer.status_code == 405
    assert method not in answer.headers["allow"]
    assert answer.json()["error"]["code"] == "method-not-allowed"


def test_no_change_of_state_is_a_get() -> None:
    assert {e.methods for e in ROUTES if "hold" in e.path or "remove" in e.path or "undelete" in e.path} == {
        ("GET",),
        ("POST",),
    }
    assert all(e.methods in {("GET",), ("POST",), ("PUT",), ("DELETE",)} for e in ROUTES)


def test_the_token_opens_as_bearer(operator: TestClient) -> None:
    assert operator.get("/api/v1/status").json()["documents"] == 12_345


@pytest.mark.parametrize(
    "value",
    [
        "Bearer",
        "Bearer ",
        f"Basic {TOKEN}",
        f"Bearer {TOKEN}x",
        f"Bearer {TOKEN[:-1]}",
        f"Token {TOKEN}",
        "Bearer \u00fc",
    ],
)
def test_anything_but_the_token_does_not_open(admin: TestClient, value: str) -> None:
    assert admin.get("/api/v1/status", headers={b"authorization": value.encode()}).status_code == 401


def test_a_wrong_token_is_not_mended_by_a_session(browser: TestClient) -> None:
    assert browser.get("/api/v1/status").status_code == 200
    assert browser.get("/api/v1/status", headers={"authorization": "Bearer wrong"}).status_code == 401


def test_guessing_is_slowed_down_and_forgiven(admin: TestClient, clock: FakeClock) -> None:
    wrong, right = {"authorization": "Bearer wrong"}, {"authorization": f"Bearer {TOKEN}"}
    assert [admin.get("/api/v1/status", headers=wrong).status_code for _ in range(11)] == [401] * 10 + [429]
    refused = admin.get("/api/v1/status", headers=wrong)
    assert refused.status_code == 429
    clock.advance(float(refused.headers["retry-after"]))
    assert [admin.get("/api/v1/status", headers=wrong).status_code for _ in range(2)] == [401, 429]
    assert admin.get("/api/v1/status", headers=right).status_code == 200


def test_wrong_tokens_of_one_program_do_not_lock_the_right_one_out(admin: TestClient) -> None:
    right = {"authorization": f"Bearer {TOKEN}"}
    for number in range(40):
        admin.get("/api/v1/status", headers={"authorization": f"Bearer guess-{number}"})
    assert admin.get("/api/v1/status", headers=right).status_code == 200
    assert (
        admin.post("/login", data={"token": TOKEN, "target": "/"}, headers={"origin": ADMIN}).status_code
        == 303
    )
    assert admin.get("/api/v1/status", headers={"authorization": "Bearer guess"}).status_code == 429


def test_beyond_the_burst_every_answer_comes_later_so_that_guessing_stays_bounded(clock: FakeClock) -> None:
    gate = TokenGate(Secret(TOKEN), monotonic=clock.monotonic, burst=2, pause_s=30.0)

    async def asked(token: str) -> str:
        try:
            async with asyncio.timeout(0):
                return str(await gate.check(token, "10.0.0.5"))
        except TimeoutError:
            return "waits"

    async def all_of_them() -> list[str]:
        return [await asked(token) for token in ("a", "b", "c", TOKEN)]

    assert asyncio.run(all_of_them()) == ["False", "False", "waits", "waits"]


def test_who_waits_for_no_answer_gets_no_more_guesses(clock: FakeClock) -> None:
    """A request is carried out even if its sender has gone: so what is looked at is bounded, not what is answered."""
    gate = TokenGate(Secret(TOKEN), monotonic=clock.monotonic, burst=1, pause_s=0.02, waiting=3)

    async def ask(token: str, peer: str = "10.0.0.5") -> str:
        try:
            return str(await gate.check(token, peer))
        except WebError as error:
            return str(error.problem.status)

    async def flood() -> list[str]:
        assert await ask("first") == "False"
        assert await ask("first", "10.0.0.6") == "False"
        together = await asyncio.gather(*(ask(TOKEN) for _ in range(5)), ask(TOKEN, "10.0.0.6"))
        return [*together, await ask(TOKEN), await ask("second")]

    assert asyncio.run(flood()) == ["True", "True", "True", "429", "429", "True", "True", "429"]


def test_guessing_in_the_form_is_slowed_down_too(admin: TestClient) -> None:
    codes = [admin.post("/login", data={"token": "wrong"}, headers=PAGE).status_code for _ in range(12)]
    assert codes == [401] * 10 + [429] * 2


def test_a_second_login_in_the_same_browser_ends_the_session_before(browser: TestClient) -> None:
    first = dict(browser.cookies)
    form = {"token": TOKEN, "target": "/", "csrf": csrf(browser.get("/", headers=PAGE).text)}
    assert browser.post("/login", data=form).status_code == 303
    assert dict(browser.cookies) != first
    assert browser.get("/api/v1/status").status_code == 200
    browser.cookies.clear()
    browser.cookies.update(first)
    assert browser.get("/api/v1/status").status_code == 401


def test_a_login_that_fails_leaves_the_session(browser: TestClient) -> None:
    form = {"token": "wrong", "csrf": csrf(browser.get("/", headers=PAGE).text)}
    assert browser.post("/login", data=form).status_code == 401
    assert browser.get("/api/v1/status").status_code == 200


def test_logging_out_ends_the_session_of_the_cookie_whatever_else_vouches(browser: TestClient) -> None:
    assert browser.post("/logout", headers={"authorization": f"Bearer {TOKEN}"}).status_code == 303
    assert browser.get("/api/v1/status").status_code == 401


def test_a_browser_without_session_gets_the_form_in_place(admin: TestClient) -> None:
    answer = admin.get("/explain?url=x", headers=PAGE)
    assert answer.status_code == 401
    assert 'name="token"' in answer.text
    assert 'name="target" value="/explain"' in answer.text


def test_logging_in_gives_a_cookie_that_scripts_and_other_sites_cannot_use(admin: TestClient) -> None:
    answer = admin.post("/login", data={"token": TOKEN, "target": "/explain"}, headers={"origin": ADMIN})
    assert answer.status_code == 303
    assert answer.headers["location"] == "/explain"
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert TOKEN.lower() not in cookie
    assert admin.get("/", headers=PAGE).status_code == 200


@pytest.mark.parametrize(
    "target",
    ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)", "/login", ""],
)
def test_logging_in_leads_nowhere_else(admin: TestClient, target: str) -> None:
    answer = admin.post("/login", data={"token": TOKEN, "target": target}, headers={"origin": ADMIN})
    assert answer.headers["location"] == "/"


def test_logging_in_from_another_site_is_refused(admin: TestClient) -> None:
    answer = admin.post("/login", data={"token": TOKEN}, headers={"origin": "https://evil.example"} | JSON)
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers


def test_sessions_end_unused_and_of_old_age(browser: TestClient, clock: FakeClock) -> None:
    for _ in range(23):
        clock.advance(1_790)
        assert browser.get("/").status_code == 200
    clock.jump(10 * 365 * 86_400)
    assert browser.get("/").status_code == 200
    clock.advance(2_500)
    assert browser.get("/").status_code == 401


def test_sessions_end_by_logging_out(browser: TestClient) -> None:
    cookies = dict(browser.cookies)
    assert browser.post("/logout", data={"csrf": csrf(browser.get("/").text)}).status_code == 303
    browser.cookies.update(cookies)
    assert browser.get("/").status_code == 401


def test_a_session_changes_something_only_with_its_own_secret(browser: TestClient, ledger: Any) -> None:
    form = {"url": "https://intranet.example/a"}
    assert browser.post("/api/v1/remove", data=form).status_code == 403
    assert browser.post("/api/v1/remove", data=form | {"csrf": "guess"}).status_code == 403
    assert not ledger.removed
    token = csrf(browser.get("/").text)
    assert browser.post("/api/v1/remove", data=form | {"csrf": token}).status_code == 303
    assert (
        browser.post("/api/v1/undelete", json=form, headers={"x-csrf-token": token, **JSON}).json()[
            "restored"
        ]
        == 1
    )


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:8080"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_a_session_changes_nothing_for_another_page(
    browser: TestClient, ledger: Any, headers: dict[str, str]
) -> None:
    form = {"url": "https://intranet.example/a", "csrf": csrf(browser.get("/").text)}
    answer = browser.post("/api/v1/remove", data=form, headers=headers | JSON)
    assert answer.status_code == 403
    assert answer.json()["error"]["code"] == "cross-site"
    assert not ledger.removed


def test_a_session_changes_nothing_for_who_says_not_where_from(browser: TestClient, ledger: Any) -> None:
    form = {"url": "https://intranet.example/a", "csrf": csrf(browser.get("/").text)}
    del browser.headers["origin"], browser.headers["sec-fetch-site"]
    assert browser.post("/api/v1/remove", data=form).status_code == 403
    assert not ledger.removed


def test_a_token_changes_nothing_for_a_foreign_page(operator: TestClient, ledger: Any) -> None:
    answer = operator.post(
        "/api/v1/remove", json={"url": "https://x.example/"}, headers={"origin": "https://evil.example"}
    )
    assert answer.status_code == 403
    assert not ledger.removed


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8081", "127.0.0.1.evil.example", "a b", "localhost:port", ""]
)
def test_foreign_host_names_are_not_answered(operator: TestClient, host: str) -> None:
    answer = operator.get("/api/v1/status", headers={"host": host})
    assert answer.status_code == 421
    assert answer.json()["error"]["code"] == "unknown-host"


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:8081", "127.0.0.1", "[::1]:8081", "192.0.2.7:8081", "search.example."]
)
def test_addresses_and_named_hosts_are_answered(operator: TestClient, host: str) -> None:
    assert operator.get("/api/v1/status", headers={"host": host}).status_code == 200


@pytest.mark.parametrize("token", ["", "short", "x" * 15])
def test_a_token_that_is_none_starts_nothing(admin_parts: AdminParts, token: str) -> None:
    with pytest.raises(UsageError):
        admin_app(replace(admin_parts, token=Secret(token)))


def test_secrets_do_not_print(admin_parts: AdminParts) -> None:
    assert TOKEN not in repr(admin_parts)
    assert TOKEN not in str(admin_parts.token)
    assert TOKEN not in f"{admin_parts}"


def test_the_token_is_on_no_page_and_in_no_figure(browser: TestClient) -> None:
    for path in ("/", "/explain?url=https://x.example/", "/metrics", "/api/v1/status", "/health", "/nope"):
        assert TOKEN not in browser.get(path).text
