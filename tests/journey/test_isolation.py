"""Who hangs or dies while it reads a page costs that page, and nobody else."""

import asyncio
import os
import signal
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from ingather.app.clock import SystemClock
from ingather.app.confined.pool import ConverterPool
from ingather.model.lifecycle import Outcome, State
from ingather.robot.slot import Slot
from ingather.testing import hostile
from ingather.testing.documents import docx
from ingather.testing.faults import FAULTS, FaultServer
from ingather.testing.rig import Rig, Running, wait_until
from ingather.testing.server import SyntheticServer
from ingather.testing.site import Site, html
from ingather.testing.web import Answer, SyntheticWeb
from ingather.testing.webshape import WebShape

DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
MEGA = 1 << 20
PATIENT = pytest.mark.timeout(300)
"""For what takes many seconds on a quiet machine."""
REFUSALS = [name for name in FAULTS if name.startswith(("429", "503"))]


FAILURES: dict[str, str | tuple[str, ...]] = {
    "drop": "closed", "reset": "closed", "partial": "closed", "cut-chunked": "closed", "broken-chunked": "protocol", "not-http": "protocol",
    "huge-head": "head-too-large", "endless-head": "head-too-large", "no-answer": "first-byte-timeout", "slow-drip": "too-slow",
    "stall": ("total-timeout", "too-slow"), "infinite": "too-large", "large": "too-large", "gzip-bomb": "decoded-too-large", "zstd-bomb": "compression-ratio",
    "double-gzip": "bad-encoding", "bad-gzip": "bad-encoding", "redirect-self": "redirect-loop", "redirect-nowhere": "bad-redirect",
}  # fmt: skip
READABLE = ("ok", "deep-page", "gzip", "calendar", "unclosed-comments", "many-links")


class Trap:
    """Answers of a page whose reading harms the gatherer: *harm* is done to it as soon as it asks."""

    def __init__(self, rig: Rig, url: str, harm: Callable[["Trap", int], None], *, times: int) -> None:
        self.running: Running | None = None
        self._rig, self._url, self._harm, self._times = rig, url, harm, times
        self.harmed: list[int] = []

    def __call__(self, times: int) -> Answer:
        if times < self._times and self.running is not None:
            (pid,) = self.running.gatherers()
            self._harm(self, pid)
            self.harmed.append(pid)
        return Answer(200, (("Content-Type", "text/html"),), html("Poison").encode())

    def name_it(self) -> None:
        """Let the slot name this page, as the gatherer does before it reads one."""
        row = wait_until(lambda: self._rig.known().get(self._url)).id
        slot = Slot(self._rig.path / "run" / "gatherer-0.slot")
        slot.begin(row, time.monotonic())
        slot.close()


def hang(trap: Trap, pid: int) -> None:
    os.kill(pid, signal.SIGSTOP)
    trap.name_it()


def stand_still(_trap: Trap, pid: int) -> None:
    os.kill(pid, signal.SIGSTOP)


def crash(trap: Trap, pid: int) -> None:
    os.kill(pid, signal.SIGSTOP)  # or it might read another page between the name and the end
    trap.name_it()
    os.kill(pid, signal.SIGSEGV)
    os.kill(pid, signal.SIGCONT)


def crawl_into(site: Site, rig: Rig, harm: Callable[[Trap, int], None], *, times: int = 9) -> Trap:
    site.page("/", "Start", "/good0", "/poison", "/good1", "/good2")
    for n in range(3):
        site.page(f"/good{n}", f"Good {n}")
    trap = Trap(rig, site.url("/poison"), harm, times=times)
    site.answer("/poison", trap)
    with rig.start(*rig.crawling(site.url("/"))) as running:
        trap.running = running
        ran = running.end()
    assert ran.status == 0, ran.err
    assert ran.json["gatherer_deaths"] == len(trap.harmed)
    assert all(rig.known()[site.url(f"/good{n}")].described for n in range(3))
    assert rig.complaints() == []
    return trap


