"""Notices: what happened, told to a program of the operator's.

``webhook`` signs and sends one, ``outbox`` keeps those that wait and tries again, ``feeds`` finds feeds that ended with errors,
``setup`` reads the settings. Whoever has something else to tell makes a :class:`Notice` and offers it to the outbox.
"""

from ingather.app.notices.feeds import FeedNotices
from ingather.app.notices.outbox import Outbox
from ingather.app.notices.setup import notifying, webhook_of
from ingather.app.notices.webhook import Delivery, Notice, Webhook, WebhookConf, signature

__all__ = [
    "Delivery", "FeedNotices", "Notice", "Outbox", "Webhook", "WebhookConf", "notifying", "signature", "webhook_of"
]  # fmt: skip
