"""Every wire shape through a plain socket: whole, byte by byte, and cut at every hundredth of its body."""

import json
import socket

import pytest

from ingather.feeds.desk import FeedFormat
from ingather.testing.feedgate import RunningGate
from ingather.testing.feedwire import FEED, exchange, multipart, post, read_reply, shapes
from ingather.testing.running import wait_until

SHAPES = shapes(FEED)
ALL = pytest.mark.parametrize("shape", SHAPES)


def stored(gate: RunningGate, shape: str) -> None:
    """The feed lies in the spool byte for byte."""
    feed = gate.desk.last
    # Between the last > and the end of a form with bare XML nothing can be told from what follows.
    assert feed.body == (FEED.rstrip() if shape.startswith("h") else FEED)
    assert (feed.fields.datasource, feed.fields.feedtype) == ("sample", "incremental")
    assert feed.spooled.size == len(feed.body)
    assert feed.spooled.records == 2


@ALL
def test_a_shape_is_stored_byte_for_byte(gate: RunningGate, shape: str) -> None:
    reply = gate.talk(*SHAPES[shape])
    assert (reply.status, reply.body) == (200, b"Success")
    stored(gate, shape)


@ALL
def test_a_shape_that_comes_byte_by_byte(gate: RunningGate, shape: str) -> None:
    head, body = SHAPES[shape]
    whole = head + body
    assert gate.talk(*(whole[i : i + 1] for i in range(len(whole)))).body == b"Success"
    stored(gate, shape)


@ALL
def test_a_shape_in_two_packets_cut_anywhere(gate: RunningGate, shape: str) -> None:
    head, body = SHAPES[shape]
    for percent in range(0, 100, 7):
        cut = len(body) * percent // 100
        assert gate.talk(head + body[:cut], body[cut:]).body == b"Success"
        stored(gate, shape)