@pytest.mark.parametrize("harm", [hang, crash])
def test_a_page_that_kills_its_reader_twice_is_quarantined(
    rig: Rig, site: Site, harm: Callable[[Trap, int], None]
) -> None:
    rig.tune("limits.parser-wall", "3s")
    trap = crawl_into(site, rig, harm)
    assert len(trap.harmed) == site.asked("/poison") == 2
    page = rig.known()[site.url("/poison")]
    assert (page.state, page.outcome) == (State.QUARANTINED, Outcome.QUARANTINED)
    assert "quarantined" in rig.explained(site.url("/poison")).partition("\n")[0]
    site.forget()
    assert rig.crawl(site.url("/")).status == 0
    assert site.asked("/poison") == 0


def test_a_page_that_kills_its_reader_once_is_read_in_a_converter_then(rig: Rig, site: Site) -> None:
    trap = crawl_into(site, rig, crash, times=1)
    page = rig.known()[site.url("/poison")]
    assert len(trap.harmed) == 1
    assert (page.outcome, page.history) == (Outcome.INDEXED, (Outcome.INDEXED, Outcome.QUARANTINED))
    assert "suspect-html" in rig.explained(site.url("/poison"))


def test_a_gatherer_that_stands_still_without_reading_is_replaced_and_nobody_is_blamed(
    rig: Rig, site: Site
) -> None:
    rig.tune("limits.parser-wall", "3s")
    trap = crawl_into(site, rig, stand_still, times=1)
    assert len(trap.harmed) == 1
    page = rig.known()[site.url("/poison")]
    assert (page.outcome, page.visits) == (Outcome.INDEXED, 1)


def test_while_a_gatherer_hangs_the_others_go_on(rig: Rig) -> None:
    rig.tune("limits.parser-wall", "4s").tune("gather.gatherers", "2")
    robot = rig.path / "config" / "robot.conf"
    robot.write_text(robot.read_text().replace("max-working=1024", "max-working=64"))
    with SyntheticServer(SyntheticWeb(5, WebShape(sites=12, pages=100, depth=2)), latency_s=0.3) as server:
        with rig.start(*rig.crawling(*server.origins)) as running:
            wait_until(lambda: len(segments(rig)) == 2)  # both are at work
            server.latency_s = 0.05
            victim = running.gatherers()[0]
            os.kill(victim, signal.SIGSTOP)
            seen = len(server.requests)
            wait_until(lambda: victim not in running.gatherers())
            meanwhile = len(server.requests) - seen
            ran = running.end()
        assert ran.status == 0, ran.err
        assert ran.json["gatherer_deaths"] == 1
        assert meanwhile > 64, "more than the one that hangs may have had under way"
        again = Counter(server.paths())
        assert max(n for url, n in again.items() if not url.endswith("/robots.txt")) <= 2
    assert rig.complaints() == []


def segments(rig: Rig) -> list[Path]:
    """Files of kept bodies; each gatherer writes its own."""
    return [path for path in (rig.path / "bodies").glob("*.warc.gz") if path.stat().st_size]


def crawl_killing_converters(rig: Rig, site: Site, *, after_cpu_s: float) -> None:
    """Crawl; whatever converter has worked for so much processor time is killed."""
    with rig.start(*rig.crawling(site.url("/"))) as running:
        while running.process.poll() is None:
            for pid in running.converters():
                if cpu_s(pid) > after_cpu_s:
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.02)
        ran = running.end()
    assert ran.status == 0, ran.err


def cost_of_a_converter(body: bytes) -> float:
    """Processor time of a converter that starts and converts *body*, on this machine, now."""

    async def work() -> float:
        async with ConverterPool(count=1, clock=SystemClock()) as pool:
            await pool.run("convert", body, {"name": "good.docx"})
            return cpu_s(pool.pids[0])

    return asyncio.run(work())


