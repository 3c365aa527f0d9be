"""Kill it, at any moment, any process of it: what is there afterwards must be what an undisturbed crawl leaves.

A trial gathers small synthetic webs, one after the other, and kills meanwhile: the keeper with everything
below it, a gatherer alone, a converter alone. What was killed whole is started again, the same command, until
the web is gathered. Then the catalog is compared with the web, the index with the catalog, and the servers'
log with what hosts were promised.
"""

import random
import shutil
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from os import kill
from pathlib import Path
from signal import SIGKILL
from typing import NamedTuple

from ingather.model.lifecycle import Outcome
from ingather.testing.documents import docx
from ingather.testing.oracle import HostRules
from ingather.testing.reach import reachable
from ingather.testing.rig import Known, Ran, Rig, Running, children_are_gone, wait_until
from ingather.testing.server import SyntheticServer, judge_requests
from ingather.testing.web import Answer, SyntheticWeb
from ingather.testing.webshape import WebShape

__all__ = ["CrashFigures", "CrashTrial"]

DELAY_S = 0.25
LATE_S = 0.15
"""A request that a busy machine was late with comes so close to the next."""
SHAPE = WebShape(sites=6, pages=14, depth=3, degree=3, paragraphs=2)
DOCUMENTS = 3
_DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_END_WITHIN_S = 180.0
_GONE_WITHIN_S = 60.0
_MEETS_S = 2.0
"""So long one waits for a process of the kind that is to be killed: converters and browsers come and go."""
_ALONE = 3
"""Gatherers that are killed under one keeper: it gives up when five in a row die before they have done anything."""
_OUTCOMES = {
    "page": {Outcome.INDEXED, Outcome.NOINDEX, Outcome.DUPLICATE},
    "text": {Outcome.INDEXED, Outcome.DUPLICATE},
    "copy": {Outcome.INDEXED, Outcome.NOINDEX, Outcome.DUPLICATE},
    "redirect": {Outcome.REDIRECTED},
    "missing": {Outcome.NOT_FOUND},
    "forbidden": {Outcome.ROBOTS},
}


class Wanted(NamedTuple):
    """What must be there."""

    url: str
    kind: str
    depth: int


@dataclass
class CrashFigures:
    """What a trial did, and what was wrong (nothing must be).

    Attributes:
        kills: by what was killed: ``all`` (the whole process group), ``keeper`` alone, ``gatherer``, ``converter``, ``browser``.
        webs: crawls that came to their end; runs: that they took.
        pages: URLs that they settled.
        requests: that the servers saw.
        again: requests for a URL that had been answered before a kill.
        strikes: URLs that got a strike because their reader was killed while it read them.
    """

    kills: Counter[str] = field(default_factory=Counter)
    webs: int = 0
    runs: int = 0
    pages: int = 0
    requests: int = 0
    again: int = 0
    strikes: int = 0
    elapsed_s: float = 0.0
    troubles: list[str] = field(default_factory=list)


