"""Both applications over real parts: a small real index for search, a ledger in memory for the operator."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest
from prometheus_client import CollectorRegistry, Gauge
from starlette.testclient import TestClient

from ingather.errors import UrlError, UsageError
from ingather.index import IndexFolder
from ingather.model.decided import NOBODY, By
from ingather.ports.index import IndexDocument
from ingather.search import SearchService
from ingather.testing.clock import FakeClock
from ingather.web import (
    AdminParts,
    Health,
    HttpMetrics,
    OwnHosts,
    SearchParts,
    Secret,
    WebLimits,
    admin_app,
    search_app,
)

TOKEN = "Pwq3-a-token-that-is-long-enough-7fT"  # noqa: S105
SEARCH = "http://search.example"
ADMIN = "http://127.0.0.1:8081"
EVIL = "https://evil.example/<script>alert(1)</script>"


class Ledger:
    """Documents and holds in memory, behind the same calls as a home's."""

    def __init__(self) -> None:
        self.removed: set[str] = set()
        self.open: dict[int, dict[str, Any]] = {
            3: {
                "id": 3,
                "source": "web",
                "reason": "not found (404)",
                "opened": 1_790_000_000.0,
                "documents": 12,
                "sample": ["https://intranet.example/a", EVIL],
            }
        }
        self.closed: dict[int, bool] = {}
        self.decided: list[By] = []

    def remove(
        self, target: str, by: By = NOBODY, *, yes: bool = False, dry_run: bool = False
    ) -> Mapping[str, Any]:
        if not target.startswith("http"):
            raise UsageError(f"{target!r} is not a URL", hint="write a whole URL")
        if dry_run:
            count = 120 if target.endswith("*") else 1
            return {"removed": count, "target": target, "sample": [EVIL], "too_much": "more than 100"}
        self.removed.add(target)
        return {"removed": 1, "target": target} | ({"decision": 12} if yes else {})

    def undo(self, form: Mapping[str, str], by: By = NOBODY) -> Mapping[str, Any]:
        self.decided.append(by)
        return {"restored": 2, "target": str(dict(form))}

    def undelete(self, target: str, by: By = NOBODY) -> Mapping[str, Any]:
        count = len(self.removed & {target})
        self.removed.discard(target)
        return {"restored": count, "target": target}

    def classify(self) -> Mapping[str, Any]:
        return {"queries": 2, "documents": 5, "changed": 1}

    def holds(self) -> Sequence[Mapping[str, Any]]:
        return list(self.open.values())

    def close_hold(self, number: int, *, release: bool, by: By = NOBODY) -> Mapping[str, Any]:
        self.decided.append(by)
        hold = self.open.pop(number, None)
        if hold is None:
            raise UsageError(f"there is no open hold {number}")
        self.closed[number] = release
        return {"hold": number, "documents": hold["documents"]}


def explain(url: str, fetch: bool) -> Mapping[str, Any]:  # noqa: FBT001
    if "://" not in url:
        raise UrlError(f"{url!r} is not a URL")
    return {
        "url": url,
        "known": True,
        "answer": "Not in search: it is gone." if url.endswith("gone") else "In search.",
        "fetch": fetch,
        "title": EVIL,
        "found": {"referrers": ["https://intranet.example/"], "starting_point": "https://intranet.example/"},
        "visits": [{"at": "2026-09-21T14:13:20Z", "outcome": "indexed", "status": 200}],
    }


def status() -> Mapping[str, Any]:
    return {
        "state": "running",
        "documents": 12_345,
        "pool": 10,
        "in_flight": 3,
        "rates": {"pages_s": 12.5},
        "backlog": 0,
        "back_off": [{"host": "slow.example", "until": 1_790_000_000, "why": EVIL}],
        "versions": {"sqlite": "3.54.1"},
        "limits_hit": {},
    }


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def ledger() -> Ledger:
    return Ledger()


