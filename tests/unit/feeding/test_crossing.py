"""Jobs from other loops into one loop: each gets its own answer, whatever becomes of the others."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from ingather.app.crossing import Crossing


class Desk:
    """Takes jobs on its loop and answers all that wait at once, as a transaction does; counts those."""

    def __init__(self) -> None:
        self.waiting: list[tuple[Callable[[], Any], asyncio.Future[Any]]] = []
        self.transactions = 0

    def post(self, job: Callable[[], Any]) -> asyncio.Future[Any]:
        if job is refused:
            raise RuntimeError("not here")
        future = asyncio.get_running_loop().create_future()
        if not self.waiting:
            asyncio.get_running_loop().call_later(0.001, self.answer)
        self.waiting.append((job, future))
        return future

    def answer(self) -> None:
        self.transactions += 1
        waiting, self.waiting = self.waiting, []
        for job, future in waiting:
            if future.cancelled():
                continue
            try:
                future.set_result(job())
            except ZeroDivisionError as error:
                future.set_exception(error)


def refused() -> None:
    """Is a job that the desk does not even take."""


async def asked(crossing: Crossing, numbers: range) -> list[Any]:
    return await asyncio.gather(
        *(crossing.ask(lambda n=n: 60 // n) for n in numbers), return_exceptions=True
    )  # fmt: skip


def test_each_asker_of_each_loop_has_its_own_answer() -> None:
    async def main() -> None:
        desk = Desk()
        crossing = Crossing(desk.post)
        found: dict[int, list[Any]] = {}

        def elsewhere(number: int) -> None:
            for _ in range(5):
                found[number] = asyncio.run(asked(crossing, range(40)))

        here, *_ = await asyncio.gather(
            asked(crossing, range(40)), *(asyncio.to_thread(elsewhere, number) for number in range(4))
        )
        for answers in (here, *found.values()):
            assert isinstance(answers[0], ZeroDivisionError)
            assert answers[1:] == [60 // n for n in range(1, 40)]
        assert len(found) == 4
        assert desk.transactions < 40 * 21  # they went together

    asyncio.run(main())


def test_what_is_not_taken_is_told_to_who_asked() -> None:
    async def main() -> None:
        crossing = Crossing(Desk().post)

        async def ask() -> None:
            with pytest.raises(RuntimeError, match="not here"):
                await crossing.ask(refused)
            assert await crossing.ask(lambda: 7) == 7

        await asyncio.to_thread(asyncio.run, ask())

    asyncio.run(main())


def test_who_gave_up_or_is_gone_is_in_nobody_s_way() -> None:
    async def main() -> None:
        desk = Desk()
        crossing = Crossing(desk.post)

        async def impatient() -> None:
            given_up = asyncio.ensure_future(crossing.ask(lambda: 1))
            stays = asyncio.ensure_future(crossing.ask(lambda: 2))
            await asyncio.sleep(0)
            given_up.cancel()
            assert await stays == 2
            assert given_up.cancelled()

        await asyncio.to_thread(asyncio.run, impatient())

        async def leaves() -> None:
            asyncio.ensure_future(crossing.ask(lambda: 3)).add_done_callback(lambda _: None)
            await asyncio.sleep(0)

        await asyncio.to_thread(asyncio.run, leaves())  # its loop is closed before the answer comes
        assert await crossing.ask(lambda: 4) == 4

    asyncio.run(main())
