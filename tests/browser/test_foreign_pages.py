"""Pages of strangers in a real browser on a trusted machine: whatever they send, nothing is pushed, deleted or read."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from ingather.testing.feedgate import RunningGate, open_gate
from ingather.testing.feedwire import FEED
from ingather.web import OwnHosts

pytestmark = pytest.mark.browser

PUSH = """async (gate) => {
  const form = () => { const made = new FormData(); made.set("datasource", "sample"); made.set("feedtype", "full");
    made.set("data", new Blob(["<gsafeed/>"], {type: "text/xml"}), "feed.xml"); return made; };
  const done = [];
  const way = async (name, call) => { try { await call(); done.push(name); } catch (error) { done.push(`${name}: ${error}`); } };
  await way("no-cors", () => fetch(`${gate}/xmlfeed`, {method: "POST", mode: "no-cors", body: form()}));
  await way("with credentials", () => fetch(`${gate}/xmlfeed`, {method: "POST", mode: "no-cors", credentials: "include", body: form()}));
  await way("text", () => fetch(`${gate}/xmlfeed?datasource=sample&feedtype=full`,
    {method: "POST", mode: "no-cors", headers: {"Content-Type": "text/plain"}, body: "<gsafeed/>"}));
  await way("no referrer", () => fetch(`${gate}/xmlgroups`, {method: "POST", mode: "no-cors", referrerPolicy: "no-referrer",
    body: new URLSearchParams({groupsource: "sample", feedtype: "full", data: "<xmlgroups/>"})}));
  await way("cors", () => fetch(`${gate}/xmlfeed`, {method: "POST", body: form()}));
  await way("beacon", async () => navigator.sendBeacon(`${gate}/xmlfeed`, form()));
  return done;
}"""
FORM = """(gate) => {
  const form = document.createElement("form"), field = (name, value) => {
    const made = document.createElement("input"); made.name = name; made.value = value; form.append(made); };
  form.method = "POST"; form.enctype = "multipart/form-data"; form.action = `${gate}/xmlfeed`;
  field("datasource", "sample"); field("feedtype", "full"); field("data", "<gsafeed/>");
  document.body.append(form); form.submit();
}"""
READ = """async (url) => {
  try { return await (await fetch(url)).text(); } catch (error) { return `refused: ${error.name}`; }
}"""


class _Page(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = b"<!DOCTYPE html><title>A page of somebody</title><body>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Nothing."""


@pytest.fixture(scope="module")
def stranger() -> Iterator[int]:
    """Port of a web server that is not ours."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Page) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[RunningGate]:
    with open_gate(tmp_path / "gate", own=OwnHosts()) as made:
        yield made


@pytest.fixture
def page(chromium: Any) -> Iterator[Any]:
    context = chromium.new_context()
    yield context.new_page()
    context.close()


@pytest.mark.parametrize("origin", ["127.0.0.1", "localhost", "page.evil.test"])
@pytest.mark.parametrize("called", ["127.0.0.1", "localhost"])
def test_a_page_of_another_origin_pushes_nothing(
    page: Any, gate: RunningGate, stranger: int, origin: str, called: str
) -> None:
    page.goto(f"http://{origin}:{stranger}/")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.method))
    done = page.evaluate(PUSH, f"http://{called}:{gate.address[1]}")
    assert {"no-cors", "with credentials", "text", "no referrer", "beacon"} <= set(done), "they were sent"
    page.evaluate(FORM, f"http://{called}:{gate.address[1]}")
    page.wait_for_url("**/xmlfeed")
    assert "was not asked for by a page of this server" in page.inner_text("body")
    assert "POST" in asked
    assert gate.desk.accepted == []
    assert gate.left() == []
    assert gate.intake.counts.read()[1]["not-trusted"] >= 6


def test_a_name_that_points_here_gets_neither_the_gate_nor_what_is_found(
    page: Any, gate: RunningGate, site: Any
) -> None:
    foreign = f"http://rebound.evil.test:{gate.address[1]}"
    page.goto(f"{foreign}/xmlfeed")
    assert "rebound.evil.test" in page.inner_text("body")
    assert "listen.names" in page.inner_text("body")
    page.evaluate(PUSH, foreign)  # the same origin, for the browser
    assert gate.desk.accepted == []
    port = site.search.rpartition(":")[2]
    answer = page.goto(f"http://rebound.evil.test:{port}/")
    assert answer.status == 421
    said = page.evaluate(READ, f"http://rebound.evil.test:{port}/api/v1/search?q=holiday")
    assert "unknown-host" in said
    assert "Handbook" not in said


def test_a_page_of_another_origin_reads_no_results_and_a_link_of_it_leads_to_them(
    page: Any, site: Any, stranger: int
) -> None:
    page.goto(f"http://localhost:{stranger}/")
    assert page.evaluate(READ, f"{site.search}/api/v1/search?q=holiday").startswith("refused")
    page.evaluate("(to) => { const a = document.createElement('a'); a.href = to; a.id = 'go'; a.textContent = 'go'; document.body.append(a); }",
                  f"{site.search}/?q=holiday")  # fmt: skip
    page.click("#go")
    page.wait_for_selector("ol.results")


@pytest.mark.parametrize("called", ["127.0.0.1", "localhost"])
def test_the_gate_s_own_form_goes_on_pushing(
    page: Any, gate: RunningGate, tmp_path: Path, called: str
) -> None:
    feed = tmp_path / "feed.xml"
    feed.write_bytes(FEED)
    page.goto(f"http://{called}:{gate.address[1]}/xmlfeed")
    page.fill("[name=datasource]", "sample")
    page.set_input_files("[name=data]", str(feed))
    page.click("[type=submit]")
    page.wait_for_function("document.body.innerText === 'Success'")
    assert gate.desk.last.fields.datasource == "sample"
    assert gate.desk.last.body == FEED
