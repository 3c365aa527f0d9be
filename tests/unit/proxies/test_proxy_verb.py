"""ingather proxy test; credentials of proxies; ftp through an HTTP proxy."""

import asyncio
import json
from pathlib import Path

import pytest

from ingather.app.home import Home
from ingather.app.reaching.ftp_proxies import over_proxies
from ingather.app.reaching.proxies import Logins, proxies_of
from ingather.app.secrets import KeyFile, SecretStore
from ingather.cli import run
from ingather.conf import RobotConf, load_bodies
from ingather.conf.settings.values import Found, Settings
from ingather.conf.sources.source import SourceConf
from ingather.errors import ProxyError
from ingather.fetch.http import HttpFetcher
from ingather.fetch.limits import Limits
from ingather.model.proxies import Proxy
from ingather.model.resource import Failure, FailureKind, Request, Response
from ingather.model.scope import Scope
from ingather.testing.clock import FakeClock
from ingather.testing.proxy import KitProxy

FILTERS = b'<Filter name="enumeration-default">\n</Filter>\n<Filter name="generation-default">\n</Filter>\n'


@pytest.fixture
def made(home: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    assert run(["init", str(home)]) == 0
    capsys.readouterr()
    return home


def write(home: Path, text: str) -> int:
    """Add *text* to the settings, below the head of its section if that is there, and return the number of its first line."""
    path = home / "ingather.toml"
    before = path.read_text()
    head, _, rest = text.partition("\n")
    if f"\n{head}\n" not in before:
        path.write_text(f"{before}\n{text}")
        return before.count("\n") + 2
    above, _, below = before.partition(f"\n{head}\n")
    path.write_text(f"{above}\n{head}\n{rest}{below}")
    return above.count("\n") + 2


def test_what_is_told_of_a_url(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = write(made, '[source.web]\nproxy = "http://127.0.0.1:3128"\nno-proxy = ["near.example"]\n')
    assert run(["proxy", "test", "https://93.184.216.34/a?b", "--home", str(made)]) == 0
    out = capsys.readouterr().out
    assert f"source.web.proxy, ingather.toml:{line + 1}" in out
    assert "http://127.0.0.1:3128: the gate lets it through" in out
    assert run(["proxy", "test", "http://10.0.0.1/", "--home", str(made), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["ways"] == [
        {
            "way": "http://127.0.0.1:3128",
            "login": False,
            "refused": "10.0.0.1 is a private address that the source does not name",
        }
    ]
    run(["proxy", "test", "http://near.example/", "--home", str(made), "--json"])
    found = json.loads(capsys.readouterr().out)
    assert (found["reason"], found["ways"][0]["way"]) == ("no-proxy has near.example", "DIRECT")


def test_what_a_pac_file_answers_is_told_and_why_it_does_not(
    made: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pac = made / "x.pac"
    write(made, f'[proxy]\nurl = "{pac}"\n')
    pac.write_text("function FindProxyForURL(url, host) { return 'PROXY 10.0.0.1:1; PROXY 93.184.216.34:2' }")
    assert run(["proxy", "test", "https://93.184.216.34/a?b", "--home", str(made), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["pac"] == {
        "shown": "https://93.184.216.34/", "answer": "PROXY 10.0.0.1:1; PROXY 93.184.216.34:2",
    }  # fmt: skip
    assert ["proxy.allowed" in way["refused"] for way in found["ways"]] == [True, False]
    pac.unlink()
    assert run(["proxy", "test", "https://93.184.216.34/", "--home", str(made)]) == 1
    assert f"PAC file {pac}: No such file or directory" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["nonsense"], ["http://a/", "--source", "nobody"], ["mailto:a@b"]])
def test_wrong_use(made: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["proxy", "test", *arguments, "--home", str(made)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_settings_that_name_no_proxy_are_told_with_their_line(
    made: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = write(made, '[proxy]\nurl = "http://me:canary@p:1"\nno-proxy = ["a b"]\n')
    assert run(["config", "check", "--home", str(made)]) == 1
    told = "".join(capsys.readouterr())
    assert f"ingather.toml:{line + 1}" in told
    assert f"ingather.toml:{line + 2}" in told
    assert "canary" not in told


def test_a_credential_goes_to_its_proxy_alone(
    made: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    write(
        made,
        '[credential.corp]\nkind = "basic"\nurl = "http://p.example:3128/"\nuser = "robot"\nsecret = "corp"\n[source.web]\n',
    )
    toml = made / "credentials.toml"
    toml.write_text('[[credential]]\nurl = "http://old.example:8080/"\nuser = "old"\npassword = "word"\n')
    toml.chmod(0o600)
    home = Home.open(made)
    found = home.settings()
    logins = Logins(made, found.settings, found.sources, FakeClock()).of(("corp",), "web")
    with pytest.raises(ProxyError, match="credential corp"):
        logins("http", Proxy("http", "p.example", 3128))
    import os

    store = SecretStore(made, KeyFile.of(made, found.settings.text("secrets.key-file"), os.environ))
    store.set("corp", "secret-canary", 0.0)
    assert logins("https", Proxy("http", "p.example", 3128)) == ("robot", "secret-canary")
    assert logins("https", Proxy("socks5", "p.example", 3128)) == ("robot", "secret-canary")
    for other in (
        Proxy("https", "p.example", 3128),
        Proxy("http", "p.example", 80),
        Proxy("http", "q.example", 3128),
    ):
        assert logins("https", other) is None
    assert logins("http", Proxy("http", "old.example", 8080)) == ("old", "word")
    with pytest.raises(ProxyError, match=r"credential\.nobody"):
        Logins(made, found.settings, found.sources, FakeClock()).of(("nobody",), "web")(
            "http", Proxy("http", "p", 1)
        )


def test_ftp_goes_through_an_http_proxy_or_directly() -> None:
    class Nobody:
        async def resolve(self, _host: str) -> tuple[str, ...]:
            return ()

    class Direct:
        def __init__(self) -> None:
            self.asked: list[str] = []

        async def fetch(self, request: Request, _scope: Scope) -> Response | Failure:
            self.asked.append(request.url)
            return Failure(request.url, FailureKind.CANCELLED)

        async def close(self) -> None:
            """Nothing is open."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 7\r\nConnection: close\r\n\r\n<a>x</a"[
                :-1
            ]
            + b"a"
        )
        await writer.drain()
        writer.close()

    async def main() -> None:
        host = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = host.sockets[0].getsockname()[1]
        async with KitProxy() as proxy:
            url = Found((f"ftp=http://127.0.0.1:{proxy.port}",), "ingather.toml:3")
            own = Found(("near.example",), "ingather.toml:4")
            settings, clock = Settings({"proxy.url": url, "proxy.no-proxy": own}), FakeClock()
            router = proxies_of(
                settings,
                robot(),
                {"web": SourceConf()},
                home=None,
                clock=clock,
                resolver=Nobody(),
                environment={},
            )
            http = HttpFetcher(
                Limits(), user_agent="x/1", email="", resolver=Nobody(), clock=clock, routing=router
            )
            direct = Direct()
            ftp = over_proxies({"ftp": direct}, http, router)["ftp"]
            scope = Scope("web", schemes=frozenset({"ftp"}))
            try:
                for path, listing in (("/folder/", True), ("/file.html", False)):
                    got = await ftp.fetch(Request(f"ftp://far.example:{port}{path}"), scope)
                    assert isinstance(got, Response), got
                    assert got.listing is listing
                assert proxy.heads[0].startswith(
                    f"GET ftp://far.example:{port}/folder/ HTTP/1.1\r\n".encode()
                )
                await ftp.fetch(Request("ftp://near.example/x"), scope)
                assert direct.asked == ["ftp://near.example/x"]
            finally:
                await http.close()
                host.close()
                await host.wait_closed()

    asyncio.run(main())


def robot() -> RobotConf:
    return load_bodies({"robot.conf": b"", "filter.conf": FILTERS}).robot
