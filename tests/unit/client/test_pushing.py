"""Pushing to the real gate, and to servers that break off, are busy or say something else."""

import io
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ingather.client import FeedClient, FeedWriteError, FeedWriter, PushError, Target
from ingather.errors import UsageError
from ingather.feeds.desk import FeedFormat, FeedKind
from ingather.model.acl import Principal, PrincipalScope
from ingather.testing.feedgate import RunningGate, open_gate

URL = "http://hr.example/a"
EMPTY = b""


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[RunningGate]:
    """A gate on loopback with the limits as shipped."""
    with open_gate(tmp_path / "gate") as gate:
        yield gate


def to(gate: RunningGate) -> Target:
    return Target("127.0.0.1", gate.address[1])


def feed_bytes(*urls: str, kind: str = "incremental") -> bytes:
    out = io.BytesIO()
    with FeedWriter(out, "hr", kind) as writer:
        for url in urls:
            writer.add(url, content="x" * 1000)
    return out.getvalue()


@pytest.mark.parametrize("compress", [False, True])
def test_a_file_arrives_byte_by_byte(gate: RunningGate, tmp_path: Path, *, compress: bool) -> None:
    file = tmp_path / "feed.xml"
    file.write_bytes(feed_bytes(*(f"{URL}{n}" for n in range(200))))
    pushed = FeedClient(to(gate), compress=compress).push(file, "hr", "full")
    assert gate.desk.last.body == file.read_bytes()
    fields = gate.desk.last.fields
    assert (fields.datasource, fields.feedtype, fields.kind) == ("hr", "full", FeedKind.DOCUMENTS)
    assert pushed.feed.startswith("hr_")
    assert pushed.status_url.endswith(pushed.feed)
    assert pushed.tries == 1


@pytest.mark.parametrize("compress", [False, True])
def test_a_feed_is_made_and_pushed(gate: RunningGate, *, compress: bool) -> None:
    client = FeedClient(to(gate), compress=compress)
    expected = feed_bytes(*(f"{URL}{n}" for n in range(300)))
    for way in (client.feed, client.stream):
        with way("hr", "incremental") as feed:
            for n in range(300):
                feed.add(f"{URL}{n}", content="x" * 1000)
        assert gate.desk.last.body == expected
    assert len(gate.desk.accepted) == 2


def test_after_an_exception_nothing_is_taken(gate: RunningGate) -> None:
    client = FeedClient(to(gate))

    def breaks(way: Callable[..., object]) -> None:
        with way("hr", "full") as feed:  # type: ignore[attr-defined]
            feed.add(URL, content="x" * 200_000)
            raise KeyError

    for way in (client.feed, client.stream):
        with pytest.raises(KeyError):
            breaks(way)
    assert client.backlog() == 0
    assert gate.desk.accepted == []


def test_groups_in_all_modes(gate: RunningGate) -> None:
    client = FeedClient(to(gate))
    group, joe = Principal(PrincipalScope.GROUP, "staff"), Principal(PrincipalScope.USER, "joe")
    with client.groups("ad") as feed:
        feed.add(group, [joe])
    assert gate.desk.last.fields.kind is FeedKind.GROUPS
    assert (gate.desk.last.fields.groupsource, gate.desk.last.fields.feedtype) == ("ad", "incremental")
    body = gate.desk.last.body
    for mode in ("full", "replace"):
        client.push_groups(io.BytesIO(body), "ad", mode)
        assert gate.desk.last.body == body
    assert gate.desk.last.fields.replace
    client.push_groups(None, "ad", "cleanup")
    assert gate.desk.last.fields.cleanup
    for data, mode in ((None, "full"), (io.BytesIO(body), "cleanup"), (io.BytesIO(body), "all")):
        with pytest.raises(FeedWriteError):
            client.push_groups(data, "ad", mode)


def test_json_lines_go_to_ingather(gate: RunningGate) -> None:
    lines = b'{"url": "http://hr.example/a", "content": "x"}\n{"type": "end"}\n'
    FeedClient(to(gate)).push(io.BytesIO(lines), "hr", "full", media="application/x-ndjson")
    assert gate.desk.last.fields.format is FeedFormat.JSON_LINES
    assert gate.desk.last.body == lines


def test_what_the_server_says_is_told(gate: RunningGate) -> None:
    with pytest.raises(PushError, match="400") as found:
        FeedClient(to(gate)).push(io.BytesIO(b"no feed at all"), "web", "full")
    assert (found.value.status, found.value.again) == (400, False)
    for source, kind in (("a b", "full"), ("hr", "everything")):
        with pytest.raises(FeedWriteError):
            FeedClient(to(gate)).push(io.BytesIO(EMPTY), source, kind)
    assert gate.desk.accepted == []


