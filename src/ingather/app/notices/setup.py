"""From the settings to a webhook, and to the thread that uses it."""

from collections.abc import Callable, Collection
from typing import Any

from ingather.app.feeds.office import FeedOffice
from ingather.app.home import Home
from ingather.app.notices.feeds import FeedNotices
from ingather.app.notices.outbox import Outbox
from ingather.app.notices.webhook import Webhook, WebhookConf
from ingather.app.operating import Job
from ingather.app.secrets import secret_of
from ingather.conf.settings import Settings
from ingather.errors import UsageError
from ingather.fetch.dns import SystemResolver
from ingather.ports.clock import Clock

__all__ = ["notifying", "webhook_of"]

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


def notifying(  # noqa: PLR0913 - what it stands on
    home: Home,
    settings: Settings,
    clock: Clock,
    *,
    office: FeedOffice,
    do: Callable[[Job], Any],
    own_ports: Collection[tuple[str, int]],
) -> Outbox | None:
    """Return the outbox of a home that is served, not yet started; ``None`` without a webhook.

    Raises:
        UsageError: see :func:`webhook_of`.
    """
    webhook = webhook_of(home, settings, clock, own_ports=own_ports)
    if webhook is None:
        return None
    feeds = FeedNotices(
        office.after,
        office.newest,
        lambda name: bytes(do(lambda w, _a, _now: w.memory.recall(name))),
        lambda name, value: do(lambda w, _a, _now: w.memory.remember(name, value)),
    )
    return Outbox(webhook.send, clock, attempts=settings.count("notices.attempts"), fill=feeds)
