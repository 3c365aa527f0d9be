"""Notices: what happened, told to a program or a person of the operator's.

``webhook`` signs and posts one, ``mail`` mails several together, both only to addresses that ``reaching`` admits. ``outbox`` keeps those
that wait and tries again, ``fanout`` offers to all channels. ``feeds`` finds feeds that ended with errors, ``runs`` runs that ended,
``alarms`` tells what begins, lasts and is over; ``setup`` reads the settings, ``oneshot`` tells of a run of ``crawl``. Whoever has something else to tell makes a
:class:`Notice` and offers it.
"""

from ingather.app.notices.alarms import Alarm, Alarms
from ingather.app.notices.fanout import Fanout
from ingather.app.notices.feeds import FeedNotices
from ingather.app.notices.mail import Mail, MailConf
from ingather.app.notices.outbox import BatchOutbox, Outbox
from ingather.app.notices.runs import RunNotices
from ingather.app.notices.setup import Notifier, mail_of, notifying, webhook_of
from ingather.app.notices.webhook import Delivery, Notice, Webhook, WebhookConf, signature

__all__ = [
    "Alarm", "Alarms", "BatchOutbox", "Delivery", "Fanout", "FeedNotices", "Mail", "MailConf", "Notice", "Notifier", "Outbox", "RunNotices",
    "Webhook", "WebhookConf", "mail_of", "notifying", "signature", "webhook_of",
]  # fmt: skip
