"""Parameters of robot.conf at work, from the file's text to what the part that they govern does.

Where each parameter is seen at work stands in ``SEEN``.
"""

import asyncio
import re
import socket
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager
from itertools import pairwise
from pathlib import Path

import pytest

from ingather.app import wiring
from ingather.app.confined.pool import ConverterPool
from ingather.app.confined.summarizing import Summarizers
from ingather.app.reaching.proxies import proxies_of
from ingather.conf import PARAMETERS, RobotConf, load_bodies
from ingather.conf.settings.values import Settings
from ingather.conf.sources.source import SourceConf
from ingather.errors import ExtractError, IsolationError
from ingather.fetch.http import HttpFetcher
from ingather.index import IndexFolder
from ingather.model.change import Change, ChangeKind
from ingather.model.lifecycle import Outcome
from ingather.model.report import Report, Row, Settled
from ingather.model.resource import Failure, FailureKind, Request, Response
from ingather.model.scope import Scope
from ingather.ports.index import IndexDocument
from ingather.robot.frontier.schedule import Schedule
from ingather.robot.indexing.following import IndexFollower
from ingather.robot.indexing.pace import FollowLimits
from ingather.robot.logs.robotlog import Level, RobotLog
from ingather.robot.politeness.hosts import HostClock
from ingather.testing.clock import FakeClock
from ingather.testing.proxy import KitProxy
from ingather.testing.rig import wait_until

FILTERS = b'<Filter name="enumeration-default">\n</Filter>\n<Filter name="generation-default">\n</Filter>\n'

HERE, JOURNEY, COMMANDS = (
    "unit/robot/test_parameters_at_work",
    "journey/test_robot_conf",
    "journey/test_robot_commands",
)
ACT, SEEN_BY_HOSTS = "unit/robot/test_parameters_act", "test_what_hosts_see_and_what_the_description_says"
SEEN = {
    "auto-proxy": (HERE, "test_the_robot_goes_through_its_proxy"),
    "bindir": (COMMANDS, "test_robot_case_77_the_hook_comes_before_the_robot_is_idle"),
    "cmd-hook": (COMMANDS, "test_robot_case_77_the_hook_comes_before_the_robot_is_idle"),
    "command-port": (COMMANDS, "test_the_robot_is_off_idle_running_paused_as_it_is_told"),
    "connect-timeout": (HERE, "test_a_host_that_takes_no_connection_is_left_in_time"),
    "convert-timeout": (HERE, "test_a_conversion_ends_at_its_time"),
    "csid": (JOURNEY, SEEN_BY_HOSTS),
    "depth": (JOURNEY, SEEN_BY_HOSTS),
    "email": (JOURNEY, SEEN_BY_HOSTS),
    "enable-ip": (JOURNEY, "test_robots_txt_is_disobeyed_with_a_trace"),
    "enable-rdm-probe": ("unit/conf/test_robot_conf", "test_what_has_a_catch_is_said"),
    "enable-robots-txt": (JOURNEY, "test_robots_txt_is_disobeyed_with_a_trace"),
    "engine-concurrent": (JOURNEY, "test_so_many_visits_at_a_time_and_no_more"),
    "enumeration-filter": (ACT, "test_the_selected_filters_judge"),
    "generation-filter": (ACT, "test_the_selected_filters_judge"),
    "index-after-ngenerated": (HERE, "test_descriptions_wait_for_so_many_minutes"),
    "loglevel": (HERE, "test_the_log_tells_what_its_level_says"),
    "max-categories": ("unit/conf/test_classification", "test_the_lines_of_the_filter_come_first_and_the_whole_is_cut"),
    "max-connections": (JOURNEY, "test_so_many_visits_at_a_time_and_no_more"),
    "max-filesize-kb": (HERE, "test_a_file_is_retrieved_up_to_its_limit"),
    "max-memory-per-url": (HERE, "test_a_long_text_does_not_wait_in_memory"),
    "max-working": (HERE, "test_so_many_claims_are_in_hand"),
    "oncompletion": (COMMANDS, "test_a_loop_calls_the_hook_each_time_and_quit_ends_it"),
    "password": ("unit/logins/test_login_book", "test_robot_conf_case_password_is_for_hosts_of_defined_sites_that_ask"),
    "referer": (JOURNEY, SEEN_BY_HOSTS),
    "regex-dialect": (ACT, "test_the_dialect_decides_what_a_pattern_matches"),
    "remote-access": ("unit/robot_control/test_conductor", "test_remote_hosts_command_over_tls_only"),
    "robot-state-dir": (
        "unit/robot_control/test_conductor", "test_slowed_and_blocked_hosts_are_kept_by_their_politeness_name"
    ),
    "server-delay": (HERE, "test_starts_of_visits_to_a_host_lie_apart"),
    "site-max-connections": (HERE, "test_so_many_connections_to_a_host_at_a_time"),
    "smart-host-heuristics": ("unit/aliases/test_gathering", "test_links_get_the_keys_that_count"),
    "strict": (ACT, "test_strict_refuses_what_is_tolerated_otherwise"),
    "tmpdir": (ACT, "test_temporary_files_of_converters_lie_in_tmpdir"),
    "undefined-source": ("unit/rehearsal/test_two_filters", "test_dec_13_an_undefined_source_is_no_action_in_metadata_and_empty_later"),
    "user-agent": (JOURNEY, SEEN_BY_HOSTS),
    "username": ("unit/logins/test_login_book", "test_robot_conf_case_password_is_for_hosts_of_defined_sites_that_ask"),
}  # fmt: skip
"""File and name of the test that observes what the parameter does."""
TESTS = Path(__file__).parents[2]


