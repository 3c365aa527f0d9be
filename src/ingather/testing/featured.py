"""Hosts of the kit that want something of their visitor: a password, a session, cookies, a proxy; or that set a trap.

Plain sockets of loopback, an address for each host; everything that is asked is remembered in the form in which
:func:`ingather.testing.server.judge_requests` judges it, and so is whatever nobody should have sent.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import md5
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from time import monotonic, sleep
from types import TracebackType
from typing import ClassVar, Self
from urllib.parse import parse_qs

from ingather.testing.connection import Seen
from ingather.testing.web import Answer

__all__ = ["Asked", "FeaturedHost", "FeaturedHosts"]

_OK = 200


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as its host sees it: *form* has the fields of a POST."""

    method: str
    path: str
    headers: Mapping[str, str]
    form: Mapping[str, str]


@dataclass
class FeaturedHost:
    """A host: *answers* says what it answers, *wrong* collects what nobody should have sent.

    Attributes:
        name: host and port, as the header Host has them.
        answers: request to answer.
    """

    name: str
    answers: Callable[[Asked], Answer]
    wrong: list[str] = field(default_factory=list)

    @property
    def origin(self) -> str:
        """``http://HOST:PORT``."""
        return f"http://{self.name}"


class FeaturedHosts:
    """Listens at 127.0.1.1 and the following addresses, and at 127.0.0.1 for *behind*; a context manager.

    Args:
        names: of the hosts; each gets an address.
        behind: name that no resolver knows, whose requests come through a proxy on this machine.
        latency_s: each answer comes this much later.

    Attributes:
        hosts: by name; give them their ``answers`` before anything is asked.
        requests: everything that was asked.
    """

    def __init__(self, *names: str, behind: str, latency_s: float = 0.0) -> None:
        self.latency_s = latency_s
        self.requests: list[Seen] = []
        self._numbers = count(1)
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._servers: list[_Server] = []
        self._by_header: dict[str, FeaturedHost] = {}
        self.hosts: dict[str, FeaturedHost] = {}
        for place, name in enumerate((behind, *names)):
            address = f"127.0.1.{place}" if place else "127.0.0.1"
            server = _Server((address, 0), _Handler)
            server.owner = self
            self._servers.append(server)
            host = FeaturedHost(f"{address if place else name}:{server.server_address[1]}", _nothing)
            self.hosts[name] = self._by_header[host.name] = host

    def __enter__(self) -> Self:
        for server in self._servers:
            thread = threading.Thread(
                target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
            )
            thread.start()
            self._threads.append(thread)
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        for server in self._servers:
            server.shutdown()
            server.server_close()
        for thread in self._threads:
            thread.join(10)

    def number(self) -> int:
        """Return the number of one more connection."""
        return next(self._numbers)

    def answer(self, host: str, asked: Asked) -> Answer:
        """Return what *host* answers; 421 for one that is not here."""
        found = self._by_header.get(host)
        if found is None:
            return Answer(421)
        with self._lock:
            return found.answers(asked)

    def remember(self, seen: Seen) -> None:
        """Keep a request."""
        with self._lock:
            self.requests.append(seen)


def _nothing(_asked: Asked) -> Answer:
    return Answer(404)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True
    owner: FeaturedHosts

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: whoever asks is killed now and then."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout: ClassVar[float | None] = 60.0

    def setup(self) -> None:
        super().setup()
        assert isinstance(self.server, _Server)
        self._owner = self.server.owner
        self._number = self._owner.number()

    def do_GET(self) -> None:
        at_s = monotonic()
        size = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(size).decode()
        form = {name: values[0] for name, values in parse_qs(body).items()}
        headers = {name.lower(): value for name, value in self.headers.items()}
        host = headers.get("host", "").lower()
        answer = self._owner.answer(host, Asked(self.command, self.path, headers, form))
        fields = dict(answer.headers)
        if answer.status == _OK:
            fields["ETag"] = f'"{md5(answer.body, usedforsecurity=False).hexdigest()}"'
            if headers.get("if-none-match") == fields["ETag"]:
                answer = Answer(304, answer.headers)
        if self._owner.latency_s:
            sleep(self._owner.latency_s)
        self._owner.remember(
            Seen(at_s, monotonic(), host, self.path, answer.status, self._number, self.command)
        )
        self.send_response(answer.status)
        for name, value in fields.items():
            self.send_header(name, value)
        if answer.status != 304:  # noqa: PLR2004 - RFC 9110 section 15.4.5
            self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        self.wfile.write(answer.body)

    do_POST = do_GET  # noqa: N815 - the base class's name

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Say nothing."""
