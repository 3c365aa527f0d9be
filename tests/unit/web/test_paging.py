"""search.page-size and search.page-size-max act on the page, the API and the client library."""

import socket
import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest
import uvicorn
from starlette.testclient import TestClient

from ingather.client import Search, SearchError
from ingather.web import Paging, SearchParts, listener_config, search_app

SIZES = Paging(size=7, most=20, window=30)


@pytest.fixture
def parts(search_parts: SearchParts) -> SearchParts:
    return replace(search_parts, paging=SIZES)


@pytest.fixture
def paged(parts: SearchParts) -> Iterator[TestClient]:
    with TestClient(search_app(parts), base_url="http://search.example") as client:
        yield client


@pytest.fixture
def place(parts: SearchParts) -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = uvicorn.Server(listener_config(search_app(parts)))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        yield f"127.0.0.1:{listening.getsockname()[1]}"
        server.should_exit = True
        thread.join(60)


def test_the_api_answers_a_page_of_the_set_size(paged: TestClient) -> None:
    answer = paged.get("/api/v1/search?q=minutes").json()
    assert (answer["limit"], len(answer["results"])) == (7, 7)
    second = paged.get("/api/v1/search?q=minutes&page=2").json()
    assert second["offset"] == 7
    assert len(paged.get("/api/v1/search?q=minutes&num=20").json()["results"]) == 20
    refused = paged.get("/api/v1/search?q=minutes&num=21")
    assert refused.status_code == 400
    assert refused.json()["error"]["hint"] == "Give a number from 1 to 20."


def test_the_page_has_the_set_size_and_its_links_go_on_from_there(paged: TestClient) -> None:
    page = paged.get("/?q=minutes").text
    assert page.count("https://many.example/") == 7
    assert "num=" not in page
    assert 'href="/?q=minutes&amp;page=2"' in page
    assert 'href="/?q=minutes&amp;page=4"' in page, "the last page within the window"
    assert 'href="/?q=minutes&amp;page=5"' not in page
    assert "num=10" in paged.get("/?q=minutes&num=10").text, "ten are not what holds without being said"
    assert paged.get("/?q=minutes&num=21").status_code == 400


def test_the_client_library_takes_what_the_server_has(place: str) -> None:
    search = Search(place)
    assert len(search.search("minutes").results) == 7
    assert len(search.search("minutes", num=12).results) == 12
    with pytest.raises(SearchError):
        search.search("minutes", num=21)
    found = [one.url for one in search.results("minutes", start=3)]
    assert len(set(found)) == len(found) == 45 - 3