def test_a_sender_who_is_not_trusted_needs_a_token(
    gate: RunningGate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate.trust, "trusts", lambda _address: False)
    with pytest.raises(PushError, match="403: Error - Unauthorized Request") as found:
        FeedClient(to(gate)).push(io.BytesIO(feed_bytes(URL)), "hr", "full")
    assert found.value.hint is not None
    token = gate.tokens.make("hr")
    FeedClient(to(gate), token=token).push(io.BytesIO(feed_bytes(URL)), "hr", "full")
    assert gate.desk.last.fields.datasource == "hr"


def test_it_waits_while_the_backlog_is_high(gate: RunningGate) -> None:
    gate.desk.records = 4001
    said: list[str] = []

    def sleep(seconds: float) -> None:
        assert seconds == 30.0
        gate.desk.records -= 1001

    FeedClient(to(gate), sleep=sleep, notice=said.append).push(io.BytesIO(feed_bytes(URL)), "hr", "full")
    assert [line.split(":")[2].split()[0] for line in said] == ["4001", "3000", "1999"]
    assert len(gate.desk.accepted) == 1


@contextmanager
def scripted(*answers: bytes | None) -> Iterator[tuple[Target, list[bytes]]]:
    """Answer one connection after the other: ``None`` breaks it off once the request's head has come."""
    seen: list[bytes] = []

    def serve(server: socket.socket) -> None:
        for answer in answers:
            with server.accept()[0] as sock:
                with sock.makefile("rb") as request:
                    line, length = request.readline(), 0
                    while (field := request.readline()).strip():
                        name, _, value = field.partition(b":")
                        length = int(value) if name.lower() == b"content-length" else length
                    seen.append(
                        line.split()[1] + (b"" if answer is None else b" " + request.read(length)[-3:])
                    )
                if answer is not None:
                    sock.sendall(answer)

    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(20)
        thread = threading.Thread(target=serve, args=(server,), daemon=True)
        thread.start()
        try:
            yield Target("127.0.0.1", server.getsockname()[1]), seen
        finally:
            thread.join(60)
        assert not thread.is_alive()


def said(text: bytes, status: bytes = b"200 OK") -> bytes:
    return b"HTTP/1.1 %b\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%b" % (status, len(text), text)


def test_a_broken_connection_is_tried_again() -> None:
    waited: list[float] = []
    with scripted(None, said(b"7"), None, said(b"Internal Error", b"500 No"), said(b"Success")) as (
        place,
        seen,
    ):
        client = FeedClient(place, sleep=waited.append)
        pushed = client.push(io.BytesIO(feed_bytes(URL)), "hr", "full")
    assert [path.split()[0] for path in seen] == [b"/getbacklogcount"] * 2 + [b"/xmlfeed"] * 3
    assert waited == [5.0, 5.0, 10.0]
    assert pushed.tries == 3


def test_it_gives_up_in_the_end() -> None:
    with scripted(said(b"0"), None, None) as (place, _):
        client = FeedClient(place, tries=2, sleep=lambda _s: None)
        with pytest.raises(PushError, match="the connection to") as found:
            client.push(io.BytesIO(feed_bytes(URL)), "hr", "full")
    assert found.value.again
    assert found.value.status == 0


DISK = b"Feed not accepted due to insufficient disk space. Contact Google for Work Support."


@pytest.mark.parametrize("text", [b"Success", b"success", b"Success\n"])
def test_what_counts_as_success(text: bytes) -> None:
    with scripted(said(b"404", b"404 Not Found"), said(DISK), said(text)) as (place, _):
        client = FeedClient(place, sleep=lambda _s: None)
        assert client.push(io.BytesIO(feed_bytes(URL)), "hr", "full").feed == ""


@pytest.mark.parametrize("text", [b"", b"<html>Success</html>", b"error: group db at capacity."])
def test_status_200_alone_is_no_success(text: bytes) -> None:
    with scripted(said(b"0"), said(text)) as (place, _), pytest.raises(PushError, match="200"):
        FeedClient(place).push(io.BytesIO(feed_bytes(URL)), "hr", "full")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("gsa", ("gsa", 19900, False)),
        ("gsa:80", ("gsa", 80, False)),
        ("https://gsa/xmlfeed", ("gsa", 19902, True)),
        ("[::1]:1", ("::1", 1, False)),
    ],
)
def test_places(text: str, expected: tuple[str, int, bool]) -> None:
    place = Target.read(text)
    assert (place.host, place.port, place.tls) == expected


@pytest.mark.parametrize("text", ["", ":80", "gsa:port", "gsa:99999", "ftp://gsa", "a b", "joe@gsa", "[::1"])
def test_no_places(text: str) -> None:
    with pytest.raises(UsageError):
        Target.read(text)
