"""Credentials of HOME/credentials.toml: which URL gets which, that no other gets any, and that nothing shows them."""

import asyncio
from base64 import b64encode
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingather.app.credentials import FILE, Credential, CredentialFile, read_credentials
from ingather.errors import UsageError
from ingather.fetch.redirects import follow
from ingather.model.resource import Request, Response
from ingather.model.scope import Scope
from ingather.testing.clock import FakeClock

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.unit.fetch.conftest import Lab

CANARY = "canary-9d41-ä"


def written(home: Path, text: str, *, mode: int = 0o600) -> Path:
    path = home / FILE
    path.write_text(text, encoding="utf-8")
    path.chmod(mode)
    return home


ENTRY = (
    f'[[credential]]\nurl = "https://Intranet.example:443/reports"\nuser = "crawler"\npassword = "{CANARY}"\n'
)


def test_an_entry_is_for_the_urls_that_begin_so(tmp_path: Path) -> None:
    text = f'{ENTRY}domain = "CORP"\n[[credential]]\nurl = "https://intranet.example/"\nuser = "all"\npassword = "x"\n'
    found = CredentialFile(written(tmp_path, text), FakeClock().monotonic)
    special = found.find("https://intranet.example/reports/1?x", "web")
    general = found.find("https://intranet.example/other", "web")
    assert special is not None
    assert general is not None
    assert (special.user, general.user) == ("CORP\\crawler", "all")
    assert special.header() == b"Authorization: Basic " + b64encode(f"CORP\\crawler:{CANARY}".encode())
    for url in ("http://intranet.example/reports/1", "https://intranet.example:8443/reports", "https://intranet.example.evil.org/", "https://x.intranet.example/reports"):  # fmt: skip
        assert found.header(url, "web") is None, url


def test_an_entry_may_be_for_some_sources_alone(tmp_path: Path) -> None:
    found = CredentialFile(written(tmp_path, ENTRY + 'sources = ["wiki"]\n'), FakeClock().monotonic)
    assert found.find("https://intranet.example/reports", "wiki") is not None
    assert found.find("https://intranet.example/reports", "web") is None


def test_a_change_counts_and_a_file_that_others_may_read_gives_nothing(tmp_path: Path) -> None:
    clock = FakeClock()
    found = CredentialFile(tmp_path, clock.monotonic)
    url = "https://intranet.example/reports/"
    assert found.find(url, "web") is None
    written(tmp_path, ENTRY)
    clock.advance(3)
    assert found.find(url, "web") is not None
    (tmp_path / FILE).chmod(0o640)
    clock.advance(3)
    assert found.find(url, "web") is None
    (tmp_path / FILE).chmod(0o600)
    clock.advance(3)
    assert found.find(url, "web") is not None
    (tmp_path / FILE).unlink()
    clock.advance(3)
    assert found.find(url, "web") is None


def test_a_password_may_lie_in_a_file_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(CANARY + "\n", encoding="utf-8")
    (tmp_path / "secret").chmod(0o600)
    home = written(
        tmp_path, '[[credential]]\nurl = "http://h.example/"\nuser = "u"\npassword-file = "secret"\n'
    )
    assert read_credentials(home)[0].password == CANARY


