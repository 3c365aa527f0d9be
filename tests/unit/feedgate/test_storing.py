"""Small feeds that become durable together: each has its own answer, and none waits for ever."""

import asyncio
import errno
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from ingather.feeds.desk import Spooled
from ingather.feeds.spool import Spool, SpoolFile, commit_together
from ingather.web.feedgate.storing import Storing


def filled(spool: Spool, content: bytes) -> SpoolFile:
    file = spool.begin(b"<record")
    file.write(content)
    return file


class Held(Executor):
    """Runs nothing before it is told to."""

    def __init__(self) -> None:
        self.jobs: list[Callable[[], object]] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.jobs.append(lambda: fn(*args, **kwargs))
        return Future()

    def release(self) -> None:
        jobs, self.jobs = self.jobs, []
        for job in jobs:
            job()


def test_one_that_cannot_be_written_costs_no_other(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    files = [filled(spool, b"%d" % number) for number in range(3)]
    blocked = tmp_path / f"{spool.begin(b'<').commit().name[:-12]}{1:012x}"  # the second file's final name
    blocked.mkdir()
    first, second, third = commit_together(files)
    assert isinstance(first, Spooled)
    assert isinstance(third, Spooled)
    assert (first.path.read_bytes(), third.path.read_bytes()) == (b"0", b"2")
    assert isinstance(second, OSError)
    assert second.errno == errno.EISDIR
    assert not list(tmp_path.glob("*.part"))


def test_a_folder_that_is_gone_fails_all_of_them(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool")
    made = commit_together([filled(spool, b"x") for _ in range(3)])
    assert all(isinstance(one, OSError) and one.errno == errno.ENOENT for one in made)


def test_from_two_loops_each_gets_the_file_that_it_gave(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    found: dict[bytes, bytes] = {}

    async def ask(storing: Storing, content: bytes) -> None:
        found[content] = (await storing.commit(filled(spool, content))).path.read_bytes()

    async def many(storing: Storing, name: bytes) -> None:
        await asyncio.gather(*(ask(storing, b"%b%d" % (name, number)) for number in range(150)))

    with ThreadPoolExecutor(3) as pool:
        storing = Storing(pool)
        loops = [
            threading.Thread(target=lambda name=name: asyncio.run(many(storing, name)))
            for name in (b"a", b"b")
        ]
        for loop in loops:
            loop.start()
        for loop in loops:
            loop.join()
    assert len(found) == 300
    assert all(content == kept for content, kept in found.items())
    assert len(list(tmp_path.iterdir())) == 300


def test_who_gave_up_before_its_turn_leaves_nothing(tmp_path: Path) -> None:
    spool, pool = Spool(tmp_path), Held()

    async def ask() -> bytes:
        storing = Storing(pool)
        gone = asyncio.create_task(storing.commit(filled(spool, b"gone")))
        stays = asyncio.create_task(storing.commit(filled(spool, b"stays")))
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.gather(gone, return_exceptions=True)
        pool.release()
        return (await stays).path.read_bytes()

    assert asyncio.run(ask()) == b"stays"
    assert len(list(tmp_path.iterdir())) == 1


def test_an_error_nobody_thought_of_is_told_and_the_next_goes_on(tmp_path: Path) -> None:
    async def ask(pool: Executor) -> bytes:
        storing = Storing(pool)
        with pytest.raises(ValueError, match=r"null byte|null character"):
            await storing.commit(filled(Spool(tmp_path / "a\0b"), b"x"))
        return (await storing.commit(filled(Spool(tmp_path), b"y"))).path.read_bytes()

    with ThreadPoolExecutor(2) as pool:
        assert asyncio.run(ask(pool)) == b"y"


def test_a_pool_that_is_closed_refuses_and_keeps_nothing(tmp_path: Path) -> None:
    closed = ThreadPoolExecutor(1)
    closed.shutdown()

    async def ask() -> None:
        storing = Storing(closed)
        for _ in range(3):
            with pytest.raises(RuntimeError, match="shutdown"):
                await storing.commit(filled(Spool(tmp_path), b"x"))

    asyncio.run(ask())
    assert not list(tmp_path.iterdir())


def test_a_large_file_goes_alone(tmp_path: Path) -> None:
    spool, pool = Spool(tmp_path), Held()
    large, small = filled(spool, b"x" * 200_000), filled(spool, b"s")
    large.flush()

    async def ask() -> int:
        storing = Storing(pool)
        waiting = [asyncio.create_task(storing.commit(file)) for file in (large, small)]
        await asyncio.sleep(0)
        assert len(pool.jobs) == 2
        pool.jobs.pop(0)  # the sync of the large one takes its time
        pool.release()
        size = (await waiting[1]).size
        waiting[0].cancel()
        await asyncio.gather(waiting[0], return_exceptions=True)
        return size

    assert asyncio.run(ask()) == 1
    large.discard()
