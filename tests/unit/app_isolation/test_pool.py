"""The pool of converters: what comes back, what a lost converter costs, what a converter may not do."""

import asyncio
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import pytest
import uvloop

from ingather.app.confined.confinement import MEASURES
from ingather.app.confined.pool import ConverterLimits, ConverterPool, JobLimits
from ingather.app.confined.sandbox import probe
from ingather.errors import ExtractError, IsolationError
from ingather.extract.documents.wire import decode_converted, decode_page
from ingather.testing.clock import FakeClock

T = TypeVar("T")
Run = Callable[[Coroutine[Any, Any, T]], T]

QUICK = ConverterLimits(
    jobs={"convert": JobLimits(cpu_s=20, wall_s=60), "hang": JobLimits(cpu_s=20, wall_s=0.3), "spin": JobLimits(cpu_s=0.1, wall_s=60)},
    memory_bytes=192 * 1024 * 1024,
    file_bytes=1024 * 1024,
    answer_bytes=4 * 1024 * 1024,
)  # fmt: skip


def pool(count: int = 1, **changes: Any) -> ConverterPool:
    given: dict[str, Any] = {
        "clock": FakeClock(),
        "limits": QUICK,
        "job_table": "ingather.testing.jobs",
        "python_flags": ("-W", "error"),
        **changes,
    }
    return ConverterPool(count=count, **given)


async def begun(converters: ConverterPool) -> None:
    """Go on as soon as a job was handed over."""
    async with asyncio.timeout(120):
        while not converters.statistics.jobs:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.005)  # without a busy loop: the converter wants the processor


@pytest.fixture(params=[asyncio.run, uvloop.run], ids=["asyncio", "uvloop"])
def run(request: pytest.FixtureRequest) -> Run[Any]:
    runner: Run[Any] = request.param
    return runner


def alone(job: str, body: bytes = b"", options: dict[str, str] | None = None, **changes: Any) -> bytes:
    async def once() -> bytes:
        async with pool(**changes) as converters:
            return await converters.run(job, body, options or {})

    return asyncio.run(once())


def loss(job: str, body: bytes = b"") -> IsolationError:
    with pytest.raises(IsolationError) as caught:
        alone(job, body)
    return caught.value


def test_a_job_gets_body_and_options_and_its_answer_comes_back(run: Run[bytes]) -> None:
    async def once() -> bytes:
        async with pool() as converters:
            return await converters.run("echo", b"\x00body" * 100_000, {"name": "päper.pdf"})

    answer = msgspec.msgpack.decode(run(once()))

    assert answer["body"] == b"\x00body" * 100_000
    assert answer["options"] == {"name": "päper.pdf"}


def test_a_converter_serves_one_job_after_the_other() -> None:
    async def many() -> set[int]:
        async with pool() as converters:
            return {msgspec.msgpack.decode(await converters.run("echo", b"", {}))["pid"] for _ in range(20)}

    assert len(asyncio.run(many())) == 1


def test_a_real_document_is_converted_in_a_converter() -> None:
    body = rb"""{\rtf1\ansi Caf\'e9 {\field{\*\fldinst HYPERLINK "http://a.example/"}{\fldrslt here}}}"""

    answer = decode_converted(alone("convert", body, {"name": "x.rtf"}))

    assert answer.text == "Café here"


def test_a_suspect_page_is_read_in_a_converter() -> None:
    body = b"<html><title>T</title>" + b"<div>" * 9_000 + b"<a href='next'>on</a>"
    options = {
        "url": "http://a.example/x/",
        "content_type": "text/html",
        "x-robots-tag": "nofollow",
        "agent": "ingather",
    }

    page = decode_page(alone("page", body, options))

    assert page.title == "T"
    assert [link.url for link in page.links] == ["http://a.example/x/next"]
    assert "nofollow" in page.robots


def test_limits_of_a_conversion_travel_as_options() -> None:
    answer = decode_converted(alone("convert", rb"{\rtf1 0123456789}", {"text_bytes": "4"}))

    assert (answer.text, answer.flags) == ("0123", ("cut",))


