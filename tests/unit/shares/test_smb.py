"""smb against Samba: folders and files as over sftp, accounts and guests, encryption, the gate."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
from tests.unit.shares.conftest import Clock, Here, Served, answer, failure, run, scope
from tests.unit.shares.smbd import PASSWORD, smb_server

from ingather.fetch.limits import Limits
from ingather.fetch.shares.account import Account
from ingather.fetch.shares.smb import SmbFetcher
from ingather.model.resource import Failure, FailureKind, Request, Response
from ingather.model.scope import Scope

Fetch = Callable[[Request, Scope], Awaitable[Response | Failure]]
SMB = scope("smb")


@pytest.fixture(scope="module")
def smbd() -> Iterator[Served]:
    with smb_server() as served:
        yield served


def fetcher(
    served: Served, password: str | None = PASSWORD, user: str = "", **parts: Any
) -> Callable[[], SmbFetcher]:
    account = None if password is None else Account(user or served.facts["user"], password)
    return lambda: SmbFetcher(
        Limits(), resolver=Here(), clock=Clock(), account=lambda _url, _source: account,
        type_of=lambda name: "text/plain" if name.endswith(".txt") else None, **parts,
    )  # fmt: skip


def test_folders_and_files(smbd: Served) -> None:
    base = f"smb://localhost:{smbd.port}/docs"

    async def ask(fetch: Fetch) -> None:
        folder = answer(await fetch(Request(f"{base}/pub/"), SMB), 200)
        assert (folder.listing, folder.authorized, folder.address) == (True, True, "127.0.0.1")
        for href in ("./a.txt", "./page.html", "./sub%20dir/"):
            assert f'href="{href}"'.encode() in folder.body
        assert b'".' not in folder.body.replace(b'"./', b"")
        answer(await fetch(Request(folder.url, etag=folder.header("etag")), SMB), 304)
        root = answer(await fetch(Request(f"{base}/"), SMB), 200)
        assert b'href="./empty/"' in root.body
        assert answer(await fetch(Request(f"{base}/empty/"), SMB), 200).body.count(b"<li>") == 0
        got = answer(await fetch(Request(f"{base}/pub/a.txt"), SMB), 200)
        assert (got.body, got.authorized, got.listing) == (b"hello", True, False)
        assert (got.header("content-type"), got.header("content-length")) == ("text/plain", "5")
        assert got.header("last-modified") == "Tue, 14 Nov 2023 22:13:20 GMT"
        answer(await fetch(Request(got.url, etag=got.header("etag")), SMB), 304)
        answer(await fetch(Request(got.url, last_modified=got.header("last-modified")), SMB), 304)
        answer(await fetch(Request(got.url, etag='"1-1"'), SMB), 200)
        assert answer(await fetch(Request(got.url, method="HEAD"), SMB), 200).body == b""
        odd = await fetch(Request(f"{base}/pub/sub%20dir/%C3%A4%3Bb.txt"), SMB)
        assert answer(odd, 200).body == b"umlaut"
        big = answer(await fetch(Request(f"{base}/pub/big.bin"), SMB), 200)
        assert big.body == b"x" * 200_000
        cut = answer(await fetch(Request(big.url, max_wire_bytes=1000, cut=True), SMB), 200)
        assert (cut.body, cut.cut) == (b"x" * 1000, True)
        large = failure(await fetch(Request(big.url, max_wire_bytes=1000), SMB))
        assert large.kind is FailureKind.TOO_LARGE

    run(fetcher(smbd), ask)


def test_what_is_not_there_and_what_is_no_name(smbd: Served) -> None:
    server = f"smb://localhost:{smbd.port}"

    async def ask(fetch: Fetch) -> None:
        async def status(path: str) -> int:
            got = await fetch(Request(f"{server}{path}"), SMB)
            assert isinstance(got, Response), got
            return got.status

        for path in (
            "/docs/nothing", "/docs/nothing/", "/docs/nothing/at/all", "/docs/pub/a.txt/", "/docs/pub/a.txt:stream",
            "/docs/pub/*", "/docs/pub%5Ca.txt", "/docs/%FF", "/IPC$/", "/ipc$/srvsvc",
        ):  # fmt: skip
            assert await status(path) == 404, path
        moved = answer(await fetch(Request(f"{server}/docs/pub"), SMB), 301)
        assert moved.header("location") == f"{server}/docs/pub/"
        assert (
            answer(await fetch(Request(f"{server}/docs"), SMB), 301).header("location") == f"{server}/docs/"
        )
        asked = answer(await fetch(Request(f"{server}/docs/pub/?x=1"), SMB), 301)
        assert asked.header("location") == f"{server}/docs/pub/"
        assert "shares are not listed" in failure(await fetch(Request(f"{server}/"), SMB)).detail
        gone = failure(await fetch(Request(f"{server}/no-share/a"), SMB))
        assert (gone.kind, gone.detail) == (FailureKind.CLOSED, "there is no share no-share now")
        assert failure(await fetch(Request(f"{server}/gone/a"), SMB)).kind is FailureKind.CLOSED
        answer(await fetch(Request(f"{server}/docs/pub/a.txt"), SMB), 200)

    run(fetcher(smbd), ask)


def test_a_wrong_password_nobody_and_a_stranger_are_refused(smbd: Served) -> None:
    url = f"smb://localhost:{smbd.port}/open/a.txt"

    async def ask(fetch: Fetch) -> None:
        answer(await fetch(Request(url), SMB), 401)

    run(fetcher(smbd, "wrong"), ask)
    run(fetcher(smbd, None), ask)
    run(fetcher(smbd, PASSWORD, "somebody-else"), ask)  # Samba would take him for a guest


def test_guests_where_the_source_says_so(smbd: Served) -> None:
    server = f"smb://localhost:{smbd.port}"

    async def ask(fetch: Fetch) -> None:
        got = answer(await fetch(Request(f"{server}/open/a.txt"), SMB), 200)
        assert (got.body, got.authorized) == (b"hello", True)
        answer(await fetch(Request(f"{server}/docs/pub/a.txt"), SMB), 403)

    run(fetcher(smbd, None, guest=lambda source: source == "files"), ask)


def test_a_share_that_wants_encryption(smbd: Served) -> None:
    async def ask(fetch: Fetch) -> None:
        got = answer(await fetch(Request(f"smb://localhost:{smbd.port}/closed/a.txt"), SMB), 200)
        assert got.body == b"hello"

    run(fetcher(smbd), ask)


def test_a_file_that_changes_has_another_validator(smbd: Served) -> None:
    path = smbd.folder / "changing.txt"
    path.write_text("one")
    os.utime(path, (1_700_000_000, 1_700_000_000))
    url = f"smb://localhost:{smbd.port}/docs/changing.txt"

    async def ask(fetch: Fetch) -> None:
        first = answer(await fetch(Request(url), SMB), 200)
        os.utime(path, (1_700_000_000, 1_700_000_001))
        second = answer(await fetch(Request(url, etag=first.header("etag")), SMB), 200)
        assert second.header("etag") != first.header("etag")
        path.write_text("two")
        fresh = answer(await fetch(Request(url, etag=second.header("etag")), SMB), 200)
        assert fresh.body == b"two"

    run(fetcher(smbd), ask)


def test_the_gate_stands_before_it(smbd: Served) -> None:
    async def ask(fetch: Fetch) -> None:
        url = f"smb://localhost:{smbd.port}/docs/pub/a.txt"
        closed = failure(await fetch(Request(url), Scope(source="files", schemes=frozenset({"smb"}))))
        assert closed.kind is FailureKind.EGRESS
        assert failure(await fetch(Request(url), scope("http"))).kind is FailureKind.EGRESS
        own = failure(await fetch(Request(url.replace("localhost", "127.0.0.1")), SMB))
        assert own.kind is FailureKind.EGRESS
        assert failure(await fetch(Request(url, method="PROPFIND"), SMB)).kind is FailureKind.PROTOCOL

    run(fetcher(smbd, own_ports=[("127.0.0.1", smbd.port)]), ask)


@pytest.mark.parametrize(
    "more", ["server max protocol = SMB2_02", "server max protocol = SMB2_10", "server max protocol = SMB3_00", "server smb encrypt = required"]
)  # fmt: skip
def test_older_dialects_and_a_server_that_encrypts_all(more: str) -> None:
    async def ask(fetch: Fetch) -> None:
        base = f"smb://localhost:{served.port}/docs/pub"
        assert answer(await fetch(Request(f"{base}/"), SMB), 200).listing
        assert answer(await fetch(Request(f"{base}/big.bin"), SMB), 200).body == b"x" * 200_000

    with smb_server(more) as served:
        run(fetcher(served), ask)


def test_a_connection_is_kept_and_replaced_when_it_has_ended(smbd: Served) -> None:
    url = f"smb://localhost:{smbd.port}/docs/pub/a.txt"

    async def main() -> None:
        asked = fetcher(smbd)()
        try:
            answer(await asked.fetch(Request(url), SMB), 200)
            first = next(iter(asked._idle))
            answer(await asked.fetch(Request(url), SMB), 200)
            assert list(asked._idle) == [first]
            asked._idle[first][2].cancel()
            answer(await asked.fetch(Request(url), SMB), 200)
            others = Scope(source="others", schemes=frozenset({"smb"}), addresses=("127.0.0.0/8",))
            answer(await asked.fetch(Request(url), others), 200)
            assert len(asked._idle) == 2  # a source's connection is its own
        finally:
            await asked.close()
        with pytest.raises(RuntimeError, match="closed"):
            await asked.fetch(Request(url), SMB)

    asyncio.run(main())
