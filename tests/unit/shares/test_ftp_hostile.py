"""ftp servers that lie, refuse or break off: nobody else is connected to, and every end has its name."""

import asyncio
import shutil
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.unit.shares.conftest import Clock, Here, answer, failure, run, scope
from tests.unit.shares.ftpd import Ftpd, Script

from ingather.app.reaching.ledger import FileLedger
from ingather.fetch.limits import Limits
from ingather.fetch.logins import Guard
from ingather.fetch.logins.through import Through
from ingather.fetch.shares.account import Account
from ingather.fetch.shares.ftp import FtpFetcher
from ingather.model.resource import Failure, FailureKind, Request, Response
from ingather.model.scope import Scope
from ingather.testing.running import wait_until

Fetch = Callable[[Request, Scope], Awaitable[Response | Failure]]
FTP = scope("ftp")
ROOT = b"type=file;size=5; a.txt\r\ntype=dir; sub\r\n"


def fetcher(**parts: Any) -> FtpFetcher:
    return FtpFetcher(parts.pop("limits", Limits()), resolver=Here(), clock=Clock(), **parts)


def script(**facts: Any) -> Script:
    return Script(folders={"/": ROOT, "/sub/": b""}, files={"/a.txt": b"hello"}, **facts)


def test_an_account_is_used_and_its_documents_are_not_for_everybody() -> None:
    account = Account("ann", "s3cret")
    with Ftpd(script(account=("ann", "s3cret"))) as server:
        base = f"ftp://localhost:{server.port}"

        async def let_in(fetch: Fetch) -> None:
            got = answer(await fetch(Request(f"{base}/a.txt"), FTP), 200)
            assert (got.body, got.authorized) == (b"hello", True)
            folder = answer(await fetch(Request(f"{base}/"), FTP), 200)
            assert folder.authorized
            assert b"./sub/" in folder.body

        async def kept_out(fetch: Fetch) -> None:
            answer(await fetch(Request(f"{base}/a.txt"), FTP), 401)

        run(
            lambda: fetcher(account=lambda url, source: account if (url, source) != ("", "") else None),
            let_in,
        )
        run(fetcher, kept_out)
        assert server.commands.count("PASS s3cret") == 1  # one connection for both requests
        assert "PASS anonymous@" in server.commands


def test_a_password_that_is_refused_is_in_no_answer() -> None:
    with Ftpd(script(account=("ann", "other"))) as server:

        async def ask(fetch: Fetch) -> None:
            got = await fetch(Request(f"ftp://localhost:{server.port}/a.txt"), FTP)
            assert "s3cret" not in repr(answer(got, 401))

        run(lambda: fetcher(account=lambda *_: Account("ann", "s3cret")), ask)


def test_a_refused_account_is_suspended_before_it_is_locked(tmp_path: Path) -> None:
    """Refusals are counted over all requests and processes; what the server takes clears the count."""

    def ledger() -> FileLedger:
        return FileLedger(tmp_path, "mirror", "mark", 2, wall=time.time, monotonic=time.monotonic)

    def made(password: str) -> FtpFetcher:
        guard = Guard("mirror", Through(), ledger())
        return fetcher(account=lambda *_: Account("ann", password), guard=lambda *_: guard)

    with Ftpd(script(account=("ann", "right"))) as server:
        url = f"ftp://localhost:{server.port}/a.txt"

        async def refused(fetch: Fetch) -> None:
            for _ in range(5):
                assert failure(await fetch(Request(url), FTP)).kind is FailureKind.AUTH

        run(lambda: made("wrong"), refused)
        assert 1 <= server.commands.count("PASS wrong") <= 2
        run(lambda: made("right"), refused)
        assert "PASS right" not in server.commands  # held back, whatever it is

        async def robots(fetch: Fetch) -> None:
            answer(
                await fetch(Request(f"ftp://localhost:{server.port}/robots.txt"), FTP), 401
            )  # asked anonymously

        run(lambda: made("right"), robots)
        shutil.rmtree(tmp_path)
        tmp_path.mkdir()

        async def taken(fetch: Fetch) -> None:
            assert answer(await fetch(Request(url), FTP), 200).authorized

        run(lambda: made("right"), taken)


def test_a_passive_answer_with_another_address_is_not_believed() -> None:
    with Ftpd(script(passive="192,0,2,1", epsv=False)) as server:

        async def ask(fetch: Fetch) -> None:
            got = answer(await fetch(Request(f"ftp://localhost:{server.port}/a.txt"), FTP), 200)
            assert (got.body, got.address) == (b"hello", "127.0.0.1")

        run(fetcher, ask)


