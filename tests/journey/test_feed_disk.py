"""A disk that is full while feeds are pushed: an honest answer, nothing acknowledged is lost, and it goes on by itself."""

from http.client import HTTPException
from pathlib import Path

import pytest

from ingather.testing.feedcrash import feed_port, push_feed
from ingather.testing.feeds import content, feed_xml, record
from ingather.testing.rig import Rig
from ingather.testing.running import Served, wait_until
from ingather.testing.storage import fill
from ingather.web.feedgate.refusal import DISK_TEXT, INTERNAL_TEXT

_FULL = (507, DISK_TEXT.encode())
_FAULT = (500, INTERNAL_TEXT.encode())
_BODY = "<p>" + "many words of a large feed " * 20_000 + "</p>"

pytestmark = pytest.mark.timeout(400)


def _push(served: Served, number: int, body: str) -> tuple[int, bytes, str]:
    url = f"http://full.test/{number}"
    return push_feed(feed_port(served), feed_xml(record(url, content(body)), datasource="full"), "full")


def test_a_full_disk_is_said_and_costs_no_acknowledged_feed(small_disk: Path) -> None:
    rig = Rig(small_disk / "home", **{"disk.reserve": "1KiB", "disk.reserve-share": "0%"}).init()
    ballast = small_disk / "ballast"
    acknowledged: dict[str, int] = {}
    with rig.serving() as served:
        status, text, name = _push(served, 0, "before")
        assert (status, text) == (200, b"Success")
        acknowledged[name] = 0
        fill(ballast, leave=300 << 10)
        answers = []
        for number in range(1, 6):  # half a megabyte each: none of them fits
            try:
                status, text, name = _push(served, number, _BODY)
            except (OSError, HTTPException):  # no answer is no acknowledgement
                continue
            answers.append((status, text))
            if text == b"Success":
                acknowledged[name] = number
        assert answers
        assert {answer for answer in answers if answer[1] != b"Success"} <= {_FULL, _FAULT}
        assert _FULL in answers
        assert served.get("/health")[0] == 200
        ballast.unlink()
        status, text, name = _push(served, 9, "afterwards")
        assert (status, text) == (200, b"Success")
        acknowledged[name] = 9

        def applied() -> bool:
            found = {feed["name"]: feed for feed in served.admin("/api/v1/feeds?limit=1000")[1]["feeds"]}
            assert acknowledged.keys() <= found.keys()
            return all(found[name]["state"] == "completed" for name in acknowledged)

        wait_until(applied, pause_s=0.2)
    urls = {url for url, page in rig.known().items() if page.described}
    assert {f"http://full.test/{number}" for number in acknowledged.values()} <= urls
    assert rig.complaints() == []


def test_a_home_on_a_full_disk_serves_and_takes_revocations(small_disk: Path) -> None:
    rig = Rig(small_disk / "home", **{"disk.reserve": "16MiB", "disk.reserve-share": "0%"}).init()
    ballast, url = small_disk / "ballast", "http://full.test/secret"
    gone = feed_xml(record(url, action="delete"), datasource="full")

    def push(body: bytes) -> tuple[int, bytes]:
        return push_feed(feed_port(served), body, "full")[:2]

    with rig.serving() as served:
        assert push(feed_xml(record(url, content("saltire")), datasource="full")) == (200, b"Success")
        wait_until(lambda: served.found("saltire") == [url], pause_s=0.1)
    fill(ballast, leave=12 << 20)
    with rig.serving() as served:  # it begins, and searches
        assert served.found("saltire") == [url]
        assert served.get("/health")[0] == 200
        status = served.status
        assert (status["state"], status["disk_full"]) == ("disk full", True)
        assert "full up to the reserve" in status["warnings"][0]
        assert push(feed_xml(record(f"{url}/2", content("x")), datasource="full")) == _FULL
        assert push(gone) == (200, b"Success")
        wait_until(lambda: served.found("saltire") == [], pause_s=0.1)
        ballast.unlink()
        wait_until(
            lambda: push(feed_xml(record(url, content("saltire")), datasource="full"))[0] == 200, pause_s=0.2
        )
        wait_until(lambda: served.found("saltire") == [url], pause_s=0.1)
        wait_until(lambda: not served.status["disk_full"], pause_s=0.1)
    assert rig.complaints() == []