def test_each_parameter_is_seen_at_work() -> None:
    assert set(SEEN) | {"auto-serv", "proxy-type", "proxy-loc"} == set(PARAMETERS)
    for file, name in set(SEEN.values()):
        assert re.search(rf"^(async )?def {name}\(", (TESTS / f"{file}.py").read_text(), re.MULTILINE), name


def robot(text: str) -> RobotConf:
    loaded = load_bodies({"robot.conf": text.encode(), "filter.conf": FILTERS})
    assert loaded.ok, [str(d) for d in loaded.diagnostics]
    return loaded.robot


# --- convert-timeout ---------------------------------------------------------------------------------------


def test_a_conversion_ends_at_its_time() -> None:
    async def hang() -> None:
        limits = wiring.converter_limits(Settings(), robot("convert-timeout=1"))
        async with ConverterPool(
            count=1, clock=FakeClock(), limits=limits, job_table="ingather.testing.jobs"
        ) as pool:
            await pool.run("hang", b"", {})

    with pytest.raises(IsolationError) as caught:
        asyncio.run(hang())
    assert caught.value.reason == "timeout"


def test_a_summarizer_ends_at_its_time(tmp_path: Path) -> None:
    program = tmp_path / "Text.sum"
    program.write_text("#!/bin/sh\nsleep 3600\n")
    program.chmod(0o755)

    async def hang() -> None:
        limits = wiring.program_limits(Settings(), robot("convert-timeout=1"))
        async with ConverterPool(count=1, clock=FakeClock()) as pool:
            summarizers = Summarizers(isolation=pool, bindir=str(tmp_path), limits=limits)
            await summarizers.summarize("Text.sum", b"body", content_type="text/plain")

    with pytest.raises((IsolationError, ExtractError)) as caught:
        asyncio.run(hang())
    assert getattr(caught.value, "reason", "") == "timeout"


# --- server-delay ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "expected"), [("server-delay=2.5", 2.5), ("server-delay=7", 7.0), ("", 1.0)]
)
def test_starts_of_visits_to_a_host_lie_apart(line: str, expected: float) -> None:
    conf, now = robot(line), 1000.0
    policy = wiring.host_policy(Settings(), conf, SourceConf(), own=False)
    schedule: Schedule[int] = Schedule()
    schedule.admit(HostClock("h.example", policy, now, just_visited=False))
    for number in range(3):
        schedule.add("h.example", number)
    starts: list[float] = []
    while len(starts) < 3:
        turn = schedule.next(now)
        if isinstance(turn, float):
            now += turn
            continue
        schedule.started(turn[1], now)
        schedule.finished(turn[1])
        starts.append(now)
    assert [later - sooner for sooner, later in pairwise(starts)] == [expected] * 2


# --- site-max-connections ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "expected"), [("site-max-connections=3", 3), ("site-max-concurrent=1", 1), ("", 2), ("site-max-connections=0", 20)]
)  # fmt: skip
def test_so_many_connections_to_a_host_at_a_time(line: str, expected: int) -> None:
    policy, now = wiring.host_policy(Settings(), robot(line), SourceConf(), own=False), 1000.0
    schedule: Schedule[int] = Schedule()
    schedule.admit(HostClock("h.example", policy, now, just_visited=False))
    for number in range(20):
        schedule.add("h.example", number)
    open_now = 0
    for _ in range(40):
        turn = schedule.next(now)
        now += 60
        if not isinstance(turn, float):
            schedule.started(turn[1], now)
            open_now += 1
    assert open_now == expected


# --- connect-timeout -----------------------------------------------------------------------------------------


