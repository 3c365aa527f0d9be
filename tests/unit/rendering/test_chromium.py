"""The real browser: pages that scripts make, and pages that want out."""

import asyncio
import contextlib
import http.server
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Coroutine, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pytest

from ingather.app.clock import SystemClock
from ingather.app.rendering.browser import BrowserLimits, Browsers
from ingather.app.rendering.finding import find
from ingather.app.rendering.locking import LOCKS
from ingather.app.rendering.session import PageLimits
from ingather.fetch.egress import Beforehand
from ingather.model.resource import Failure, FailureKind, Request, Response
from ingather.model.scope import Scope
from ingather.ports.renderer import NotAsked, Rendered, RenderFailure
from ingather.robot.visit.errands import refused_beforehand
from ingather.testing.running import wait_until

T = TypeVar("T")
ORIGIN = "https://site.example"
SCOPE = Scope("web", hosts=("site.example",))
PATIENT = PageLimits(total_s=100.0, script_s=60.0, settle_s=3.0, html_chars=100_000)

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(find().trouble), reason="no chromium (apt-get install chromium)"),
]


class Web:
    """A site in the hand of whoever tests; *pages*: path -> body, (type, body), or a whole response."""

    def __init__(self, **pages: Any) -> None:
        self.pages: dict[str, Any] = pages
        self.asked: list[str] = []
        self.refused: list[str] = []
        self.before: Any = None

    async def errand(self, request: Request, scope: Scope) -> Response | Failure | NotAsked:
        refused = refused_beforehand(request.url, Beforehand(scope), lambda _url: None)
        if refused is not None:
            self.refused.append(request.url.rpartition("/")[2])
            return refused
        self.asked.append(request.url)
        path = request.url.removeprefix(ORIGIN)
        if self.before is not None:
            await self.before(path)
        if path == "/never":
            await asyncio.Event().wait()
        found = self.pages.get(path)
        if found is None:
            return Failure(request.url, FailureKind.CONNECT, "nobody there")
        if isinstance(found, Response):
            return found
        kind = (
            "application/json"
            if path.endswith(".json")
            else "text/javascript"
            if path.endswith(".js")
            else "text/plain"
        )
        return Response(request.url, 200, (("Content-Type", kind), ("Set-Cookie", "spy=1")), found.encode())

    def paths(self) -> list[str]:
        return [url.removeprefix(ORIGIN) for url in self.asked]


class Desk:
    """An event loop with browsers that live as long as the tests of this file."""

    def __init__(self, runner: asyncio.Runner, limits: BrowserLimits) -> None:
        self._runner = runner
        self.limits = limits
        self.browsers = self.another(limits)

    def another(self, limits: BrowserLimits, *, namespaces: bool = True) -> Browsers:
        return Browsers(limits=limits, clock=SystemClock(), agent="Ingather/test", namespaces=namespaces)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(work)

    def render(
        self, html: str, web: Web | None = None, *, browsers: Browsers | None = None, scope: Scope = SCOPE
    ) -> Rendered | RenderFailure:
        first = Response(
            f"{ORIGIN}/dir/page", 200, (("Content-Type", "text/html; charset=utf-8"),), html.encode()
        )
        site = web or Web()
        return self.run((browsers or self.browsers).render(first.url, first, scope, site.errand))

    def made(
        self, html: str, web: Web | None = None, *, browsers: Browsers | None = None, scope: Scope = SCOPE
    ) -> Rendered:
        got = self.render(html, web, browsers=browsers, scope=scope)
        assert isinstance(got, Rendered), got
        return got


@pytest.fixture(scope="module")
def desk() -> Iterator[Desk]:
    with asyncio.Runner() as runner:
        made = Desk(runner, BrowserLimits(page=PATIENT, idle_s=3600.0))
        yield made
        made.run(made.browsers.close())


def fates(got: Rendered | RenderFailure) -> dict[str, str]:
    return {fate.url.removeprefix(ORIGIN): fate.fate for fate in got.fates}


