"""sftp against openssh: folders and files as over ftp, accounts with keys, and host keys that nobody vouched for."""

import base64
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.unit.shares.conftest import Clock, Here, Served, answer, failure, run, scope

from ingather.fetch.limits import Limits
from ingather.fetch.shares.account import Account
from ingather.fetch.shares.sftp import SftpFetcher, SftpReach
from ingather.fetch.shares.ssh_hosts import fingerprint, is_fingerprinted, is_known
from ingather.model.resource import Failure, FailureKind, Request, Response
from ingather.model.scope import Scope

Fetch = Callable[[Request, Scope], Awaitable[Response | Failure]]
SFTP = scope("sftp")
KEY = b"\x00\x00\x00\x0bssh-ed25519" + b"k" * 32


def fetcher(served: Served, reach: SftpReach | None = None, **parts: Any) -> Callable[[], SftpFetcher]:
    account = Account(served.facts["user"], key_file=served.facts["key"])
    believed = reach or SftpReach(host_keys=(f"localhost {served.facts['fingerprint']}",))
    parts.setdefault("account", lambda _url, _source: account)
    return lambda: SftpFetcher(
        Limits(), resolver=Here(), clock=Clock(), reach=lambda _: believed,
        type_of=lambda name: "text/plain" if name.endswith(".txt") else None, **parts,
    )  # fmt: skip


def test_folders_and_files(sshd: Served) -> None:
    base = f"sftp://localhost:{sshd.port}{sshd.folder}"

    async def ask(fetch: Fetch) -> None:
        folder = answer(await fetch(Request(f"{base}/pub/"), SFTP), 200)
        assert folder.listing
        assert folder.authorized
        for href in ("./a.txt", "./page.html", "./sub%20dir/"):
            assert f'href="{href}"'.encode() in folder.body
        assert b"link" not in folder.body
        assert b'".' not in folder.body.replace(b'"./', b"")
        answer(await fetch(Request(folder.url, etag=folder.header("etag")), SFTP), 304)
        got = answer(await fetch(Request(f"{base}/pub/a.txt"), SFTP), 200)
        assert (got.body, got.authorized) == (b"hello", True)
        assert (got.header("content-type"), got.header("content-length")) == ("text/plain", "5")
        assert got.header("last-modified") == "Tue, 14 Nov 2023 22:13:20 GMT"
        answer(await fetch(Request(got.url, etag=got.header("etag")), SFTP), 304)
        answer(await fetch(Request(got.url, last_modified=got.header("last-modified")), SFTP), 304)
        answer(await fetch(Request(got.url, etag='"1-1"'), SFTP), 200)
        odd = await fetch(Request(f"{base}/pub/sub%20dir/%C3%A4%3Bb.txt"), SFTP)
        assert answer(odd, 200).body == b"umlaut"
        answer(await fetch(Request(f"{base}/pub/nothing"), SFTP), 404)
        answer(await fetch(Request(f"{base}/nothing/"), SFTP), 404)
        assert answer(await fetch(Request(f"{base}/pub"), SFTP), 301).header("location") == f"{base}/pub/"
        large = failure(await fetch(Request(f"{base}/pub/big.bin", max_wire_bytes=1000), SFTP))
        assert large.kind is FailureKind.TOO_LARGE

    run(fetcher(sshd), ask)


def test_a_host_key_that_nobody_vouched_for_is_refused_and_named(sshd: Served) -> None:
    url = f"sftp://localhost:{sshd.port}{sshd.folder}/pub/a.txt"

    async def ask(fetch: Fetch) -> None:
        got = failure(await fetch(Request(url), SFTP))
        assert got.kind is FailureKind.TLS
        assert f'host-keys = ["localhost {sshd.facts["fingerprint"]}"] into [source.files]' in got.detail

    run(fetcher(sshd, SftpReach()), ask)
    run(fetcher(sshd, SftpReach(host_keys=(f"other.example {sshd.facts['fingerprint']}",))), ask)
    run(fetcher(sshd, SftpReach(host_keys=(fingerprint(KEY),))), ask)
    run(fetcher(sshd, SftpReach(known_hosts="/nowhere/known_hosts")), ask)


