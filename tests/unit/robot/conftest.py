"""A gatherer and a server for the tests of asked visits: one pair a module, in one loop."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import pytest

from ingather.robot.visit.listed import ListedRules
from ingather.testing.hand import Hand, RawServer


class Bench:
    """A gatherer, a server, and the loop that both belong to."""

    def __init__(self, runner: asyncio.Runner, hand: Hand, server: RawServer) -> None:
        self.runner, self.hand, self.server = runner, hand, server

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self.runner.run(work)

    def clear(self) -> None:
        self.server.clear()
        self.hand.rules.clear()
        self.hand.rules["news"] = ListedRules()
        self.hand.rules["maps"] = ListedRules(kind="sitemap")
        self.hand.messages.clear()


MakeBench = Callable[..., Bench]


@pytest.fixture(scope="module")
def make_bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MakeBench]:
    """Make a bench with the circumstances that :class:`Hand` takes."""
    with asyncio.Runner() as runner:
        made: list[Bench] = []

        def make(**circumstances: Any) -> Bench:
            folder = tmp_path_factory.mktemp("hand")
            (folder / "bodies").mkdir()

            async def begin() -> Bench:
                server, hand = RawServer(), Hand(folder, **circumstances)
                await server.__aenter__()
                await hand.__aenter__()
                return Bench(runner, hand, server)

            made.append(runner.run(begin()))
            made[-1].clear()
            return made[-1]

        yield make
        for bench in made:
            runner.run(bench.hand.__aexit__(None, None, None))
            runner.run(bench.server.__aexit__(None, None, None))


@pytest.fixture(scope="module")
def shared(make_bench: MakeBench) -> Bench:
    return make_bench()


@pytest.fixture
def bench(shared: Bench) -> Bench:
    shared.clear()
    return shared
