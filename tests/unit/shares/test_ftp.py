"""ftp and ftps against vsftpd: folders, files, what is unchanged, what is not there, TLS, who connects to whom."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.unit.shares.conftest import Clock, Here, Served, answer, failure, run, scope

from ingather.fetch.limits import Limits
from ingather.fetch.shares.ftp import FtpFetcher, FtpReach
from ingather.model.resource import Failure, FailureKind, Request, Response
from ingather.model.scope import Scope

Fetch = Callable[[Request, Scope], Awaitable[Response | Failure]]
FTP = scope("ftp", "ftps")


def fetcher(**parts: Any) -> FtpFetcher:
    types = {"txt": "text/plain", "html": "text/html"}
    return FtpFetcher(
        parts.pop("limits", Limits()), resolver=Here(), clock=Clock(), email="robot@company.example",
        type_of=lambda name: types.get(name.rpartition(".")[2]), **parts,
    )  # fmt: skip


def test_a_folder_is_a_page_of_links(vsftpd: Served) -> None:
    async def ask(fetch: Fetch) -> None:
        got = answer(await fetch(Request(f"ftp://localhost:{vsftpd.port}/pub/"), FTP), 200)
        assert got.listing
        assert not got.authorized
        assert got.header("content-type") == "text/html; charset=utf-8"
        for href in ("./a.txt", "./page.html", "./sub%20dir/"):
            assert f'href="{href}"'.encode() in got.body
        assert b"passwd" not in got.body
        assert b"link" not in got.body  # a symbolic link
        again = await fetch(Request(got.url, etag=got.header("etag")), FTP)
        assert answer(again, 304).listing
        empty = answer(await fetch(Request(f"ftp://localhost:{vsftpd.port}/empty/"), FTP), 200)
        assert b"<a " not in empty.body
        odd = answer(await fetch(Request(f"ftp://localhost:{vsftpd.port}/pub/sub%20dir/"), FTP), 200)
        assert b'href="./%C3%A4%3Bb.txt"' in odd.body

    run(fetcher, ask)


def test_a_file_comes_with_size_date_and_type(vsftpd: Served) -> None:
    async def ask(fetch: Fetch) -> None:
        got = answer(await fetch(Request(f"ftp://localhost:{vsftpd.port}/pub/a.txt"), FTP), 200)
        assert (got.body, got.listing, got.address) == (b"hello", False, "127.0.0.1")
        assert got.header("content-type") == "text/plain"
        assert got.header("content-length") == "5"
        assert got.header("last-modified") == "Tue, 14 Nov 2023 22:13:20 GMT"
        same = await fetch(Request(got.url, etag=got.header("etag")), FTP)
        assert answer(same, 304).header("etag") == got.header("etag")
        dated = await fetch(Request(got.url, last_modified=got.header("last-modified")), FTP)
        answer(dated, 304)
        older = await fetch(Request(got.url, etag='"5-1"'), FTP)
        assert answer(older, 200).body == b"hello"
        head = answer(await fetch(Request(got.url, method="HEAD"), FTP), 200)
        assert (head.body, head.header("content-length")) == (b"", "5")
        odd = await fetch(Request(f"ftp://localhost:{vsftpd.port}/pub/sub%20dir/%C3%A4%3Bb.txt"), FTP)
        assert answer(odd, 200).body == b"umlaut"

    run(fetcher, ask)


def test_what_is_not_there_and_what_is_a_folder_after_all(vsftpd: Served) -> None:
    base = f"ftp://localhost:{vsftpd.port}"

    async def ask(fetch: Fetch) -> None:
        answer(await fetch(Request(f"{base}/pub/nothing.txt"), FTP), 404)
        answer(await fetch(Request(f"{base}/nothing/"), FTP), 404)
        answer(await fetch(Request(f"{base}/nothing.txt", etag='"1-1"'), FTP), 404)
        moved = answer(await fetch(Request(f"{base}/pub"), FTP), 301)
        assert moved.header("location") == f"{base}/pub/"
        asked = answer(await fetch(Request(f"{base}/pub/a.txt?b=c"), FTP), 301)
        assert asked.header("location") == f"{base}/pub/a.txt"

    run(fetcher, ask)


def test_limits_and_refusals(vsftpd: Served) -> None:
    base = f"ftp://localhost:{vsftpd.port}"

    async def ask(fetch: Fetch) -> None:
        large = failure(await fetch(Request(f"{base}/pub/big.bin", max_wire_bytes=1000), FTP))
        assert large.kind is FailureKind.TOO_LARGE
        cut = answer(await fetch(Request(f"{base}/pub/big.bin", max_wire_bytes=1000, cut=True), FTP), 200)
        assert (len(cut.body), cut.cut) == (1000, True)
        whole = answer(await fetch(Request(f"{base}/pub/big.bin"), FTP), 200)
        assert len(whole.body) == 200_000
        for bad in ("/pub/a%0d%0aDELE%20x", "/%2Fetc/passwd", "/pub/%00"):
            assert failure(await fetch(Request(base + bad), FTP)).kind is FailureKind.PROTOCOL
        elsewhere = scope("http")
        assert failure(await fetch(Request(f"{base}/"), elsewhere)).kind is FailureKind.EGRESS
        private = Scope(source="files", schemes=frozenset({"ftp"}))
        assert failure(await fetch(Request(f"{base}/"), private)).kind is FailureKind.EGRESS
        unknown = await fetch(Request("ftp://nowhere.example/"), FTP)
        assert failure(unknown).kind is FailureKind.DNS

    run(fetcher, ask)


def test_the_server_may_connect_to_us(vsftpd: Served) -> None:
    async def ask(fetch: Fetch) -> None:
        got = answer(await fetch(Request(f"ftp://localhost:{vsftpd.port}/pub/a.txt"), FTP), 200)
        assert got.body == b"hello"
        assert answer(await fetch(Request(f"ftp://localhost:{vsftpd.port}/pub/"), FTP), 200).listing

    run(lambda: fetcher(reach=lambda _: FtpReach(active=True)), ask)
    said = Path(vsftpd.facts["log"]).read_text()
    assert '"EPRT' in said or '"PORT' in said


def test_an_anonymous_password_is_the_operators_address(vsftpd: Served) -> None:
    async def ask(fetch: Fetch) -> None:
        answer(await fetch(Request(f"ftp://localhost:{vsftpd.port}/"), FTP), 200)

    run(fetcher, ask)
    assert 'anon password "robot@company.example"' in Path(vsftpd.facts["log"]).read_text()


@pytest.mark.parametrize("server", ["vsftpd_tls", "vsftpd_implicit"])
def test_tls_is_verified_with_the_name_that_was_asked_for(
    server: str, certificate: tuple[Path, Path], request: pytest.FixtureRequest
) -> None:
    served: Served = request.getfixturevalue(server)
    reach = FtpReach(implicit=server == "vsftpd_implicit")

    async def good(fetch: Fetch) -> None:
        got = await fetch(Request(f"ftps://localhost:{served.port}/pub/a.txt"), FTP)
        assert answer(got, 200).body == b"hello"
        assert answer(await fetch(Request(f"ftps://localhost:{served.port}/pub/"), FTP), 200).listing
        named = await fetch(Request(f"ftps://other.example:{served.port}/"), FTP)
        assert failure(named).kind is FailureKind.TLS

    async def strange(fetch: Fetch) -> None:
        got = await fetch(Request(f"ftps://localhost:{served.port}/pub/a.txt"), FTP)
        assert failure(got).kind is FailureKind.TLS
        lax = scope("ftps", verify_tls=False)
        answer(await fetch(Request(f"ftps://localhost:{served.port}/pub/a.txt"), lax), 200)

    run(lambda: fetcher(reach=lambda _: reach, ca_file=str(certificate[0])), good)
    run(lambda: fetcher(reach=lambda _: reach), strange)


def test_a_server_without_tls_gets_no_password(vsftpd: Served) -> None:
    async def ask(fetch: Fetch) -> None:
        got = failure(await fetch(Request(f"ftps://localhost:{vsftpd.port}/"), FTP))
        assert got.kind is FailureKind.TLS

    run(fetcher, ask)