@pytest.fixture
def admin_parts(clock: FakeClock, ledger: Ledger) -> AdminParts:
    registry = CollectorRegistry()
    Gauge("ingather_pages", "Pages.", registry=registry).set(7)
    return AdminParts(
        token=Secret(TOKEN),
        clock=clock,
        registry=registry,
        metrics=HttpMetrics(registry),
        health=Health,
        explain=explain,
        status=status,
        operations=ledger,
        hosts=OwnHosts(["search.example"]),
        limits=WebLimits(failures_pause_s=0.01),  # nobody waits for a guesser
        search_url="http://localhost:8080/",
        version="0.1.0",
    )


@pytest.fixture
def admin(admin_parts: AdminParts) -> Iterator[TestClient]:
    with TestClient(admin_app(admin_parts), base_url=ADMIN, follow_redirects=False) as client:
        yield client


@pytest.fixture
def operator(admin: TestClient) -> TestClient:
    """A program with the token."""
    admin.headers["authorization"] = f"Bearer {TOKEN}"
    return admin


@pytest.fixture
def browser(admin: TestClient) -> TestClient:
    """A browser that has logged in."""
    admin.headers.update({"accept": "text/html,*/*;q=0.8", "origin": ADMIN, "sec-fetch-site": "same-origin"})
    answer = admin.post("/login", data={"token": TOKEN, "target": "/"})
    assert answer.status_code == 303
    return admin


DAY_S = 86_400
NOW_S = 1_790_000_000


def document(number: int, url: str, title: str, body: str, **more: Any) -> IndexDocument:
    host, _, path = url.partition("://")[2].partition("/")
    shape: dict[str, Any] = {
        "chain": 1,
        "kind": "html",
        "media_type": "text/html",
        "language": "en",
        "source": "web",
    } | more
    return IndexDocument(number, url, title=title, body=body, site=host, path=f"/{path}", **shape)


CORPUS = [
    document(
        1,
        "https://intranet.example/hr/holiday%20form?y=2026",
        "Holiday form",
        "Ask for a holiday with this form.",
        date_s=NOW_S - DAY_S // 2,
        size=4_000,
    ),
    document(
        2,
        "https://intranet.example/hr/rules.pdf",
        "Holiday rules",
        "Rules about every holiday.",
        kind="pdf",
        media_type="application/pdf",
        date_s=NOW_S - 20 * DAY_S,
        size=2_500_000,
    ),
    document(
        3,
        "https://docs.example/travel",
        "Travel",
        "A holiday is no business travel.",
        date_s=NOW_S - 800 * DAY_S,
    ),
    document(
        4,
        "javascript:alert(1)",
        "<script>alert(1)</script> holiday",
        'A <img src=x onerror="alert(1)"> holiday & more',
    ),
    document(5, "ftp://files.example/a.txt", "", "holiday by file", kind="txt", media_type="text/plain"),
    document(
        6,
        "https://intranet.example/ar",
        "\u0639\u0637\u0644\u0629 holiday",
        "\u0639\u0637\u0644\u0629 holiday",
        language="ar",
    ),
    document(7, "https://secret.example/", "Secret holiday plan", "holiday merger", chain=0),
    document(8, "https://intranet.example/quiet", "Quiet holiday", "holiday nobody may quote", snippet=False),
    *(
        document(100 + n, f"https://many.example/{n}", f"Minute {n}", f"minutes of meeting {n}")
        for n in range(45)
    ),
]


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> SearchService:
    folder = IndexFolder(tmp_path_factory.mktemp("index"))
    writer = folder.writer()
    writer.put(CORPUS)
    writer.commit(1)
    writer.close()
    texts = {d.id: d.body for d in CORPUS}
    return SearchService(folder.reader(), lambda rows: {row: texts[row] for row in rows}, FakeClock())


@pytest.fixture
def search_parts(service: SearchService) -> SearchParts:
    patient = WebLimits(query_s=30)  # a search that a busy machine keeps waiting is not what is tested
    return SearchParts(
        search=service.search, health=Health, metrics=HttpMetrics(CollectorRegistry()), limits=patient
    )


@pytest.fixture
def search(search_parts: SearchParts) -> Iterator[TestClient]:
    with TestClient(search_app(search_parts), base_url=SEARCH, follow_redirects=False) as client:
        yield client