class CrashTrial:
    """One trial; the same *seed* kills after the same waits, though never at quite the same moment.

    Args:
        folder: where homes are made and removed; the home of a web with troubles stays.
        seed: of webs and waits.
        cycles: kills.
        tell: called with a line after each web, and for each trouble.
    """

    def __init__(
        self, folder: Path, *, seed: int, cycles: int, tell: Callable[[str], None] | None = None
    ) -> None:
        self._folder = folder
        self._dice = random.Random(seed)  # noqa: S311 - a test's dice
        self._seed = seed
        self._cycles = cycles
        self._tell = tell or (lambda _line: None)
        self._victims: tuple[str, ...] = ("all", "all", "gatherer", "converter")
        self._longest_s = 2.5
        self.figures = CrashFigures()

    def run(self) -> CrashFigures:
        """Gather and kill until all cycles are done."""
        begun = time.monotonic()
        figures = self.figures
        while figures.kills.total() < self._cycles:
            seed = self._seed * 1000 + figures.webs
            folder = self._folder / f"web-{seed}"
            folder.mkdir(parents=True)
            before = len(figures.troubles)
            self._web(folder, seed)
            figures.webs += 1
            self._tell(
                f"web {seed}: {figures.kills.total()} kills {dict(figures.kills)}, {figures.pages} pages, "
                f"{figures.again} asked again, {len(figures.troubles)} troubles"
            )
            if len(figures.troubles) == before:
                shutil.rmtree(folder)
        figures.elapsed_s = time.monotonic() - begun
        return figures

    def _web(self, folder: Path, seed: int) -> None:
        rig = Rig(folder / "home", **{"gather.gatherers": "2"}).init()
        with SyntheticServer(SyntheticWeb(seed, SHAPE), latency_s=0.01) as server:
            documents = _with_documents(server)
            command = rig.crawling(*server.origins, own=False, flags=("--delay", f"{DELAY_S}s"))
            self._gather(rig, command, self._cycles)
            self._judge(rig, server, documents)

    # -- gathering and killing --------------------------------------------------------------------

    def _gather(self, rig: Rig, command: Sequence[str], until: int) -> None:
        """Run *command* to its end, killed before that until there were *until* kills in all."""
        while True:
            with rig.start(*command) as running:
                if not self._disturb(rig, running, until):
                    ran = running.end(_END_WITHIN_S)
                    self._hear(ran)
                    if ran.status:
                        self._trouble(rig, f"crawl ended with {ran.status}: {ran.err[-2000:]}")
                    return
            if rig.database.exists():  # else it was killed before it had begun
                self._look(rig)

    def _look(self, rig: Rig) -> None:
        """Look at a home whose keeper was killed."""
        found = rig.complaints()
        behind = any(
            "behind" in line for line in found
        )  # then what the catalog shows is not what the index has
        wrong = [
            line
            for line in found
            if not (behind and "too many" in line) and "behind" not in line and "missing" not in line
        ]
        if wrong:
            self._trouble(rig, f"after a kill: {wrong}")

    def _hear(self, ran: Ran) -> None:
        """Take in what a command that ended has said."""

    def _disturb(self, rig: Rig, running: Running, until: int) -> bool:
        """Kill something now and then; return whether everything is dead (else it may end in peace)."""
        alone = 0
        while self.figures.kills.total() < until:
            moment = time.monotonic() + self._dice.uniform(0.2, self._longest_s)
            while time.monotonic() < moment:
                if running.process.poll() is not None:
                    return False
                time.sleep(0.005)
            victim = self._dice.choice(self._victims)
            alone += victim == "gatherer"
            if victim in {"all", "keeper"} or alone > _ALONE:
                self._kill(rig, running, "keeper" if victim == "keeper" else "all")
                return True
            of_kind: Callable[[], list[int]] = getattr(running, f"{victim}s")
            until_s = time.monotonic() + _MEETS_S
            while not (found := of_kind()) and running.process.poll() is None and time.monotonic() < until_s:
                time.sleep(0.02)
            if found:
                with suppress(ProcessLookupError):
                    kill(self._dice.choice(found), SIGKILL)
                self.figures.kills[victim] += 1
        return False

    def _kill(self, rig: Rig, running: Running, victim: str) -> None:
        """Kill the keeper, alone or with all its process group; nothing below it may outlive it."""
        below = running.children()
        if victim == "all":
            ran = running.kill()
        else:
            running.signal(SIGKILL)
            ran = running.end()
        self._hear(ran)
        self.figures.kills[victim] += 1
        try:
            wait_until(lambda: children_are_gone(below), timeout_s=_GONE_WITHIN_S)
        except TimeoutError:
            left = [line for pid, line in below.items() if not children_are_gone({pid: line})]
            self._trouble(rig, f"left behind: {left}")

    # -- judging ----------------------------------------------------------------------------------

    def _judge(self, rig: Rig, server: SyntheticServer, documents: Sequence[str]) -> None:
        known = rig.known()
        # Killed between the end of its run and its own, the crawl begins another one.
        ((runs,),) = rig.rows("select count(*) from run")
        expected = {url: (met.kind, met.depth) for url, met in reachable(server.web).items()}
        expected |= dict.fromkeys(documents, ("text", 1))
        for url, (kind, depth) in expected.items():
            self._judge_page(rig, known.get(url), runs, Wanted(url, kind, depth))
        surplus = [url for url, page in known.items() if url not in expected and page.history]
        for line in (*rig.complaints(), *(f"visited without reason: {url}" for url in surplus)):
            self._trouble(rig, line)
        rules = HostRules(delay_s=DELAY_S, max_connections=2)
        for violation in judge_requests(server.requests, default=rules, tolerance_s=LATE_S):
            self._trouble(rig, str(violation))
        asked = Counter(url for url in server.paths() if not url.endswith("/robots.txt"))
        self.figures.pages += len(expected)
        self.figures.runs += runs
        self.figures.requests += len(server.requests)
        self.figures.again += sum(n - 1 for n in asked.values())

    def _judge_page(self, rig: Rig, page: Known | None, runs: int, wanted: Wanted) -> None:
        url, kind, depth = wanted
        if page is None:
            self._trouble(rig, f"lost: {url}")
            return
        settled = [outcome for outcome in page.history if outcome is not Outcome.QUARANTINED]
        self.figures.strikes += len(page.history) - len(settled)
        if page.outcome is Outcome.QUARANTINED:
            return  # its reader was killed twice while it read this very page: that is what strikes are for
        if len(settled) != runs:
            self._trouble(rig, f"settled {len(settled)} times in {runs} runs: {url}")
        first = Outcome.DUPLICATE if page.duplicate else settled[-1] if settled else None
        if first is Outcome.CONVERSION_FAILED and self.figures.kills["converter"]:
            # Its converter was killed once: it is found by its metadata, and read by the next run.
            self.figures.strikes += 1
            return
        if first not in _OUTCOMES[kind] or page.depth != depth:
            self._trouble(rig, f"{url} is {page.outcome} at depth {page.depth}, it is a {kind} at {depth}")

    def _trouble(self, rig: Rig, text: str) -> None:
        self.figures.troubles.append(f"{rig.path}: {text}")
        self._tell(f"TROUBLE {self.figures.troubles[-1]}")


def _with_documents(server: SyntheticServer) -> list[str]:
    """Let the first site's start page link to documents that converters read; return their URLs."""
    start = server.web.answer(0, "/")
    names = [f"/documents/{n}.docx" for n in range(DOCUMENTS)]
    links = "".join(f'<a href="{name}">document</a>' for name in names)
    body = start.body.replace(b"</body>", f"{links}</body>".encode())
    server.override(f"{server.origins[0]}/", Answer(200, (("Content-Type", "text/html"),), body))
    for number, name in enumerate(names):
        text = f"<w:p><w:r><w:t>document number {number}</w:t></w:r></w:p>"
        server.override(server.origins[0] + name, Answer(200, (("Content-Type", _DOCX),), docx(text)))
    return [server.origins[0] + name for name in names]
