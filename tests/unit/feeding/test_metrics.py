"""What graphs show of feeds: taken and refused by the gate, waiting and applied behind it."""

from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from ingather.app.metering import FeedMetrics
from ingather.feeds.desk import FeedKind
from ingather.testing.feedgate import open_gate
from ingather.testing.feeds import FeedRig, content, feed_xml, record
from ingather.testing.feedwire import FEED, multipart, post
from ingather.web.feedgate.counting import GateCounts

_BOUNDARY = b"multipart/form-data; boundary=<<"


def _form(datasource: bytes) -> tuple[bytes, bytes]:
    parts = ((b"datasource", datasource), (b"feedtype", b"incremental"), (b"data", FEED))
    return post(multipart(b"<<", *((name, b"", b"", value) for name, value in parts)), _BOUNDARY)


def test_feeds_are_counted_from_the_gate_to_their_end(rig: FeedRig, tmp_path: Path) -> None:
    registry = CollectorRegistry()
    desk = rig.local.feeding
    source = "metered"

    def figure(name: str, **labels: str) -> float | None:
        return registry.get_sample_value(f"ingather_{name}", labels)

    with open_gate(tmp_path / "gate") as gate:
        FeedMetrics(registry, gate.server, gate.intake, desk)
        assert gate.talk(*_form(b"good")).status == 200
        assert gate.talk(*_form(b"9bad")).status == 400
        gate.room[0] = False
        assert gate.talk(*_form(b"good")).status == 507
        gate.room[0] = True
        assert figure("feeds_accepted_total", kind="documents") == len(gate.desk.accepted)
        assert figure("feeds_refused_total", reason="malformed") == 1
        assert figure("feeds_refused_total", reason="no-room") == 1
        assert figure("feed_bytes_total") == len(FEED) * len(gate.desk.accepted)
    assert (
        figure("feeds_open") == figure("feed_backlog_records") == figure("feed_oldest_waiting_seconds") == 0
    )
    assert figure("feed_last_success_timestamp_seconds", datasource=source) is None
    rig.take(feed_xml(record("http://metered.test/1", content("one")), datasource=source), source)
    rig.clock.advance(90)
    assert figure("feeds_open") == 1
    assert figure("feed_oldest_waiting_seconds") == 90
    rig.local.apply()
    assert figure("feeds_open") == figure("feed_oldest_waiting_seconds") == 0
    done_s = figure("feed_last_success_timestamp_seconds", datasource=source)
    assert done_s == rig.clock.wall()
    rig.clock.advance(60)
    rig.push(record("relative", content("bad")), datasource=source)
    assert figure("feed_last_success_timestamp_seconds", datasource=source) == done_s
    assert figure("feed_thread_failed") == 0


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (200, ""),
        (400, "malformed"),
        (404, "malformed"),
        (403, "not-trusted"),
        (408, "slow"),
        (413, "too-large"),
        (500, "fault"),
        (503, "fault"),
    ],
)
def test_each_refusal_has_a_reason(status: int, reason: str) -> None:
    counts = GateCounts()
    counts.answered(status)
    counts.accept(FeedKind.GROUPS, 7)
    assert counts.read() == ({"groups": 1}, {reason: 1} if reason else {}, 7)
