"""The kill trial with everything on: logins, proxy, sitemaps, deletion, traps, pages of scripts, files, loops, people.

Each web is gathered by ``crawl``, which is killed again and again, then judged; then it changes and is gathered by ``serve`` in
a loop, which is killed as well, until what is gone is deleted and what changed is found; then it is judged again. Anna
logs in once; her session lasts over all kills, and she alone finds what is for her.
"""

import json
import re
import socket
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from http import HTTPStatus
from http.client import HTTPConnection
from pathlib import Path
from signal import SIGTERM
from urllib.parse import quote, urlencode, urlsplit

from ingather.app.rendering.finding import find
from ingather.model.lifecycle import Outcome, State
from ingather.testing.connection import Seen
from ingather.testing.crash import CrashTrial
from ingather.testing.crashworld import CALENDAR_URLS, DELAY_S, CrashWorld
from ingather.testing.oracle import HostRules
from ingather.testing.rig import Known, Ran, Served, wait_until
from ingather.testing.server import judge_requests

__all__ = ["EverythingTrial"]

_CRAWLS, _LOOPS = 24, 6
"""Most kills of one web: of its crawl, of its loop."""
_VAIN = frozenset({Outcome.FAILED, Outcome.CONVERSION_FAILED, Outcome.QUARANTINED})
"""What a visit comes to whose reader, converter or PAC process was killed."""
_LATE_S = 0.27
"""As a busy machine is late with a request: what goes out together is noticed, the exact numbers are judged in simulations."""
_STAYS = re.compile(r"lock|logins|converters-\d|gatherer-\d\.slot")
"""What lies in ``run/`` by a fixed name; folders among it must be empty, but for the count of refused logins."""


