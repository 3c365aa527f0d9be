"""WebDAV against nginx: folders are asked for with PROPFIND, documents with GET, and servers without it answer as ever."""

from base64 import b64encode
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from tests.unit.shares.conftest import Clock, Here, Served, answer, failure, run, scope
from tests.unit.shares.dav import dav_server

from ingather.fetch.http import HttpFetcher
from ingather.fetch.limits import Limits
from ingather.fetch.shares.webdav import DavFetcher
from ingather.model.resource import Failure, FailureKind, Request, Response
from ingather.model.scope import Scope

Fetch = Callable[[Request, Scope], Awaitable[Response | Failure]]
WEB = scope("http", "https")
ANN = b"Authorization: Basic " + b64encode(b"ann:right one")


@pytest.fixture(scope="module")
def dav() -> Iterator[Served]:
    with dav_server() as served:
        yield served


def fetcher(sources: tuple[str, ...] = ("files",), login: bytes | None = None) -> Callable[[], DavFetcher]:
    return lambda: DavFetcher(
        HttpFetcher(
            Limits(), user_agent="T/1", email="", resolver=Here(), clock=Clock(), authorization=lambda _url, _source: login
        ),
        sources.__contains__,
    )  # fmt: skip


def methods(dav: Served, path: str) -> list[str]:
    lines = Path(dav.facts["log"]).read_text().splitlines()
    return [line.split('"')[1].split()[0] for line in lines if f" {path} HTTP/" in line]


def test_folders_are_listed_and_documents_are_pages(dav: Served) -> None:
    base = f"http://localhost:{dav.port}"

    async def ask(fetch: Fetch) -> None:
        folder = answer(await fetch(Request(f"{base}/pub/"), WEB), 200)
        assert folder.listing
        assert not folder.authorized
        for href in ("./a.txt", "./page.html", "./sub%20dir/"):
            assert f'href="{href}"'.encode() in folder.body
        again = answer(await fetch(Request(f"{base}/pub/", etag=folder.header("etag")), WEB), 304)
        assert again.listing
        odd = answer(await fetch(Request(f"{base}/pub/sub%20dir/"), WEB), 200)
        assert b'href="./%C3%A4%3Bb.txt"' in odd.body
        got = answer(await fetch(Request(f"{base}/pub/a.txt"), WEB), 200)
        assert (got.body, got.listing, got.header("content-type")) == (b"hello", False, "text/plain")
        answer(await fetch(Request(got.url, etag=got.header("etag")), WEB), 304)
        answer(await fetch(Request(f"{base}/nothing/"), WEB), 404)
        assert answer(await fetch(Request(f"{base}/pub"), WEB), 301).header("location") == f"{base}/pub/"

    run(fetcher(), ask)
    assert set(methods(dav, "/pub/")) == {"PROPFIND"}
    assert set(methods(dav, "/pub/a.txt")) <= {"GET", "HEAD"}  # another test asks for its head
    assert methods(dav, "/nothing/") == ["PROPFIND"]


def test_a_server_without_it_is_asked_for_the_page_and_once_only_otherwise(dav: Served) -> None:
    url = f"http://localhost:{dav.port}/plain/"

    async def ask(fetch: Fetch) -> None:
        for _ in range(2):
            got = answer(await fetch(Request(url), WEB), 200)
            assert not got.listing
            assert b"a.txt" in got.body

    run(fetcher(), ask)
    assert methods(dav, "/plain/") == ["PROPFIND", "GET", "GET"]


def test_sources_that_do_not_say_so_ask_for_pages(dav: Served) -> None:
    async def ask(fetch: Fetch) -> None:
        answer(await fetch(Request(f"http://localhost:{dav.port}/empty/"), WEB), 403)

    run(fetcher(("others",)), ask)
    assert methods(dav, "/empty/") == ["GET"]


def test_credentials_go_along_and_mark_the_listing(dav: Served) -> None:
    url = f"http://localhost:{dav.port}/closed/"

    async def known(fetch: Fetch) -> None:
        got = answer(await fetch(Request(url), WEB), 200)
        assert (got.listing, got.authorized) == (True, True)

    async def unknown(fetch: Fetch) -> None:
        answer(await fetch(Request(url), WEB), 401)

    run(fetcher(login=ANN), known)
    run(fetcher(), unknown)
    assert methods(dav, "/closed/") == ["PROPFIND", "PROPFIND"]


def test_the_gate_and_the_next_request_of_the_same_handle(dav: Served) -> None:
    base = f"http://localhost:{dav.port}"

    async def ask(fetch: Fetch) -> None:
        refused = failure(await fetch(Request(f"{base}/pub/"), Scope(source="files")))
        assert refused.kind is FailureKind.EGRESS
        answer(await fetch(Request(f"{base}/pub/"), WEB), 200)
        head = answer(await fetch(Request(f"{base}/pub/a.txt", method="HEAD"), WEB), 200)
        assert head.body == b""
        answer(await fetch(Request(f"{base}/pub/"), WEB), 200)
        assert answer(await fetch(Request(f"{base}/pub/a.txt"), WEB), 200).body == b"hello"
        put = failure(await fetch(Request(f"{base}/pub/a.txt", method="PUT"), WEB))
        assert put.kind is FailureKind.PROTOCOL

    run(fetcher(), ask)