def test_data_never_come_from_a_listener_of_ours() -> None:
    """The gate is asked about the data connection's port as well."""

    class Listeners(list[tuple[str, int]]):
        control = 0

        def __iter__(self) -> Any:
            return iter([("127.0.0.1", port) for port in range(1024, 65536) if port != self.control])

        def __len__(self) -> int:
            return 1

    with Ftpd(script()) as server:
        ours = Listeners()
        ours.control = server.port

        async def ask(fetch: Fetch) -> None:
            got = failure(await fetch(Request(f"ftp://localhost:{server.port}/a.txt"), FTP))
            assert got.kind is FailureKind.EGRESS
            assert "listener of Ingather itself" in got.detail

        run(lambda: fetcher(own_ports=ours), ask)
        assert not any(command.startswith("RETR") for command in server.commands)


@pytest.mark.parametrize("mlsd", [True, False])
def test_listings_in_both_forms(*, mlsd: bool) -> None:
    listed = (
        ROOT if mlsd else b"-rw-r--r-- 1 0 0 5 Nov 22 13:15 a.txt\r\ndrwxr-xr-x 1 0 0 5 Nov 22 13:15 sub\r\n"
    )
    with Ftpd(Script(folders={"/": listed, "/sub/": listed}, mlsd=mlsd)) as server:

        async def ask(fetch: Fetch) -> None:
            for path in ("/", "/sub/"):
                got = answer(await fetch(Request(f"ftp://localhost:{server.port}{path}"), FTP), 200)
                assert b"./a.txt" in got.body
                assert b"./sub/" in got.body

        run(fetcher, ask)
        assert server.commands.count("MLSD") == (2 if mlsd else 1)  # what it does not know is asked once
        assert server.commands.count("LIST") == (0 if mlsd else 2)


def test_a_listing_beyond_the_limit_is_cut_and_says_so() -> None:
    listed = b"".join(b"type=file; %06d\r\n" % number for number in range(2000))
    with Ftpd(Script(folders={"/": listed})) as server:

        async def ask(fetch: Fetch) -> None:
            got = await fetch(Request(f"ftp://localhost:{server.port}/", max_wire_bytes=5000), FTP)
            cut = answer(got, 200)
            assert cut.cut
            assert b"./000000" in cut.body
            assert b"./001999" not in cut.body

        run(fetcher, ask)


def test_refusals_by_their_words() -> None:
    for refusal, status in (
        ("550 no such file", 404),
        ("550 Permission denied.", 403),
        ("550 a.txt: No such file or permission denied", 404),
        ("553 not found", 404),
    ):
        with Ftpd(Script(folders={"/": b""}, refusal=refusal)) as server:

            async def ask(fetch: Fetch, port: int = server.port, status: int = status) -> None:
                answer(await fetch(Request(f"ftp://localhost:{port}/gone.txt"), FTP), status)

            run(fetcher, ask)


def test_a_server_that_has_no_room_is_left_alone() -> None:
    with Ftpd(Script(greeting="421 too many users")) as server:

        async def ask(fetch: Fetch) -> None:
            got = failure(await fetch(Request(f"ftp://localhost:{server.port}/"), FTP))
            assert got.kind is FailureKind.CONNECT
            assert "too many users" in got.detail

        run(fetcher, ask)


@pytest.mark.parametrize("greeting", ["HTTP/1.1 400 Bad Request", "", "220-and so on"])
def test_who_does_not_speak_ftp_holds_nobody(greeting: str) -> None:
    short = Limits(connect_s=0.2, tls_s=0.2, first_byte_s=1, total_s=2)
    with Ftpd(Script(greeting=greeting)) as server:

        async def ask(fetch: Fetch) -> None:
            got = failure(await fetch(Request(f"ftp://localhost:{server.port}/"), FTP))
            assert got.kind in {FailureKind.CONNECT_TIMEOUT, FailureKind.PROTOCOL}

        run(lambda: fetcher(limits=short), ask)
        port = server.port

    async def gone(fetch: Fetch) -> None:
        assert failure(await fetch(Request(f"ftp://localhost:{port}/"), FTP)).kind is FailureKind.CONNECT

    run(fetcher, gone)


def test_a_call_that_is_cancelled_ends_its_connection() -> None:
    with Ftpd(Script(greeting="220-and")) as server:  # a greeting that never ends

        async def main() -> None:
            made = fetcher()
            asked = asyncio.create_task(made.fetch(Request(f"ftp://localhost:{server.port}/"), FTP))
            await asyncio.to_thread(wait_until, lambda: server._open)
            asked.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asked
            await made.close()

        asyncio.run(main())