# -- what scripts make ------------------------------------------------------------------------------


def test_text_and_links_out_of_scripts_and_data(desk: Desk) -> None:
    web = Web(**{
        "/handbook.js": """
            fetch('/api.json').then(r => r.json()).then(data => setTimeout(() => {
              document.title = data.title;
              document.getElementById('root').innerHTML = `<h1>${data.text}</h1><a href=sub/x>on</a>`;
              document.body.append(Object.assign(document.createElement('p'), {textContent: navigator.userAgent}));
              const box = document.createElement('div');
              document.body.append(box);
              box.attachShadow({mode: 'open'}).innerHTML = '<p>in the shadow</p>';
            }, 1500));""",
        "/api.json": '{"title": "Handbook", "text": "Holiday is asked for"}',
    })  # fmt: skip
    got = desk.made(
        "<title>x</title><div id=root></div><noscript>enable it</noscript><script src=/handbook.js></script><img src=/i.png>",
        web,
    )
    html = got.html.decode()
    assert "<title>Handbook</title>" in html
    assert "<h1>Holiday is asked for</h1>" in html
    assert f'<a href="{ORIGIN}/dir/sub/x">on</a>' in html
    assert "in the shadow" in html
    assert "<p>Ingather/test</p>" in html
    assert "enable it" not in html
    assert "<script" not in html
    assert web.paths() == ["/handbook.js", "/api.json"]
    assert fates(got)["/i.png"] == "kind"


PUBLIC = "http://shop.example.com"


def test_a_public_name_without_tls_stays_without(desk: Desk) -> None:
    web = Web(**{
        f"{PUBLIC}/app.js": "fetch('/api.json').then(r => r.json()).then(d => document.body.append(d.text))",
        f"{PUBLIC}/api.json": '{"text": "Holiday is asked for"}',
    })  # fmt: skip
    html = b"<a href=/next>on</a><script src=/app.js></script>"
    first = Response(f"{PUBLIC}/page", 200, (("Content-Type", "text/html; charset=utf-8"),), html)
    scope = Scope("web", hosts=("shop.example.com",))
    got = desk.run(desk.browsers.render(first.url, first, scope, web.errand))
    assert isinstance(got, Rendered), got
    assert web.asked == [f"{PUBLIC}/app.js", f"{PUBLIC}/api.json"]
    assert "Holiday is asked for" in got.html.decode()
    assert f'href="{PUBLIC}/next"' in got.html.decode()


def test_half_a_character_is_no_end_of_the_browser(desk: Desk) -> None:
    got = desk.made(
        '<p>x</p><script>document.body.append("cut \\ud83d here"); console.error("\\ud83d"); throw Error("\\udc00")</script>'
    )
    assert "cut ? here" in got.html.decode()
    assert len(got.errors) == 2


def test_the_browser_is_locked_in(desk: Desk) -> None:
    found: list[str] = []

    async def look(_path: str) -> None:
        renderers = [one for one in processes(desk.browsers) if "--type=renderer" in one["cmdline"]]
        found.extend(f"{status['Seccomp']} {status['Uid']}" for status in renderers)

    web = Web(**{"/app.js": "1"})
    web.before = look
    desk.made("<script src=/app.js?1></script><script src=/app.js></script>", web)
    assert found
    for text in found:
        seccomp, uid = text.split()[:2]
        assert seccomp == "2"
        assert uid != "0"
    if os.geteuid() == 0:
        assert set(desk.browsers.measures) == set(LOCKS)


def test_nothing_crosses_from_page_to_page(desk: Desk) -> None:
    write = "<p>x</p><script>document.cookie = 'a=b'; localStorage.a = 'kept'; document.body.append(document.cookie)</script>"
    read = "<p id=p></p><script>p.textContent = `${document.cookie} ${localStorage.a}`</script>"
    assert "a=b" in desk.made(write).html.decode()
    assert '<p id="p"> undefined</p>' in desk.made(read).html.decode()


