"""The renderer with Chromium: browsers that are started when a page wants one, and ended when they are old, idle or do not answer."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ingather.app.rendering.closed_door import ClosedDoor
from ingather.app.rendering.devtools import DevTools
from ingather.app.rendering.finding import Found, find
from ingather.app.rendering.gate import Gate, GateLimits
from ingather.app.rendering.keeping import Kept
from ingather.app.rendering.launching import Launched, LaunchError, launch
from ingather.app.rendering.session import PageLimits, PageSession
from ingather.log import get
from ingather.model.resource import Request, Response
from ingather.model.scope import Scope
from ingather.ports.clock import Clock
from ingather.ports.renderer import Errand, NotAsked, Rendered, RenderFailure

__all__ = ["BrowserLimits", "Browsers"]

_log = get("rendering")
_AGAIN_S = 60.0
"""After a browser could not be started nobody tries for so long."""


@dataclass(frozen=True, slots=True)
class BrowserLimits:
    """What browsers may cost.

    Attributes:
        pages: at once, each in a browser of its own.
        recycle: pages after which a browser is replaced.
        idle_s: a browser without work for so long is ended.
        memory_bytes: private memory of each of a browser's processes.
        disk_bytes: what a browser writes.
        heap_mib: of one page's scripts.
        kept_bytes: scripts and styles that are kept for the next page.
        page, gate: of one page.
    """

    pages: int = 1
    recycle: int = 50
    idle_s: float = 60.0
    memory_bytes: int = 1 << 30
    disk_bytes: int = 256 << 20
    heap_mib: int = 256
    kept_bytes: int = 32 << 20
    page: PageLimits = field(default_factory=PageLimits)
    gate: GateLimits = field(default_factory=GateLimits)


_TRIAL = b"<p id=p></p><script>p.textContent = 6 * 7</script>"


async def _nobody(request: Request, _scope: Scope) -> NotAsked:
    return NotAsked("scope", f"nobody is asked for {request.url}")


class _Browser:
    """One running Chromium, of one source."""

    def __init__(self, source: str, launched: Launched, tools: DevTools, door: ClosedDoor) -> None:
        self.source, self.launched, self.tools, self.door = source, launched, tools, door
        self.pages = 0
        self.idle: asyncio.TimerHandle | None = None

    async def end(self) -> str:
        """Kill it with everything of it; return its last words."""
        if self.idle is not None:
            self.idle.cancel()
        await self.tools.close()
        words = await asyncio.to_thread(self.launched.bury)
        await self.door.close()
        return words


class Browsers:
    """Implements :class:`ingather.ports.renderer.Renderer`; belongs to an event loop, close it.

    Args:
        limits: what browsers may cost.
        clock: time of pages, age of what is kept.
        agent: what pages see as the browser's name; a source may have its own.
        program: of the browser; ``""`` = where distributions put it.
        hidden: folders that browsers shall not see.
        unsafe: as root when there is nobody else to be, and then without the browser's own sandbox.
        namespaces: whether a browser gets a network and files of its own where the kernel gives them.
    """

    def __init__(  # noqa: PLR0913 - what the settings say of browsers
        self,
        *,
        limits: BrowserLimits,
        clock: Clock,
        agent: str,
        program: str = "",
        hidden: Sequence[Path] = (),
        unsafe: bool = False,
        namespaces: bool = True,
    ) -> None:
        self._limits, self._clock, self._agent = limits, clock, agent
        self._program, self._hidden, self._unsafe, self._namespaces = (
            program,
            tuple(hidden),
            unsafe,
            namespaces,
        )
        self._kept = Kept(limits.kept_bytes, clock)
        self._free = asyncio.Semaphore(limits.pages)
        self._idle: list[_Browser] = []
        self._running: set[_Browser] = set()
        self._ending: set[asyncio.Task[str]] = set()
        self._trouble = ""
        self._trouble_until_s = 0.0
        self.started = 0
        self.measures: tuple[str, ...] = ()
        self.product = ""

    async def render(
        self, url: str, first: Response, scope: Scope, errand: Errand
    ) -> Rendered | RenderFailure:
        """Render *first*, which stands at *url*."""
        async with self._free:
            browser = await self._browser(scope.source)
            if isinstance(browser, RenderFailure):
                return browser
            gate = Gate(url, first, scope, errand=errand, kept=self._kept, limits=self._limits.gate)
            session = PageSession(
                browser.tools,
                gate,
                limits=self._limits.page,
                clock=self._clock,
                agent=scope.user_agent or self._agent,
            )
            before = browser.door.refused
            browser.pages += 1
            try:
                got = await session.render(url)
            except BaseException:
                await self._ended(browser)
                raise
            refused = browser.door.refused - before
            if session.hung or browser.tools.gone.is_set():
                words = await self._ended(browser)
                if isinstance(got, RenderFailure) and got.reason == "died":
                    got = replace(got, detail=words[-300:])
            elif browser.pages >= self._limits.recycle:
                await self._ended(browser)
            else:
                self._rest(browser)
            return replace(got, refused_at_proxy=refused)

    async def trial(self) -> str:
        """Start a browser and have it read a page of our own; return why that does not work, ``""`` if it does.

        Afterwards ``product`` and ``measures`` say what it is and how it is locked in.
        """
        page = Response("http://trial.invalid/", 200, (("Content-Type", "text/html"),), _TRIAL)
        got = await self.render(page.url, page, Scope("trial"), _nobody)
        if isinstance(got, RenderFailure):
            return f"{got.reason}: {got.detail}" if got.detail else got.reason
        return "" if b"42" in got.html else "it does not run scripts"

    @property
    def alive(self) -> list[int]:
        """Process numbers of the browsers that run; each leads a session of its own."""
        return [browser.launched.process.pid for browser in self._running]

    @property
    def doors(self) -> list[ClosedDoor]:
        """Where what goes round interception ends, one for each browser that runs."""
        return [browser.door for browser in self._running]

    async def close(self) -> None:
        """End all browsers."""
        idle, self._idle = self._idle, []
        for browser in idle:
            await self._ended(browser)
        await asyncio.gather(*self._ending)

    # -- browsers -------------------------------------------------------------------------------

    async def _browser(self, source: str) -> _Browser | RenderFailure:
        """Return a browser for *source*: one that has worked for no other."""
        for browser in self._idle:
            if browser.source == source and not browser.tools.gone.is_set():
                self._idle.remove(browser)
                if browser.idle is not None:
                    browser.idle.cancel()
                return browser
        if self._idle:  # one more is started, so one of another source goes
            await self._ended(self._idle.pop(0))
        return await self._start(source)

    async def _start(self, source: str) -> _Browser | RenderFailure:
        if self._clock.monotonic() < self._trouble_until_s:
            return RenderFailure("unavailable", self._trouble)
        found = await asyncio.to_thread(find, self._program, as_root=self._unsafe)
        if found.trouble:
            return self._unavailable(f"{found.trouble}: {found.do}")
        try:
            browser = await self._launched(source, found)
        except (LaunchError, OSError) as error:
            return self._unavailable(str(error))
        self.started += 1
        self._running.add(browser)
        self.measures = browser.launched.measures
        return browser

    async def _launched(self, source: str, found: Found) -> _Browser:
        limits = self._limits
        launched = await launch(
            found, memory_bytes=limits.memory_bytes, disk_bytes=limits.disk_bytes, heap_mib=limits.heap_mib,
            hidden=self._hidden, unsafe=self._unsafe, namespaces=self._namespaces,
        )  # fmt: skip
        tools, door = await DevTools.over(launched.channel), ClosedDoor()
        browser = _Browser(source, launched, tools, door)
        try:
            await door.listen(launched.listening)
            async with asyncio.timeout(max(self._limits.page.total_s, 10.0)):
                self.product = str((await tools.say("Browser.getVersion")).get("product", ""))
        except BaseException as error:
            words = await browser.end()
            if isinstance(error, Exception):
                raise LaunchError(f"the browser does not start: {words[-300:] or error}") from error
            raise
        return browser

    async def _ended(self, browser: _Browser) -> str:
        try:
            return await browser.end()
        finally:
            self._running.discard(browser)

    def _unavailable(self, why: str) -> RenderFailure:
        self._trouble, self._trouble_until_s = why, self._clock.monotonic() + _AGAIN_S
        _log.warning("no browser", reason=why)
        return RenderFailure("unavailable", why)

    def _rest(self, browser: _Browser) -> None:
        self._idle.append(browser)
        browser.idle = asyncio.get_running_loop().call_later(self._limits.idle_s, self._retire, browser)

    def _retire(self, browser: _Browser) -> None:
        if browser in self._idle:
            self._idle.remove(browser)
            task = asyncio.create_task(self._ended(browser))
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)
