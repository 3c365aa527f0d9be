"""The canary: crawled, indexed and found again on and on; alarmed when the way is blocked; reached by its source alone."""

import socket
from contextlib import closing

import pytest

from ingather.testing.rig import Rig, wait_until
from ingather.testing.site import Site

pytestmark = pytest.mark.timeout(300)
HOST = "127.84.67.1"


@pytest.fixture
def watched(rig: Rig) -> Rig:
    """A home with a canary that sings every second."""
    with closing(socket.create_server((HOST, 0))) as free:
        port = free.getsockname()[1]
    return (
        rig.tune("canary.listen", f"{HOST}:{port}")
        .tune("canary.every", "1s")
        .tune("index.quiet-interval", "0.05s")
    )


def test_it_is_found_again_and_again_and_no_other_source_reaches_it(watched: Rig, site: Site) -> None:
    page = f"http://{watched.settings['canary.listen']}/canary"
    site.page("/", "Walrus", page, text="walrus")
    site.page("/moved", "x")
    site.status("/moved", 302, ("Location", page))
    watched.site(site.origin)
    with watched.serving() as served:
        wait_until(lambda: served.status["canary"]["rounds"] >= 2)
        status = served.status["canary"]
        assert (status["ok"], status["failures"], status["url"]) == (True, 0, page)
        assert status["lag"] > 0
        assert served.admin("/ready")[0] == 200
        _, text = served.admin("/metrics")
        assert "ingather_canary_ok 1.0" in text
        assert 'ingather_canary_rounds_total{result="failed"} 0.0' in text
        assert "ingather_canary_lag_seconds " in text
        # A site's redirect there is a new request of another source: the gate refuses it.
        assert served.admin("/api/v1/robot/add", {"url": site.url("/moved")})[0] == 200
        wait_until(lambda: site.asked("/moved"))
        # An operator who lets the robot rest gets no alarm.
        assert served.admin("/api/v1/robot/pause", {})[0] == 200
        wait_until(lambda: not served.status["in_flight"] and not served.status["backlog"])
    assert watched.known()[page].described
    sources = dict(watched.rows("select name, documents from source"))
    assert sources["canary"] == 1
    # Taken away its page leaves search, and nothing else does; put back it is found again.
    listen = watched.settings["canary.listen"]
    with watched.tune("canary.listen", "").serving() as served:
        wait_until(lambda: page not in served.found("canary"))
        wait_until(lambda: served.found("walrus") == [site.url("/")])
    assert not watched.known()[page].described
    with watched.tune("canary.listen", listen).serving() as served:
        wait_until(lambda: served.admin("/api/v1/robot/resume", {})[0] == 200)
        wait_until(lambda: served.status["canary"]["rounds"])
        assert served.status["canary"]["failures"] == 0
    assert watched.complaints() == []


def test_what_is_not_found_in_time_is_an_alarm(watched: Rig) -> None:
    watched.tune("canary.patience", "8s")
    with watched.serving() as served:
        wait_until(lambda: served.status["canary"]["rounds"])
        host = watched.settings["canary.listen"]
        assert served.admin("/api/v1/robot/block", {"host": host})[0] == 200
        wait_until(lambda: served.status["canary"]["trouble"])

        def alarmed() -> object:
            status, told = served.admin("/ready")
            return status == 503 and "canary" in [one["reason"] for one in told["reasons"]]

        wait_until(alarmed)
        assert "ingather_canary_ok 0.0" in served.admin("/metrics")[1]
        assert served.admin("/api/v1/robot/unblock", {"host": host})[0] == 200
        wait_until(lambda: served.status["canary"]["ok"])