def test_a_host_that_takes_no_connection_is_left_in_time() -> None:
    """A full backlog on Linux leaves the next SYN without an answer."""

    async def fetch(port: int) -> Response | Failure:
        fetcher = HttpFetcher(
            wiring.fetch_limits(Settings(), robot("connect-timeout=1")),
            user_agent="x/1", email="", resolver=Nobody(), own_ports=set(), max_connections=1, clock=FakeClock(),
        )  # fmt: skip
        try:
            return await fetcher.fetch(
                Request(f"http://127.0.0.1:{port}/"), Scope(source="here", addresses=("127.0.0.0/8",))
            )
        finally:
            await fetcher.close()

    with socket.socket() as listener, ExitStack() as callers:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for _ in range(4):
            caller = callers.enter_context(socket.socket())
            caller.setblocking(False)  # noqa: FBT003 - socket's own signature
            caller.connect_ex(listener.getsockname())
        got = asyncio.run(fetch(listener.getsockname()[1]))
    assert isinstance(got, Failure)
    assert got.kind is FailureKind.CONNECT_TIMEOUT
    assert "1 s" in got.detail


# --- max-filesize-kb ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("size", "comes"), [(3 * 1024, True), (3 * 1024 + 1, False)])
def test_a_file_is_retrieved_up_to_its_limit(size: int, *, comes: bool) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(
            b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % size + b"x" * size
        )
        try:
            await writer.drain()
        finally:
            writer.close()

    async def fetch() -> Response | Failure:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        limits = wiring.fetch_limits(Settings(), robot("max-filesize-kb=3"))
        fetcher = HttpFetcher(
            limits, user_agent="x/1", email="", resolver=Nobody(), own_ports=set(), max_connections=1, clock=FakeClock()
        )  # fmt: skip
        port = server.sockets[0].getsockname()[1]
        try:
            return await fetcher.fetch(
                Request(f"http://127.0.0.1:{port}/"), Scope(source="here", addresses=("127.0.0.0/8",))
            )
        finally:
            await fetcher.close()
            server.close()
            await server.wait_closed()

    got = asyncio.run(fetch())
    if comes:
        assert isinstance(got, Response)
        assert len(got.body) == size
    else:
        assert isinstance(got, Failure)
        assert got.kind is FailureKind.TOO_LARGE


class Nobody:
    """A resolver that knows no name."""

    async def resolve(self, _host: str) -> Sequence[str]:
        return ()


# --- the index: index-after-ngenerated, max-memory-per-url ---------------------------------------------------


class Log:
    """A change log in memory; *given* = of which rows the report came along."""

    def __init__(self) -> None:
        self.given: dict[int, bool] = {}

    def changes(self, _after: int, _limit: int) -> list[Change]:
        return []

    def kept(self) -> tuple[int, int]:
        return 0, 0

    def shown(self) -> Iterator[int]:
        return iter(())

    def documents(self, fresh: Sequence[tuple[int, Report | None]]) -> list[IndexDocument]:
        self.given |= {row: report is not None for row, report in fresh}
        return [
            IndexDocument(
                id=row, url=f"http://h/{row}", chain=1, title="t", body="b", site="h", path=f"/{row}"
            )
            for row, _ in fresh
        ]

    def close(self) -> None:
        """Nothing is open."""


class Following:
    """A follower under the limits that *text* (robot.conf) comes to; time stands still until it is set."""

    def __init__(self, folder: Path, text: str) -> None:
        self.log, self.told, self.clock = Log(), list[int](), FakeClock()
        limits: FollowLimits = wiring.follow_limits(Settings(), robot(text))
        self.follower = IndexFollower(
            IndexFolder(folder).writer,
            lambda: self.log,
            self.clock,
            committed=self.told.append,
            limits=limits,
        )
        self.follower.start()
        assert self.follower.opened.wait(60)

    def push(self, row: int, text: str = "") -> None:
        report = Report(id=row, outcome=int(Outcome.INDEXED), status=200, at_s=0.0, version=1, text=text)
        self.follower.push([(row, row, ChangeKind.PUT, report)])


def test_descriptions_wait_for_so_many_minutes(tmp_path: Path) -> None:
    one = Following(tmp_path, "index-after-ngenerated=2")
    one.push(1)
    wait_until(lambda: one.log.given == {1: True})
    one.clock.advance(119)
    one.push(2)
    wait_until(lambda: len(one.log.given) == 2)
    assert one.told == []
    one.clock.advance(1)
    wait_until(lambda: one.told == [2])
    one.follower.stop()


