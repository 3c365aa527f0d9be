"""Asking the real search listener, and servers that refuse, break off or are none of ours."""

import datetime as dt
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import uvicorn
from prometheus_client import CollectorRegistry

from ingather.client import Answer, Found, Search, SearchError
from ingather.client.found import answer_of
from ingather.errors import UsageError
from ingather.index import IndexFolder
from ingather.ports.index import IndexDocument
from ingather.search import SearchRequest, SearchService, results_form
from ingather.testing.clock import FakeClock
from ingather.web import (
    ConnectionLimits,
    Health,
    HttpMetrics,
    SearchParts,
    WebLimits,
    listener_config,
    search_app,
)

DATE_S = 1_789_956_000


def document(number: int, url: str, title: str, body: str, kind: str = "html", **more: Any) -> IndexDocument:
    host, _, path = url.partition("://")[2].partition("/")
    return IndexDocument(
        number,
        url,
        title=title,
        body=body,
        site=host,
        path=f"/{path}",
        chain=1,
        kind=kind,
        media_type={"html": "text/html", "pdf": "application/pdf"}[kind],
        language="en",
        source="web",
        **more,
    )


DOCUMENTS = [
    document(1, "https://hr.example/form?y=2026", "Holiday form", "Ask for a holiday here.", date_s=DATE_S),
    document(2, "https://hr.example/rules.pdf", "Holiday rules", "Every holiday.", kind="pdf", size=77),
    document(3, "https://docs.example/trip", "Travel", "A holiday is no business travel."),
    *(document(10 + n, f"https://many.example/{n}", f"Minute {n}", f"minutes {n}") for n in range(45)),
]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> SearchService:
    folder = IndexFolder(tmp_path_factory.mktemp("index"))
    writer = folder.writer()
    writer.put(DOCUMENTS)
    writer.commit(1)
    writer.close()
    texts = {one.id: one.body for one in DOCUMENTS}
    return SearchService(folder.reader(), lambda rows: {row: texts[row] for row in rows}, FakeClock())


@pytest.fixture(scope="module")
def place(service: SearchService) -> Iterator[str]:
    """Where a search listener answers."""
    parts = SearchParts(
        search=service.search,
        health=Health,
        metrics=HttpMetrics(CollectorRegistry()),
        limits=WebLimits(query_s=30),
    )
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = uvicorn.Server(listener_config(search_app(parts), limits=ConnectionLimits()))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        yield f"127.0.0.1:{listening.getsockname()[1]}"
        server.should_exit = True
        thread.join(60)
    assert not thread.is_alive()


def urls(answer: Answer) -> list[str]:
    return [found.url for found in answer.results]


def test_a_question_is_answered_with_values(place: str) -> None:
    answer = Search(place).search("holiday form")
    assert (answer.query, answer.total, answer.offset, answer.limit) == ("holiday form", 1, 0, 10)
    (first,) = answer.results
    assert isinstance(first, Found)
    assert (first.rank, first.url, first.title, first.kind) == (
        1,
        "https://hr.example/form?y=2026",
        "Holiday form",
        "html",
    )
    assert first.display_url == first.url
    assert first.date == dt.datetime.fromtimestamp(DATE_S, dt.UTC)
    assert first.snippet == "Ask for a holiday here."
    assert [one.text for one in first.excerpts[0].segments if one.marked] == ["holiday"]
    assert [(one.value, one.count) for one in answer.facets.kinds] == [("html", 1)]
    assert answer.all_words
    assert not answer.partial


def test_nothing_found_comes_with_help(place: str) -> None:
    answer = Search(place).search("holidey")
    assert answer.results == ()
    assert answer.help.unknown == ("holidey",)
    assert answer.help.did_you_mean == "holiday"


def test_a_question_is_narrowed(place: str) -> None:
    search = Search(place)
    assert urls(search.search("holiday", types=["pdf"])) == ["https://hr.example/rules.pdf"]
    assert urls(search.search("holiday", types="pdf")) == ["https://hr.example/rules.pdf"]
    assert urls(search.search("holiday", sites=["docs.example"])) == ["https://docs.example/trip"]
    day = dt.datetime.fromtimestamp(DATE_S, dt.UTC).date()
    assert urls(search.search("holiday", after=day, before=day)) == ["https://hr.example/form?y=2026"]
    assert urls(search.search("holiday", sort="date"))[0] == "https://hr.example/form?y=2026"
    assert urls(search.search("holiday", databases=["archive"])) == []
    assert len(search.search("minutes", num=7, start=42).results) == 3


def test_pages_follow_until_nothing_is_left(place: str) -> None:
    search = Search(place)
    whole = urls(search.search("minutes", num=100))
    assert len(whole) == 45
    assert [found.url for found in search.results("minutes", page=20)] == whole
    assert [found.url for found in search.results("minutes", start=40)] == whole[40:]
    assert list(search.results("nothingofthekind")) == []
    lazily = search.results("minutes", page=1)
    assert [next(lazily).url, next(lazily).url] == whole[:2]