def test_a_script_that_robots_forbid_is_missing_and_told(desk: Desk) -> None:
    class Forbidden(Web):
        async def errand(self, request: Request, scope: Scope) -> Response | Failure | NotAsked:
            return (
                NotAsked("robots", "Disallow: /private/")
                if "/private/" in request.url
                else await super().errand(request, scope)
            )

    got = desk.made(
        "<p>shell</p><script src=/private/app.js></script>",
        Forbidden(**{"/private/app.js": "document.body.append('never')"}),
    )
    assert "never" not in got.html.decode()
    assert fates(got)["/private/app.js"] == "robots"


def test_an_answer_that_redirects_is_judged_again(desk: Desk) -> None:
    there = (("Location", "/there"),)
    away = (("Location", "https://other.example/x"),)
    web = Web(**{
        "/here": Response("", 302, there), "/there": "arrived", "/out": Response("", 302, away), "/loop": Response("", 302, (("Location", "/loop"),)),
    })  # fmt: skip
    got = desk.made(
        "<script>for (const one of ['/here', '/out', '/loop']) fetch(one).then(r => r.text()).then("
        "t => document.body.append(`${one} ${t}.`), e => document.body.append(`${one} failed.`))</script>",
        web,
    )
    html = got.html.decode()
    assert "/here arrived." in html
    assert "/out failed." in html
    assert "/loop failed." in html
    assert fates(got)["https://other.example/x"] == "scope"
    assert not [url for url in web.asked if "other.example" in url]


def test_an_answer_that_the_browser_does_not_take_is_a_failure(desk: Desk) -> None:
    web = Web(**{"/odd": Response("", 200, (("Bad name:", "x"), ("X", "a\nb")), b"odd"), "/even": "even"})
    got = desk.made(
        "<script>for (const one of ['/odd', '/even']) fetch(one).then(r => r.text()).then("
        "t => document.body.append(`${t}.`), e => document.body.append(`${one} failed.`))</script>",
        web,
    )
    assert "/odd failed." in got.html.decode()
    assert "even." in got.html.decode()


def test_a_page_that_leads_away_stays_and_says_where(desk: Desk) -> None:
    got = desk.made(
        "<p>One moment</p><script>alert('hello'); history.pushState(1, '', '/pushed'); location.href = '/else'</script>"
    )
    assert "One moment" in got.html.decode()
    assert got.led_to == (f"{ORIGIN}/else",)
    assert got.url == f"{ORIGIN}/pushed"


# -- what scripts break -----------------------------------------------------------------------------


def test_a_script_without_end_is_ended(desk: Desk) -> None:
    browsers = desk.another(replace(desk.limits, page=replace(PATIENT, script_s=1.0)))
    got = desk.render("<p>x</p><script>for (;;);</script>", browsers=browsers)
    assert isinstance(got, RenderFailure)
    assert got.reason == "script-time"
    assert not browsers.alive
    desk.run(browsers.close())


def test_a_host_that_never_answers_ends_the_page(desk: Desk) -> None:
    browsers = desk.another(replace(desk.limits, page=replace(PATIENT, total_s=1.0)))
    got = desk.render("<p>x</p><script src=/never></script>", browsers=browsers)
    assert isinstance(got, RenderFailure)
    assert got.reason == "time"
    assert not browsers.alive