@ALL
def test_a_body_that_is_cut_off_is_not_acknowledged_and_leaves_nothing(gate: RunningGate, shape: str) -> None:
    head, body = SHAPES[shape]
    for percent in range(100):
        reply = gate.talk(head + body[: len(body) * percent // 100], end=True)
        assert (reply.status, reply.body[:5]) == (400, b"Error")
    assert not gate.desk.accepted
    assert gate.left() == []


def test_gsa_T1_unquoted_strange_boundary(gate: RunningGate) -> None:
    reply = gate.talk(*SHAPES["a"])
    assert reply.body == b"Success"
    assert len(reply.body) == 7
    assert reply.headers["content-length"] == "7"
    assert reply.headers["content-type"] == "text/plain"
    assert reply.headers["server"] == "feedergate_1.0"
    assert reply.headers["connection"].lower() == "close"
    assert reply.headers["x-feed-id"].startswith("sample_")
    assert reply.headers["x-feed-status-url"].endswith(reply.headers["x-feed-id"])
    assert gate.desk.last.body == FEED


def test_gsa_T2_gzip_and_chunked(gate: RunningGate) -> None:
    assert gate.talk(*SHAPES["b"]).body == b"Success"
    assert gate.desk.last.body == FEED


def test_gsa_T3_no_boundary(gate: RunningGate) -> None:
    assert gate.talk(*SHAPES["f"]).body == b"Success"
    assert gate.desk.last.body == FEED


def test_gsa_T4_bare_xml_in_a_form_body(gate: RunningGate) -> None:
    assert gate.talk(*SHAPES["h"]).body == b"Success"
    assert gate.desk.last.body == FEED.rstrip()


def test_gsa_T5_only_data(gate: RunningGate) -> None:
    body = multipart(b"x", (b"data", b"", b"", FEED))
    assert gate.talk(*post(body, b"multipart/form-data; boundary=x")).body == b"Success"
    fields = gate.desk.last.fields
    assert (fields.datasource, fields.feedtype) == ("inside", "incremental")


def test_gsa_T6_the_field_wins_over_the_header(gate: RunningGate) -> None:
    assert gate.talk(*SHAPES["c"]).body == b"Success"
    fields = gate.desk.last.fields
    assert fields.datasource == "sample"
    assert any("inside" in warning for warning in fields.warnings)


@pytest.mark.parametrize(
    ("source", "kind", "word"),
    [
        (b"9bad", b"full", b"datasource"),
        (b"a b", b"full", b"datasource"),
        (b"web", b"full", b"web"),
        (b"ok", b"everything", b"feedtype"),
        (b"x" * 201, b"full", b"datasource"),
    ],
)
def test_gsa_T7_a_bad_name_is_refused_with_its_reason(
    gate: RunningGate, source: bytes, kind: bytes, word: bytes
) -> None:
    for shape in ("a", "e", "g", "h", "raw"):
        head, body = shapes(FEED, source.replace(b" ", b"%20" if shape in {"g", "h", "raw"} else b" "), kind)[
            shape
        ]
        reply = gate.talk(head, body)
        assert reply.status == 400
        assert word in reply.body
    assert not gate.desk.accepted
    assert gate.left() == []


def test_gsa_T8_feed_type_in_capitals(gate: RunningGate) -> None:
    assert gate.talk(*shapes(FEED, kind=b"FULL")["a"]).body == b"Success"
    assert gate.desk.last.fields.feedtype.lower() == "full"


def test_gsa_T30_web_and_full_is_refused(gate: RunningGate) -> None:
    assert gate.talk(*shapes(FEED, b"web", b"full")["d"]).status == 400
    assert gate.talk(*shapes(FEED, b"web", b"incremental")["d"]).body == b"Success"


def test_a_client_that_waits_is_told_to_go_on(gate: RunningGate) -> None:
    head, body = SHAPES["j"]
    with gate.connect() as sock:
        sock.sendall(head)
        assert sock.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        sock.sendall(body)
        assert read_reply(sock).body == b"Success"


def test_a_client_that_waits_and_is_refused_sends_nothing(gate: RunningGate) -> None:
    with gate.connect() as sock:
        head = SHAPES["j"][0].replace(b"/xmlfeed", b"/nothing")
        assert exchange(sock, [head]).status == 404


def test_a_part_without_file_name_may_be_of_any_size(gate: RunningGate) -> None:
    xml = FEED.replace(b"1 &lt; 2", b"\r\n--<\r\n--\r\n\x0b" * 300_000)
    reply = gate.talk(*shapes(xml)["a"])
    assert reply.body == b"Success"
    assert gate.desk.last.body == xml


def test_latin_letters_and_two_byte_texts_are_not_decoded(gate: RunningGate) -> None:
    for xml in (FEED.decode().encode("latin-1"), FEED.decode().encode("utf-16")):
        for shape in ("a", "c", "e", "g", "raw"):
            assert gate.talk(*shapes(xml)[shape]).body == b"Success"
            assert gate.desk.last.body == xml
            assert gate.desk.last.spooled.records == 2


def test_a_feed_of_json_lines(gate: RunningGate) -> None:
    lines = b'{"url": "http://a.example/1"}\n{"url": "http://a.example/2"}\n'
    path = b"/xmlfeed?datasource=s&feedtype=full&session=2026.1&part=2&last=1"
    assert gate.talk(*post(lines, b"application/x-ndjson; charset=utf-8", path=path)).body == b"Success"
    feed = gate.desk.last
    assert feed.body == lines
    assert feed.fields.format is FeedFormat.JSON_LINES
    assert (feed.fields.session, feed.fields.part, feed.fields.last) == ("2026.1", 2, True)
    assert feed.spooled.records == 2


@pytest.mark.parametrize("query", [b"wait=1", b"wait"])
def test_who_waits_gets_a_report(gate: RunningGate, query: bytes) -> None:
    head, body = SHAPES["a"]
    reply = gate.talk(head.replace(b"/xmlfeed", b"/xmlfeed?" + query), body)
    assert reply.headers["content-type"] == "application/json"
    assert json.loads(reply.body)["state"] == "completed"


def test_a_dry_run_checks_and_keeps_nothing(gate: RunningGate) -> None:
    head, body = SHAPES["a"]
    head = head.replace(b"/xmlfeed", b"/xmlfeed?dryrun=1")
    report = json.loads(gate.talk(head, body).body)
    assert report["records"] == 2
    assert report["valid"] is False  # the delete lacks its mimetype
    assert any("mimetype" in finding["text"] for finding in report["findings"])
    assert not gate.desk.accepted
    assert gate.left() == []


def test_a_client_that_waits_in_coveo_s_way_gets_the_word_it_knows(gate: RunningGate) -> None:
    head, body = SHAPES["a"]
    reply = gate.talk(head.replace(b"/xmlfeed", b"/xmlfeed?sourceid=x&waittocomplete=yes"), body)
    assert reply.body == b"Success"


def groups(*fields: tuple[bytes, bytes]) -> tuple[bytes, bytes]:
    body = multipart(b"<<", *((name, b"", b"text/plain", value) for name, value in fields))
    return post(body, b"multipart/form-data; boundary=<<", path=b"/xmlgroups")


XML = b"<xmlgroups><membership><principal scope='GROUP'>g</principal></membership></xmlgroups>"


def test_group_feeds_are_stored_the_same_way(gate: RunningGate) -> None:
    for name in (b"data", b"groupsfilename"):
        assert (
            gate.talk(*groups((b"groupsource", b"ad"), (b"feedtype", b"incremental"), (name, XML))).body
            == b"Success"
        )
        feed = gate.desk.last
        assert (feed.body, feed.fields.kind, feed.fields.groupsource) == (XML, "groups", "ad")
        assert feed.spooled.records == 1
    assert gate.talk(*groups((b"data", XML), (b"replace", b"ad"))).body == b"Success"
    assert gate.desk.last.fields.replace
    assert gate.talk(*groups((b"cleanup", b"ad-REPL1"))).body == b"Success"
    assert (gate.desk.last.fields.cleanup, gate.desk.last.fields.datasource) == (True, "ad-REPL1")
    assert gate.desk.last.body == b""


@pytest.mark.parametrize(
    "fields",
    [
        [(b"data", XML)],
        [(b"groupsource", b"9"), (b"data", XML)],
        [(b"groupsource", b"ad"), (b"feedtype", b"full")],
        [(b"groupsource", b"ad"), (b"feedtype", b"metadata-and-url"), (b"data", XML)],
        [(b"replace", b"a"), (b"cleanup", b"b"), (b"data", XML)],
    ],
)
def test_group_feeds_that_cannot_be_right(gate: RunningGate, fields: list[tuple[bytes, bytes]]) -> None:
    assert gate.talk(*groups(*fields)).status == 400
    assert not gate.desk.accepted
    assert gate.left() == []


def test_a_connection_that_breaks_leaves_nothing(gate: RunningGate) -> None:
    head, body = shapes(FEED * 2000)["a"]
    with gate.connect() as sock:
        sock.sendall(head + body[:200_000])
        wait_until(lambda: gate.server.connections)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
    wait_until(lambda: not gate.server.connections)
    assert gate.left() == []
    assert not gate.desk.accepted
