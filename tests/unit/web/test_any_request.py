"""Whatever comes in, something sensible goes out."""

from collections.abc import Iterator
from urllib.parse import quote, urlencode

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from ingather.search import SearchService
from ingather.web import Health, SearchParts, WebLimits, search_app
from ingather.web.boundary import CONTENT_SECURITY_POLICY

NAMES = st.sampled_from(["q", "num", "page", "start", "type", "site", "date", "after", "before", "sort", "x"])
WORDS = st.sampled_from(
    [
        '"',
        "-",
        "OR",
        "site:",
        "filetype:pdf",
        "title:holiday",
        "holiday",
        "(",
        "*",
        "休暇",
        "é",
        "\u202e",
        "\x00",
        "2026-01-01",
        "day",
        "1",
    ]
)
VALUES = st.lists(WORDS | st.text(max_size=8), max_size=5).map(" ".join)
METHODS = st.sampled_from(["GET", "HEAD", "POST", "PUT", "OPTIONS", "TRACE", "FOO"])
PATHS = st.sampled_from(["/", "/api/v1/search", "/static/x", "/health", "/opensearch.xml"]) | st.text(
    max_size=12
).map("/".__add__)


@pytest.fixture(scope="module")
def client(service: SearchService) -> Iterator[TestClient]:
    with TestClient(
        search_app(SearchParts(search=service.search, health=Health, limits=WebLimits(query_s=30)))
    ) as made:
        yield made


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    pairs=st.lists(st.tuples(NAMES, VALUES), max_size=5),
    accept=st.sampled_from(["text/html", "application/json"]),
)
def test_any_parameters_are_answered_or_refused(
    client: TestClient, pairs: list[tuple[str, str]], accept: str
) -> None:
    address = ("/?" if accept == "text/html" else "/api/v1/search?") + urlencode(pairs, errors="replace")
    answer = client.get(address, headers={"accept": accept})
    assert answer.status_code in {200, 400}
    assert "secret.example" not in answer.text
    assert answer.headers["content-security-policy"] == CONTENT_SECURITY_POLICY


@given(
    method=METHODS,
    path=PATHS,
    cookie=st.text(st.characters(codec="ascii", categories=["L", "N", "P"]), max_size=20),
)
def test_any_request_is_answered_with_the_headers(
    client: TestClient, method: str, path: str, cookie: str
) -> None:
    answer = client.request(method, quote(path), headers={"cookie": cookie})
    assert answer.status_code in {200, 304, 400, 404, 405}
    assert answer.headers["content-security-policy"] == CONTENT_SECURITY_POLICY
