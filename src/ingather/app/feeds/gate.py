"""The feed gate of a home: its sockets, its certificate, its spool, and who may push."""

import contextlib
import resource
import socket
import ssl
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from ingather.app.certificates import CertificateError, ensure_certificate
from ingather.app.disk import Room, headroom
from ingather.app.feeds.checking import check_feed
from ingather.app.feeds.local import spool_of
from ingather.app.feeds.senders import feed_tokens, networks_of, refused_senders, trust_list
from ingather.app.home import Home
from ingather.app.homeparts import database_of
from ingather.catalog.feeds.sqlite_feed_reader import FeedReceipts
from ingather.conf.settings.values import Settings
from ingather.errors import IngatherError, PortInUseError
from ingather.feeds.desk import FeedDesk, FeedFields, Spooled
from ingather.feeds.senders import RefusedSenders
from ingather.feeds.spool import Spool
from ingather.feeds.trust import TrustList
from ingather.log import get
from ingather.ports.clock import Clock
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
    Ratio,
)

__all__ = ["FeedListeners", "GateParts", "tls_context"]

_log = get("feeds")
_THREADS: Final = 24
_EVERY: Final = "*"
_DESCRIPTORS: Final = 4096


class FeedListeners:
    """The sockets for feeds, bound before anything starts.

    A well-known port that nobody asked for by name and that is taken costs its listener, said in ``notes``; one that
    a setting names is an error, as with the other listeners.

    Raises:
        PortInUseError: a port that a setting names is taken.
        ConfigurationError: a certificate that a setting names cannot be used.
    """

    def __init__(self, home: Home, settings: Settings) -> None:
        self.notes: list[str] = []
        _more_descriptors()
        self.plain: socket.socket | None = None
        self.secure: socket.socket | None = None
        self._context: ssl.SSLContext | None = None
        host = settings.text("feeds.listen").strip()
        if not host:
            return
        self.plain = self._bound(settings, host, "feeds.port")
        if not settings.flag("feeds.tls"):
            return
        try:
            self._context = tls_context(home, settings)
        except CertificateError as error:
            if settings.text("feeds.certificate"):
                self.close()
                raise
            self.notes.append(f"feeds over https are off: {error}")
            return
        try:
            self.secure = self._bound(settings, host, "feeds.tls-port")
        except PortInUseError:
            self.close()
            raise

    def _bound(self, settings: Settings, host: str, name: str) -> socket.socket | None:
        try:
            return _bind(host, settings.count(name))
        except OSError as error:
            text = f"feeds cannot be taken on {host}:{settings.count(name)}: {error.strerror}"
            hint = f"stop who has it, or set {name} in ingather.toml"
            if settings.origin(name) != "default" or settings.origin("feeds.listen") != "default":
                raise PortInUseError(text, hint=hint) from error
            self.notes.append(f"{text}; {hint}")
            return None

    @property
    def listening(self) -> list[Listening]:
        """What the gate listens on."""
        found = [] if self.plain is None else [Listening(self.plain)]
        return found if self.secure is None else [*found, Listening(self.secure, self._context)]

    @property
    def own_ports(self) -> tuple[tuple[str, int], ...]:
        """(address, port) of the sockets; never fetched from."""
        return tuple(
            (str(listening.sock.getsockname()[0]), int(listening.sock.getsockname()[1]))
            for listening in self.listening
        )

    @property
    def urls(self) -> list[str]:
        """Where feeds can be pushed to, as this machine names it."""
        made = []
        for listening in self.listening:
            host, port = listening.sock.getsockname()[:2]
            shown = "127.0.0.1" if host in {"::", "0.0.0.0"} else f"[{host}]" if ":" in host else host  # noqa: S104
            made.append(f"{'http' if listening.tls is None else 'https'}://{shown}:{port}/xmlfeed")
        return made

    def close(self) -> None:
        """Give the ports back."""
        for sock in (self.plain, self.secure):
            if sock is not None:
                sock.close()