def test_a_wrong_question_is_told(place: str) -> None:
    with pytest.raises(SearchError) as caught:
        Search(place).search("holiday", num=0)
    error = caught.value
    assert (error.status, error.code, error.again) == (400, "bad-parameter", False)
    assert str(error).endswith("Give a number from 1 to 100.")


@pytest.mark.parametrize("query", ["  ", "a\0b", "\ud800", "ü", "-", '"', "a" * 30_000, "AND OR NOT ((("])
def test_whatever_is_asked_gives_an_answer_or_this_error(place: str, query: str) -> None:
    try:
        assert isinstance(Search(place).search(query), Answer)
    except SearchError as error:
        assert 400 <= error.status < 500  # noqa: PT017 - either is right


def test_every_member_that_the_service_writes_is_read(service: SearchService) -> None:
    form = results_form(service.search(SearchRequest(query="holiday form")))
    answer = answer_of(form | {"of a later version": 1})
    assert answer.took_ms == form["took_ms"]
    for name in form:
        with pytest.raises(ValueError, match=r"member|list"):
            answer_of({**form, name: object()})


@contextmanager
def scripted(*answers: bytes) -> Iterator[tuple[str, list[bytes]]]:
    """A server that says just this, once a connection, and what it was asked."""
    asked: list[bytes] = []

    def serve() -> None:
        for answer in answers:
            connection, _ = listening.accept()
            with connection:
                got = b""
                while b"\r\n\r\n" not in got and (piece := connection.recv(65_536)):
                    got += piece
                asked.append(got)
                connection.sendall(answer)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(60)
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}", asked
        finally:
            thread.join(60)


def said(status: str, body: bytes, *headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def test_the_token_and_the_path_before_it_are_sent() -> None:
    with scripted(said("503 Busy", b"{}")) as (where, asked), pytest.raises(SearchError):
        Search(f"{where}/all/", token="secret").search("ä b")  # noqa: S106
    assert asked[0].startswith(b"GET /all/api/v1/search?q=%C3%A4+b&")
    assert b"\r\nAuthorization: Bearer secret\r\n" in asked[0]


BUSY = b'{"error": {"code": "busy", "message": "Too many searches.", "hint": "Ask again."}}'


@pytest.mark.parametrize(
    ("answer", "status", "code", "again", "words"),
    [
        (said("503 Busy", BUSY, "Retry-After: 7"), 503, "busy", True, "Too many searches; Ask again."),
        (said("401 No", BUSY.replace(b"busy", b"wrong-token")), 401, "wrong-token", False, "answered 401"),
        (said("302 Found", b"", "Location: http://evil.example/"), 302, "", False, "no reason is given"),
        (said("500 Oops", b"[" * 100_000), 500, "", False, "no reason is given"),
        (said("200 OK", b"<html>"), 200, "", False, "not as Ingather does"),
        (said("200 OK", b"[]"), 200, "", False, "the member"),
        (said("200 OK", b"{}" * 9)[:-5], 200, "", True, "broke off"),
        (b"", 0, "", True, "the connection to"),
        (b"SSH-2.0-OpenSSH\r\n", 0, "", True, "the connection to"),
    ],
)
def test_servers_that_do_not_answer(
    answer: bytes, status: int, code: str, words: str, *, again: bool
) -> None:
    with scripted(answer) as (where, _), pytest.raises(SearchError) as caught:
        Search(where).search("x")
    error = caught.value
    assert (error.status, error.code, error.again) == (status, code, again)
    assert words in str(error)
    assert error.retry_after_s == (7 if code == "busy" else None)


def test_nobody_there() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(SearchError, match="connection") as caught:
        Search(f"127.0.0.1:{port}").search("x")
    assert caught.value.again


@pytest.mark.parametrize(
    "to",
    ["", "  ", "ftp://a", "http://", "http://u:p@h", "h:x", "h:99999", "http://h/?q=1", "h\r\nX: y", "::1"],
)
def test_a_place_that_is_none(to: str) -> None:
    with pytest.raises(UsageError, match="no place to ask"):
        Search(to)


@pytest.mark.parametrize(
    ("to", "meant"),
    [
        ("search.example", "http://search.example:7070"),
        ("[::1]:8", "http://[::1]:8"),
        ("https://search.example/s", "https://search.example:443"),
    ],
)
def test_places(to: str, meant: str) -> None:
    assert str(Search(to)) == meant


def test_a_token_with_a_line_end_is_refused_at_once() -> None:
    with pytest.raises(UsageError, match="token"):
        Search("h", token="abc\n")  # noqa: S106
