"""Both listeners on loopback ports over a small real index, and Debian's chromium to look at them."""

import shutil
import socket
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from prometheus_client import CollectorRegistry

from ingather.index import IndexFolder
from ingather.model.decided import NOBODY, By
from ingather.ports.index import IndexDocument
from ingather.search import SearchService
from ingather.testing.clock import FakeClock
from ingather.web import (
    AdminParts,
    Health,
    OwnHosts,
    SearchParts,
    Secret,
    WebLimits,
    admin_app,
    listener_config,
    search_app,
)

TOKEN = "a-token-for-the-browser-tests"  # noqa: S105
CHROMIUM = shutil.which("chromium")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # Names of strangers that point to this machine, as rebinding makes them.
    "--host-resolver-rules=MAP *.test 127.0.0.1",
]
KINDS = {"html": "text/html", "pdf": "application/pdf", "docx": "application/octet-stream"}


class Ledger:
    """One open hold, and what was decided about it."""

    def __init__(self) -> None:
        self.open = [
            {
                "id": 7,
                "source": "web",
                "reason": "not found (404)",
                "opened": 1_790_000_000,
                "documents": 40,
                "sample": ["https://a.example/"],
            }
        ]
        self.decided: list[bool] = []

    def remove(
        self, target: str, by: By = NOBODY, *, yes: bool = False, dry_run: bool = False
    ) -> Mapping[str, Any]:
        return {"removed": 1, "target": target}

    def undo(self, form: Mapping[str, str], by: By = NOBODY) -> Mapping[str, Any]:
        return {"restored": 1, "target": str(dict(form))}

    def undelete(self, target: str, by: By = NOBODY) -> Mapping[str, Any]:
        return {"restored": 1, "target": target}

    def classify(self) -> Mapping[str, Any]:
        return {"queries": 0, "documents": 0, "changed": 0}

    def holds(self) -> Sequence[Mapping[str, Any]]:
        return self.open

    def close_hold(self, number: int, *, release: bool, by: By = NOBODY) -> Mapping[str, Any]:
        self.open = [hold for hold in self.open if hold["id"] != number]
        self.decided.append(release)
        return {"hold": number, "documents": 40}


@dataclass(frozen=True)
class Site:
    """Where the listeners are."""

    search: str
    admin: str
    token: str
    ledger: Ledger


def corpus() -> Iterator[IndexDocument]:
    for number in range(1, 61):
        kind = list(KINDS)[number % 3]
        site = f"{('intranet', 'docs')[number % 2]}.example"
        yield IndexDocument(
            number,
            f"https://{site}/handbook/{number}",
            1,
            title=f"Handbook chapter {number}",
            body=f"Chapter {number} of the handbook says how holiday is asked for and who signs the form.",
            kind=kind,
            media_type=KINDS[kind],
            language="en",
            site=site,
            path=f"/handbook/{number}",
            date_s=1_790_000_000 - number * 86_400,
            size=number * 10_000,
            source="web",
        )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    clock, ledger = FakeClock(), Ledger()
    search = SearchParts(
        search=_service(tmp_path_factory.mktemp("index"), clock).search,
        health=Health,
        limits=WebLimits(query_s=30),
        hosts=OwnHosts(),
    )
    admin = AdminParts(
        token=Secret(TOKEN),
        clock=clock,
        registry=CollectorRegistry(),
        health=Health,
        explain=lambda url, _fetch: {"url": url, "answer": "In search.", "known": True},
        status=lambda: {"state": "running", "documents": 60, "versions": {"ingather": "0"}},
        operations=ledger,
    )
    with ExitStack() as stack:
        ports = [_served(stack, app) for app in (search_app(search), admin_app(admin))]
        yield Site(f"http://127.0.0.1:{ports[0]}", f"http://127.0.0.1:{ports[1]}", TOKEN, ledger)


def _service(place: Path, clock: FakeClock) -> SearchService:
    folder = IndexFolder(place)
    documents = list(corpus())
    writer = folder.writer()
    writer.put(documents)
    writer.commit(1)
    writer.close()
    texts = {d.id: d.body for d in documents}
    return SearchService(folder.reader(), lambda rows: {row: texts[row] for row in rows}, clock)


def _served(stack: ExitStack, app: Any) -> int:
    listening = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
    server = uvicorn.Server(listener_config(app))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()

    def stop() -> None:
        server.should_exit = True
        thread.join()

    stack.callback(stop)
    return int(listening.getsockname()[1])


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A browser, for one module: while it runs, this thread counts as having an event loop, and no other test may."""
    if CHROMIUM is None:
        pytest.skip("no chromium")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()
