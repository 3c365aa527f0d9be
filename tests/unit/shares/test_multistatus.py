"""What WebDAV servers say of their folders, honest ones and others."""

from urllib.parse import quote, urljoin

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.shares.conftest import run
from tests.unit.shares.test_webdav import WEB, Fetch

from ingather.fetch.shares.listing import Entry, is_name
from ingather.fetch.shares.webdav import DavFetcher
from ingather.fetch.shares.webdav_answer import MultistatusError, read_multistatus
from ingather.model.resource import Failure, FailureKind, Request, Response
from ingather.model.scope import Scope

URL = "https://dav.example/docs/"
FOLDER = "<propstat><prop><resourcetype><collection/></resourcetype></prop><status>HTTP/1.1 200 OK</status></propstat>"


def one(href: str, more: str = "") -> str:
    return f"<response><href>{href}</href>{more}</response>"


def answer(*responses: str) -> bytes:
    return f'<?xml version="1.0"?><multistatus xmlns="DAV:">{"".join(responses)}</multistatus>'.encode()


def entries(body: bytes, url: str = URL) -> list[Entry]:
    return read_multistatus(url, body)[0]


def test_entries_of_a_folder() -> None:
    body = answer(
        one("/docs/", FOLDER),
        one("/docs/a%20b.txt", "<propstat><prop><resourcetype/></prop><status>HTTP/1.1 200 OK</status></propstat>"),
        one("https://DAV.example:443/docs/sub/", FOLDER),
        one("/docs/sub-without-slash", FOLDER),
        one("c.txt"),
    )  # fmt: skip
    assert entries(body) == [
        Entry("a b.txt"), Entry("sub", folder=True), Entry("sub-without-slash", folder=True), Entry("c.txt"),
    ]  # fmt: skip


def test_prefixes_encodings_and_bytes_that_are_no_text() -> None:
    text = '<?xml version="1.0" encoding="UTF-16"?><a:multistatus xmlns:a="DAV:"><a:response><a:href>/docs/%FF.txt</a:href></a:response></a:multistatus>'
    assert entries(text.encode("utf-16")) == [Entry("\udcff.txt")]
    assert entries(answer(one("/docs/ä.txt"))) == [Entry("ä.txt")]


@pytest.mark.parametrize(
    "href",
    [
        "/", "/docs", "/docs/", "/other/a.txt", "/docs/sub/a.txt", "/docs/../etc/passwd", "/docs/..", "/docs/.", "/docsX/a.txt",
        "https://evil.example/docs/a.txt", "http://dav.example/docs/a.txt", "https://dav.example:8443/docs/a.txt", "//evil.example/docs/a",
        "file:///docs/a.txt", "javascript:alert(1)", "/docs/a%2Fb", "/docs/a.txt?run=1", "https://[::1/docs/a.txt", "", "   ",
        "/docs/" + "a" * 9000, "https://dav.example@evil.example/docs/a.txt",
    ],
)  # fmt: skip
def test_what_lies_elsewhere_is_no_entry(href: str) -> None:
    found = [entry for entry in entries(answer(one(href), one("/docs/good.txt"))) if is_name(entry.name)]
    assert found == [Entry("good.txt")]


def test_names_that_are_none_do_not_reach_the_page() -> None:
    class Server:
        async def fetch(self, request: Request, scope: Scope) -> Response | Failure:
            body = answer(
                one("/docs/a%2Fb"), one("/docs/%00"), one("/docs/%0A"), one("/docs/%2E%2E"), one("/docs/x")
            )
            return Response(request.url, 207, body=body)

        async def close(self) -> None: ...

    async def ask(fetch: Fetch) -> None:
        got = await fetch(Request(URL), WEB)
        assert isinstance(got, Response)
        assert got.body.count(b"<li>") == 1
        assert b'href="./x"' in got.body

    run(lambda: DavFetcher(Server(), lambda _: True), ask)


