"""TLS: verified with the original name, failures typed, relaxed for one source at a time; HTTP/2."""

import asyncio
import shutil
import ssl
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ingather.fetch.limits import Limits
from ingather.model.resource import Failure, FailureKind, Response
from ingather.model.scope import Scope

if TYPE_CHECKING:
    from tests.unit.fetch.conftest import Lab, Names

Reply = Callable[..., bytes]


def test_a_certificate_that_nobody_vouches_for(
    lab: "type[Lab]", reply: Reply, server_tls: ssl.SSLContext, loopback: Scope
) -> None:
    async def main() -> None:
        async with lab({"/": reply(b"x")}, tls=server_tls) as server:
            answer = await server.get("/")
            assert isinstance(answer, Failure)
            assert answer.kind is FailureKind.TLS
            assert "certificate" in answer.detail
            assert not server.heads
            relaxed = await server.get("/", replace(loopback, verify_tls=False))
            assert isinstance(relaxed, Response)
            strict = await server.get("/")
            assert isinstance(strict, Failure)
            assert len(server.heads) == 1

    asyncio.run(main())


def test_a_certificate_is_checked_against_the_name_that_was_asked_for(
    lab: "type[Lab]",
    names: "type[Names]",
    reply: Reply,
    server_tls: ssl.SSLContext,
    certificate: tuple[Path, Path],
) -> None:
    async def main() -> None:
        book = names({"localhost": ["127.0.0.1"], "other.example": ["127.0.0.1"]})
        ca_file = str(certificate[0])
        async with lab({"/": reply(b"x")}, tls=server_tls, ca_file=ca_file, names=book) as server:
            good = await server.get(server.url("/", "localhost"))
            assert isinstance(good, Response)
            assert isinstance(await server.get("/"), Response)
            wrong = await server.get(server.url("/", "other.example"))
            assert isinstance(wrong, Failure)
            assert wrong.kind is FailureKind.TLS

    asyncio.run(main())


def test_a_server_without_tls_is_a_tls_failure(lab: "type[Lab]", reply: Reply) -> None:
    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(reply(b"plain"))
        await writer.drain()
        await reader.read()

    async def main() -> None:
        async with lab(raw=plain) as server:
            answer = await server.get(f"https://127.0.0.1:{server.port}/")
        assert isinstance(answer, Failure)
        assert answer.kind is FailureKind.TLS

    asyncio.run(main())


def test_a_handshake_that_does_not_come(lab: "type[Lab]") -> None:
    async def mute(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await reader.read()

    async def main() -> None:
        async with lab(raw=mute, limits=Limits(tls_s=0.2)) as server:
            answer = await server.get(f"https://127.0.0.1:{server.port}/")
        assert isinstance(answer, Failure)
        assert answer.kind is FailureKind.TLS_TIMEOUT

    asyncio.run(main())


def test_http_2_is_spoken_where_tls_negotiates_it(
    lab: "type[Lab]", certificate: tuple[Path, Path], tmp_path: Path, loopback: Scope
) -> None:
    nginx = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin")
    if nginx is None:
        pytest.skip("nginx is not there to speak HTTP/2 (apt-get install nginx-light)")
    (tmp_path / "page.html").write_text("two")
    socket_path = tmp_path / "s"
    cert, key = certificate
    config = tmp_path / "nginx.conf"
    paths = "".join(
        f"{name}_temp_path {tmp_path}/{name}; "
        for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    config.write_text(
        f"daemon off; master_process off; pid {tmp_path}/pid; error_log stderr; events {{}}\n"
        f"http {{ access_log off; {paths} server {{ listen unix:{socket_path} ssl http2; root {tmp_path};\n"
        f"ssl_certificate {cert}; ssl_certificate_key {key}; }} }}\n"
    )

    async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry bytes between the loopback port and nginx's own socket, which needs no port."""
        inner_reader, inner_writer = await asyncio.open_unix_connection(socket_path)

        async def pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
            while data := await source.read(65536):
                sink.write(data)
                await sink.drain()
            sink.close()

        try:
            await asyncio.gather(pump(reader, inner_writer), pump(inner_reader, writer))
        finally:
            inner_writer.transport.abort()

    async def listens() -> bool:
        """The file of a socket is there before anybody listens behind it."""
        try:
            _, writer = await asyncio.open_unix_connection(socket_path)
        except OSError:
            return False
        writer.transport.abort()
        return True

    async def main() -> None:
        server = await asyncio.create_subprocess_exec(
            nginx, "-p", str(tmp_path), "-c", str(config), stderr=subprocess.DEVNULL
        )
        try:
            async with asyncio.timeout(60):
                while not await listens():
                    assert server.returncode is None
                    await asyncio.sleep(0.01)
            async with lab(raw=relay) as client:
                url = f"https://127.0.0.1:{client.port}/page.html"
                scope = replace(loopback, verify_tls=False)
                answers = [await client.get(url, scope) for _ in range(3)]
                missing = await client.get(url + "x", scope)
        finally:
            server.terminate()
            await server.wait()
        for answer in answers:
            assert isinstance(answer, Response)
            assert (answer.http_version, answer.status, answer.body) == ("2", 200, b"two")
            assert answer.header("content-type")
        assert isinstance(missing, Response)
        assert missing.status == 404

    asyncio.run(main())
