"""Which names are ours, and whose page may change something: one rule for every listener."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from starlette.testclient import TestClient
from structlog.testing import capture_logs

from ingather.web import AdminParts, OwnHosts, SearchParts, admin_app, search_app
from ingather.web.endpoint import Listener
from ingather.web.failures import WebError
from ingather.web.ownhosts import require_own_page
from ingather.web.routes import ROUTES

TOKEN = "Pwq3-a-token-that-is-long-enough-7fT"  # noqa: S105 - as in conftest
OWN = OwnHosts(["search.example", "srv"])
OURS = [
    None,
    "localhost",
    "LocalHost:7070",
    "localhost.",
    "search.example",
    "SEARCH.example.:443",
    "srv:19900",
    "127.0.0.1",
    "127.0.0.53:1",
    "10.0.0.5:7070",
    "[::1]",
    "[::1]:7070",
    "[fe80::1%2]:19900",
    "[FE80:0:0:0:0:0:0:1]:19900",
    "fe80::1",
    " localhost ",
]
FOREIGN = [
    "",
    "evil.test",
    "evil.test:7070",
    "localhost.evil.test",
    "127.0.0.1.evil.test",
    "notsearch.example",
    "search.example.evil.test",
    "www.search.example",
    "search.example..",
    "0x7f.1",
    "2130706433",
    "localhost:port",
    "localhost:7070:7070",
    "localhost@evil.test",
    "a b",
    "[::1",
    "[evil.test]",
    "[]",
    ":7070",
    "localhost, evil.test",
]


@pytest.mark.parametrize("host", OURS)
def test_a_name_of_ours_is_answered(host: str | None) -> None:
    OWN.require(host)
    OWN.require(host)


@pytest.mark.parametrize("host", FOREIGN)
def test_a_foreign_name_is_refused_and_the_refusal_names_the_setting(host: str) -> None:
    own = OwnHosts(["search.example", "srv"])
    for _ in range(2):
        with pytest.raises(WebError) as refused:
            own.require(host)
        problem = refused.value.problem
        assert (problem.status, problem.code) == (421, "unknown-host")
        assert "listen.names" in problem.hint


def test_a_name_that_is_learnt_later_is_ours_from_then_on() -> None:
    own = OwnHosts()
    with pytest.raises(WebError):
        own.require("srv.corp.example")
    own.add(["srv.corp.example"])
    own.require("srv.corp.example:19900")


def test_the_first_refusal_of_a_name_is_logged_and_many_names_do_not_fill_the_log() -> None:
    own = OwnHosts()
    with capture_logs() as events:
        for number in range(500):
            for _ in range(3):
                with pytest.raises(WebError):
                    own.require(f"n{number}.evil.test")
    assert len(events) == 64
    assert events[0]["host"] == "n0.evil.test"
    assert events[0]["log_level"] == "warning"
    assert 'listen.names = ["n0.evil.test"]' in events[0]["hint"]


def test_what_is_no_name_is_not_repeated_to_anybody() -> None:
    with pytest.raises(WebError) as refused:
        OwnHosts().require('<script>"')
    assert "<" not in refused.value.problem.message + refused.value.problem.hint


H = "srv.example:19900"
SAME = [
    (None, None),
    (f"http://{H}", None),
    (f"https://{H}", None),
    (f"http://{H.upper()}", "same-origin"),
    (None, "same-origin"),
    (None, "none"),
]
OTHER = [
    ("null", None),
    ("", None),
    ("http://srv.example", None),
    ("http://srv.example:19901", None),
    ("http://evil.test", None),
    ("http://evil.test:19900", None),
    (f"http://x.{H}", None),
    (f"ftp://{H}", None),
    (f"chrome-extension://{H}", None),
    (f"http://{H}, http://evil.test", None),
    (f"http://evil.test, http://{H}", None),
    (H, None),
    ("http://[", None),
    (None, "cross-site"),
    (None, "same-site"),
    (None, "CROSS-SITE"),
    (None, "who knows"),
    (None, ""),
    (f"http://{H}", "cross-site"),
    ("http://evil.test", "same-origin"),
]


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "get"])
@pytest.mark.parametrize(("origin", "site"), SAME)
def test_a_page_of_ours_and_a_program_may_change_things(
    method: str, origin: str | None, site: str | None
) -> None:
    require_own_page(method, H, origin, site)


@pytest.mark.parametrize(("origin", "site"), OTHER)
def test_a_page_of_somebody_else_changes_nothing_and_may_lead_here(
    origin: str | None, site: str | None
) -> None:
    with pytest.raises(WebError) as refused:
        require_own_page("POST", H, origin, site)
    assert (refused.value.problem.status, refused.value.problem.code) == (403, "cross-site")
    for method in ("GET", "HEAD"):
        require_own_page(method, H, origin, site)


@pytest.mark.parametrize(
    ("host", "origin", "secure", "same"),
    [
        ("s.example", "https://s.example", True, True),
        ("s.example:443", "https://s.example", True, True),
        ("s.example:80", "http://s.example", False, True),
        ("s.example:80", "https://s.example", False, False),
        ("s.example", "http://s.example", True, False),
        ("[::1]:19902", "https://[::1]:19902", True, True),
        ("[::1]:19902", "https://[::2]:19902", True, False),
        ("127.0.0.1:19900", "http://localhost:19900", False, False),
        (None, "http://localhost", False, False),
        ("a b", "http://a b", False, True),
        ("[", "http://localhost", False, False),
    ],
)
def test_scheme_host_and_port_make_an_origin(host: str | None, origin: str, secure: bool, same: bool) -> None:  # noqa: FBT001
    if same:
        require_own_page("POST", host, origin, None, secure=secure)
    else:
        with pytest.raises(WebError):
            require_own_page("POST", host, origin, None, secure=secure)


# -- the two listeners --------------------------------------------------------------------------------


@pytest.fixture
def both(search_parts: SearchParts, admin_parts: AdminParts) -> Iterator[dict[Listener, TestClient]]:
    own = OwnHosts(["search.example"])
    with (
        TestClient(
            search_app(replace(search_parts, hosts=own)),
            base_url="http://search.example",
            follow_redirects=False,
        ) as search,
        TestClient(
            admin_app(replace(admin_parts, hosts=own)),
            base_url="http://127.0.0.1:8081",
            headers={"authorization": f"Bearer {TOKEN}"},
            follow_redirects=False,
        ) as admin,
    ):
        yield {Listener.SEARCH: search, Listener.ADMIN: admin}


EVERY = [
    pytest.param(e.listener, method, e.path, id=f"{e.listener}-{method}-{e.path}")
    for e in ROUTES
    for method in e.methods
]


@pytest.mark.parametrize(("listener", "method", "path"), EVERY)
def test_no_address_is_answered_under_a_foreign_name(
    both: dict[Listener, TestClient], listener: Listener, method: str, path: str
) -> None:
    answer = both[listener].request(
        method, path.replace("{", "").replace("}", ""), headers={"host": "evil.test"}
    )
    assert answer.status_code == 421
    assert "listen.names" in answer.text


CHANGES = [one for one in EVERY if one.values[1] != "GET"]


@pytest.mark.parametrize(
    "page",
    [
        {"origin": "http://evil.test"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
    ids=lambda page: "-".join(*page.items()),
)
@pytest.mark.parametrize(("listener", "method", "path"), CHANGES)
def test_no_change_is_made_for_a_foreign_page_even_with_a_token(
    both: dict[Listener, TestClient], listener: Listener, method: str, path: str, page: dict[str, str]
) -> None:
    answer = both[listener].request(method, path.replace("{", "").replace("}", ""), headers=page)
    # On the search listener the session is looked at first: who has none changes nothing either.
    assert answer.status_code == 403 or (listener is Listener.SEARCH and answer.status_code == 401)


def test_two_origins_are_none_of_ours(both: dict[Listener, TestClient]) -> None:
    answer = both[Listener.ADMIN].post(
        "/api/v1/remove",
        json={"url": "https://x.example/"},
        headers=[("origin", "http://127.0.0.1:8081"), ("origin", "http://evil.test")],
    )
    assert answer.json()["error"]["code"] == "cross-site"


def test_a_link_of_another_site_leads_to_a_page_of_results(both: dict[Listener, TestClient]) -> None:
    clicked = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    answer = both[Listener.SEARCH].get("/?q=holiday", headers=clicked)
    assert answer.status_code == 200
    assert "Holiday form" in answer.text


def test_http_1_0_without_host_is_answered(both: dict[Listener, TestClient]) -> None:
    client = both[Listener.SEARCH]
    asked = client.build_request("GET", "/health")
    del asked.headers["host"]
    assert client.send(asked).status_code == 200


@pytest.mark.parametrize("path", ["/api/v1/search?q=holiday", "/api/v1/whoami", "/"])
def test_scripts_of_another_origin_cannot_read_what_is_found(
    both: dict[Listener, TestClient], path: str
) -> None:
    for method in ("GET", "OPTIONS"):
        headers: Any = (
            both[Listener.SEARCH]
            .request(
                method,
                path,
                headers={
                    "origin": "http://evil.test",
                    "sec-fetch-site": "cross-site",
                    "access-control-request-method": "GET",
                    "access-control-request-headers": "authorization",
                },
            )
            .headers
        )
        assert not [name for name in headers if name.lower().startswith("access-control-")]
        assert headers["cross-origin-resource-policy"] == "same-origin"
