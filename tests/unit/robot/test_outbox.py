"""What lies between claim and release is bounded in pages and in bytes, and durable before it is told."""

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from ingather.model.lifecycle import Outcome
from ingather.model.report import Report, Stored
from ingather.robot.gathererlimits import GathererLimits
from ingather.robot.outbox import Outbox
from ingather.robot.politeness.asking import Asking
from ingather.robot.visit.pipeline import Pipeline
from ingather.robot.wire import Reports

LIMITS = GathererLimits(unkept_pages=4, unkept_bytes=10_000, flush_pages=2, flush_bytes=1 << 20)


def report(number: int, text: str = "", stored: Stored | None = None) -> Report:
    return Report(number, int(Outcome.INDEXED), 200, 1.0, 1, text=text, stored=stored)


class Sent:
    """An outbox whose keeper takes everything and commits nothing by itself; what happened, in order."""

    def __init__(self, limits: GathererLimits = LIMITS) -> None:
        self.happened: list[str] = []
        quiet = SimpleNamespace(stop_asked="", judged=list, ended=[], send_ended=lambda: None)
        self.outbox = Outbox(
            self._take, drain=self._drained, wake=asyncio.Event(), limits=limits, sync=lambda: self.happened.append("sync"),
            pipeline=cast(Pipeline, quiet), asking=cast(Asking, quiet),
        )  # fmt: skip

    def _take(self, message: object) -> None:
        self.happened += [f"report {one.id}" for one in cast(Reports, message).reports]

    async def _drained(self) -> None:
        """Nobody is behind."""


def test_beyond_so_many_pages_no_visit_starts_until_the_keeper_has_kept_some() -> None:
    async def story() -> None:
        sent = Sent()
        for number in range(4):
            assert sent.outbox.room
            sent.outbox.add(report(number))
            if number % 2:
                await sent.outbox.flush()
        assert not sent.outbox.room
        sent.outbox.kept(2)
        assert sent.outbox.room

    asyncio.run(story())


@pytest.mark.parametrize("flushed", [False, True])
def test_beyond_so_many_bytes_no_visit_starts_whether_they_wait_or_are_sent(flushed: bool) -> None:  # noqa: FBT001 - a case
    async def story() -> None:
        sent = Sent()
        sent.outbox.add(report(1, "x" * 9_000))
        assert sent.outbox.room
        sent.outbox.add(report(2, "x" * 1_000))
        if flushed:
            await sent.outbox.flush()
        assert not sent.outbox.room
        await sent.outbox.flush()
        sent.outbox.kept(2)
        assert sent.outbox.room

    asyncio.run(story())


def test_bodies_are_durable_before_the_keeper_is_told() -> None:
    async def story() -> list[str]:
        sent: Any = Sent()
        sent.outbox.add(report(1, stored=Stored(1, 0, 10, 10, 5)))
        sent.outbox.add(report(2))
        await sent.outbox.flush()
        sent.outbox.add(report(3))
        await sent.outbox.flush()
        return cast(list[str], sent.happened)

    assert asyncio.run(story()) == ["sync", "report 1", "report 2", "report 3"]