def test_a_refusal_is_told_with_its_reason_and_costs_no_converter() -> None:
    async def refused_then_served() -> tuple[int, str]:
        async with pool() as converters:
            with pytest.raises(ExtractError) as caught:
                await converters.run("refuse", b"encrypted", {})
            await converters.run("echo", b"", {})
            return converters.statistics.started, caught.value.reason

    assert asyncio.run(refused_then_served()) == (1, "encrypted")


def test_a_fault_of_the_job_itself_is_told_as_failed() -> None:
    with pytest.raises(ExtractError) as caught:
        alone("stumble")

    assert caught.value.reason == "failed"
    assert "KeyError" in str(caught.value)


def test_an_unknown_job_is_told_as_failed() -> None:
    with pytest.raises(ExtractError, match="KeyError"):
        alone("no-such-job")


@pytest.mark.parametrize(
    ("job", "body", "reason"),
    [
        ("hang", b"", "timeout"),
        ("spin", b"", "cpu"),
        ("eat-memory", b"1000", "memory"),
        ("eat-all-memory", b"", "memory"),
        ("abort-for-memory", b"", "memory"),
        ("exit", b"0", "died"),
        ("exit", b"3", "died"),
        ("crash", b"SIGSEGV", "died"),
        ("crash", b"SIGKILL", "died"),
        ("long-answer", b"5000000", "died"),
    ],
)
def test_a_lost_converter_is_a_verdict_with_its_reason(job: str, body: bytes, reason: str) -> None:
    assert loss(job, body).reason == reason


def test_the_last_words_of_a_dead_converter_are_told() -> None:
    assert "SIGSEGV: last words" in str(loss("crash", b"SIGSEGV"))


def test_after_every_kind_of_loss_the_next_job_gets_a_fresh_converter(run: Run[Any]) -> None:
    async def lose_and_serve() -> tuple[list[int], dict[str, int]]:
        pids = []
        async with pool() as converters:
            for job, body in (("exit", b"1"), ("hang", b""), ("spin", b""), ("eat-memory", b"1000")):
                with pytest.raises(IsolationError):
                    await converters.run(job, body, {})
                pids.append(msgspec.msgpack.decode(await converters.run("echo", b"", {}))["pid"])
            return pids, converters.statistics.lost

    pids, lost = run(lose_and_serve())

    assert len(set(pids)) == 4
    assert lost == {"died": 1, "timeout": 1, "cpu": 1, "memory": 1}


def test_what_is_printed_never_reaches_the_answers() -> None:
    assert alone("print", b"\x00\x00\x00noise\n") == b"done"


def test_a_document_that_hangs_holds_one_converter_and_no_other_job() -> None:
    async def hang_and_serve() -> int:
        limits = ConverterLimits(jobs={"convert": JobLimits(cpu_s=20, wall_s=600)})
        async with pool(count=2, limits=limits) as converters:
            hanging = asyncio.create_task(converters.run("hang", b"", {}))
            served = 0
            for _ in range(20):
                await converters.run("echo", b"", {})
                served += 1
            assert not hanging.done()
            hanging.cancel()
            await asyncio.gather(hanging, return_exceptions=True)
            return served

    assert asyncio.run(hang_and_serve()) == 20


def test_as_many_jobs_run_at_once_as_there_are_converters() -> None:
    async def burst() -> tuple[int, int]:
        async with pool(count=3) as converters:
            answers = await asyncio.gather(*(converters.run("echo", b"x" * 100_000, {}) for _ in range(30)))
            return len(
                {msgspec.msgpack.decode(answer)["pid"] for answer in answers}
            ), converters.statistics.started

    seen, started = asyncio.run(burst())

    assert seen <= 3
    assert started <= 3


