"""The API below /api/v1/rss: what the commands say, by a program with the token, and by nobody else."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from prometheus_client import CollectorRegistry
from starlette.testclient import TestClient

from ingather.app.home import Home
from ingather.app.homeparts import database_of
from ingather.app.syndication.metering import WebFeedMetrics, status_of
from ingather.app.syndication.office import HomeSyndication
from ingather.testing.clock import FakeClock
from ingather.testing.rig import Rig
from ingather.web import AdminParts, Health, Secret, admin_app

GOOD = "http://n.test/feed?a=1,2"
TOKEN = "a-token-that-is-long-enough-for-a-test-0"  # noqa: S105 - of this test alone


def _never(*_: Any) -> Any:
    raise AssertionError


@pytest.fixture
def client(rig: Rig) -> Iterator[TestClient]:
    home = Home.open(rig.path)
    read = home.settings()
    operations = HomeSyndication(home, read.settings, read.sources)
    parts = AdminParts(
        token=Secret(TOKEN), clock=FakeClock(), registry=CollectorRegistry(), health=Health, explain=_never, status=_never,
        operations=operations, rss=operations.office,
    )  # fmt: skip
    with TestClient(admin_app(parts), base_url="http://127.0.0.1", follow_redirects=False) as client:
        client.headers["authorization"] = f"Bearer {TOKEN}"
        yield client


@pytest.mark.parametrize(
    ("path", "look"),
    [
        ("status", lambda tree: tree["sources"][0]["name"] == "news"),
        ("feeds?source=news", lambda tree: len(tree["feeds"]) == 3),
        ("feed?feed=1", lambda tree: tree["url"] == GOOD),
        (f"feed?feed={GOOD}", lambda tree: tree["id"] == 1),
        ("documents?state=live,retry", lambda tree: [one["state"] for one in tree["documents"]] == ["live", "retry"]),
        ("documents?feed=1&limit=2", lambda tree: len(tree["documents"]) == 2 and tree["after"] is not None),
        ("explain?url=http://n.test/a", lambda tree: tree["state"] == "live"),
        ("conflicts", lambda tree: tree == {"documents": []}),
    ],
)  # fmt: skip
def test_what_can_be_asked(client: TestClient, path: str, look: Callable[[Any], bool]) -> None:
    answer = client.get(f"/api/v1/rss/{path}")
    assert answer.status_code == 200, answer.text
    assert look(answer.json()), answer.json()
    assert client.get(f"/api/v1/rss/{path}", headers={"authorization": ""}).status_code == 401


@pytest.mark.parametrize(
    "path",
    [
        "feeds?source=none",
        "feed",
        "feed?feed=99",
        "documents?state=odd",
        "documents?after=x",
        "explain",
        "explain?url=no url",
    ],
)
def test_what_is_wrong_is_named(client: TestClient, path: str) -> None:
    answer = client.get(f"/api/v1/rss/{path}")
    assert answer.status_code in {400, 404}
    assert answer.json()["error"]["message"]


def test_feeds_are_paused_and_go_on(client: TestClient) -> None:
    assert client.post("/api/v1/rss/pause", json={"feed": "1"}).json()["feeds"][0]["done"]
    assert client.get("/api/v1/rss/feed?feed=1").json()["paused"]
    assert client.post("/api/v1/rss/resume", json={"feed": 1}).json()["feeds"][0]["done"]
    assert client.post("/api/v1/rss/poll", json={"feed": "all"}).json()["verb"] == "poll"
    assert client.post("/api/v1/rss/poll", json={}).status_code == 400
    assert (
        client.post("/api/v1/rss/poll", json={"feed": "1"}, headers={"authorization": ""}).status_code == 401
    )


def test_opml_goes_out_and_comes_in(client: TestClient, rig: Rig) -> None:
    out = client.get("/api/v1/rss/opml")
    assert GOOD.replace("&", "&amp;") in out.text
    body = b'<opml><body><outline text="A" xmlUrl="http://o.test/1"/></body></opml>'
    plan = client.post("/api/v1/rss/opml", content=body).json()
    assert (plan["sources"][0]["name"], plan["written"]) == ("feeds", "")
    assert client.post("/api/v1/rss/opml?write=1&source=more", content=body).json()["written"]
    assert "[source.more]" in (rig.path / "ingather.toml").read_text()
    assert client.post("/api/v1/rss/opml", content=b"<rss/>").status_code == 422


def test_what_is_no_feed_is_not_added(client: TestClient) -> None:
    assert client.post("/api/v1/rss/add", json={"url": "ftp://n.test/"}).status_code == 400


def test_the_figures_of_the_moment(rig: Rig) -> None:
    database = database_of(Home.open(rig.path))
    registry = CollectorRegistry()
    WebFeedMetrics(registry, database)
    assert registry.get_sample_value("ingather_rss_feeds", {"source": "news", "state": "gone"}) == 1
    assert registry.get_sample_value("ingather_rss_documents", {"source": "news", "state": "retry"}) == 1
    assert registry.get_sample_value("ingather_rss_held", {"source": "news"}) == 0
    assert (
        registry.get_sample_value("ingather_rss_last_good_timestamp_seconds", {"source": "news"})
        == 1_521_534_780
    )
    assert status_of(database)["news"] == {
        "feeds": {"active": 1, "gone": 1}, "documents": {"pending": 1, "live": 1, "retry": 1}, "held": 0,
        "last_good": "2018-03-20T08:33:00Z", "next_poll": "2018-03-20T11:33:00Z",
    }  # fmt: skip