def test_statuses_of_entries_and_of_properties() -> None:
    body = answer(
        one("/docs/gone.txt", "<status>HTTP/1.1 404 Not Found</status>"),
        one("/docs/kept.txt", "<status>HTTP/1.1 200 OK</status>"),
        one("/docs/odd", FOLDER.replace("200 OK", "403 Forbidden")),
        one("/docs/empty-status", "<status></status>"),
    )
    assert entries(body) == [Entry("kept.txt"), Entry("odd"), Entry("empty-status")]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"", "not well-formed"),
        (b"<html><body>Index</body></html>", "'html' in place of"),
        (b'<multistatus xmlns="http://other/"/>', "in place of"),
        (b"<multistatus/>", "in place of"),
        (b'<multistatus xmlns="DAV:"><response>', "not well-formed"),
        (b'<!DOCTYPE m [<!ENTITY a "x">]><multistatus xmlns="DAV:"/>', "a document type"),
        (b'<!DOCTYPE m SYSTEM "file:///etc/passwd"><multistatus xmlns="DAV:"/>', "a document type"),
        (b'<multistatus xmlns="DAV:"><response><href>&x;</href></response></multistatus>', "not well-formed"),
        (b'<?xml version="1.0" encoding="EBCDIC-XX"?><multistatus xmlns="DAV:"/>', "not well-formed"),
        (b'<multistatus xmlns="DAV:">' + b"<a>" * 100, "nested too deep"),
        (b"\x00\xff" * 100, "not well-formed"),
    ],
)
def test_what_is_no_multistatus_is_refused(body: bytes, why: str) -> None:
    with pytest.raises(MultistatusError, match=why):
        read_multistatus(URL, body)


def test_too_many_names_are_refused_and_too_many_entries_cut() -> None:
    names = "".join(f"<n{number}/>" for number in range(10_001))
    with pytest.raises(MultistatusError, match="too many names"):
        entries(answer(names))
    found, more = read_multistatus(URL, answer(*(one(f"/docs/{number}") for number in range(40_001))))
    assert (len(found), more) == (40_000, True)


def test_what_was_cut_counts_as_far_as_it_is_whole() -> None:
    body = answer(one("/docs/a"), one("/docs/b"))
    found, more = read_multistatus(URL, body[: body.index(b"/docs/b")], cut=True)
    assert (found, more) == ([Entry("a")], True)
    with pytest.raises(MultistatusError, match="no multistatus"):
        read_multistatus(URL, b"", cut=True)


@given(st.binary(max_size=400), st.sampled_from([b"", b'<multistatus xmlns="DAV:"><response><href>']))
def test_no_bytes_do_more_than_be_refused(noise: bytes, before: bytes) -> None:
    for cut in (False, True):
        try:
            read_multistatus(URL, before + noise, cut=cut)
        except MultistatusError:
            continue


@given(
    st.text(
        st.characters(codec="utf-8", exclude_characters="<&", exclude_categories=["Cc", "Cs"]), max_size=60
    )
)
def test_no_address_leads_out_of_the_folder(href: str) -> None:
    try:
        found = entries(answer(one(href)))
    except MultistatusError:
        return
    names = [entry.name for entry in found if is_name(entry.name)]
    assert all(urljoin(URL, f"./{quote(name)}").startswith(URL) for name in names)
    assert len(found) <= 1


@pytest.mark.parametrize("status", [301, 401, 404, 410, 429, 503])
def test_answers_that_are_true_of_get_as_well_are_the_answer(status: int) -> None:
    asked = _asked(status)
    assert asked == [("PROPFIND", status)]


@pytest.mark.parametrize("status", [200, 400, 403, 405, 415, 501])
def test_others_are_followed_by_get(status: int) -> None:
    assert _asked(status) == [("PROPFIND", status), ("GET", 200)]


def test_a_broken_answer_is_a_failure() -> None:
    class Server:
        async def fetch(self, request: Request, scope: Scope) -> Response | Failure:
            return Response(request.url, 207, body=b"<multistatus")

        async def close(self) -> None: ...

    async def ask(fetch: Fetch) -> None:
        got = await fetch(Request(URL), WEB)
        assert isinstance(got, Failure)
        assert got.kind is FailureKind.PROTOCOL
        assert "what the server says of the folder: not well-formed" in got.detail

    run(lambda: DavFetcher(Server(), lambda _: True), ask)


def _asked(status: int) -> list[tuple[str, int]]:
    said: list[tuple[str, int]] = []

    class Server:
        async def fetch(self, request: Request, scope: Scope) -> Response | Failure:
            assert request.method == "GET" or not (request.etag or request.last_modified)
            said.append((request.method, status if request.method == "PROPFIND" else 200))
            return Response(request.url, said[-1][1])

        async def close(self) -> None: ...

    async def ask(fetch: Fetch) -> None:
        got = await fetch(Request(URL, etag='"1"', last_modified="Tue, 14 Nov 2023 22:13:20 GMT"), WEB)
        assert isinstance(got, Response)
        assert got.status == said[-1][1]

    run(lambda: DavFetcher(Server(), lambda _: True), ask)
    return said