class EverythingTrial(CrashTrial):
    """As :class:`~ingather.testing.crash.CrashTrial`, over webs of :class:`~ingather.testing.crashworld.CrashWorld`.

    Args:
        folder, seed, cycles, tell: as there.
        browser: whether a page of scripts is among them, where there is a browser.
    """

    def __init__(
        self,
        folder: Path,
        *,
        seed: int,
        cycles: int,
        tell: Callable[[str], None] | None = None,
        browser: bool = True,
    ) -> None:
        super().__init__(folder, seed=seed, cycles=cycles, tell=tell)
        self._victims = ("all", "keeper", "keeper", "gatherer", "converter", "browser")
        self._longest_s = 4.0
        self._browser = browser
        self._said: list[str] = []
        self._cookie = ""

    def _web(self, folder: Path, seed: int) -> None:
        self._said.clear()
        self._cookie = ""
        killed = self.figures.kills.total()
        share = min(_CRAWLS, (self._cycles - killed + 1) // 2)
        with CrashWorld(folder, seed, browser=self._browser and not find().trouble) as world:
            self._gather(world.rig, ["crawl", "--json"], killed + share)
            self._judge_pages(world)
            world.change()
            self._loop(world, min(self.figures.kills.total() + _LOOPS, self._cycles))
            self._judge_pages(world)
            self._judge_hosts(world)
            self._judge_secrets(world)
            self._judge_leavings(world)

    def _hear(self, ran: Ran) -> None:
        self._said += [ran.out, ran.err]
        # A gatherer whose keeper died while it sent what the gatherer is to do says so in its own way.
        if ran.err.count("Traceback") > ran.err.count("in spawn_main"):
            self.figures.troubles.append(ran.err[-3000:])
            self._tell(f"TROUBLE {ran.err[-3000:]}")

    # -- serve, killed ----------------------------------------------------------------------------

    def _loop(self, world: CrashWorld, until: int) -> None:
        # The same port each time: the name of a session's cookie has it.
        rig = world.rig.tune("listen.search", f"127.0.0.1:{_free_port()}").tune("listen.admin", "127.0.0.1:0")
        with (rig.path / "config" / "robot.conf").open("a") as conf:
            conf.write("onCompletion=loop\n")
        token = (rig.path / "admin-token").read_text().strip()
        killed = True
        while killed:
            with rig.start("serve") as running:
                served = Served(running, token)
                self._judge_person(world, served)
                for name in (
                    "mixed",
                    "files",
                ):  # else the loop begins with a pause of a minute: nothing is due
                    code, answer = served.admin("/api/v1/robot/recheck", {"source": name})
                    if code != HTTPStatus.OK:
                        self._trouble(rig, f"recheck says {code}: {answer}")
                killed = self._disturb(rig, running, until)
                if not killed:
                    self._judge_settled(world, served)
                    running.signal(SIGTERM)
                    ran = running.end()
                    self._hear(ran)
                    if ran.status:
                        self._trouble(rig, f"serve ended with {ran.status}: {ran.err[-2000:]}")
            self._look(rig)

    def _judge_person(self, world: CrashWorld, served: Served) -> None:
        """Let Anna log in, the first time; later her session must hold."""
        if not self._cookie:
            form = {"name": "anna", "password": world.person}
            if served.admin("/api/v1/users/add", form)[0] != HTTPStatus.OK:
                self._trouble(world.rig, "Anna cannot be added")
            body = urlencode(form)
            _, headers = _asked(served, "POST", "/login", body)
            self._cookie = headers.get("set-cookie", "").partition(";")[0]
        self._judge_closed(world, served)

    def _judge_closed(self, world: CrashWorld, served: Served) -> None:
        for word, hers in world.closed_words().items():
            if found := served.found(word):
                self._trouble(world.rig, f"everybody finds {found} by {word}")
            got = _search(served, word, self._cookie)
            if (hers in got) != bool(hers):
                self._trouble(world.rig, f"Anna finds {got} by {word}, not {hers}")

    def _judge_settled(self, world: CrashWorld, served: Served) -> None:
        """Wait until what is gone is deleted and what changed is found; then everybody must find his."""

        def deleted() -> bool:
            known = world.rig.known()
            return all(url in known and known[url].state is State.GONE for url in world.gone())

        def found(word: str, url: str) -> bool:
            return served.found(word) == [url]

        try:
            wait_until(deleted, pause_s=0.3)
        except TimeoutError:
            known = world.rig.known()
            self._trouble(world.rig, f"not deleted: {[(url, known.get(url)) for url in world.gone()]}")
        for word, url in world.open_words().items():
            try:
                wait_until(lambda: found(word, url), pause_s=0.1)  # noqa: B023 - asked at once
            except TimeoutError:
                self._trouble(world.rig, f"by {word} {served.found(word)} is found, not {url}")
        self._judge_closed(world, served)
        code, traps = served.admin("/api/v1/traps")
        self._said += [json.dumps(traps), json.dumps(served.status)]
        if "calendar" not in json.dumps(traps):
            self._trouble(world.rig, f"the calendar is not named: {code} {traps}")

    # -- judging ----------------------------------------------------------------------------------

    def _judge_pages(self, world: CrashWorld) -> None:
        rig, known = world.rig, world.rig.known()
        ((runs,),) = rig.rows("select count(*) from run")
        expected = world.expected()
        made = f"{world.origin('scripts')}/made"
        if self.figures.kills["browser"] and made not in known and not world.generation:
            expected.pop(made, None)  # read as it came, without its scripts; its next visit renders it
            self.figures.strikes += 1
        for url, (outcomes, depth) in expected.items():
            self._judge_one(world, runs, url, known.get(url), outcomes, depth)
        dates = [url for url, page in known.items() if "/app/cal/" in url and page.history]
        if len(dates) != CALENDAR_URLS:
            self._trouble(
                rig, f"{len(dates)} dates of the calendar were visited, the budget is {CALENDAR_URLS}"
            )
        surplus = [
            url
            for url, page in known.items()
            if url not in expected
            and page.history
            and "/app/cal/" not in url
            and not url.endswith((".xml", "/app.js", "/logout"))
        ]
        for line in (*rig.complaints(), *(f"visited without reason: {url}" for url in surplus), *world.wrong):
            self._trouble(rig, line)
        self.figures.pages += len(expected) + len(dates)
        self.figures.runs += runs

    def _judge_one(  # noqa: PLR0913, PLR0917 - a page and what it should be
        self,
        world: CrashWorld,
        runs: int,
        url: str,
        page: Known | None,
        outcomes: frozenset[Outcome],
        depth: int,
    ) -> None:
        if page is None:
            self._trouble(world.rig, f"lost: {url}")
            return
        settled = [outcome for outcome in page.history if outcome not in _VAIN]
        self.figures.strikes += len(page.history) - len(settled)
        if page.outcome is Outcome.QUARANTINED or page.state is State.GONE:
            return
        if not world.generation and len(settled) != runs and page.outcome not in _VAIN:
            self._trouble(world.rig, f"settled {len(settled)} times in {runs} runs: {url} {page.history}")
        last = Outcome.DUPLICATE if page.duplicate else settled[0] if settled else None
        if last is None and page.outcome in _VAIN and self.figures.kills["converter"]:
            return
        if last not in outcomes or page.depth != depth:
            self._trouble(
                world.rig,
                f"{url} is {page.outcome} {page.detail} at depth {page.depth}, not {sorted(outcomes)} at {depth}",
            )

    def _judge_hosts(self, world: CrashWorld) -> None:
        rules = HostRules(delay_s=DELAY_S, max_connections=2)
        own = {world.featured.hosts["calendar"].name: HostRules(delay_s=0.0, max_connections=8, own=True)}
        for name in (
            "behind.test",
            "form",
        ):  # whose address we do not know; whose address has the logins' requests as well
            own[world.featured.hosts[name].name] = HostRules(delay_s=DELAY_S, max_connections=2, own=True)
        login = world.featured.hosts["form"].name
        others = [seen for seen in world.featured.requests if seen.host != login]
        begun = list(_without_logins(seen for seen in world.featured.requests if seen.host == login))
        for requests in (world.plain.requests, others, begun):
            for violation in judge_requests(requests, own, default=rules, tolerance_s=_LATE_S):
                around = [
                    f"{seen.at_s:.3f} {seen.method} {seen.path} {seen.status} by {seen.connection}"
                    for seen in requests
                    if abs(seen.at_s - violation.at_s) < 1.0
                    and seen.host.startswith(violation.where.partition(":")[0])
                ]
                self._trouble(world.rig, f"{violation}: {around}")
            self.figures.requests += len(requests)
        asked = Counter(url for url in world.plain.paths() if not url.endswith(("/robots.txt", ".xml")))
        self.figures.again += sum(n - 1 for n in asked.values())
        if not world.proxied:
            self._trouble(world.rig, "the proxy was asked for nothing")

    def _judge_secrets(self, world: CrashWorld) -> None:
        for words in (
            ("config", "show"),
            ("config", "credentials"),
            ("secret", "list"),
            ("explain", f"{world.origin('basic')}/b1"),
        ):
            ran = world.rig.call(*words)
            self._said += [ran.out, ran.err]
        for text in self._said:
            for line in world.canaries.spoken("output", text.encode()):
                self._trouble(world.rig, line)
        for line in (*world.canaries.kept(world.rig.path), *world.canaries.kept(world.temporary)):
            self._trouble(world.rig, line)

    def _judge_leavings(self, world: CrashWorld) -> None:
        """Nothing that a process made for itself stays when the last one has ended in peace."""
        for path in (*world.temporary.iterdir(), *(world.rig.path / "run").iterdir()):
            empty = path.is_dir() and not any(path.iterdir())
            # A login that a kill broke off stays counted as an attempt, so that no account is locked by kills.
            whole = path.is_file() or empty or path.name == "logins"
            if not (path.parent.name == "run" and _STAYS.fullmatch(path.name) and whole):
                self._trouble(world.rig, f"left over: {path}")


def _without_logins(requests: Iterable[Seen]) -> Iterator[Seen]:
    """Yield the requests by which visits began: what a login adds to a visit goes out in the same turn."""
    again: set[str] = set()
    for seen in requests:
        if seen.path in again:
            again.discard(seen.path)
        elif seen.path not in {"/login", "/in"}:
            yield seen
        if seen.status == HTTPStatus.FOUND:  # to the form; after it the page is asked for again
            again.add(seen.path)
        elif seen.status == HTTPStatus.SEE_OTHER:  # the form was taken: it leads to the first page
            again.add("/")


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _search(served: Served, word: str, cookie: str) -> list[str]:
    text, _ = _asked(served, "GET", f"/api/v1/search?q={quote(word)}", headers={"Cookie": cookie})
    return [result["url"] for result in json.loads(text)["results"]]


def _asked(
    served: Served, method: str, path: str, body: str = "", headers: Mapping[str, str] | None = None
) -> tuple[str, dict[str, str]]:
    """Ask the search listener as a browser does; return body and header."""
    connection = HTTPConnection(urlsplit(served.search_url).netloc, timeout=60)
    fields = {**(headers or {}), **({"Content-Type": "application/x-www-form-urlencoded"} if body else {})}
    try:
        connection.request(method, path, body or None, fields)
        answer = connection.getresponse()
        return answer.read().decode(), {name.lower(): value for name, value in answer.headers.items()}
    finally:
        connection.close()