@PATIENT
def test_a_document_that_kills_two_converters_is_quarantined_and_found_by_its_metadata(
    rig: Rig, site: Site
) -> None:
    site.page("/", "Start", "/letter.docx", "/good.docx")
    good = docx("<w:p><w:r><w:t>quetzal</w:t></w:r></w:p>")
    after_cpu_s = 3 * cost_of_a_converter(good) + 0.2  # the letter costs forty times as much
    site.put("/good.docx", good, kind=DOCX)
    site.put("/letter.docx", docx("<w:p><w:r><w:t>poison</w:t></w:r></w:p>" * 1_200_000), kind=DOCX)
    crawl_killing_converters(rig, site, after_cpu_s=after_cpu_s)
    first = rig.known()[site.url("/letter.docx")]
    assert (first.outcome, first.state, first.described) == (Outcome.CONVERSION_FAILED, State.DONE, True)
    assert rig.found("quetzal") == [site.url("/good.docx")]
    assert site.url("/letter.docx") in rig.found("letter")
    assert "conversion-failed:died" in rig.explained(site.url("/letter.docx"))

    crawl_killing_converters(rig, site, after_cpu_s=after_cpu_s)
    second = rig.known()[site.url("/letter.docx")]
    assert (second.outcome, second.state, second.described) == (
        Outcome.CONVERSION_FAILED,
        State.QUARANTINED,
        True,
    )
    site.forget()
    assert rig.crawl(site.url("/")).status == 0
    assert site.asked("/letter.docx") == 0
    assert site.url("/letter.docx") in rig.found("letter")
    assert rig.complaints() == []


@PATIENT
def test_misbehaving_servers_and_hostile_pages_cost_bounded_time_and_memory(rig: Rig) -> None:
    for name, value in (
        ("limits.first-byte-timeout", "12s"), ("limits.total-timeout", "20s"), ("limits.min-rate-window", "2s"), ("limits.tls-timeout", "8s"),
        ("limits.parser-wall", "5s"), ("limits.parser-cpu", "3s"), ("limits.path-queries", "20"), ("limits.prefix-urls", "50"), ("limits.host-urls", "400"),
    ):  # fmt: skip
        rig.tune(name, value)
    # Those that ask for time would end the visit to their host: the tests of politeness have them.
    rules = rig.path / "config" / "filterrules.conf"
    lines = "".join(f'Match src=path method=begins-with value="/{name}"\n' for name in REFUSALS)
    rules.write_text(
        f'{rules.read_text()}<Rule name="Refusals" enable=true new-sites=true action=exclude>\n{lines}</Rule>\n'
    )
    for bomb in (hostile.gzip_bomb, hostile.brotli_bomb, hostile.zstd_bomb):
        bomb()  # made now: the server would keep everybody waiting for their first byte
    peak = 0
    with FaultServer(pause_s=0.02) as server, rig.start(*rig.crawling(f"{server.origin}/")) as running:
        while running.process.poll() is None:
            peak = max(peak, sum(map(memory, (running.pid, *running.children()))))
            time.sleep(0.1)
        ran = running.end()
        assert ran.status == 0, ran.err[-3000:]
        asked = Counter(request.path.partition("?")[0] for request in server.requests)
    known = rig.known()
    faults = {url.rpartition("/")[2]: page for url, page in known.items() if url.rpartition("/")[2] in FAULTS}
    unfinished = [
        name
        for name in FAULTS
        if name not in REFUSALS and (name not in faults or faults[name].outcome is None)
    ]
    assert unfinished == [], unfinished
    wrong = {
        name: faults[name].detail
        for name, kind in FAILURES.items()
        if not faults[name].detail.startswith(kind)
    }
    assert wrong == {}
    assert {faults[name].outcome for name in READABLE} == {Outcome.INDEXED}
    assert ran.json["gatherer_deaths"] == 0
    assert len(known) < 1000
    assert asked["/ok"] == 1
    assert peak < 700 * MEGA, f"{peak / MEGA:.0f} MiB"
    assert rig.complaints() == []


def memory(pid: int) -> int:
    """Private bytes of a process."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text("ascii").splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Private_"))


def cpu_s(pid: int) -> float:
    """Processor time that a process has used."""
    try:
        words = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
