import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest

from ingather.errors import ConfigurationError, RobotStateError, UsageError
from ingather.robot.commandport import CommandPort, PortLimits, Verb

TOKEN = "correct horse"  # noqa: S105 - of this test


async def _status(_: Sequence[str]) -> dict[str, Any]:
    return {"state": "idle", "why": "an\nodd ü text"}


async def _add(words: Sequence[str]) -> str:
    if words[0] == "bad":
        raise UsageError("'bad' is no URL", hint="write a\nwhole URL")
    return f"added {' '.join(words)}"


async def _start(_: Sequence[str]) -> str:
    raise RobotStateError("the robot is idle: it cannot start", state="idle")


async def _reload(_: Sequence[str]) -> str:
    raise ConfigurationError([])


async def _stop(_: Sequence[str]) -> str:
    raise OSError("the disk is gone")


VERBS = {
    "STATUS": Verb(0, 0, _status, "STATUS"),
    "ADD": Verb(1, 2, _add, "ADD url [depth]"),
    "START": Verb(0, 0, _start, "START"),
    "RELOAD": Verb(0, 0, _reload, "RELOAD"),
    "STOP": Verb(0, 0, _stop, "STOP"),
}


def said(*talks: bytes, limits: PortLimits | None = None) -> list[list[str]]:
    """Send each of *talks* over a connection of its own, one after the other; return the lines that came back."""

    async def talk() -> list[list[str]]:
        port = CommandPort(VERBS, lambda token: token == TOKEN, limits)
        await port.open("127.0.0.1", 0)
        assert port.address is not None
        found = []
        try:
            for sent in talks:
                reader, writer = await asyncio.open_connection(*port.address)
                writer.write(sent)
                writer.write_eof()
                async with asyncio.timeout(60):
                    found.append((await reader.read()).decode().splitlines())
                writer.close()
                await writer.wait_closed()
        finally:
            await port.close()
        return found

    return asyncio.run(talk())


def answers(*lines: str) -> list[str]:
    text = "".join(f"{line}\n" for line in (f"AUTH {TOKEN}", *lines))
    first, *rest = said(text.encode())[0]
    assert first.startswith("200 ")
    return rest


def test_every_command_gets_one_line() -> None:
    found = answers(
        "status", "ADD http://a.example/ 3", "", "add bad", "START", "RELOAD", "STOP", "NONSENSE now", "ADD"
    )
    assert [line[:3] for line in found] == ["200", "200", "400", "409", "422", "503", "400", "400"]
    assert json.loads(found[0][4:]) == {"state": "idle", "why": "an\nodd ü text"}
    assert found[1] == "200 added http://a.example/ 3"
    assert found[2] == "400 'bad' is no URL; write a whole URL"
    assert found[3] == "409 the robot is idle: it cannot start"
    assert found[-1] == "400 write: ADD url [depth]"
    assert "ADD url [depth]" in answers("HELP")[0]