@pytest.mark.parametrize(
    "text",
    [
        f'[[credential]]\nurl = "https://h/"\nuser = "u"\npassword = "{CANARY}',
        f'[[credential]]\nurl = "https://h/"\nuser = "u"\npasswort = "{CANARY}"',
        f'[[credential]]\nurl = "https://h/"\npassword = "{CANARY}"',
        f'[[credential]]\nurl = "https://h/"\nuser = "a:b"\npassword = "{CANARY}"',
        f'[[credential]]\nurl = "https://h/"\nuser = "u"\npassword = "{CANARY}\\nX-Evil: 1"',
        f'[[credential]]\nurl = "https://h/"\nuser = "u"\npassword = "{CANARY}"\npassword-file = "x"',
        f'[[credential]]\nurl = "ftp://h/"\nuser = "u"\npassword = "{CANARY}"',
        f'[[credential]]\nurl = "/reports"\nuser = "u"\npassword = "{CANARY}"',
        f'[[credential]]\nurl = "*"\nuser = "u"\npassword = "{CANARY}"',
        f'[[credential]]\nurl = "https://u:{CANARY}@h/"\nuser = "u"\npassword = "x"',
        f'[[credential]]\nurl = "https://h/"\nuser = "u"\npassword = "{CANARY}"\nsources = "web"',
        f'[credential]\nurl = "https://h/"\nuser = "u"\npassword = "{CANARY}"',
        f'password = "{CANARY}"',
    ],
)
def test_what_is_wrong_is_said_without_the_password(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_credentials(written(tmp_path, text))
    assert "canary" not in str(caught.value)
    assert FILE in str(caught.value)


def test_no_repr_shows_a_password() -> None:
    assert "canary" not in repr(Credential("https://h/", "u", CANARY))


@given(
    st.sampled_from(["http", "https"]), st.sampled_from(["h.example", "H.example", "h.example.", "hh.example", "h.example.org", "u@h.example"]),
    st.sampled_from(["", ":443", ":80", ":8443"]), st.text(st.sampled_from("/.a?%2e\\#"), max_size=8),
)  # fmt: skip
def test_nothing_goes_to_another_origin(scheme: str, host: str, port: str, path: str) -> None:
    url = f"{scheme}://{host}{port}/{path}"
    if Credential("https://h.example/", "u", "p").fits(url, "web"):
        parts = urlsplit(url)
        assert (parts.scheme, parts.hostname, parts.port or 443) == ("https", "h.example", 443)


def test_credentials_are_sent_to_their_urls_and_not_along_with_a_redirect(
    lab: "type[Lab]", reply: "Callable[..., bytes]", loopback: Scope
) -> None:
    async def main() -> None:
        async with lab() as other, lab() as server:
            entry = Credential(f"http://127.0.0.1:{server.port}/in/", "crawler", CANARY)
            server.fetcher._authorization = lambda url, source: (
                entry.header() if entry.fits(url, source) else None
            )
            server.routes["/in/1"] = reply(
                b"", f"Location: http://127.0.0.1:{other.port}/in/2", status="302 Found"
            )
            server.routes["/out"] = reply(b"open")
            server.routes["/in/3"] = reply(b"closed")
            other.routes["/in/2"] = reply(b"there")
            base = f"http://127.0.0.1:{server.port}"
            followed = await follow(server.fetcher, Request(f"{base}/in/1"), loopback)
            out = await server.fetcher.fetch(Request(f"{base}/out"), loopback)
            closed = await server.fetcher.fetch(Request(f"{base}/in/3", etag='"1"'), loopback)
        assert isinstance(followed.result, Response)
        assert isinstance(out, Response)
        assert isinstance(closed, Response)
        assert (followed.result.authorized, out.authorized, closed.authorized) == (False, False, True)
        sent = [b"authorization: basic" in head.lower() for head in server.heads]
        assert sent == [True, False, True]
        assert b"authorization" not in other.heads[0].lower()

    asyncio.run(main())


def test_a_source_may_have_a_user_agent_of_its_own(
    lab: "type[Lab]", reply: "Callable[..., bytes]", loopback: Scope
) -> None:
    async def main() -> None:
        async with lab() as server:
            server.routes["/"] = reply(b"x")
            url = f"http://127.0.0.1:{server.port}/"
            for agent in ("", "gsa-crawler (Enterprise)", ""):
                await server.fetcher.fetch(Request(url), replace(loopback, user_agent=agent))
        said = [
            line
            for head in server.heads
            for line in head.split(b"\r\n")
            if line.lower().startswith(b"user-agent")
        ]
        assert [line.split(b": ")[1].split(b"/")[0] for line in said] == [
            b"Ingather",
            b"gsa-crawler (Enterprise)",
            b"Ingather",
        ]

    asyncio.run(main())
