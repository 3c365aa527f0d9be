"""Notices: signed, through the egress gate, tried again, bounded, and never lost with the process."""

import hmac
import json
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from ingather.app.home import Home
from ingather.app.notices import (
    Delivery,
    FeedNotices,
    Notice,
    Outbox,
    Webhook,
    WebhookConf,
    signature,
    webhook_of,
)
from ingather.cli.feed_notify import notify
from ingather.conf.settings.file import load_settings
from ingather.errors import CatalogError, UsageError
from ingather.fetch.dns import SystemResolver
from ingather.testing.clock import FakeClock

SECRET = "canary-secret-0123456789"  # noqa: S105 - a canary
NOTICE = Notice("f1-feed.failed", "feed.failed", "2026-01-01T00:00:00Z", {"name": "f1", "detail": "Zeile ü"})


@dataclass
class Receiver:
    """What was posted; *status* is answered."""

    url: str = ""
    status: int = 204
    location: str = ""
    posted: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            made.posted.append((self.path, {k.lower(): v for k, v in self.headers.items()}, body))
            self.send_response(made.status)
            if made.location:
                self.send_header("Location", made.location)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    made.url = f"http://127.0.0.1:{server.server_address[1]}/hook/path-secret"
    yield made
    server.shutdown()
    server.server_close()
    thread.join(10)


def webhook(url: str, *addresses: str, timeout_s: float = 20.0, own_ports: Any = ()) -> Webhook:
    clock = FakeClock()
    conf = WebhookConf(url, SECRET, addresses, timeout_s)
    return Webhook(conf, clock, lambda: SystemResolver(clock, max_threads=1), own_ports=own_ports)


def test_a_notice_is_posted_with_a_signature_that_its_receiver_can_check(receiver: Receiver) -> None:
    assert webhook(receiver.url, "127.0.0.1").send(NOTICE) == Delivery(204)
    [(path, headers, body)] = receiver.posted
    assert path == "/hook/path-secret"
    assert json.loads(body) == {"id": NOTICE.id, "kind": NOTICE.kind, "at": NOTICE.at, "about": NOTICE.about}
    at, mac = (part.partition("=")[2] for part in headers["x-ingather-signature"].split(","))
    assert hmac.new(SECRET.encode(), at.encode() + b"." + body, sha256).hexdigest() == mac
    assert int(at) == FakeClock().wall()
    assert headers["x-ingather-notice"] == NOTICE.id
    assert signature(SECRET, body, int(at)) == headers["x-ingather-signature"]


def test_private_addresses_and_our_own_ports_are_not_reached_without_leave(receiver: Receiver) -> None:
    port = int(receiver.url.split(":")[2].split("/")[0])
    closed = webhook(receiver.url).send(NOTICE)
    own = webhook(receiver.url, "127.0.0.0/8", own_ports=[("127.0.0.1", port)]).send(NOTICE)
    metadata = webhook("http://169.254.169.254/", "0.0.0.0/0").send(NOTICE)
    assert receiver.posted == []
    for said in (closed, own, metadata):
        assert "may not be reached" in said.trouble
        assert SECRET not in said.trouble
        assert "path-secret" not in said.trouble


def test_a_redirect_is_not_followed(receiver: Receiver) -> None:
    receiver.status, receiver.location = 302, receiver.url
    said = webhook(receiver.url, "127.0.0.1").send(NOTICE)
    assert (said.status, said.lasting, len(receiver.posted)) == (302, False, 1)


@pytest.mark.parametrize(
    ("status", "lasting"), [(410, True), (401, True), (429, False), (500, False), (503, False)]
)
def test_what_can_pass_is_told_from_what_lasts(receiver: Receiver, status: int, *, lasting: bool) -> None:
    receiver.status = status
    said = webhook(receiver.url, "127.0.0.1").send(NOTICE)
    assert (said.status, said.lasting, bool(said.trouble)) == (status, lasting, True)


def test_a_receiver_that_is_down_or_silent_is_trouble_that_may_pass() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        assert "could not be told" in webhook(url, "127.0.0.1").send(NOTICE).trouble
        listener.listen()
        assert "could not be told" in webhook(url, "127.0.0.1", timeout_s=0.2).send(NOTICE).trouble


@pytest.mark.parametrize(
    "url", ["ftp://h/", "h.example", "https://u:p@h/", "https://h:99999/", "https://ü.example/"]
)
def test_an_odd_address_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match=r"notices\.url"):
        webhook(url)


# -- the outbox ------------------------------------------------------------------------------------


def test_attempts_grow_apart_and_end() -> None:
    clock, said = FakeClock(), Delivery(503, "no")
    times: list[float] = []
    settled: list[str] = []

    def send(_: Notice) -> Delivery:
        times.append(clock.monotonic())
        return said

    outbox = Outbox(send, clock, attempts=4)
    assert outbox.offer(NOTICE, lambda: settled.append("x"))
    for _ in range(300):
        outbox.turn()
        clock.advance(1)
    assert [b - a for a, b in pairwise(times)] == [5, 15, 45]
    assert (outbox.delivered, outbox.given_up, settled) == (0, 1, ["x"])
    said = Delivery(410, "gone", lasting=True)
    outbox.offer(NOTICE)
    outbox.turn()
    assert (len(times), outbox.given_up) == (5, 2)
    said = Delivery(204)
    outbox.offer(NOTICE)
    outbox.turn()
    assert (outbox.delivered, outbox.turn()) == (1, 0)


