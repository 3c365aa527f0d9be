"""One page in the browser: opened in a profile of its own, fed through the gate, read when its time is over.

Time in the page is the browser's virtual time: it runs as fast as the scripts do, stands still while a request is under way at a
host, and ends after the same span for every page. So how long a host takes changes nothing of what is read.
"""

import asyncio
import base64
import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ingather.app.rendering.devtools import BrowserGoneError, DevTools, DevToolsError
from ingather.app.rendering.gate import Gate
from ingather.app.rendering.snapshot import SNAPSHOT
from ingather.model.resource import Response
from ingather.ports.clock import Clock
from ingather.ports.renderer import Rendered, RenderFailure

__all__ = ["PageLimits", "PageSession"]

_LOOK_S = 0.1
_SLICES, _MOST_SLICES, _BREATH_S, _BREATHS = 10, 100, 0.05, 3
_ERRORS, _ERROR_CHARS = 20, 300
_NOT_PASSED = frozenset({
    "alt-svc", "connection", "content-encoding", "content-length", "keep-alive", "nel", "report-to", "reporting-endpoints", "set-cookie",
    "strict-transport-security", "trailer", "transfer-encoding", "upgrade",
})  # fmt: skip
_FRAMED = frozenset({"iframe", "worker", "shared_worker", "service_worker"})


@dataclass(frozen=True, slots=True)
class PageLimits:
    """Time of one page.

    Attributes:
        total_s: all of it, waiting for hosts included.
        script_s: while nobody is waited for: its scripts work.
        settle_s: virtual time after the document has come, in which the page may go on working.
        html_chars: longest document that is taken.
    """

    total_s: float = 120.0
    script_s: float = 20.0
    settle_s: float = 5.0
    html_chars: int = 16 << 20


