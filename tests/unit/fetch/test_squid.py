"""A real proxy: squid with Basic authentication, its own configuration and folders, as an unprivileged user."""

import asyncio
import os
import pwd
import shutil
import socket
import ssl
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ingather.fetch.http import HttpFetcher
from ingather.fetch.limits import Limits
from ingather.fetch.proxies.pac import Pac
from ingather.fetch.proxies.routing import Router
from ingather.fetch.proxies.rules import Rule, Rules
from ingather.model.proxies import Proxy, Ways
from ingather.model.resource import Failure, FailureKind, Request, Response
from ingather.model.scope import Scope
from ingather.testing.clock import FakeClock
from ingather.testing.rig import wait_until

if TYPE_CHECKING:
    from tests.unit.fetch.conftest import Lab, Names

SQUID = shutil.which("squid", path="/usr/sbin:/usr/local/sbin:/usr/bin")
OWN_HELPER = """#!/bin/sh
# user password: OK for one of them
while read -r user password; do
  if [ "$user $password" = "robot right%20one" ]; then echo OK; else echo ERR; fi
done
"""

pytestmark = pytest.mark.skipif(SQUID is None, reason="squid is not there (apt-get install squid)")
Reply = Callable[..., bytes]
HERE = Scope("here", addresses=("127.0.0.0/8",))


@pytest.fixture(scope="module")
def squid() -> Iterator[int]:
    """Start squid on a free port of loopback; the port is given."""
    assert SQUID is not None
    folder = Path(tempfile.mkdtemp(prefix="ingather-squid-"))  # where another user gets to, too
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    helper = folder / "helper"
    helper.write_text(OWN_HELPER)
    helper.chmod(0o755)
    config = folder / "squid.conf"
    config.write_text(
        f"http_port 127.0.0.1:{port}\npid_filename none\ncache deny all\ncache_mem 8 MB\ncoredump_dir {folder}\n"
        f"access_log none\ncache_log {folder}/cache.log\ncache_store_log none\nvisible_hostname proxy.test\nnetdb_filename none\n"
        f"auth_param basic program {helper}\nauth_param basic children 1 startup=1\nauth_param basic realm test\n"
        "acl known proxy_auth REQUIRED\nacl refused dstdomain -n refused.example\nhttp_access deny refused\nhttp_access allow known\n"
        "http_access deny all\nshutdown_lifetime 0 seconds\nmax_filedescriptors 256\nworkers 1\n"
        "hosts_file none\ndns_nameservers 127.0.0.1\npinger_enable off\n"
    )
    as_root = os.getuid() == 0
    if as_root:  # squid does not work as root: it is given the folder
        nobody = pwd.getpwnam("nobody")
        for path in (folder, *folder.iterdir()):
            os.chown(path, nobody.pw_uid, nobody.pw_gid)
    with (folder / "said").open("wb") as said:
        process = subprocess.Popen(
            [SQUID, "-N", "-f", str(config)], stdout=said, stderr=said, cwd=folder,
            user="nobody" if as_root else None, group="nogroup" if as_root else None, extra_groups=[] if as_root else None,
        )  # fmt: skip
    try:
        wait_until(lambda: _listens(port) or process.poll() is not None, timeout_s=60)
        if process.poll() is not None:
            log = folder / "cache.log"
            raise AssertionError((folder / "said").read_text() + (log.read_text() if log.exists() else ""))
        yield port
    finally:
        process.kill()
        process.wait(30)
        shutil.rmtree(folder, ignore_errors=True)


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def no_pac(_location: str, _typed: bool) -> Pac:  # noqa: FBT001 - a callback
    raise AssertionError("no PAC file here")


def fetcher(names: "Names", port: int, login: tuple[str, str] | None, certificate: Path) -> HttpFetcher:
    rule = Rule(
        "proxy.url", Ways({"": Proxy("http", "127.0.0.1", port)}), login=lambda _scheme, _proxy: login
    )
    return HttpFetcher(
        Limits(), user_agent="x/1", email="", resolver=names, clock=FakeClock(), ca_file=str(certificate),
        routing=Router(Rules({}, rule), no_pac, FakeClock(), set_aside_s=1.0),
    )  # fmt: skip


def test_http_https_and_passwords(  # noqa: PLR0913, PLR0917 - fixtures
    squid: int, lab: "type[Lab]", reply: Reply, names: "type[Names]", server_tls: ssl.SSLContext, certificate: tuple[Path, Path]
) -> None:  # fmt: skip
    async def main() -> None:
        async with lab({"/": reply(b"plain")}) as plain, lab({"/": reply(b"safe")}, tls=server_tls) as safe:
            right = fetcher(names(), squid, ("robot", "right one"), certificate[0])
            wrong = fetcher(names(), squid, ("robot", "wrong"), certificate[0])
            none = fetcher(names(), squid, None, certificate[0])
            try:
                for server, body in ((plain, b"plain"), (safe, b"safe")):
                    for _ in range(2):
                        got = await right.fetch(Request(server.url("/")), HERE)
                        assert isinstance(got, Response), got
                        assert (got.status, got.body) == (200, body)
                    for refused in (wrong, none):
                        got = await refused.fetch(Request(server.url("/")), HERE)
                        assert isinstance(got, Failure), got
                        assert got.kind is FailureKind.PROXY_LOGIN
                        assert f"proxy http://127.0.0.1:{squid} (proxy.url)" in got.detail
                    assert not any(b"roxy-Auth" in head for head in server.heads)
                got = await right.fetch(Request("https://refused.example/"), Scope("far"))
                assert isinstance(got, Failure)
                assert got.kind is FailureKind.PROXY
                assert "403" in got.detail
            finally:
                for one in (right, wrong, none):
                    await one.close()

    asyncio.run(main())