def test_there_is_only_so_much_room() -> None:
    outbox = Outbox(lambda _: Delivery(503, "no"), FakeClock(), attempts=9, room=2)
    assert [outbox.offer(NOTICE) for _ in range(3)] == [True, True, False]


def test_the_thread_sends_and_ends() -> None:
    sent = threading.Event()

    def send(_: Notice) -> Delivery:
        sent.set()
        return Delivery(204)

    outbox = Outbox(send, FakeClock(), attempts=1)
    outbox.offer(NOTICE)
    outbox.start()
    assert sent.wait(60)
    outbox.stop()
    assert not outbox._thread.is_alive()


# -- feeds -----------------------------------------------------------------------------------------


class Catalog:
    """Feeds and what is remembered, as a catalog would keep them."""

    def __init__(self) -> None:
        self.feeds: dict[int, dict[str, Any]] = {}
        self.kept: dict[str, bytes] = {}
        self.broken = False

    def feed(self, number: int, state: str, *, ended: bool = True) -> None:
        at = 1_790_000_000.0 if ended else None
        self.feeds[number] = {
            "id": number,
            "name": f"f_{number}",
            "state": state,
            "ended": at,
            "fields": SECRET,
            "rejected": 3,
        }

    def notices(self) -> FeedNotices:
        return FeedNotices(
            self._after, lambda: max(self.feeds, default=0), lambda name: self.kept.get(name, b""), self._keep
        )

    def _after(self, number: int, limit: int) -> list[dict[str, Any]]:
        if self.broken:
            raise CatalogError("not now")
        return [self.feeds[n] for n in sorted(self.feeds) if n > number][:limit]

    def _keep(self, name: str, value: bytes) -> None:
        self.kept[name] = value


def test_each_feed_that_ends_with_errors_is_told_once_in_whatever_order_they_end() -> None:
    catalog, sent = Catalog(), list[Notice]()

    def send(notice: Notice) -> Delivery:
        sent.append(notice)
        return Delivery(204)

    def outbox() -> Outbox:
        return Outbox(send, FakeClock(), attempts=3, fill=catalog.notices())

    catalog.feed(1, "failed in error")
    box = outbox()
    box.turn()
    assert sent == []  # what ended before is no news
    catalog.feed(2, "in progress", ended=False)
    catalog.feed(3, "completed with errors")
    catalog.feed(4, "completed")
    box.turn()
    catalog.broken = True
    box.turn()
    catalog.broken = False
    catalog.feed(2, "failed in error")
    box = outbox()  # a restart
    box.turn()
    box.turn()
    assert [notice.id for notice in sent] == ["f_3-feed.errors", "f_2-feed.failed"]
    assert sent[0].about["rejected"] == 3
    assert sent[0].at == "2026-09-21T14:13:20Z"
    assert SECRET.encode() not in sent[0].body()
    assert json.loads(catalog.kept["feed-notices"]) == [4, []]


def test_what_was_not_delivered_is_told_after_a_restart() -> None:
    catalog, sent = Catalog(), list[str]()
    first = Outbox(lambda _: Delivery(503, "no"), FakeClock(), attempts=3, fill=catalog.notices())
    first.turn()
    catalog.feed(1, "failed in error")
    first.turn()

    def send(notice: Notice) -> Delivery:
        sent.append(notice.id)
        return Delivery(204)

    Outbox(send, FakeClock(), attempts=3, fill=catalog.notices()).turn()
    assert sent == ["f_1-feed.failed"]


# -- settings and the command ----------------------------------------------------------------------


def home(tmp_path: Path, url: str, *, mode: int = 0o600, secret: str = SECRET) -> Home:
    made = Home.create(tmp_path / "home")
    (made.path / "hook").write_text(secret + "\n")
    (made.path / "hook").chmod(mode)
    made.settings_file.write_text(
        f'[notices]\nurl = "{url}"\nsecret-file = "hook"\naddresses = ["127.0.0.1"]\n'
    )
    return made


def run(place: Home) -> tuple[int, str]:
    result = CliRunner().invoke(notify, ["test", "--home", str(place.path)], standalone_mode=False)
    if result.exception is not None:
        raise result.exception
    return int(result.return_value), result.output


def test_the_command_says_what_came_of_it(tmp_path: Path, receiver: Receiver) -> None:
    place = home(tmp_path, receiver.url)
    code, said = run(place)
    assert (code, "took it (204)" in said, "path-secret" in said) == (0, True, False)
    assert "is now ingather notify test" in said
    receiver.status = 500
    code, said = run(place)
    assert (code, "answered 500" in said) == (1, True)
    assert json.loads(receiver.posted[0][2])["kind"] == "test"


@pytest.mark.parametrize(
    ("mode", "secret", "trouble"), [(0o644, SECRET, "others may read"), (0o600, "short", "fewer than 16")]
)
def test_a_secret_that_is_none_is_refused(tmp_path: Path, mode: int, secret: str, trouble: str) -> None:
    place = home(tmp_path, "https://ops.example/", mode=mode, secret=secret)
    with pytest.raises(UsageError, match=trouble) as caught:
        webhook_of(place, load_settings(place.settings_file, environment={}).settings, FakeClock())
    assert "canary" not in str(caught.value)
