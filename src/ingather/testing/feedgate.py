"""A feed gate on a port of loopback, and a desk in memory that follows the desk's contract."""

import shutil
import socket
import ssl
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ingather.app.feeds.checking import check_feed
from ingather.errors import CatalogError
from ingather.feeds.authority import Grant, Sender
from ingather.feeds.desk import FeedFields, FeedTicket, Spooled, feed_name
from ingather.feeds.senders import FeedTokens, RefusedSenders
from ingather.feeds.spool import Spool
from ingather.feeds.trust import TrustList
from ingather.testing.feedwire import Reply, exchange
from ingather.web import OwnHosts
from ingather.web.feedgate import (
    Admission,
    BodyLimits,
    Doors,
    FeedGate,
    GateLimits,
    Intake,
    Listening,
    Proxies,
)

_OWN = ("gsa.example", "gsa")
"""How the clients of ``feedwire`` call the gate."""

__all__ = ["AcceptedFeed", "MemoryDesk", "RunningGate", "open_gate"]


class AcceptedFeed(NamedTuple):
    """A feed that the desk took, with its bytes as they lay in the spool."""

    spooled: Spooled
    fields: FeedFields
    sender: str
    body: bytes
    grant: Grant


@dataclass
class MemoryDesk:
    """Takes every feed whose fields can be right."""

    accepted: list[AcceptedFeed] = field(default_factory=list)
    records: int = 0
    fails: bool = False

    async def accept(self, spooled: Spooled, fields: FeedFields, sender: Sender) -> FeedTicket:
        """Remember the feed; see ``FeedDesk``."""
        fields.check()
        if self.fails:
            raise CatalogError("no row")
        number = len(self.accepted) + 1
        self.accepted.append(
            AcceptedFeed(spooled, fields, sender.address, spooled.path.read_bytes(), sender.grant)
        )
        self.records += spooled.records
        return FeedTicket(number, feed_name(fields.datasource, fields.feedtype, 0.0, number))

    def backlog(self) -> int:
        """Return all records that came."""
        return self.records

    async def report(self, name: str, *, wait_s: float = 0.0) -> dict[str, Any]:
        """Say that it is done."""
        return {"name": name, "state": "completed", "waited": wait_s}

    @property
    def last(self) -> AcceptedFeed:
        """The feed taken last."""
        return self.accepted[-1]


@dataclass
class RunningGate:
    """A running gate."""

    address: tuple[str, int]
    folder: Path
    desk: MemoryDesk
    server: FeedGate
    intake: Intake
    trust: TrustList
    tokens: FeedTokens
    refused: RefusedSenders
    room: list[bool]

    def connect(self, source: str = "") -> socket.socket:
        """Return a connection, from the address *source* if that is given."""
        return socket.create_connection(
            self.address, timeout=20, source_address=(source, 0) if source else None
        )

    def talk(self, *pieces: bytes, end: bool = False, source: str = "") -> Reply:
        """Send *pieces* each by itself and return the answer; see :func:`exchange`."""
        with self.connect(source) as sock:
            return exchange(sock, pieces, end=end)

    def left(self) -> list[str]:
        """Files in the spool that no feed owns."""
        owned = {a.spooled.name for a in self.desk.accepted}
        return [path.name for path in (self.folder / "spool").iterdir() if path.name not in owned]


@contextmanager
def open_gate(  # noqa: PLR0913 - each by keyword
    folder: Path,
    *,
    limits: GateLimits | None = None,
    body: BodyLimits | None = None,
    proxies: Proxies | None = None,
    always_200: bool = False,
    host: str = "127.0.0.1",
    tls: ssl.SSLContext | None = None,
    desk: MemoryDesk | None = None,
    own: OwnHosts | None = None,
) -> Iterator[RunningGate]:
    """Run a gate whose files lie in *folder*."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "spool").mkdir(parents=True)
    took, room = desk or MemoryDesk(), [True, True]
    trust, tokens = TrustList(folder / "trusted"), FeedTokens(folder / "tokens")
    refused = RefusedSenders(folder / "refused.json")
    admission = Admission(trust, tokens, refused, lambda: 1000.0, proxies=proxies or Proxies())
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, 0), family=family) as sock, ThreadPoolExecutor(24) as pool:
        doors = Doors(
            took,
            Spool(folder / "spool"),
            lambda _more: room[0],
            lambda _more: room[1],
            pool,
            lambda spooled, fields: check_feed(spooled.path, fields, timeout_s=30.0),
            status_url="http://127.0.0.1:1/api/v1/feeds/",
            limits=body or BodyLimits(),
        )
        intake = Intake(doors)
        gate = FeedGate(
            [Listening(sock, tls)],
            intake,
            admission,
            limits,
            own=own or OwnHosts(_OWN),
            always_200=always_200,
        )
        gate.start()
        try:
            yield RunningGate(
                sock.getsockname()[:2], folder, took, gate, intake, trust, tokens, refused, room
            )
        finally:
            gate.stop()