def test_a_cancelled_job_ends_its_converter_and_frees_its_place(run: Run[Any]) -> None:
    async def cancel_and_serve() -> tuple[bytes, int]:
        limits = ConverterLimits(jobs={"convert": JobLimits(cpu_s=20, wall_s=600)})
        async with pool(limits=limits) as converters:
            hanging = asyncio.create_task(converters.run("hang", b"", {}))
            await begun(converters)
            hanging.cancel()
            with pytest.raises(asyncio.CancelledError):
                await hanging
            return await converters.run("echo", b"", {}), converters.statistics.started

    _, started = run(cancel_and_serve())

    assert started == 2


def test_a_converter_is_replaced_after_its_share_of_jobs() -> None:
    async def many() -> tuple[int, int]:
        async with pool(limits=ConverterLimits(recycle_jobs=5)) as converters:
            for _ in range(12):
                await converters.run("echo", b"", {})
            return converters.statistics.started, converters.statistics.recycled

    assert asyncio.run(many()) == (3, 2)


def test_a_converter_is_replaced_when_it_is_old() -> None:
    async def old() -> int:
        clock = FakeClock()
        async with pool(clock=clock, limits=ConverterLimits(recycle_s=900)) as converters:
            await converters.run("echo", b"", {})
            clock.advance(900)
            await converters.run("echo", b"", {})  # served, then replaced
            await converters.run("echo", b"", {})
            return converters.statistics.started

    assert asyncio.run(old()) == 2


def test_a_converter_that_died_idle_is_no_verdict_on_the_next_document() -> None:
    async def killed_idle() -> tuple[int, dict[str, int]]:
        async with pool() as converters:
            await converters.run("echo", b"", {})
            (pid,) = converters.pids
            ended = os.pidfd_open(pid)
            os.kill(pid, signal.SIGKILL)
            select.select([ended], [], [])
            os.close(ended)
            await converters.run("echo", b"", {})
            return converters.statistics.started, converters.statistics.lost

    assert asyncio.run(killed_idle()) == (2, {})


def test_closing_ends_the_jobs_under_way_without_a_verdict(run: Run[Any]) -> None:
    async def close_early() -> tuple[str, tuple[int, ...]]:
        limits = ConverterLimits(jobs={"convert": JobLimits(cpu_s=20, wall_s=600)})
        converters = pool(limits=limits)
        hanging = asyncio.create_task(converters.run("hang", b"", {}))
        await begun(converters)
        await converters.close()
        with pytest.raises(IsolationError) as caught:
            await hanging
        return caught.value.reason, converters.pids

    assert run(close_early()) == ("unavailable", ())


def test_a_closed_pool_takes_no_job() -> None:
    async def late() -> str:
        converters = pool()
        await converters.close()
        with pytest.raises(IsolationError) as caught:
            await converters.run("echo", b"", {})
        return caught.value.reason

    assert asyncio.run(late()) == "unavailable"


def test_a_job_table_that_does_not_load_is_unavailable_and_says_why() -> None:
    with pytest.raises(
        IsolationError, match="No module named 'ingather.no_such_table'".replace(".", r"\.")
    ) as caught:
        alone("echo", job_table="ingather.no_such_table")

    assert caught.value.reason == "unavailable"


# --- what a converter may not do ------------------------------------------------------------------


def test_a_converter_cannot_connect() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        assert alone("connect", str(listener.getsockname()[1]).encode()).startswith(b"refused")


def test_a_converter_cannot_become_another_program() -> None:
    assert alone("run-program") == b"refused 1"


def test_a_converter_cannot_write_a_file_beyond_its_limit() -> None:
    assert alone("write-file", b"100") == b"written"
    assert alone("write-file", b"2000000") == b"refused 27"


def test_a_converter_has_a_private_folder_that_goes_with_it(tmp_path: Path) -> None:
    room = tmp_path / "converters"

    found = msgspec.msgpack.decode(alone("surroundings", folder=room))

    assert Path(found["folder"]).parent == room
    assert found["mode"] == 0o700
    assert not room.exists()


def test_folders_that_an_earlier_run_left_are_removed_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "converter-left").mkdir()
    (tmp_path / "other").mkdir()

    async def look() -> list[str]:
        async with pool(folder=tmp_path) as converters:
            await converters.run("echo", b"", {})
            return os.listdir(tmp_path)  # noqa: PTH208 (pathlib is refused in coroutines)

    during = asyncio.run(look())

    assert "other" in during
    assert "converter-left" not in during
    assert [path.name for path in tmp_path.iterdir()] == ["other"]


