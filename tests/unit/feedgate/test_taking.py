"""A body is written while its next bytes come: in order, and nobody forgets a file that a thread still holds."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ingather.feeds.authority import Sender
from ingather.feeds.spool import Spool
from ingather.testing.feedgate import MemoryDesk
from ingather.testing.feedwire import FEED, multipart, post
from ingather.web.feedgate import Doors, Intake
from ingather.web.feedgate.head import head_length, parse_head
from ingather.web.feedgate.intake import Taking

LARGE = FEED[:-20] + b"<!-- " + bytes(range(97, 123)) * 40_000 + b" -->" + FEED[-20:]
PIECE = 100_000


class Slow(ThreadPoolExecutor):
    """Threads that begin nothing before they may."""

    def __init__(self, count: int) -> None:
        self.may = threading.Event()
        super().__init__(count, initializer=self.may.wait, initargs=(60,))


def begun(folder: Path, pool: ThreadPoolExecutor) -> tuple[Taking, bytes, MemoryDesk]:
    """Return a request on its way, its body, and where it is to arrive."""
    folder.mkdir(exist_ok=True)
    head, body = post(
        multipart(
            b"<<",
            (b"datasource", b"", b"", b"s"),
            (b"feedtype", b"", b"", b"full"),
            (b"data", b"", b"", LARGE),
        ),
        b"multipart/form-data; boundary=<<",
    )
    desk = MemoryDesk()
    intake = Intake(
        Doors(desk, Spool(folder), lambda _more: True, lambda _more: True, pool, lambda _s, _f: {})
    )
    return intake.begin(parse_head(head[: head_length(head)])), body, desk


async def send(taking: Taking, body: bytes) -> None:
    for at in range(0, len(body), PIECE):
        await taking.feed(body[at : at + PIECE])


def test_what_is_written_meanwhile_is_the_body_in_its_order(tmp_path: Path) -> None:
    async def push(pool: ThreadPoolExecutor) -> MemoryDesk:
        taking, body, desk = begun(tmp_path / "spool", pool)
        await send(taking, body)
        answer = await taking.finish(Sender("127.0.0.1"))
        assert answer.body == b"Success"
        return desk

    with ThreadPoolExecutor(4) as pool:
        [accepted] = asyncio.run(push(pool)).accepted
    assert accepted.spooled.path.read_bytes() == LARGE
    assert (accepted.spooled.size, accepted.spooled.records) == (len(LARGE), 2)


def test_a_sender_given_up_while_a_thread_writes_leaves_no_file_and_closes_none_under_it(
    tmp_path: Path,
) -> None:
    spool = tmp_path / "spool"

    async def push(pool: Slow) -> tuple[bool, int]:
        taking, body, _ = begun(spool, pool)
        sending = asyncio.create_task(send(taking, body))
        await asyncio.wait({sending}, timeout=0.05)  # by now it waits for its thread
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)
        going = asyncio.create_task(taking.discard())
        await asyncio.sleep(0.05)
        waited = not going.done()
        pool.may.set()
        await going
        return waited, sum(1 for _ in spool.iterdir())

    with Slow(2) as pool:
        assert asyncio.run(push(pool)) == (True, 0)


def test_what_cannot_be_written_is_said_at_the_next_piece_and_the_rest_is_forgotten(tmp_path: Path) -> None:
    spool = tmp_path / "spool"

    async def push(pool: ThreadPoolExecutor) -> None:
        taking, body, _ = begun(spool, pool)
        spool.rmdir()
        await taking.feed(body[: 2 * PIECE])
        with pytest.raises(FileNotFoundError):
            await send(taking, body[2 * PIECE :])
        await taking.discard()

    with ThreadPoolExecutor(2) as pool:
        asyncio.run(push(pool))
    assert not spool.exists()