def test_a_browser_that_dies_costs_one_page_and_another_source_has_another(desk: Desk) -> None:
    browsers = desk.another(desk.limits)

    def killed(kind: str, source: str) -> str:
        async def kill(_path: str) -> None:
            for status in processes(browsers):
                if kind in status["cmdline"] if kind else "--type=" not in status["cmdline"]:
                    os.kill(int(status["Pid"]), signal.SIGKILL)
            await asyncio.Event().wait()

        web = Web()
        web.before = kill
        scope = replace(SCOPE, source=source)
        got = desk.render("<p>x</p><script src=/app.js></script>", web, browsers=browsers, scope=scope)
        assert isinstance(got, RenderFailure)
        return got.reason

    assert killed("--type=renderer", "web") == "crashed"
    assert not browsers.alive
    for _ in range(2):
        assert "again" in desk.made("<p>again</p><script>1</script>", browsers=browsers).html.decode()
    assert browsers.started == 2
    assert killed("", "other") == "died"
    assert browsers.started == 3
    assert not browsers.alive
    desk.run(browsers.close())


def test_a_document_without_end_is_not_taken(desk: Desk) -> None:
    got = desk.render("<p>x</p><script>document.body.append('y'.repeat(200000))</script>")
    assert isinstance(got, RenderFailure)
    assert got.reason == "too-large"


def test_no_browser_is_said_and_not_tried_again_at_once() -> None:
    async def work() -> tuple[Rendered | RenderFailure, Rendered | RenderFailure]:
        browsers = Browsers(limits=BrowserLimits(), clock=SystemClock(), agent="x", program="/bin/false")
        first = Response(ORIGIN, 200)
        got = [await browsers.render(ORIGIN, first, SCOPE, Web().errand) for _ in range(2)]
        await browsers.close()
        return got[0], got[1]

    one, two = asyncio.run(work())
    assert isinstance(one, RenderFailure)
    assert one == two
    assert one.reason == "unavailable"


ORPHAN = """
import asyncio, sys
from ingather.app.clock import SystemClock
from ingather.app.rendering.browser import BrowserLimits, Browsers
from ingather.model.resource import Response
from ingather.model.scope import Scope

async def errand(request, scope):
    print(next(iter(browsers.alive)), flush=True)
    await asyncio.Event().wait()

async def work():
    page = Response("https://site.example/", 200, (("Content-Type", "text/html"),), b"<script src=/x></script>")
    await browsers.render(page.url, page, Scope(), errand)

browsers = Browsers(limits=BrowserLimits(), clock=SystemClock(), agent="x")
asyncio.run(work())
"""


def test_who_is_killed_leaves_no_browser_behind() -> None:
    with subprocess.Popen([sys.executable, "-c", ORPHAN], stdout=subprocess.PIPE, text=True) as gatherer:
        assert gatherer.stdout is not None
        leader = int(gatherer.stdout.readline())
        assert family(leader)
        gatherer.kill()
    wait_until(lambda: not family(leader))


# -- pages that want out ----------------------------------------------------------------------------


class Elsewhere:
    """Another server of this machine, which nobody may reach; it counts who tries: connections and datagrams."""

    def __init__(self) -> None:
        self.arrived: list[str] = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def handle_one_request(self) -> None:
                outer.arrived.append(self.rfile.readline(200).decode("latin-1"))

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = int(self._server.server_address[1])
        self._datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._datagrams.bind(("127.0.0.1", self.port))
        self._datagrams.setblocking(False)  # noqa: FBT003 - the name of its only parameter is flag
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        with contextlib.suppress(BlockingIOError):
            self.arrived.append(f"datagram {self._datagrams.recv(100)!r}")
        self._datagrams.close()