def test_a_converter_sees_no_environment_but_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hidden")

    found = msgspec.msgpack.decode(alone("surroundings", environment={"EXTRA": "1"}))

    assert set(found["environment"]) - {"LC_CTYPE"} == {
        "PATH", "HOME", "TMPDIR", "LANG", "PYTHONPATH", "MALLOC_ARENA_MAX", "EXTRA",
    }  # fmt: skip
    assert found["environment"]["TMPDIR"] == found["environment"]["HOME"] == found["folder"]


def test_a_converter_leads_its_own_process_group_and_ignores_interrupts() -> None:
    found = msgspec.msgpack.decode(alone("surroundings"))

    assert found["group"] == found["pid"]
    assert found["interrupt"] is True


def test_what_a_converter_started_ends_with_it(tmp_path: Path) -> None:
    marker = tmp_path / "child"

    async def leave() -> None:
        async with pool() as converters:
            job = asyncio.create_task(converters.run("leave-child", b"", {"marker": str(marker)}))
            async with asyncio.timeout(120):
                while not (marker.exists() and marker.read_text()):  # noqa: ASYNC110 - another process
                    await asyncio.sleep(0.005)
        with pytest.raises(IsolationError):
            await job

    asyncio.run(leave())

    assert gone(int(marker.read_text()))


def gone(pid: int) -> bool:
    """Wait until *pid* has ended; whoever adopted it reaps it."""
    try:
        ended = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([ended], [], [], 30)[0])
    finally:
        os.close(ended)


def test_the_measures_that_took_are_told() -> None:
    async def measures() -> tuple[str, ...]:
        async with pool() as converters:
            await converters.run("echo", b"", {})
            return converters.measures

    assert {"dies-with-parent", "limits", "no-new-privileges", "seccomp"} <= set(asyncio.run(measures()))


OWNER = """
import asyncio, sys
from ingather.app.confined.pool import ConverterPool
from ingather.testing.clock import FakeClock

async def main():
    pool = ConverterPool(count=1, clock=FakeClock(), job_table="ingather.testing.jobs")
    task = asyncio.create_task(pool.run("hang", b"", {}))
    while not pool.statistics.jobs:
        await asyncio.sleep(0.005)
    print(*pool.pids, flush=True)
    await task

asyncio.run(main())
"""


def test_a_converter_ends_when_its_owner_is_killed(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", OWNER], stdout=subprocess.PIPE, env={**os.environ, "TMPDIR": str(tmp_path)}
    ) as owner:
        assert owner.stdout is not None
        pid = int(owner.stdout.readline())
        owner.kill()

    assert gone(pid)


def test_a_pool_that_has_done_nothing_can_tell_its_measures() -> None:
    async def measures() -> tuple[tuple[str, ...], int]:
        async with pool() as converters:
            first = await converters.ready()
            assert await converters.ready() == first
            await converters.run("echo", b"", {})
            return first, converters.statistics.started

    told, started = asyncio.run(measures())
    assert "limits" in told
    assert set(told) <= set(MEASURES)
    assert started == 1


def test_the_sandbox_is_measured_on_a_converter_of_its_own(tmp_path: Path) -> None:
    found = asyncio.run(probe(QUICK, FakeClock(), tmp_path / "probe"))
    assert set(found.measures) | set(found.missing) == set(MEASURES)
    assert found.level == ("part" if found.missing else "whole")
    assert found.form()["measures"] == list(found.measures)
    assert list(tmp_path.rglob("*")) in ([], [tmp_path / "probe"])


def test_a_sandbox_that_cannot_start_says_why(tmp_path: Path) -> None:
    (tmp_path / "probe").write_text("a file in its way")
    found = asyncio.run(probe(QUICK, FakeClock(), tmp_path / "probe"))
    assert (found.level, found.measures) == ("unavailable", ())
    assert found.form()["trouble"]