@pytest.mark.parametrize(
    ("sent", "code"),
    [
        (b"STATUS\nSTATUS\n", "401"),
        (b"AUTH wrong\nSTATUS\n", "401"),
        (b"AUTH\nSTATUS\n", "401"),
        (b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nAUTH correct horse\nSTOP\n", "401"),
        (b"\xff\xfe\n", "400"),
        (b"AUTH " + b"x" * 5000 + b"\n", "413"),
        (b"", None),
    ],
)
def test_who_does_not_begin_with_the_token_gets_no_second_line(sent: bytes, code: str | None) -> None:
    found = said(sent)[0]
    assert [line[:3] for line in found] == ([code] if code else [])


def test_lines_end_as_they_like_and_a_broken_one_ends_the_talk() -> None:
    found = said(f"AUTH {TOKEN}\r\nSTATUS\r\nSTATUS".encode())[0]
    assert [line[:3] for line in found] == ["200", "200", "200"]
    found = said(f"AUTH {TOKEN}\n".encode() + b"\xff\nSTATUS\n")[0]
    assert [line[:3] for line in found] == ["200", "400"]


def test_after_too_many_wrong_tokens_wrong_ones_are_slow_and_the_right_one_is_taken() -> None:
    limits = PortLimits(wrong=2, wrong_s=3600.0, pause_s=0.01)
    right = f"AUTH {TOKEN}\n".encode()
    found = said(right, b"AUTH x\n", b"AUTH y\n", b"AUTH z\n", right, b"AUTH z\n", limits=limits)
    assert [lines[0][:3] for lines in found] == ["200", "401", "401", "429", "200", "429"]


def test_who_closes_the_port_by_a_command_gets_the_answer() -> None:
    async def talk() -> list[str]:
        async def move(_: Sequence[str]) -> str:
            await port.close()
            return "moved"

        port = CommandPort({"MOVE": Verb(0, 0, move, "MOVE")}, lambda token: token == TOKEN)
        await port.open("127.0.0.1", 0)
        assert port.address is not None
        reader, writer = await asyncio.open_connection(*port.address)
        writer.write(f"AUTH {TOKEN}\nMOVE\nMOVE\n".encode())
        async with asyncio.timeout(60):
            lines = (await reader.read()).decode().splitlines()
        writer.close()
        await writer.wait_closed()
        assert port.address is None
        return lines[1:]

    assert asyncio.run(talk()) == ["200 moved"]


def test_beyond_its_connections_nobody_is_served() -> None:
    async def crowd() -> list[str]:
        port = CommandPort(VERBS, lambda token: token == TOKEN, PortLimits(connections=1))
        await port.open("127.0.0.1", 0)
        assert port.address is not None
        try:
            one, first = await asyncio.open_connection(*port.address)
            first.write(f"AUTH {TOKEN}\n".encode())
            lines = [(await one.readline()).decode()[:3]]
            two, second = await asyncio.open_connection(*port.address)
            lines.append((await two.readline()).decode()[:3])
            first.close()
            second.close()
        finally:
            await port.close()  # also with somebody connected
        return lines

    assert asyncio.run(crowd()) == ["200", "429"]


def test_it_listens_at_both_loopbacks_where_there_are_two() -> None:
    async def talk() -> list[bytes]:
        port = CommandPort(VERBS, lambda token: token == TOKEN)
        await port.open("127.0.0.1", 0, also="::1")
        assert port.address is not None
        found = []
        try:
            for host in ("127.0.0.1", "::1"):
                try:
                    reader, writer = await asyncio.open_connection(host, port.address[1])
                except OSError:
                    assert host == "::1"  # a machine without IPv6
                    continue
                writer.write(f"AUTH {TOKEN}\nSTATUS\n".encode())
                writer.write_eof()
                async with asyncio.timeout(60):
                    found.append(await reader.read())
                writer.close()
                await writer.wait_closed()
        finally:
            await port.close()
        return found

    for said_there in asyncio.run(talk()):
        assert [line[:4] for line in said_there.splitlines()] == [b"200 ", b"200 "]


def test_idle_connections_close_nobody_out_who_can_say_who_he_is() -> None:
    async def talk() -> list[str]:
        port = CommandPort(VERBS, lambda token: token == TOKEN, PortLimits(connections=4))
        await port.open("127.0.0.1", 0)
        assert port.address is not None
        lines = []
        idle = []
        try:
            idle += [
                await asyncio.open_connection(*port.address, local_addr=(f"127.0.0.{host}", 0))
                for host in (2, 2, 3, 3)
            ]
            for _ in range(4):
                reader, writer = await asyncio.open_connection(*port.address)
                writer.write(f"AUTH {TOKEN}\nSTATUS\n".encode())
                idle.append((reader, writer))
                async with asyncio.timeout(60):
                    lines += [(await reader.readline()).decode()[:3], (await reader.readline()).decode()[:3]]
        finally:
            for _, writer in idle:
                writer.close()
            await port.close()
        return lines

    assert asyncio.run(talk()) == ["200"] * 8