HOSTILE = """<!doctype html><title>shell</title><p id=p>start</p>
<link rel=preconnect href=http://127.0.0.1:PORT/><link rel=dns-prefetch href=//127.0.0.1:PORT/>
<link rel=prefetch href=http://127.0.0.1:PORT/prefetch><link rel=preload as=script href=http://127.0.0.1:PORT/preload>
<link rel=modulepreload href=http://127.0.0.1:PORT/modulepreload><link rel=stylesheet href=http://127.0.0.1:PORT/style>
<link rel=manifest href=http://127.0.0.1:PORT/manifest><link rel=icon href=http://127.0.0.1:PORT/icon>
<link rel=prerender href=http://127.0.0.1:PORT/prerender>
<script type=speculationrules>{"prefetch": [{"urls": ["/never-rules"]}], "prerender": [{"urls": ["/never-prerender"]}]}</script>
<style>@import url(http://127.0.0.1:PORT/import); p { background: url(http://127.0.0.1:PORT/background) }
@font-face { font-family: x; src: url(http://127.0.0.1:PORT/font) } p { font-family: x }</style>
<img src=http://127.0.0.1:PORT/img srcset="http://127.0.0.1:PORT/srcset 2x"><video src=http://127.0.0.1:PORT/video autoplay></video>
<iframe src=http://127.0.0.1:PORT/iframe></iframe><iframe src=file:///etc/passwd></iframe>
<iframe sandbox=allow-scripts srcdoc="<script>fetch('http://127.0.0.1:PORT/srcdoc')</script>"></iframe>
<iframe src="data:text/html,<script>fetch('http://127.0.0.1:PORT/dataframe')</script>"></iframe>
<object data=http://127.0.0.1:PORT/object></object><embed src=http://127.0.0.1:PORT/embed>
<form id=f method=post action=http://127.0.0.1:PORT/form target=_blank><input name=a></form>
<a id=a ping=http://127.0.0.1:PORT/ping href=http://127.0.0.1:PORT/popup target=_blank>x</a>
<meta http-equiv=refresh content="1; url=http://127.0.0.1:PORT/refresh">
<script>
const there = 'http://127.0.0.1:PORT', tell = text => p.append(` ${text};`), ends = [];
fetch('/hold').then(() => setTimeout(() => { tell('end'); location = there + '/location'; }, 500));
const attempt = (name, what) => { try { what(); } catch (error) { tell(name + ' threw'); } };
attempt('ws', () => { new WebSocket('ws://127.0.0.1:PORT/ws').onerror = () => tell('ws failed'); });
attempt('wss', () => { new WebSocket('wss://127.0.0.1:PORT/wss'); });
attempt('transport', () => { new WebTransport('https://127.0.0.1:PORT/transport'); });
attempt('events', () => { new EventSource(there + '/events'); });
attempt('beacon', () => { navigator.sendBeacon(there + '/beacon', 'x'); });
attempt('fetch', () => { ends.push(fetch(there + '/fetch', {mode: 'no-cors', keepalive: true}).catch(() => tell('fetch failed'))); });
attempt('post', () => { ends.push(fetch('/post', {method: 'POST', body: 'x'}).catch(() => tell('post failed'))); });
attempt('file', () => { ends.push(fetch('file:///etc/passwd').then(r => r.text()).then(tell, () => tell('file failed'))); });
attempt('view', () => { fetch('view-source:http://127.0.0.1:PORT/').catch(() => tell('view failed')); });
attempt('blob', () => { ends.push(fetch(URL.createObjectURL(new Blob(['own words']))).then(r => r.text()).then(tell)); });
attempt('data', () => { ends.push(fetch('data:,own data').then(r => r.text()).then(tell)); });
attempt('xhr', () => { const x = new XMLHttpRequest(); x.open('GET', there + '/xhr', false); x.send(); });
attempt('image', () => { new Image().src = there + '/image'; });
attempt('worker', () => {
  const code = `fetch('${there}/worker'); new WebSocket('ws://127.0.0.1:PORT/workersocket');
    importScripts('${there}/imported');`;
  new Worker(URL.createObjectURL(new Blob([code])));
});
attempt('shared', () => { new SharedWorker(URL.createObjectURL(new Blob([`fetch('${there}/shared')`]))); });
attempt('service', () => { ends.push(navigator.serviceWorker.register('/service.js').then(() => tell('service works'), () => tell('service failed'))); });
attempt('module', () => { ends.push(import(there + '/module').catch(() => tell('module failed'))); });
attempt('rtc', () => {
  const peer = new RTCPeerConnection({iceServers: [{urls: 'stun:127.0.0.1:PORT'}, {urls: 'turn:127.0.0.1:PORT?transport=tcp', username: 'u', credential: 'p'}]});
  peer.createDataChannel('x');
  peer.onicecandidate = event => { if (event.candidate && event.candidate.candidate.includes(' 127.')) tell('candidate'); };
  peer.createOffer().then(offer => peer.setLocalDescription(offer));
});
attempt('place', () => { navigator.geolocation.getCurrentPosition(() => tell('place known'), () => tell('place denied')); });
attempt('clipboard', () => { navigator.clipboard.readText().then(() => tell('clipboard read'), () => tell('clipboard denied')); });
attempt('open', () => { const one = open(there + '/opened'); tell(one ? 'opened' : 'not opened'); });
attempt('form', () => { f.submit(); });
attempt('click', () => { a.click(); });
attempt('download', () => { const one = document.createElement('a'); one.href = 'data:application/zip,x'; one.download = 'x.zip'; one.click(); });
attempt('confirm', () => { tell('confirm ' + confirm('really?')); });
Promise.all(ends).then(() => fetch('/release'));
onbeforeunload = event => { event.preventDefault(); navigator.sendBeacon(there + '/unload'); };
</script>"""


