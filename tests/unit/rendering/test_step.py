"""The step of a visit: what a renderer gives becomes the document, and nothing that it fails at loses a page."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from ingather.model.lifecycle import Outcome
from ingather.model.report import Report
from ingather.model.resource import Request, Response
from ingather.model.scope import Scope
from ingather.ports.renderer import Errand, Fate, NotAsked, Rendered, RenderFailure
from ingather.testing.hand import Hand, RawServer, answer

HTML = ("Content-Type", "text/html")
SHELL = "<title>shell</title><div id=root></div><script src=/app.js></script>"
MADE = b"<title>made</title><p>What the scripts wrote.</p><a href=/next>n</a>"


class Renderer:
    """Answers what it is told; asks for *wants* before, as a page would."""

    def __init__(self, give: Rendered | RenderFailure, wants: str = "") -> None:
        self.give, self.wants = give, wants
        self.pages: list[str] = []
        self.got: list[object] = []

    async def render(
        self, url: str, first: Response, scope: Scope, errand: Errand
    ) -> Rendered | RenderFailure:
        self.pages.append(url)
        assert first.status == 200
        if self.wants:
            origin = url.rpartition("/")[0]
            self.got = [await errand(Request(f"{origin}{path}"), scope) for path in self.wants.split()]
        return self.give

    async def close(self) -> None:
        """Nothing is open."""


def visited(  # noqa: PLR0913 - circumstances
    folder: Path, renderer: Renderer, *, body: str = SHELL, javascript: str = "auto", suspect: bool = False,
    more: Callable[[RawServer], None] = lambda _: None,
) -> tuple[Report, list[str]]:  # fmt: skip
    (folder / "bodies").mkdir(parents=True)

    async def work() -> tuple[Report, list[str]]:
        async with RawServer() as server, Hand(folder, renderer=renderer, javascript=javascript) as hand:
            server.said["/page"] = answer(
                body, 200, HTML, ("ETag", '"1"'), ("Last-Modified", "Mon, 02 Nov 2026 00:00:00 GMT")
            )
            more(server)
            report = await hand.visit(f"{server.origin}/page", source="web", suspect=suspect)
            return report, [path for _, path, _ in server.asked]

    return asyncio.run(work())


def test_what_scripts_made_is_the_document(tmp_path: Path) -> None:
    report, _ = visited(tmp_path, Renderer(Rendered(MADE, "x")))
    assert report.outcome == Outcome.INDEXED
    assert (report.title, report.text) == ("made", "What the scripts wrote.\nn")
    assert [found.path for found in report.found] == ["/next"]
    assert report.flags == ("rendered:empty-root",)
    assert (report.etag, report.last_modified) == ("", "")
    assert report.digest != visited(tmp_path / "2", Renderer(RenderFailure("time")))[0].digest


def test_a_page_that_cannot_be_rendered_is_read_as_it_came(tmp_path: Path) -> None:
    body = f"<title>t</title><p>Loading</p>{SHELL}"
    report, _ = visited(tmp_path, Renderer(RenderFailure("script-time", "it ran and ran")), body=body)
    assert (report.outcome, report.text) == (Outcome.INDEXED, "Loading")
    assert report.flags == ("render-failed:script-time",)
    assert report.etag == '"1"'


@pytest.mark.parametrize("reason", ["died", "unavailable"])
def test_a_page_whose_browser_was_killed_is_asked_for_as_a_whole_next_time(
    tmp_path: Path, reason: str
) -> None:
    report, _ = visited(tmp_path, Renderer(RenderFailure(reason)))
    assert report.flags == (f"render-failed:{reason}",)
    assert (report.outcome, report.etag, report.last_modified) == (Outcome.INDEXED, "", "")


def test_scripts_that_take_a_pages_text_away_do_not_lose_it(tmp_path: Path) -> None:
    body = f"<p>{'Words that stand here. ' * 40}</p><script>boom()</script>"
    report, _ = visited(tmp_path, Renderer(Rendered(b"<p>Oops", "x")), body=body, javascript="always")
    assert report.flags == ("render-failed:emptied",)
    assert report.text.startswith("Words that stand here.")


def test_a_page_with_text_costs_no_browser(tmp_path: Path) -> None:
    renderer = Renderer(Rendered(MADE, "x"))
    report, _ = visited(tmp_path, renderer, body=f"<p>{'Words that stand here. ' * 40}</p>{SHELL}")
    assert report.flags == ("not-rendered:has-text",)
    assert not renderer.pages


def test_off_changes_nothing(tmp_path: Path) -> None:
    renderer = Renderer(Rendered(MADE, "x"))
    report, _ = visited(tmp_path, renderer, javascript="off")
    assert (report.flags, renderer.pages) == ((), [])


def test_who_killed_a_reader_gets_no_browser(tmp_path: Path) -> None:
    renderer = Renderer(Rendered(MADE, "x"))
    report, _ = visited(tmp_path, renderer, suspect=True)
    assert "not-rendered:suspect" in report.flags
    assert not renderer.pages


def test_a_page_that_leads_away_leads_on(tmp_path: Path) -> None:
    give = Rendered(b"<p>One moment", "x", led_to=("http://127.0.0.1:1/else?a=1&b=2", "file:///etc/passwd"))
    report, _ = visited(tmp_path, Renderer(give))
    assert [(found.origin, found.path) for found in report.found] == [("http://127.0.0.1:1", "/else?a=1&b=2")]


def test_what_is_missing_is_a_remark(tmp_path: Path) -> None:
    fates = (
        Fate("u", "script", "robots"),
        Fate("u", "xhr", "failed"),
        Fate("u", "image", "kind"),
        Fate("u", "script", "kept"),
    )
    report, _ = visited(tmp_path, Renderer(Rendered(MADE, "x", fates)))
    assert report.flags == ("rendered:empty-root", "render-incomplete:failed", "render-incomplete:robots")


def test_data_with_credentials_closes_the_page(tmp_path: Path) -> None:
    report, _ = visited(tmp_path, Renderer(Rendered(MADE, "x", authorized=True)))
    assert report.controls is not None
    assert report.controls.secured
    assert visited(tmp_path / "2", Renderer(Rendered(MADE, "x")))[0].controls is None


def test_errands_obey_robots_scope_and_shape_and_are_asked_in_turn(tmp_path: Path) -> None:
    def more(server: RawServer) -> None:
        server.said["/robots.txt"] = answer(
            "User-agent: *\nDisallow: /private/\n", 200, ("Content-Type", "text/plain")
        )
        server.said["/app.js"] = answer("1", 200, ("Content-Type", "text/javascript"))

    renderer = Renderer(Rendered(MADE, "x"), wants=f"/app.js /private/no.js /{'a/' * 200} /gone.js")
    _, asked = visited(tmp_path, renderer, more=more)
    script, forbidden, long, gone = renderer.got
    assert isinstance(script, Response)
    assert isinstance(gone, Response)
    assert (script.body, gone.status) == (b"1", 404)
    assert forbidden == NotAsked("robots", "robots.txt forbids it: Disallow: /private/")
    assert isinstance(long, NotAsked)
    assert long.reason == "url"
    assert asked == ["/robots.txt", "/page", "/app.js", "/gone.js"]


def test_a_host_out_of_reach_is_not_even_asked_for_its_robots(tmp_path: Path) -> None:
    class Elsewhere(Renderer):
        async def render(
            self, url: str, first: Response, scope: Scope, errand: Errand
        ) -> Rendered | RenderFailure:
            self.got = [
                await errand(Request(one), scope) for one in ("http://10.0.0.1/x", "ftp://a.example/x")
            ]
            return self.give

    renderer = Elsewhere(Rendered(MADE, "x"))
    visited(tmp_path, renderer)
    assert [isinstance(one, NotAsked) and one.reason for one in renderer.got] == ["scope", "scope"]