class PageSession:
    """Renders one page, once."""

    def __init__(self, tools: DevTools, gate: Gate, *, limits: PageLimits, clock: Clock, agent: str) -> None:
        self._tools, self._gate, self._limits, self._clock, self._agent = tools, gate, limits, clock, agent
        self._tasks: set[asyncio.Task[None]] = set()
        self._sessions: list[str] = []
        self._frame = self._context = self._page = ""
        self._came = False
        self._shown, self._settled, self._crashed = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._events: dict[str, Callable[[dict[str, Any], str], None]] = {
            "Emulation.virtualTimeBudgetExpired": lambda _said, _session: self._settled.set(),
            "Fetch.requestPaused": self._paused,
            "Inspector.targetCrashed": lambda _said, _session: self._crashed.set(),
            "Network.loadingFailed": self._taken_up,
            "Network.loadingFinished": self._taken_up,
            "Network.requestWillBeSent": self._wanted,
            "Page.domContentEventFired": self._parsed,
            "Page.frameNavigated": self._navigated,
            "Page.frameStoppedLoading": self._stopped,
            "Page.frameRequestedNavigation": self._leads_away,
            "Page.javascriptDialogOpening": self._asks_people,
            "Runtime.consoleAPICalled": self._logged,
            "Runtime.exceptionThrown": self._thrown,
            "Target.attachedToTarget": self._attached,
        }
        self._open: set[str] = set()
        self._moves = 0
        self.errors: list[str] = []
        self.hung = False
        """Whether the browser has to be killed: the page did not answer in its time."""

    async def render(self, url: str) -> Rendered | RenderFailure:
        """Open *url*, whose document the gate has, and return what became of it."""
        work = asyncio.create_task(self._work(url))
        ends = [asyncio.create_task(event.wait()) for event in (self._crashed, self._tools.gone)]
        try:
            reason = await self._watched(work, *ends)
            if reason:
                return self._failure(reason)
            return work.result()
        except BrowserGoneError:
            return self._failure("died")
        except DevToolsError as error:
            return self._failure("crashed" if self._crashed.is_set() else "died", str(error))
        finally:
            for task in (work, *ends, *self._tasks):
                task.cancel()
            await asyncio.gather(work, *ends, *self._tasks, return_exceptions=True)
            await self._leave()

    async def _watched(
        self, work: "asyncio.Task[Rendered | RenderFailure]", *ends: "asyncio.Task[Any]"
    ) -> str:
        """Wait for the end of *work*; return why it was given up, ``""`` if it was not."""
        start_s = last_s = self._clock.monotonic()
        busy_s = 0.0
        while True:
            await asyncio.wait({work, *ends}, timeout=_LOOK_S, return_when=asyncio.FIRST_COMPLETED)
            now_s = self._clock.monotonic()
            if work.done():
                return ""
            if self._tools.gone.is_set() or self._crashed.is_set():
                self.hung = True
                return "died" if self._tools.gone.is_set() else "crashed"
            if not self._gate.waiting:
                busy_s += now_s - last_s
            last_s = now_s
            if busy_s > self._limits.script_s or now_s - start_s > self._limits.total_s:
                self.hung = True
                return "script-time" if busy_s > self._limits.script_s else "time"

    # -- the page's life ------------------------------------------------------------------------

    async def _work(self, url: str) -> Rendered | RenderFailure:
        tools = self._tools
        self._context = (await tools.say("Target.createBrowserContext", disposeOnDetach=True))[
            "browserContextId"
        ]
        await tools.say("Browser.setDownloadBehavior", behavior="deny", browserContextId=self._context)
        self._page = (
            await tools.say("Target.createTarget", url="about:blank", browserContextId=self._context)
        )["targetId"]
        tools.hear("", self._heard_outside)
        await tools.say("Target.setDiscoverTargets", discover=True)
        session = (await tools.say("Target.attachToTarget", targetId=self._page, flatten=True))["sessionId"]
        self._sessions.append(session)
        tools.hear(session, self._heard)
        _, frames, *_ = await asyncio.gather(
            tools.say("Page.enable", session),
            tools.say("Page.getFrameTree", session),
            tools.say("Fetch.enable", session, patterns=[{"urlPattern": "*"}]),
            tools.say("Runtime.enable", session),
            tools.say("Network.enable", session),
            tools.say("Network.setBypassServiceWorker", session, bypass=True),
            tools.say("Emulation.setUserAgentOverride", session, userAgent=self._agent),
            tools.say(
                "Target.setAutoAttach", session, autoAttach=True, waitForDebuggerOnStart=True, flatten=True
            ),
        )
        self._frame = frames["frameTree"]["frame"]["id"]
        opened = await tools.say("Page.navigate", session, url=url)
        if opened.get("errorText") or opened.get("isDownload"):
            return self._failure("crashed", f"the page did not open: {opened.get('errorText', 'a download')}")
        await self._shown.wait()
        await self._settle(session)
        return await self._taken(session)

    async def _settle(self, session: str) -> None:
        """Let the page's time pass, in slices with a breath of real time behind each.

        Virtual time waits for requests, but not for all that goes on between processes (a body that is handed over, a worker that starts):
        in one piece it would be over before that has come. Whatever the page asks for gives it all of its time again, some times: when the
        gate answers, and when the page has taken the answer up.
        """
        budget_ms = self._limits.settle_s * 1000 / _SLICES
        quiet = moves = 0
        for _ in range(_MOST_SLICES):
            now = self._gate.moves + self._moves
            quiet = quiet + 1 if moves == now and not self._open else 0
            if quiet > _SLICES:
                return
            moves = now
            self._settled.clear()
            await self._tools.say(
                "Emulation.setVirtualTimePolicy",
                session,
                policy="pauseIfNetworkFetchesPending",
                budget=budget_ms,
            )
            await self._settled.wait()
            began_s = self._clock.monotonic()
            await self._tools.say(
                "Runtime.evaluate", session, expression="0"
            )  # behind what waits in the page
            await asyncio.sleep(max(_BREATH_S, _BREATHS * (self._clock.monotonic() - began_s)))

    async def _taken(self, session: str) -> Rendered | RenderFailure:
        """Read the document in a world that the page's scripts cannot reach."""
        tools = self._tools
        world = await tools.say(
            "Page.createIsolatedWorld", session, frameId=self._frame, worldName="ingather"
        )
        said = await tools.say(
            "Runtime.callFunctionOn", session, functionDeclaration=SNAPSHOT, executionContextId=world["executionContextId"],
            arguments=[{"value": self._limits.html_chars}], returnByValue=True,
        )  # fmt: skip
        value = said.get("result", {}).get("value")
        if not isinstance(value, dict):
            return self._failure("crashed", "the document could not be read")
        if value["length"] > self._limits.html_chars:
            return self._failure("too-large", f"a document of {int(value['length'])} characters")
        html = f"<!DOCTYPE html>{value['html']}".encode("utf-8", "replace")
        return Rendered(
            html,
            str(value["url"]),
            tuple(self._gate.fates),
            tuple(self.errors),
            tuple(self._gate.led_to),
            self._gate.authorized,
        )

    async def _leave(self) -> None:
        """Drop the page with everything that it left; a browser that does not do it in time is killed."""
        for session in self._sessions:
            self._tools.hear(session, None)
        self._tools.hear("", None)
        if self.hung or self._tools.gone.is_set() or not self._context:
            return
        try:
            async with asyncio.timeout(max(self._limits.script_s, 1.0)):
                await self._tools.say("Target.disposeBrowserContext", browserContextId=self._context)
        except (DevToolsError, TimeoutError):
            self.hung = True

    def _failure(self, reason: str, detail: str = "") -> RenderFailure:
        return RenderFailure(reason, detail, tuple(self._gate.fates), tuple(self.errors))

    # -- what the browser tells -----------------------------------------------------------------

    def _heard_outside(self, method: str, said: dict[str, Any], _session: str) -> None:
        """Take events of the browser as a whole: windows that a page opens are closed at once."""
        if method == "Target.targetCrashed" and said.get("targetId") == self._page:
            self._crashed.set()
        elif method == "Target.targetCreated":
            target = said["targetInfo"]
            if (
                target["type"] == "page"
                and target["targetId"] != self._page
                and target.get("browserContextId") == self._context
            ):
                self._tools.say("Target.closeTarget", targetId=target["targetId"])

    def _heard(self, method: str, said: dict[str, Any], session: str) -> None:
        heard = self._events.get(method)
        if heard is not None:
            heard(said, session)

    def _paused(self, said: dict[str, Any], session: str) -> None:
        task = asyncio.create_task(self._request(said, session))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _wanted(self, said: dict[str, Any], _session: str) -> None:
        self._open.add(str(said["requestId"]))

    def _taken_up(self, said: dict[str, Any], _session: str) -> None:
        self._open.discard(str(said["requestId"]))
        self._moves += 1

    def _navigated(self, said: dict[str, Any], _session: str) -> None:
        if said["frame"]["id"] == self._frame:
            self._came = True

    def _stopped(self, said: dict[str, Any], _session: str) -> None:
        if self._came and said["frameId"] == self._frame:
            self._shown.set()

    def _parsed(self, _said: dict[str, Any], _session: str) -> None:
        if self._came:
            self._shown.set()

    def _leads_away(self, said: dict[str, Any], _session: str) -> None:
        """Scripts want another page in this one's place; told by the page itself, so it cannot come too late."""
        if (
            said["frameId"] == self._frame
            and said.get("disposition") == "currentTab"
            and "Post" not in said["reason"]
        ):
            self._gate.leads_to(str(said["url"]))
            self._shown.set()  # a page that wants to go is not parsed to its end

    def _asks_people(self, _said: dict[str, Any], session: str) -> None:
        self._tools.say("Page.handleJavaScriptDialog", session, accept=False)

    def _thrown(self, said: dict[str, Any], _session: str) -> None:
        details = said.get("exceptionDetails", {})
        thrown = details.get("exception", {})
        self._complained(str(thrown.get("description") or thrown.get("value") or details.get("text", "")))

    def _logged(self, said: dict[str, Any], _session: str) -> None:
        if said.get("type") == "error":
            words = (str(one.get("value", one.get("description", ""))) for one in said.get("args", ()))
            self._complained(" ".join(words))

    def _attached(self, said: dict[str, Any], _session: str) -> None:
        """A frame or worker of the page wants to start: it is fed through the same gate."""
        session = str(said["sessionId"])
        if said["targetInfo"]["type"] in _FRAMED:
            self._sessions.append(session)
            self._tools.hear(session, self._heard)
            self._tools.say("Fetch.enable", session, patterns=[{"urlPattern": "*"}])
        self._tools.say("Runtime.runIfWaitingForDebugger", session)

    def _complained(self, text: str) -> None:
        if len(self.errors) < _ERRORS:
            self.errors.append(" ".join(text.split())[:_ERROR_CHARS])

    async def _request(self, said: dict[str, Any], session: str) -> None:
        number = said["requestId"]
        main = said.get("frameId") == self._frame
        answer = await self._gate.answer(
            str(said.get("resourceType", "")).lower(), said["request"], main=main
        )
        if isinstance(answer, Response):
            with contextlib.suppress(
                DevToolsError
            ):  # a head that the browser does not take; or the page is gone
                await self._tools.say(
                    "Fetch.fulfillRequest", session, requestId=number, responseCode=answer.status,
                    responseHeaders=_passed(answer), body=base64.b64encode(answer.body).decode("ascii"),
                )  # fmt: skip
                return
        # A navigation that fails as "aborted" leaves the page where it is.
        self._tools.say("Fetch.failRequest", session, requestId=number, errorReason="Aborted")


def _passed(answer: Response) -> list[dict[str, str]]:
    return [
        {"name": name, "value": value} for name, value in answer.headers if name.lower() not in _NOT_PASSED
    ]
