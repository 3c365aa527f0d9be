"""The conductor of a real home whose robot is off: nothing is spawned, everything else is there."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from ingather.app.home import Home
from ingather.app.keeper import Gathering
from ingather.app.robot.commands import RobotCommands
from ingather.app.robot.desk import HomeRobot
from ingather.app.robot.statefile import Kept, StateFile
from ingather.app.runplan import RunPlan
from ingather.cli.robot import _told
from ingather.errors import ConfigurationError, HomeError, RobotStateError, UsageError

SITE = """<Site name="here" host="www.example" type=server enable=true>
Start url="http://www.example/"
Protocol allow="http"
</Site>
"""


@asynccontextmanager
async def resting(path: Path, *, robot: str = "", rules: str = "") -> AsyncIterator[Gathering]:
    """Give a gathering as ``serve`` has it, its robot off."""
    home = Home.create(path)
    for name, more in (("robot.conf", robot), ("filterrules.conf", rules)):
        file = home.config / name
        file.write_text(f"{file.read_text()}\n{more}")
    StateFile(home.path).write(Kept(state="off", why="of this test"))
    read = home.settings(environment={})
    async with Gathering(home, read.settings, RunPlan(kind="serve", sources=read.sources)) as gathering:
        yield gathering


def test_robot_case_79_no_start_without_an_enabled_starting_point(home: Path) -> None:
    async def start() -> str:
        async with resting(home) as gathering:
            with pytest.raises(RobotStateError) as caught:
                await RobotCommands(gathering).start()
            assert gathering.conductor.state == "off"
            assert gathering.run == 0
            return caught.value.text

    assert "Starting Points: 0 defined" in asyncio.run(start())


def test_robot_case_80_a_broken_configuration_changes_nothing(home: Path) -> None:
    async def reload() -> None:
        async with resting(home, rules=SITE) as gathering:
            before = await RobotCommands(gathering).status()
            file = gathering.home.config / "filter.conf"
            kept = file.read_text()
            file.write_text(kept + "\nData fn=generate-md5\n")
            with pytest.raises(ConfigurationError) as caught:
                await RobotCommands(gathering).reload()
            assert "E-STRAY" in str(caught.value)
            assert await RobotCommands(gathering).status() == before
            file.write_text(kept)
            assert (await RobotCommands(gathering).reload())["changed"] is False

    asyncio.run(reload())


def test_while_it_is_off_urls_wait_and_are_forgotten_by_clear(home: Path) -> None:
    async def add() -> None:
        async with resting(home, rules=SITE) as gathering:
            robot = RobotCommands(gathering)
            assert (await robot.add("http://www.example/a", "3"))["state"] == "off"
            await robot.add("http://www.example/b")
            assert gathering.keeper.frontier.waiting == 2
            for url, words in (
                ("http://other.example/", "site not allowed"),
                ("ftp://www.example/", "protocol not allowed"),
                ("no url", "no URL"),
            ):
                with pytest.raises(UsageError) as caught:
                    await robot.add(url)
                assert words in str(caught.value)
            with pytest.raises(UsageError):
                await robot.add("http://www.example/c", "-2")
            assert gathering.keeper.frontier.waiting == 2
            with pytest.raises(RobotStateError):
                await robot.stop()
            done = await robot.clear()
            assert (done["forgotten"], done["renewed"]) == (1, 1)  # the newest row stays
            assert gathering.keeper.frontier.waiting == 0

    asyncio.run(add())


def test_the_status_is_told_in_words(home: Path) -> None:
    async def status() -> list[str]:
        async with resting(home, robot="cmd-hook=/opt/own\n", rules=SITE) as gathering:
            robot = RobotCommands(gathering)
            await robot.add("http://www.example/a")
            await robot.block("www.example")
            return list(_told(await robot.status()))

    lines = asyncio.run(status())
    assert lines[0] == "The robot is off: of this test"
    text = "\n".join(lines)
    for words in (
        "starting points: 1 defined; URL pool: 1 waiting, 0 in hand",
        "RDs: 0 new, 0 changed, 0 unchanged, 0 removed; 0 not yet in the index",
        "after the run: idle, after /opt/own",
        "queue www.example: 1 waiting, blocked",
        "blocked: www.example",
    ):
        assert words in text


def test_slowed_and_blocked_hosts_are_kept_by_their_politeness_name(home: Path) -> None:
    async def restrain() -> None:
        async with resting(home, robot="robot-state-dir=var\n") as gathering:
            robot = RobotCommands(gathering)
            await robot.slow("WWW.Example:8080", "1m")
            await robot.block("https://b.example/path")
            assert StateFile(home, "var").read().slowed == {"www.example:8080": 60.0}
            await robot.unblock("b.example")
            await robot.slow("www.example:8080", "0")
            kept = StateFile(home, "var").read()
            assert (kept.slowed, kept.blocked) == ({}, [])
            for host, delay in (("a b", "5s"), ("a.example", "-1"), ("a.example", "2d"), ("", "1")):
                with pytest.raises(UsageError):
                    await robot.slow(host, delay)
            await robot.loglevel("3")
            assert gathering.robot_log.level == 3
            with pytest.raises(UsageError):
                await robot.loglevel("101")

    asyncio.run(restrain())


async def say(port: int, token: str, *lines: str, tls: ssl.SSLContext | None = None) -> list[str]:
    name = "localhost" if tls else None
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=tls, server_hostname=name)
    writer.write("".join(f"{line}\n" for line in (f"AUTH {token}", *lines)).encode())
    async with asyncio.timeout(60):
        found = [(await reader.readline()).decode().strip() for _ in range(1 + len(lines))]
    writer.close()
    await writer.wait_closed()
    return found[1:]


def test_remote_hosts_command_over_tls_only(home: Path, free_port: int) -> None:
    async def talk() -> None:
        async with resting(home, robot=f"command-port={free_port}\nremote-access=yes\n") as gathering:
            form = gathering.conductor.port.form()
            assert form is not None
            if form["trouble"]:
                pytest.skip(f"no certificate here: {form['trouble']}")
            assert form == {"address": f"0.0.0.0:{free_port}", "tls": True, "trouble": ""}
            context = ssl.create_default_context(cafile=str(home / "feeds" / "certificate.pem"))
            token = gathering.home.admin_token()
            file = gathering.home.config / "robot.conf"
            file.write_text(file.read_text().replace("remote-access=yes", ""))
            found = await say(free_port, token, "PAUSE", "RELOAD", tls=context)
            assert found == [
                "409 the robot is off: it cannot pause; start it first",
                "200 the robot is off",
            ]
            assert gathering.conductor.port.form() == {
                "address": f"127.0.0.1:{free_port}",
                "tls": False,
                "trouble": "",
            }
            assert (await say(free_port, token, "LOGLEVEL 2"))[0] == "200 loglevel 2; the robot is off"

    asyncio.run(talk())


STATUS = {
    "state", "run", "started", "updated", "starting_points", "pool", "in_flight", "fetched", "bytes", "extracted_urls", "filtered", "errors",
    "duplicates", "rds_new", "rds_changed", "rds_unchanged", "rds_removed", "rds_pending_index", "rate", "queue", "last_error",
}  # fmt: skip


def test_dec_33_the_status_has_every_field_with_and_without_a_process(home: Path) -> None:
    async def served() -> dict[str, Any]:
        async with resting(home, rules=SITE) as gathering:
            robot = RobotCommands(gathering)
            await robot.add("http://www.example/a")
            return await robot.status()

    now = asyncio.run(served())
    made = Home(home)
    later = HomeRobot(made, made.settings(environment={}).settings).status()
    for found in (now, later):
        assert set(found) >= STATUS
        assert (found["state"], found["starting_points"], found["pool"], found["in_flight"]) == (
            "off",
            1,
            1,
            0,
        )
        assert set(found["rate"]) == {"fetch", "filter", "generate"}
        assert (found["filtered"], found["errors"], found["last_error"]) == ({}, {}, None)
        assert "URL pool: 1 waiting" in "\n".join(_told(found))
    assert [queue["host"] for queue in now["queue"]] == ["www.example"]


def test_without_a_process_what_needs_none_is_done(home: Path) -> None:
    made = Home.create(home)
    robot = HomeRobot(made, made.settings(environment={}).settings)
    assert robot.command("slow", host="a.example", delay="2")["delay_s"] == 2
    assert robot.command("block", host="b.example")["blocked"] is True
    assert robot.status()["blocked"] == ["b.example"]
    assert robot.command("unblock", host="b.example")["blocked"] is False
    for name in ("start", "pause", "clear", "reload"):
        with pytest.raises(RobotStateError) as caught:
            robot.command(name)
        assert "no process serves this home" in caught.value.text
    with pytest.raises(UsageError):
        robot.command("slow", host="a.example", delay="soon")
    StateFile(made.path).write(Kept(state="off"))
    assert robot.command("start")["state"] == "off"  # the next process starts it
    assert StateFile(made.path).read().state == "on"


def test_a_state_that_cannot_be_read_keeps_a_crawl_from_beginning(home: Path) -> None:
    made = Home.create(home)
    StateFile(made.path).path.write_text("{")
    read = made.settings(environment={})

    async def crawl() -> None:
        async with Gathering(made, read.settings, RunPlan(sources=read.sources)):
            pass

    with pytest.raises(HomeError) as caught:
        asyncio.run(crawl())
    assert "robot-state.json" in str(caught.value)