@pytest.mark.parametrize("namespaces", [True, False], ids=["own network", "our network"])
def test_nothing_goes_round_the_gate(desk: Desk, *, namespaces: bool) -> None:
    there = Elsewhere()
    browsers = desk.another(desk.limits, namespaces=namespaces)
    try:
        released = asyncio.Event()

        async def hold(path: str) -> None:
            """Keep the page waiting until its attempts have ended, and one of them at the closed door."""
            if path == "/release":
                released.set()
            elif path == "/hold":
                await released.wait()
                while "worker" not in web.refused or not knocked():  # noqa: ASYNC110 - nobody tells of it
                    await asyncio.sleep(0.01)

        def knocked() -> list[str]:
            return [line for door in browsers.doors for line in door.wanted if str(there.port) in line]

        web = Web(
            **{
                "/hold": "on",
                "/release": "on",
                "/service.js": "fetch('http://127.0.0.1:PORT/service')".replace("PORT", str(there.port)),
            }
        )
        web.before = hold
        got = desk.made(HOSTILE.replace("PORT", str(there.port)), web, browsers=browsers)
        desk.run(browsers.close())
    finally:
        there.close()
    assert there.arrived == []
    assert sorted(web.paths()) == ["/hold", "/release"]
    html = got.html.decode()
    for words in ("post failed", "file failed", "module failed", "service failed", "not opened",
                  "confirm false", "own words", "own data", "end"):  # fmt: skip
        assert words in html, (words, html)
    for words in ("place known", "clipboard read", "service works", "root:", "candidate"):
        assert words not in html, (words, html)
    assert f"http://127.0.0.1:{there.port}/location" in got.led_to
    told = {fate.url.rpartition("/")[2]: fate.fate for fate in got.fates}
    assert told["fetch"] == told["xhr"] == told["style"] == told["import"] == "scope"
    assert told["post"] == "method"
    assert told["iframe"] == told["img"] == told["beacon"] == "kind"
    assert got.refused_at_proxy >= 1


# -- processes --------------------------------------------------------------------------------------


def processes(browsers: Browsers) -> list[dict[str, str]]:
    return [status for leader in browsers.alive for status in family(leader)]


def family(leader: int) -> list[dict[str, str]]:
    """The processes of a browser that still run, by the session that it leads."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError, ValueError):
            session = int((folder / "stat").read_text().rpartition(")")[2].split()[3])
            if session == leader:
                lines = (line.partition(":") for line in (folder / "status").read_text().splitlines())
                status = {name: value.strip() for name, _, value in lines}
                status["cmdline"] = (
                    (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
                )
                if not status["State"].startswith(("Z", "X")):
                    found.append(status)
    return found
