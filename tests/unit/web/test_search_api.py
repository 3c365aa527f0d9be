"""Search for programs."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier, Event

import pytest
from starlette.testclient import TestClient

from ingather.errors import IndexDamagedError
from ingather.search import SearchRequest, SearchResults
from ingather.web import OwnHosts, SearchParts, WebLimits, search_app
from ingather.web.asking import Asked
from ingather.web.endpoint import Listener, Role
from ingather.web.routes import ROUTES


def urls(client: TestClient, query: str) -> list[str]:
    answer = client.get(f"/api/v1/search?{query}")
    assert answer.status_code == 200, answer.text
    return [result["url"] for result in answer.json()["results"]]


def test_a_search_gives_results_with_marked_snippets(search: TestClient) -> None:
    answer = search.get("/api/v1/search", params={"q": "holiday form"})
    assert answer.headers["content-type"] == "application/json"
    first = answer.json()["results"][0]
    assert first["url"] == "https://intranet.example/hr/holiday%20form?y=2026"
    assert first["title"] == "Holiday form"
    assert first["kind"] == "html"
    assert first["date"].startswith("2026-09-21T")
    assert {"text": "holiday", "marked": True} in first["snippet"][0]["segments"]


def test_a_database_narrows(search: TestClient) -> None:
    everything = urls(search, "q=holiday")
    assert everything
    assert urls(search, "q=holiday&database=default") == everything
    assert urls(search, "q=holiday&database=Archive&database=default") == everything
    assert urls(search, "q=holiday&database=archive") == []
    page = search.get("/?q=holiday&database=default", headers={"accept": "text/html"})
    assert "database=default&amp;" in page.text or "&amp;database=default" in page.text


def test_filters_narrow(search: TestClient) -> None:
    assert urls(search, "q=holiday&type=pdf") == ["https://intranet.example/hr/rules.pdf"]
    assert urls(search, "q=holiday&site=docs.example") == ["https://docs.example/travel"]
    assert len(urls(search, "q=holiday&type=pdf&type=txt")) == 2
    assert urls(search, "q=holiday&date=day") == ["https://intranet.example/hr/holiday%20form?y=2026"]
    assert urls(search, "q=holiday&after=2026-08-01&before=2026-09-15") == [
        "https://intranet.example/hr/rules.pdf"
    ]
    assert urls(search, "q=holiday&before=2026-09-01") == [
        "https://intranet.example/hr/rules.pdf",
        "https://docs.example/travel",
    ]


def test_the_last_day_is_in_the_span(search: TestClient) -> None:
    assert urls(search, "q=holiday&after=2026-09-21&before=2026-09-21") == [
        "https://intranet.example/hr/holiday%20form?y=2026"
    ]
    assert urls(search, "q=holiday&after=2026-09-22") == []


def test_sorting_by_date_puts_the_newest_first(search: TestClient) -> None:
    found = urls(search, "q=holiday&sort=date")
    assert found[:3] == [
        "https://intranet.example/hr/holiday%20form?y=2026",
        "https://intranet.example/hr/rules.pdf",
        "https://docs.example/travel",
    ]


def test_pages_follow_one_another(search: TestClient) -> None:
    whole = urls(search, "q=minutes&num=45")
    assert len(set(whole)) == 45
    assert (
        urls(search, "q=minutes&num=20")
        + urls(search, "q=minutes&num=20&page=2")
        + urls(search, "q=minutes&num=20&page=3")
        == whole
    )
    assert urls(search, "q=minutes&start=7&num=3") == whole[7:10]
    assert urls(search, "q=minutes&page=99") == []


def test_nobody_sees_what_is_not_public(search: TestClient) -> None:
    answer = search.get("/api/v1/search?q=holiday&num=100").json()
    assert "secret.example" not in str(answer)
    assert search.get("/api/v1/search?q=merger").json()["total"] == 0
    alone = search.get("/api/v1/search?q=site:secret.example").json()
    assert (alone["total"], alone["results"]) == (0, [])


def test_what_forbids_excerpts_has_none(search: TestClient) -> None:
    results = search.get("/api/v1/search?q=title:quiet").json()["results"]
    assert [r["snippet"] for r in results] == [[]]


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("", "missing-parameter"),
        ("q=", "missing-parameter"),
        ("q=%20", "missing-parameter"),
        ("q=x&num=0", "bad-parameter"),
        ("q=x&num=101", "bad-parameter"),
        ("q=x&num=ten", "bad-parameter"),
        ("q=x&num=-1", "bad-parameter"),
        ("q=x&num=1e1", "bad-parameter"),
        ("q=x&num=\u0663", "bad-parameter"),
        ("q=x&page=0", "bad-parameter"),
        ("q=x&page=1&start=1", "bad-parameter"),
        ("q=x&start=99999999999999999999", "bad-parameter"),
        ("q=x&start=9999", "bad-query"),
        ("q=x&page=9999", "bad-query"),
        ("q=x&q=y", "bad-parameter"),
        ("q=x&sort=price", "bad-parameter"),
        ("q=x&date=decade", "bad-parameter"),
        ("q=x&after=yesterday", "bad-parameter"),
        ("q=x&after=0001-01-01", "bad-parameter"),
        ("q=x&before=9999-12-31", "bad-parameter"),
        ("q=x&after=2026-02-02&before=2026-02-01", "bad-parameter"),
        ("q=x&date=day&after=2026-02-02", "bad-parameter"),
        ("q=x&" + "&".join(f"site={n}.example" for n in range(20)), "bad-parameter"),
        ("q=" + "x" * 2_049, "bad-query"),
        ("q=" + "x+" * 300, "bad-query"),
    ],
)
def test_wrong_parameters_are_named(search: TestClient, query: str, code: str) -> None:
    answer = search.get(f"/api/v1/search?{query}")
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == code
    assert answer.json()["error"]["message"]


@pytest.mark.parametrize(
    "query",
    [
        "%ff%fe",
        "%00",
        "%22",
        "-",
        "OR",
        "AND (",
        "a AND (",
        "key:*",
        "chain:0",
        "%F0%9F%98%80",
        "(((((",
        "*:*",
        "title:",
        "%E2%80%AE",
    ],
)
def test_odd_queries_are_answered(search: TestClient, query: str) -> None:
    answer = search.get(f"/api/v1/search?q={query}")
    assert answer.status_code == 200
    assert "secret.example" not in answer.text


def test_unknown_parameters_are_ignored_and_named(search: TestClient) -> None:
    answer = search.get("/api/v1/search?q=travel&utm_source=mail&format=csv").json()
    assert (answer["total"] >= 1, answer["ignored"]) == (True, ["utm_source", "format"])
    known = search.get("/api/v1/search?q=travel&num=5&page=1&type=html&sort=date&class=topic:x").json()
    assert "ignored" not in known


def test_searches_wait_their_turn_and_a_crowd_is_turned_away(search_parts: SearchParts) -> None:
    go, inside = Event(), Barrier(2)

    def slow(request: SearchRequest) -> SearchResults:
        inside.wait(20)
        go.wait(20)
        return search_parts.search(request)

    parts = replace(
        search_parts, search=slow, limits=WebLimits(search_threads=1, search_waiting=0, query_s=20)
    )
    with TestClient(search_app(parts)) as client, ThreadPoolExecutor(1) as pool:
        first = pool.submit(client.get, "/api/v1/search?q=travel")
        inside.wait(20)
        refused = client.get("/api/v1/search?q=travel")
        assert refused.status_code == 503
        assert refused.json()["error"]["code"] == "busy"
        assert refused.headers["retry-after"] == "1"
        assert client.get("/health").status_code == 200
        go.set()
        assert first.result(20).status_code == 200


def test_a_search_that_takes_too_long_is_given_up(search_parts: SearchParts) -> None:
    ended = Event()

    def slow(request: SearchRequest) -> SearchResults:
        ended.wait(20)
        return search_parts.search(request)

    parts = replace(search_parts, search=slow, limits=WebLimits(query_s=0.01))
    try:
        with TestClient(search_app(parts)) as client:
            answer = client.get("/api/v1/search?q=travel")
            ended.set()
        assert answer.status_code == 503
        assert answer.json()["error"]["code"] == "timeout"
    finally:
        ended.set()


def test_a_broken_index_is_told(search_parts: SearchParts) -> None:
    def broken(_request: SearchRequest) -> SearchResults:
        raise IndexDamagedError("the index is damaged", hint="run: ingather index rebuild")

    with TestClient(search_app(replace(search_parts, search=broken))) as client:
        answer = client.get("/api/v1/search?q=travel")
        page = client.get("/?q=travel", headers={"accept": "text/html"})
    assert answer.status_code == page.status_code == 503
    assert answer.json()["error"]["hint"] == "run: ingather index rebuild"
    assert "the index is damaged" in page.text


def test_the_search_listener_has_no_route_of_the_operator(search: TestClient) -> None:
    roles = {e.role for e in ROUTES if e.listener is Listener.SEARCH}
    assert roles == {Role.ANONYMOUS, Role.SEARCHER}
    admin = {e.path for e in ROUTES if e.listener is Listener.ADMIN} - {
        e.path for e in ROUTES if e.listener is Listener.SEARCH
    }
    assert len(admin) > 9
    for path in admin:
        for method in ("GET", "POST"):
            answer = search.request(method, path.replace("{id}", "1"), headers={"authorization": "Bearer x"})
            assert answer.status_code == 404


def test_the_search_listener_can_be_bound_to_names(search_parts: SearchParts) -> None:
    with TestClient(search_app(replace(search_parts, hosts=OwnHosts(["search.example"])))) as client:
        assert client.get("/health", headers={"host": "search.example"}).status_code == 200
        assert client.get("/health", headers={"host": "10.0.0.5:7070"}).status_code == 200
        assert client.get("/api/v1/search?q=x", headers={"host": "rebound.example"}).status_code == 421


def test_the_search_listener_changes_nothing_and_sets_no_cookie(search: TestClient) -> None:
    for path in ("/", "/api/v1/search"):
        assert search.post(path, data={"q": "x"}).status_code == 405
        assert "set-cookie" not in search.get(path).headers


@pytest.mark.parametrize(
    "asked",
    [
        Asked(query="a b&c=d#e"),
        Asked(query="x", start=40, num=20, types=("pdf", "txt"), sites=("a.example",), date="week"),
        Asked(query="x", start=7),
    ],
)
def test_links_lead_where_they_say(search_parts: SearchParts, asked: Asked) -> None:
    seen: list[SearchRequest] = []

    def noted(request: SearchRequest) -> SearchResults:
        seen.append(request)
        return SearchResults(request.query, 0)

    with TestClient(search_app(replace(search_parts, search=noted))) as client:
        client.get(asked.href(start=asked.start))
    assert seen == [asked.as_request()]
