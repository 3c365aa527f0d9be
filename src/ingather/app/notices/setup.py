"""From the settings to the channels by which notices go, and to the threads that use them."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from ingather.app.feeds.office import FeedOffice
from ingather.app.home import Home
from ingather.app.jobs import Job
from ingather.app.notices.alarms import Alarm, Alarms
from ingather.app.notices.fanout import Fanout
from ingather.app.notices.feeds import FeedNotices
from ingather.app.notices.mail import Mail, MailConf
from ingather.app.notices.outbox import BatchOutbox, Outbox
from ingather.app.notices.runs import RunNotices
from ingather.app.notices.webhook import Webhook, WebhookConf
from ingather.app.secrets import secret_of
from ingather.conf.settings.kinds import split_address
from ingather.conf.settings.values import Settings
from ingather.errors import UsageError
from ingather.fetch.addresses import parse_address
from ingather.fetch.dns import SystemResolver
from ingather.ports.clock import Clock

__all__ = ["Notifier", "mail_of", "notifying", "webhook_of"]

_LEAST_SECRET = 16


def webhook_of(
    home: Home, settings: Settings, clock: Clock, *, own_ports: Collection[tuple[str, int]] = ()
) -> Webhook | None:
    """Return the webhook that the settings name, if they name one.

    Raises:
        UsageError: a setting is wrong, or the file of the secret cannot be read.
    """
    url = settings.text("notices.url").strip()
    if not url:
        return None
    file = settings.text("notices.secret-file").strip()
    if not file:
        raise UsageError("notices.url wants notices.secret-file", hint="openssl rand -hex 32 makes a secret")
    secret = secret_of(home.path, file, "notices.secret-file")
    if len(secret) < _LEAST_SECRET:
        raise UsageError(f"notices.secret-file: the secret has fewer than {_LEAST_SECRET} characters")
    conf = WebhookConf(
        url, secret, tuple(settings.words("notices.addresses")), settings.seconds("notices.timeout")
    )
    return Webhook(conf, clock, lambda: SystemResolver(clock, max_threads=1), own_ports=own_ports)


def mail_of(
    home: Home, settings: Settings, clock: Clock, *, own_ports: Collection[tuple[str, int]] = ()
) -> Mail | None:
    """Return the mail that the settings name, if they name recipients.

    Raises:
        UsageError: a setting is wrong, or the file of the password cannot be read.
    """
    recipients = tuple(settings.words("notices.mail-to"))
    if not recipients:
        return None
    sender = settings.text("notices.mail-from").strip()
    for name, address in (("mail-from", sender), *(("mail-to", one) for one in recipients)):
        if not _is_address(address):
            raise UsageError(
                f"notices.{name}: {address!r} is no mail address", hint='write it like "ops@example.org"'
            )
    server = settings.text("notices.mail-server").strip()
    try:
        host, port = split_address(server.lower())
        if not host:
            raise ValueError(server)  # noqa: TRY301 - said below
    except ValueError as error:
        raise UsageError(
            f"notices.mail-server: {server!r} is no server with a port",
            hint='write it like "mail.example:587"',
        ) from error
    tls, user = settings.text("notices.mail-tls"), settings.text("notices.mail-user").strip()
    literal = parse_address(host)
    if tls == "none" and not (literal is not None and literal.is_loopback):
        raise UsageError(
            "notices.mail-tls: without TLS the server must be this machine", hint='use "starttls", or an address like 127.0.0.1:25'
        )  # fmt: skip
    file = settings.text("notices.mail-password-file").strip()
    if bool(user) != bool(file):
        raise UsageError("notices.mail-user and notices.mail-password-file want each other")
    if user and tls == "none":
        raise UsageError(
            "notices.mail-user: a password is not sent without TLS", hint='notices.mail-tls = "starttls"'
        )
    conf = MailConf(
        host, port, sender, recipients, tls, user, secret_of(home.path, file, "notices.mail-password-file") if file else "",
        tuple(settings.words("notices.addresses")), settings.seconds("notices.timeout"),
    )  # fmt: skip
    return Mail(conf, clock, lambda: SystemResolver(clock, max_threads=1), own_ports=own_ports)


class Notifier:
    """The channels of a served home, with what fills them; threads of their own between start and stop."""

    def __init__(self, outboxes: Mapping[str, Outbox]) -> None:
        self.outboxes = outboxes

    def start(self) -> None:
        """Begin to look and to send. Blocks for a first look."""
        for outbox in self.outboxes.values():
            outbox.start()

    def stop(self) -> None:
        """End after the attempts at hand."""
        for outbox in self.outboxes.values():
            outbox.stop()


def notifying(  # noqa: PLR0913 - what it stands on
    home: Home,
    settings: Settings,
    clock: Clock,
    *,
    office: FeedOffice,
    do: Callable[[Job], Any],
    own_ports: Collection[tuple[str, int]],
    look: Callable[[], Sequence[Alarm]],
    runs: Callable[[], Sequence[Mapping[str, Any]]],
    figures: Callable[[int], Mapping[str, Mapping[str, int]]],
    least_visits: int = 1,
) -> Notifier | None:
    """Return the notifier of a home that is served, not yet started; ``None`` when nobody is to be told.

    Raises:
        UsageError: see :func:`webhook_of`, :func:`mail_of`.
    """
    webhook = webhook_of(home, settings, clock, own_ports=own_ports)
    mail = mail_of(home, settings, clock, own_ports=own_ports)

    def recall(name: str) -> bytes:
        return bytes(do(lambda w, _a, _now: w.memory.recall(name)))

    def remember(name: str, value: bytes) -> None:
        do(lambda w, _a, _now: w.memory.remember(name, value))

    apart_s = settings.seconds("notices.apart")
    fillers = (
        FeedNotices(office.after, office.newest, recall, remember),
        Alarms(look, recall, remember, clock, again_s=settings.seconds("notices.again"), apart_s=apart_s),
        RunNotices(runs, figures, recall, remember, clock, apart_s=apart_s, least=least_visits),
    )
    outboxes: dict[str, Outbox] = {}
    made: list[Outbox] = []
    post = Fanout(made, settings.words("notices.kinds"))

    def fill(_: Outbox) -> None:
        for filler in fillers:
            filler(post)

    # One thread looks, the first channel's; the others only send.
    attempts = settings.count("notices.attempts")
    if webhook is not None:
        outboxes["webhook"] = Outbox(webhook.send, clock, attempts=attempts, fill=fill)
    if mail is not None:
        every_s = settings.seconds("notices.mail-every")
        looks = (lambda _: None) if outboxes else fill
        outboxes["mail"] = BatchOutbox(mail.send, clock, attempts=attempts, every_s=every_s, fill=looks)
    made.extend(outboxes.values())
    return Notifier(outboxes) if outboxes else None


def _is_address(text: str) -> bool:
    local, at, domain = text.rpartition("@")
    plain = text.isascii() and text.isprintable() and not any(sign in text for sign in ' <>,;:"()[]\\')
    return bool(local and at and domain and plain and "@" not in local)
