"""Client certificates: nginx believes ours, and no connection that showed one carries a request that should show another or none."""

import asyncio
import os
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ingather.fetch.logins import Basic, Certificate, Login
from ingather.model.resource import Failure, FailureKind, Response
from ingather.testing.running import wait_until

if TYPE_CHECKING:
    from tests.unit.logins.conftest import Aimed, Asked, Host, Told

CONF = """
{user} daemon off; worker_processes 1; pid {run}/pid; error_log {run}/error;
events {{ worker_connections 64; }}
http {{
  access_log off; client_body_temp_path {run}/b; proxy_temp_path {run}/p; fastcgi_temp_path {run}/f; uwsgi_temp_path {run}/u; scgi_temp_path {run}/s;
  server {{
    listen 127.0.0.1:{port} ssl http2; server_name localhost;
    ssl_certificate {papers}/localhost.pem; ssl_certificate_key {papers}/localhost.key;
    ssl_client_certificate {papers}/ca.pem; ssl_verify_client optional;
    location /basic {{ auth_basic x; auth_basic_user_file {run}/users; root {run}/tree; }}
    location / {{ if ($ssl_client_verify != SUCCESS) {{ return 403; }} return 200 $ssl_client_s_dn; }}
  }}
}}
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def answers(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(scope="module")
def nginx(tmp_path_factory: pytest.TempPathFactory, papers: Path) -> Iterator[str]:
    """A real nginx with the certificates; its origin."""
    program = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin")
    if program is None:
        pytest.skip("nginx is not there to show certificates to (apt-get install nginx-light)")
    folder, port = tmp_path_factory.mktemp("nginx"), free_port()
    user = "user root;" if os.geteuid() == 0 else ""  # its workers read below a folder that is ours alone
    (folder / "conf").write_text(CONF.format(run=folder, port=port, papers=papers, user=user))
    (folder / "tree").mkdir()
    (folder / "tree" / "basic").write_text("in")
    (folder / "users").write_text("crawler:{PLAIN}kanari-basic\n")
    folder.chmod(0o755)
    with subprocess.Popen([program, "-c", str(folder / "conf"), "-e", str(folder / "error")]) as process:
        try:
            wait_until(lambda: process.poll() is not None or answers(port))
            assert process.poll() is None, (folder / "error").read_text()
            yield f"https://localhost:{port}"
        finally:
            process.terminate()
            process.wait(60)


def test_nginx_takes_certificate_and_password(
    run: Any, aimed: "type[Aimed]", nginx: str, papers: Path
) -> None:
    logins: dict[str, Login | None] = {
        "here": Certificate(papers / "anna.pem", papers / "anna.key"),
        "closed": Certificate(papers / "bert.pem", papers / "bert.key", "kanari-pass"),
        "wrong": Certificate(papers / "bert.pem", papers / "bert.key", "another"),
        "basic": Basic("crawler", "kanari-basic"),
        "none": None,
    }

    async def main() -> None:
        async with aimed(lambda _, source: logins[source], papers / "ca.pem") as ours:
            said = {}
            for _ in range(2):
                for source in logins:
                    got = await ours.get(f"{nginx}/a", source)
                    said[source] = (got.status, got.body.decode() if isinstance(got, Response) and got.status == 200 else "", isinstance(got, Response) and got.authorized)  # fmt: skip
            assert said["here"] == (200, "CN=anna", True)
            assert said["closed"] == (200, "CN=bert", True)
            assert said["none"] == (403, "", False)
            got = await ours.get(f"{nginx}/a", "wrong")
            assert isinstance(got, Failure)
            assert got.kind in {FailureKind.TLS, FailureKind.INTERNAL}
            assert "another" not in got.detail
            got = await ours.get(f"{nginx}/basic", "basic")
            assert isinstance(got, Response)
            assert (got.status, got.body, got.authorized) == (200, b"in", True)
            assert (await ours.get(f"{nginx}/basic", "none")).status == 401

    run(main())


def test_no_connection_of_one_certificate_carries_what_belongs_to_another(
    run: Any, host: "type[Host]", aimed: "type[Aimed]", papers: Path
) -> None:
    """The host says who opened the connection: mixed at random, each request has to come over one of its own."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(papers / "localhost.pem", papers / "localhost.key")
    tls.load_verify_locations(papers / "ca.pem")
    tls.verify_mode = ssl.CERT_OPTIONAL

    def answer(asked: "Asked") -> "Told":
        shown = asked.state["tls"].getpeercert() or {"subject": (((0, "nobody"),),)}
        return 200, [], str(shown["subject"][0][0][1]).encode()

    logins: dict[str, Login | None] = {
        "anna": Certificate(papers / "anna.pem", papers / "anna.key"),
        "bert": Certificate(papers / "bert.pem", papers / "bert.key", "kanari-pass"),
        "nobody": None,
    }

    async def main() -> None:
        async with (
            host(answer, tls) as there,
            aimed(lambda _, source: logins[source], papers / "ca.pem") as ours,
        ):
            for _ in range(3):
                names = list(logins) * 3
                got = await asyncio.gather(*(ours.get(f"{there.origin}/", name) for name in names))
                assert [one.body.decode() for one in got if isinstance(one, Response)] == names
                for name in logins:
                    one = await ours.get(f"{there.origin}/", name)
                    assert isinstance(one, Response)
                    assert one.body.decode() == name
            before = there.connections
            for name in logins:
                await ours.get(f"{there.origin}/", name)
            assert there.connections == before  # they are kept, each for its own

    run(main())
