"""Who names a proxy, in which order; PAC files from where they lie to the process that runs them."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ingather.app.confined.pool import ConverterPool
from ingather.app.reaching.proxies import proxies_of, rules_of
from ingather.conf import load_bodies
from ingather.conf.report import Report
from ingather.conf.robot.robotconf import RobotConf
from ingather.conf.settings.values import Found, Settings
from ingather.conf.sources.sections import read_source
from ingather.conf.sources.source import SourceConf
from ingather.errors import IsolationError, ProxyError, UnitError
from ingather.fetch.proxies.address import read_answer
from ingather.fetch.proxies.bypass import Bypass
from ingather.fetch.proxies.environment import read_environment
from ingather.fetch.proxies.hop import Target
from ingather.fetch.proxies.pac import Pac, shown_url
from ingather.fetch.proxies.pac_file import PacFile
from ingather.fetch.proxies.pac_script import Said
from ingather.fetch.proxies.rules import Rules
from ingather.model.diagnostic import Place
from ingather.model.proxies import Proxy, read_proxy, read_ways
from ingather.model.resource import Failure, FailureKind, Request, Response
from ingather.testing.clock import FakeClock

FILTERS = b'<Filter name="enumeration-default">\n</Filter>\n<Filter name="generation-default">\n</Filter>\n'
P = Proxy("http", "p", 3128)
VARIABLES = {"http_proxy": "http://env:1", "HTTPS_PROXY": "env:2", "no_proxy": "near.example"}


def robot(text: str = "") -> RobotConf:
    loaded = load_bodies({"robot.conf": text.encode(), "filter.conf": FILTERS})
    assert loaded.ok, [str(d) for d in loaded.diagnostics]
    return loaded.robot


def settings(**values: Any) -> Settings:
    return Settings(
        {f"proxy.{key.replace('_', '-')}": Found(value, "ingather.toml:5") for key, value in values.items()}
    )


def source(**table: object) -> SourceConf:
    report = Report()
    made = read_source(
        "s",
        {key.replace("_", "-"): value for key, value in table.items()},
        lambda _key: Place("ingather.toml", 9),
        report,
    )
    assert not report.diagnostics, [str(one) for one in report.diagnostics]
    return made


def rules(
    values: Settings, text: str = "", own: SourceConf | None = None, variables: Mapping[str, str] = VARIABLES
) -> Rules:
    return rules_of(values, robot(text), {"s": own or source()}, None, variables)


# --- the order -------------------------------------------------------------------------------------------------


def test_the_first_that_says_anything_says_all() -> None:
    everything = settings(url=("http://toml:1",), from_environment=True)
    auto = "auto-proxy=http://auto:1"
    own = rules(everything, auto, source(proxy="https=http://own:1")).find("s")
    assert own is not None
    assert (own.ways.of("https"), own.ways.of("http")) == (Proxy("http", "own", 1), None)
    assert own.why == "source.s.proxy, ingather.toml:9"
    of_robot = rules(everything, auto).find("s")
    assert of_robot is not None
    assert (of_robot.ways.of("http"), of_robot.why) == (Proxy("http", "auto", 1), "auto-proxy, robot.conf:1")
    of_settings = rules(everything).find("s")
    assert of_settings is not None
    assert (of_settings.ways.of("http"), of_settings.why) == (
        Proxy("http", "toml", 1),
        "proxy.url, ingather.toml:5",
    )
    of_variables = rules(settings(from_environment=True)).find("s")
    assert of_variables is not None
    assert (of_variables.ways.of("http"), of_variables.place("http")) == (
        Proxy("http", "env", 1),
        "$http_proxy",
    )
    assert (of_variables.ways.of("https"), of_variables.place("https")) == (
        Proxy("http", "env", 2),
        "$HTTPS_PROXY",
    )
    assert of_variables.ways.of("ftp") is None
    assert of_variables.bypass.fits("www.near.example", 80)


def test_the_environment_does_not_count_unless_that_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in VARIABLES.items():
        monkeypatch.setenv(name, value)
    assert not rules(settings())
    clock = FakeClock()
    assert (
        proxies_of(settings(), robot(), {"s": source()}, home=None, clock=clock, resolver=Names({})) is None
    )
    assert (
        proxies_of(
            settings(from_environment=True),
            robot(),
            {"s": source()},
            home=None,
            clock=clock,
            resolver=Names({}),
        )
        is not None
    )


def test_a_source_may_have_its_own_exceptions_and_none_at_all() -> None:
    found = rules(
        settings(url=("p:3128",), no_proxy=("a.example",)), own=source(no_proxy=["b.example"])
    ).find("s")
    assert found is not None
    assert (found.bypass.fits("a.example", 80), found.bypass.fits("b.example", 80)) == ("", "b.example")
    plain = rules(settings(url=("p:3128",)), own=source(proxy="direct")).find("s")
    assert plain is not None
    assert plain.ways.of("http") is None


@pytest.mark.parametrize(
    ("variables", "proxies"),
    [
        ({"HTTP_PROXY": "http://a:1"}, {}),  # a request's header Proxy: could be that
        ({"http_proxy": "http://a:1", "HTTP_PROXY": "http://b:1"}, {"http": "a"}),
        ({"https_proxy": "a:1", "HTTPS_PROXY": "b:1"}, {"https": "a"}),
        ({"ALL_PROXY": "socks5://a"}, {"http": "a", "https": "a", "ftp": "a"}),
        ({"all_proxy": "a", "ftp_proxy": "b"}, {"http": "a", "https": "a", "ftp": "b"}),
        ({"http_proxy": ""}, {}),
        ({"http_proxy": "gopher://a"}, {}),
    ],
)
def test_variables(variables: dict[str, str], proxies: dict[str, str]) -> None:
    found = read_environment(variables)
    assert {scheme: proxy.host for scheme, proxy in found.proxies.items()} == proxies


def test_a_password_in_a_variable_is_sent_and_never_shown() -> None:
    found = read_environment({"http_proxy": "http://me:s%40cret@a:1"})
    assert found.logins == {"http": ("me", "s@cret")}
    assert "cret" not in repr(found)


# --- what is written --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "proxy"),
    [
        ("http://P.Example:3128/", "http://p.example:3128"), ("p", "http://p:80"), ("https://p", "https://p:443"),
        ("socks://p", "socks5h://p:1080"), ("socks4://p:9", "socks4://p:9"), ("[::1]:8", "http://[::1]:8"), ("p:8080", "http://p:8080"),
    ],
)  # fmt: skip
def test_proxies_as_they_are_written(text: str, proxy: str) -> None:
    assert str(read_proxy(text)) == proxy
    assert read_proxy(proxy) == read_proxy(text)


@pytest.mark.parametrize(
    "words",
    [
        ["gopher://p"], ["http://"], ["http://p:0"], ["http://p:99999"], ["http://u:p@p:1"], ["mail=http://p"], ["http://a", "http://b"],
        ["http=a", "http=b"], ["/a.pac", "/b.pac"], ["/a.pac", "http://p"], ["relative.pac"], ["pac:gopher://a/"], ["http://u:p@h/x.pac"], ["a b"],
        ["pac:http://[::x/"], ["http://h:99999/x.pac"], ["http:///x.pac"],
    ],
)  # fmt: skip
def test_what_names_no_proxy(words: list[str]) -> None:
    with pytest.raises(UnitError) as caught:
        read_ways(words)
    assert "u:p" not in str(caught.value)


@pytest.mark.parametrize(
    ("answer", "ways"),
    [
        ("DIRECT", "-"), ("", "-"), (" ; ", "-"), ("PROXY a:1; DIRECT", "http://a:1 -"), ("proxy a:1;PROXY a:1", "http://a:1"),
        ("HTTPS a:1; SOCKS b:2; SOCKS4 c:3; SOCKS5 d", "https://a:1 socks5h://b:2 socks4a://c:3 socks5h://d:1080"),
        ("PROXY [::1]:8; HTTP a", "http://[::1]:8 http://a:80"), ("QUIC a:1; PROXY a:99999; PROXY a:1", "http://a:1"),
        ("PROXY a:1 b:2; DIRECT", "-"),
    ],
)  # fmt: skip
def test_answers_of_pac_files(answer: str, ways: str) -> None:
    assert " ".join("-" if way is None else str(way) for way in read_answer(answer)) == ways


@pytest.mark.parametrize(
    "answer", ["nonsense", "PROXY", "PROXY a:b", "PROXY :1", "PROXY a@b:1", "DIRECT a:1"]
)
def test_an_answer_without_any_way_is_not_directly(answer: str) -> None:
    with pytest.raises(UnitError):
        read_answer(answer)


@pytest.mark.parametrize(
    ("entry", "host", "port", "fits"),
    [
        ("a.example", "a.example", 80, True), ("a.example", "x.a.example", 80, False), (".a.example", "x.a.example", 80, True),
        (".a.example", "a.example", 80, True), ("*.a.example", "x.a.example", 80, True), (".a.example", "xa.example", 80, False),
        ("A.Example.", "a.example", 80, True), ("a.example:8080", "a.example", 8080, True), ("a.example:8080", "a.example", 80, False),
        ("10.0.0.0/8", "10.1.2.3", 80, True), ("10.0.0.0/8", "11.1.2.3", 80, False), ("10.0.0.0/8", "ten.example", 80, False),
        ("10.1.2.3:81", "10.1.2.3", 81, True), ("fd00::/8", "[fd00::1]", 80, True), ("[::1]:81", "[::1]", 81, True),
        ("<local>", "intranet", 80, True), ("<local>", "a.example", 80, False), ("<local>", "[::1]", 80, False), ("*", "a.example", 80, True),
    ],
)  # fmt: skip
def test_hosts_without_a_proxy(entry: str, host: str, port: int, *, fits: bool) -> None:
    assert bool(Bypass([entry]).fits(host, port)) is fits


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://a.example/secret?q=1", "https://a.example/"), ("https://a.example:8443/x", "https://a.example:8443/"),
        ("http://a.example/x?q=1#f", "http://a.example/x?q=1"), ("http://u:p@a.example", "http://a.example/"),
    ],
)  # fmt: skip
def test_what_a_pac_file_sees_of_a_url(url: str, shown: str) -> None:
    scheme = url.partition(":")[0]
    assert shown_url(Target(url, scheme, "a.example", 8443 if "8443" in url else 80)) == shown


# --- PAC files ---------------------------------------------------------------------------------------------------


class Names:
    """A resolver with a table."""

    def __init__(self, table: dict[str, tuple[str, ...]]) -> None:
        self.table, self.asked = table, list[str]()

    async def resolve(self, host: str) -> tuple[str, ...]:
        self.asked.append(host)
        return self.table.get(host, ())


class Shelf:
    """Where a PAC file is fetched from."""

    def __init__(self, *answers: Response | Failure) -> None:
        self.answers, self.asked = list(answers), list[Request]()

    async def load(self, request: Request) -> Response | Failure:
        self.asked.append(request)
        return self.answers.pop(0)


URL = "http://wpad.example/proxy.pac"
DOWN = Failure(URL, FailureKind.CONNECT, "refused")


def found(body: bytes, kind: str = "text/plain") -> Response:
    return Response(URL, 200, (("Content-Type", kind), ("ETag", '"1"')), body)


def test_the_last_good_file_is_kept_and_looked_at_again(tmp_path: Path) -> None:
    async def main() -> None:
        clock, kept = FakeClock(), tmp_path / "kept.pac"
        shelf = Shelf(
            DOWN, found(b"one"), Response(URL, 304), DOWN, found(b"  "), Response(URL, 404), found(b"two")
        )
        file = PacFile(URL, shelf.load, clock, fresh_s=3600.0, kept=kept)
        with pytest.raises(ProxyError, match="connect: refused"):
            await file.text()
        with pytest.raises(ProxyError):
            await file.text()
        assert len(shelf.asked) == 1
        clock.advance(61)
        assert await file.text() == b"one"
        for trouble in ("", "connect: refused", "it is empty", "answers 404"):
            clock.advance(3601)
            assert await file.text() == b"one"
            assert file.trouble == trouble
        assert shelf.asked[2].etag == '"1"'
        clock.advance(61)
        assert await file.text() == b"two"
        # A new process finds the last good one where it was left.
        assert await PacFile(URL, Shelf(DOWN).load, clock, fresh_s=3600.0, kept=kept).text() == b"two"

    asyncio.run(main())


@pytest.mark.parametrize(
    ("answer", "none"),
    [
        (found(b"x", "text/html"), True),
        (Response(URL, 400), True),
        (Response(URL, 404), False),
        (DOWN, False),
    ],
)
def test_what_is_no_pac_file_by_its_content_type(answer: Response | Failure, *, none: bool) -> None:
    async def main() -> None:
        file = PacFile(URL, Shelf(answer).load, FakeClock(), fresh_s=10.0, typed=True)
        with pytest.raises(ProxyError):
            await file.text()
        assert file.is_none is none

    asyncio.run(main())


def test_a_file_of_this_machine_is_read_as_it_is_now(tmp_path: Path) -> None:
    async def main() -> None:
        path = tmp_path / "x.pac"
        file = PacFile(str(path), Shelf().load, FakeClock(), fresh_s=10.0)
        with pytest.raises(ProxyError, match="No such file"):
            await file.text()
        for text in (b"one", b"two"):
            path.write_bytes(text)
            assert await file.text() == text

    asyncio.run(main())


@pytest.mark.parametrize(
    ("deaths", "reason", "answers"),
    [(1, "died", True), (1, "unavailable", True), (2, "died", False), (1, "cpu", False)],
)
def test_a_process_that_somebody_killed_says_nothing_about_the_file(
    tmp_path: Path, deaths: int, reason: str, *, answers: bool
) -> None:
    path = tmp_path / "x.pac"
    path.write_text("function FindProxyForURL() { return 'DIRECT' }")

    class Dying:
        left = deaths

        async def run(self, _job: str, _body: bytes, _parameters: Any) -> bytes:
            if self.left:
                self.left -= 1
                raise IsolationError("killed", reason=reason)
            return msgspec.json.encode(Said(answer="DIRECT"))

        async def close(self) -> None:
            """Nothing runs."""

    async def main() -> None:
        file, isolation = PacFile(str(path), Shelf().load, FakeClock(), fresh_s=10.0), Dying()
        pac = Pac(file, isolation, Names({}), lambda: (), FakeClock(), keep_s=100.0)
        target = Target("http://a.example/", "http", "a.example", 80)
        if answers:
            assert (await pac.ask(target)).ways == (None,)
        else:
            with pytest.raises(ProxyError, match="the process that runs it ended"):
                await pac.ask(target)
        await pac.close()

    asyncio.run(main())


def test_in_its_own_process_a_file_can_do_nothing_and_one_that_dies_is_followed_by_another(
    tmp_path: Path,
) -> None:
    path = tmp_path / "x.pac"

    async def main() -> None:
        clock, names = FakeClock(), Names({"h.example": ("10.0.0.1",)})
        pool = ConverterPool(
            count=1, clock=clock, job_table="ingather.app.reaching.pac_jobs", folder=tmp_path / "pool"
        )
        pac = Pac(
            PacFile(str(path), Shelf().load, clock, fresh_s=10.0),
            pool,
            names,
            lambda: ("192.0.2.7",),
            clock,
            keep_s=100.0,
        )

        async def ask(body: str, url: str = "https://h.example/deep?x") -> str:
            path.write_text(body)
            return (await pac.ask(Target(url, url.partition(":")[0], "h.example", 443))).text

        try:
            told = "function FindProxyForURL(u, h) { alert(u); return 'PROXY ' + dnsResolve(h) + ':1; PROXY ' + myIpAddress() + ':' + u.length }"
            assert await ask(told) == f"PROXY 10.0.0.1:1; PROXY 192.0.2.7:{len('https://h.example/')}"
            jobs = pool.statistics.jobs
            assert await ask(told, "https://h.example/other") == await ask(told)
            assert pool.statistics.jobs == jobs  # the answer is kept, by origin
            clock.advance(101)
            await ask(told)
            assert pool.statistics.jobs > jobs
            with pytest.raises(ProxyError, match="more than 20 names"):
                await ask(
                    "function FindProxyForURL() { for (var i = 0; i < 99; i++) dnsResolve('n' + i); return 'DIRECT' }"
                )
            # Thrown while the file is read, this is told in words by the engine itself, without its limits: the kernel ends it.
            pid = pool.pids
            with pytest.raises(ProxyError, match="the process that runs it ended"):
                await ask("throw { toString: function () { while (1) {} } }")
            assert pool.statistics.lost == {"cpu": 1}
            assert await ask(told) == f"PROXY 10.0.0.1:1; PROXY 192.0.2.7:{len('https://h.example/')}"
            assert pool.pids != pid
        finally:
            await pac.close()

    limits_patched(main)


def limits_patched(main: Any) -> None:
    """Run *main* with a second of processor time for a question."""
    from ingather.app.confined.pool import ConverterLimits, JobLimits

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "ingather.app.confined.pool.ConverterLimits.of", lambda _self, _job: JobLimits(1.0, 100.0)
        )
        assert ConverterLimits().of("pac").cpu_s == 1.0
        asyncio.run(main())


def test_no_descriptor_can_be_opened_once_the_engine_is_there() -> None:
    import subprocess
    import sys

    code = (
        "import msgspec\nfrom ingather.app.reaching.pac_jobs import JOBS\nfrom ingather.fetch.proxies.pac_script import state_of\n"
        "body = b\"function FindProxyForURL() { return 'DIRECT ' + new Date(0).getTimezoneOffset() }\"\n"
        "told = JOBS['pac'](body, {'url': 'http://a/', 'host': 'a', 'state': state_of({}, (), 0.0)})\n"
        "assert msgspec.json.decode(told)['answer'].startswith('DIRECT '), told\n"
        "try:\n open('/etc/hostname')\nexcept OSError:\n print('shut')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=100, check=False
    )
    assert (done.stdout, done.returncode) == ("shut\n", 0), done.stderr
