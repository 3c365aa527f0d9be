"""The system's resolver: literals, odd spellings, memory, and questions that are shared."""

import asyncio
import socket
from typing import TYPE_CHECKING

import pytest

from ingather.fetch.dns import SystemResolver

if TYPE_CHECKING:
    from tests.unit.fetch.conftest import HandClock


class System:
    """Stands in for the C library's resolver, which is not ours."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.answers: dict[str, list[str] | OSError] = {}

    def getaddrinfo(
        self, host: str, *_: object, **__: object
    ) -> list[tuple[int, int, int, str, tuple[str, int]]]:
        self.asked.append(host)
        answer = self.answers.get(host, socket.gaierror(socket.EAI_NONAME, "Name or service not known"))
        if isinstance(answer, OSError):
            raise answer
        family = {True: socket.AF_INET6, False: socket.AF_INET}
        return [(family[":" in text], socket.SOCK_STREAM, 6, "", (text, 0)) for text in answer]


@pytest.fixture
def system(monkeypatch: pytest.MonkeyPatch) -> System:
    system = System()
    monkeypatch.setattr(socket, "getaddrinfo", system.getaddrinfo)
    return system


def ask(clock: "HandClock", *hosts: str, step_s: float = 0.0) -> list[tuple[str, ...]]:
    async def main() -> list[tuple[str, ...]]:
        resolver = SystemResolver(clock)
        answers = []
        for host in hosts:
            answers.append(tuple(await resolver.resolve(host)))
            clock.now_s += step_s
        await resolver.close()
        return answers

    return asyncio.run(main())


def test_all_addresses_in_order_each_once(system: System, hand_clock: "HandClock") -> None:
    system.answers["x.example"] = ["2001:db8::1", "192.0.2.1", "192.0.2.1", "fe80::1%lo"]
    assert ask(hand_clock, "x.example") == [("2001:db8::1", "192.0.2.1", "fe80::1%lo")]


@pytest.mark.parametrize(
    ("literal", "address"),
    [("192.0.2.1", "192.0.2.1"), ("::1", "::1"), ("[::1]", "::1"), ("::ffff:192.0.2.1", "192.0.2.1")],
)
def test_a_literal_is_itself(system: System, hand_clock: "HandClock", literal: str, address: str) -> None:
    assert ask(hand_clock, literal) == [(address,)]
    assert not system.asked


@pytest.mark.parametrize(
    "host", ["127.1", "2130706433", "0x7f000001", "0177.0.0.1", "0", "x.0x1", "1.2.3.4.5", "", "."]
)
def test_an_odd_spelling_is_no_name(system: System, hand_clock: "HandClock", host: str) -> None:
    assert ask(hand_clock, host) == [()]
    assert not system.asked


@pytest.mark.parametrize("host", ["a" * 64 + ".example", "a..example", "x" * 300])
def test_an_impossible_name_does_not_exist(hand_clock: "HandClock", host: str) -> None:
    assert ask(hand_clock, host) == [()]


def test_answers_are_remembered_for_a_minute_and_absence_for_half(
    system: System, hand_clock: "HandClock"
) -> None:
    system.answers["x.example"] = ["192.0.2.1"]
    ask(hand_clock, *["x.example"] * 4, step_s=21.0)
    assert system.asked == ["x.example"] * 2
    system.asked.clear()
    ask(hand_clock, *["none.example"] * 4, step_s=16.0)
    assert system.asked == ["none.example"] * 2


def test_a_failure_to_ask_is_an_error_and_not_remembered(system: System, hand_clock: "HandClock") -> None:
    async def main() -> None:
        resolver = SystemResolver(hand_clock)
        system.answers["x.example"] = socket.gaierror(
            socket.EAI_AGAIN, "Temporary failure in name resolution"
        )
        with pytest.raises(OSError, match="Temporary"):
            await resolver.resolve("x.example")
        system.answers["x.example"] = ["192.0.2.1"]
        assert await resolver.resolve("x.example") == ("192.0.2.1",)
        await resolver.close()

    asyncio.run(main())


def test_tasks_share_a_question(system: System, hand_clock: "HandClock") -> None:
    async def main() -> None:
        resolver = SystemResolver(hand_clock)
        system.answers["x.example"] = ["192.0.2.1"]
        answers = await asyncio.gather(*[resolver.resolve("x.example") for _ in range(9)])
        assert set(answers) == {("192.0.2.1",)}
        await resolver.close()

    asyncio.run(main())
    assert system.asked == ["x.example"]


def test_the_memory_is_bounded(system: System, hand_clock: "HandClock") -> None:
    async def main() -> None:
        resolver = SystemResolver(hand_clock, max_names=3)
        for n in range(9):
            system.answers[f"{n}.example"] = ["192.0.2.1"]
            await resolver.resolve(f"{n}.example")
        assert list(resolver._known) == ["6.example", "7.example", "8.example"]
        await resolver.close()

    asyncio.run(main())


def test_localhost_is_known_to_every_system(hand_clock: "HandClock") -> None:
    (answer,) = ask(hand_clock, "localhost")
    assert set(answer) <= {"127.0.0.1", "::1"}
    assert answer