def test_a_known_hosts_file_vouches(sshd: Served, tmp_path: Path) -> None:
    path = tmp_path / "known_hosts"
    path.write_text(f"# ours\n[localhost]:{sshd.port} {sshd.facts['host-key']}\n")

    async def ask(fetch: Fetch) -> None:
        answer(await fetch(Request(f"sftp://localhost:{sshd.port}{sshd.folder}/pub/"), SFTP), 200)

    run(fetcher(sshd, SftpReach(known_hosts=str(path))), ask)


def test_who_has_no_account_or_the_wrong_key_is_not_let_in(sshd: Served) -> None:
    url = f"sftp://localhost:{sshd.port}{sshd.folder}/pub/a.txt"

    async def ask(fetch: Fetch) -> None:
        answer(await fetch(Request(url), SFTP), 401)

    wrong = Account(sshd.facts["user"], key_file=sshd.facts["other-key"])
    run(fetcher(sshd, account=lambda _url, _source: wrong), ask)
    run(fetcher(sshd, account=lambda _url, _source: None), ask)
    missing = replace(wrong, key_file="/nowhere/key")
    run(fetcher(sshd, account=lambda _url, _source: missing), ask)
    password = Account(sshd.facts["user"], "no password helps here")
    run(fetcher(sshd, account=lambda _url, _source: password), ask)


@pytest.mark.parametrize(
    ("line", "host", "port", "known"),
    [
        ("files.example ssh-ed25519 {key}", "files.example", 22, True),
        ("FILES.example ssh-ed25519 {key} comment", "files.example", 22, True),
        ("files.example ssh-ed25519 {key}", "files.example", 2222, False),
        ("[files.example]:2222 ssh-ed25519 {key}", "files.example", 2222, True),
        ("*.example,!bad.example ssh-ed25519 {key}", "files.example", 22, True),
        ("*.example,!bad.example ssh-ed25519 {key}", "bad.example", 22, False),
        ("files.example ssh-ed25519 {other}", "files.example", 22, False),
        ("@cert-authority files.example ssh-ed25519 {key}", "files.example", 22, False),
        ("files.example ssh-ed25519 {key}\n@revoked * ssh-ed25519 {key}", "files.example", 22, False),
        # ssh-keygen -H of "files.example"
        ("|1|AAAAAAAAAAAAAAAAAAAAAAAAAAA=|{hash} ssh-ed25519 {key}", "files.example", 22, True),
        ("|1|AAAAAAAAAAAAAAAAAAAAAAAAAAA=|{hash} ssh-ed25519 {key}", "other.example", 22, False),
        ("files.example ssh-ed25519", "files.example", 22, False),
        ("files.example ssh-ed25519 !!!", "files.example", 22, False),
        ("", "files.example", 22, False),
    ],
)
def test_known_hosts_are_read_as_openssh_does(line: str, host: str, port: int, *, known: bool) -> None:
    text = line.format(
        key=base64.b64encode(KEY).decode(),
        other=base64.b64encode(KEY + b"x").decode(),
        hash="9P/yUvWTvekbe4menooJ5N896r4=",
    )
    assert is_known(host, port, KEY, text) is known


def test_fingerprints_are_for_all_hosts_or_for_one() -> None:
    shown = fingerprint(KEY)
    assert shown.startswith("SHA256:")
    assert is_fingerprinted("h", KEY, [shown])
    assert is_fingerprinted("h", KEY, [f"H {shown}="])
    assert not is_fingerprinted("h", KEY, [f"other {shown}"])
    assert not is_fingerprinted("h", KEY + b"x", [shown])