def _more_descriptors() -> None:
    """Let this process hold all connections that the settings allow, beside its files."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    want = _DESCRIPTORS if hard == resource.RLIM_INFINITY else min(_DESCRIPTORS, hard)
    if soft != resource.RLIM_INFINITY and soft < want:
        resource.setrlimit(resource.RLIMIT_NOFILE, (want, hard))


def _bind(host: str, port: int) -> socket.socket:
    """Return a listening socket; ``*`` is both families where the machine has both.

    Raises:
        OSError: it cannot be had.
    """
    if host == _EVERY:
        if socket.has_dualstack_ipv6():
            with contextlib.suppress(_NoFamilyError):
                return _listening(socket.AF_INET6, "::", port, dual=True)
        return _listening(socket.AF_INET, "0.0.0.0", port)  # noqa: S104 - the setting says so
    host = host.strip("[]")
    return _listening(socket.AF_INET6 if ":" in host else socket.AF_INET, host, port)


class _NoFamilyError(OSError):
    """The machine has no IPv6."""


def _listening(family: socket.AddressFamily, host: str, port: int, *, dual: bool = False) -> socket.socket:
    try:
        sock = socket.socket(family, socket.SOCK_STREAM)
    except OSError as error:
        raise _NoFamilyError(*error.args) from error
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0 if dual else 1)
        sock.bind((host, port))
        sock.listen(512)
    except OSError as error:
        sock.close()
        if dual and error.errno in _NO_ADDRESS:
            raise _NoFamilyError(*error.args) from error
        raise
    return sock


_NO_ADDRESS: Final = frozenset({97, 99})
"""EAFNOSUPPORT, EADDRNOTAVAIL: IPv6 is compiled in and switched off."""


def tls_context(home: Home, settings: Settings) -> ssl.SSLContext:
    """Return what listeners for https show: the certificate of the settings, else one that signs itself.

    Raises:
        CertificateError: there is none that can be used.
    """
    certificate, key = settings.text("feeds.certificate"), settings.text("feeds.certificate-key")
    if certificate:
        paths = home.path / certificate, home.path / (key or certificate)
    else:
        paths = ensure_certificate(home.feeds)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(*paths, password=lambda: b"")
    except (OSError, ssl.SSLError) as error:
        what = getattr(error, "strerror", None) or getattr(error, "reason", None) or error
        raise CertificateError(
            f"{paths[0]} and {paths[1]} are no certificate with its key: {what}",
            hint="set feeds.certificate and feeds.certificate-key to PEM files without a password",
        ) from error
    return context


@dataclass(frozen=True, slots=True)
class GateParts:
    """A gate ready to start, and the intake that the admin listener shares with it."""

    gate: FeedGate
    intake: Intake
    trust: TrustList
    pool: ThreadPoolExecutor

    @classmethod
    def of(  # noqa: PLR0913 - what it is made of
        cls,
        home: Home,
        settings: Settings,
        listening: Sequence[Listening],
        *,
        desk: FeedDesk,
        clock: Clock,
        status_url: str,
        feeder: Callable[[str], bool] = lambda _token: False,
        own: OwnHosts | None = None,
    ) -> "GateParts":
        """Make the parts; clears away what a process that died had not finished.

        Raises:
            IngatherError: the spool cannot be used.
        """
        spool = _spool(home)
        pool = ThreadPoolExecutor(_THREADS, thread_name_prefix="feed-disk")
        intake = Intake(_doors(settings, spool, desk, pool, status_url, clock))
        trust = trust_list(home.feeds, settings)
        admission = Admission(
            trust,
            feed_tokens(home),
            RefusedSenders(refused_senders(home)),
            clock.wall,
            feeder,
            Proxies(networks_of(settings, "feeds.proxies")),
        )
        gate = FeedGate(
            listening,
            intake,
            admission,
            _limits(settings),
            own=own,
            always_200=settings.flag("feeds.always-200"),
        )
        return cls(gate, intake, trust, pool)

    def stop(self) -> None:
        """Stop the gate; feeds that are being stored get their answer."""
        self.gate.stop()
        self.pool.shutdown()


def _spool(home: Home) -> Spool:
    folder = spool_of(home)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        spool = Spool(folder)
        receipts = FeedReceipts(database_of(home))
        try:
            left = spool.recover(receipts.files())
        finally:
            receipts.close()
    except OSError as error:
        raise IngatherError(f"{folder} cannot be used: {error.strerror}") from error
    if left:
        _log.info("uploads that had not been acknowledged were removed", files=left)
    return spool


def _doors(  # noqa: PLR0913, PLR0917 - the parts that a gate leads to
    settings: Settings, spool: Spool, desk: FeedDesk, pool: ThreadPoolExecutor, status_url: str, clock: Clock
) -> Doors:
    reserve, share = settings.size("disk.reserve"), settings.share("disk.reserve-share")

    look = partial(headroom, spool.folder, reserve_bytes=reserve, reserve_share=share)

    def examine(spooled: Spooled, fields: FeedFields) -> dict[str, Any]:
        return check_feed(spooled.path, fields, timeout_s=settings.seconds("feeds.wait-max"))

    return Doors(
        desk,
        spool,
        Room(look, clock.monotonic),
        Room(lambda: look().last, clock.monotonic),
        pool,
        examine=examine,
        status_url=status_url,
        limits=BodyLimits(
            settings.size("limits.feed-size"),
            Ratio(settings.number("limits.ratio"), settings.size("limits.ratio-after")),
        ),
        wait_s=settings.seconds("feeds.wait-max"),
    )


def _limits(settings: Settings) -> GateLimits:
    return GateLimits(
        total=settings.count("limits.connections"),
        per_address=settings.count("limits.address-clients"),
        trusted=settings.count("feeds.trusted-connections"),
        head_s=settings.seconds("limits.request-head-timeout"),
        rate=settings.size("limits.request-rate"),
        rate_window_s=settings.seconds("limits.request-rate-window"),
        drain_bytes=settings.size("feeds.drain-size"),
        drain_s=settings.seconds("feeds.drain-time"),
    )