def test_a_long_text_does_not_wait_in_memory(tmp_path: Path) -> None:
    one = Following(tmp_path, "max-memory-per-url=10\nindex-after-ngenerated=0")
    one.push(1, "x" * 10)
    one.push(2, "x" * 11)
    wait_until(lambda: one.log.given == {1: True, 2: False})
    one.follower.stop()


# --- loglevel ------------------------------------------------------------------------------------------------

ROW = Row(1, 1, "/", 0, None, 1, 0, "", "", b"", None, None, 0, 0, None, None, None)


@pytest.mark.parametrize(
    ("line", "lines"), [("loglevel=0", 1), ("loglevel=1", 2), ("loglevel=2", 3), ("", 2)]
)
def test_the_log_tells_what_its_level_says(tmp_path: Path, line: str, lines: int) -> None:
    log = RobotLog(tmp_path, level=int(robot(line).loglevel))
    report = Report(id=1, outcome=int(Outcome.INDEXED), status=200, at_s=0.0, version=1)
    settled = Settled(report, ROW, 2, None, None, 0, None, 0, put=False, propose="", keep_description=False)
    log.visits([settled], ["http://a.example/"], [], 0.0)
    log.event(Level.SPAWNING, "gatherer spawned", 0.0)
    log.serious("disk full", 0.0)
    log.flush()
    assert (tmp_path / "robot.log").read_text().count("\n") == lines


# --- max-working, engine-concurrent --------------------------------------------------------------------------


@pytest.mark.parametrize(("line", "working"), [("max-working=600", 600), ("max-working=4", 16), ("", 1024)])
def test_so_many_claims_are_in_hand(line: str, working: int) -> None:
    settings = Settings()
    share = settings.count("gather.gatherers")
    limits = wiring.gatherer_limits(settings, robot(line))
    assert limits.working == max(working // share, 16)


# --- auto-proxy ----------------------------------------------------------------------------------------------


async def through(text: str, target: int) -> Response | Failure:
    """Ask for a page of a host that nobody here can resolve, as a robot with *text* as its robot.conf."""
    conf, clock = robot(text), FakeClock()
    router = proxies_of(
        Settings(), conf, {"web": SourceConf()}, home=None, clock=clock, resolver=Nobody(), environment={}
    )
    fetcher = HttpFetcher(
        wiring.fetch_limits(Settings(), conf),
        user_agent="x/1",
        email="",
        resolver=Nobody(),
        clock=clock,
        routing=router,
    )
    try:
        return await fetcher.fetch(
            Request(f"http://far.example:{target}/"), Scope(source="web", addresses=("127.0.0.0/8",))
        )
    finally:
        await fetcher.close()


@asynccontextmanager
async def answering(*head: str, body: bytes) -> AsyncIterator[int]:
    """Answer every request with *body*; the port is given."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        lines = [f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}", "Connection: close", *head, "", ""]
        writer.write("\r\n".join(lines).encode() + body)
        try:
            await writer.drain()
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await server.wait_closed()


def test_the_robot_goes_through_its_proxy() -> None:
    async def main() -> None:
        async with answering(body=b"page") as target, KitProxy() as proxy:
            assert isinstance(await through("", target), Failure)
            got = await through(f"auto-proxy=http://127.0.0.1:{proxy.port}", target)
            assert isinstance(got, Response)
            assert got.body == b"page"
            assert len(proxy.heads) == 1

    asyncio.run(main())


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/proxy.PAC?x", "text/plain"),
        ("/old.dat", "text/html"),
        ("/settings", "application/x-ns-proxy-autoconfig"),
    ],
)
def test_a_pac_file_is_told_by_its_name_or_its_content_type(path: str, kind: str) -> None:
    async def main() -> None:
        async with answering(body=b"page") as target, KitProxy() as proxy:
            script = f'function FindProxyForURL(url, host) {{ return "PROXY 127.0.0.1:{proxy.port}"; }}'
            async with answering(f"Content-Type: {kind}", body=script.encode()) as wpad:
                got = await through(f'auto-proxy="http://127.0.0.1:{wpad}{path}"', target)
            assert isinstance(got, Response), got
            assert got.body == b"page"
            assert len(proxy.heads) == 1

    asyncio.run(main())


def test_a_url_with_a_path_that_is_no_pac_file_is_a_proxy() -> None:
    async def main() -> None:
        async with answering(body=b"page") as target, KitProxy(refuses=0) as proxy:
            async with answering("Content-Type: text/html", body=b"a page of a proxy about itself") as itself:
                got = await through(f"auto-proxy=http://127.0.0.1:{itself}/about", target)
            assert isinstance(got, Response)
            assert got.body == b"a page of a proxy about itself"
            assert not proxy.heads

    asyncio.run(main())
