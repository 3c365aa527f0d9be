"""Notices by mail: several in one message, through the egress gate, with TLS unless the server is this machine.

The password is never sent without TLS. A message says that a program wrote it (RFC 3834), so that nobody's absence answers.
"""

import json
import smtplib
import socket
import ssl
from base64 import b64encode
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from email.message import EmailMessage
from email.utils import formatdate
from hashlib import sha256
from threading import Timer
from typing import Final

from ingather.app.notices.reaching import admitted
from ingather.app.notices.webhook import Delivery, Notice
from ingather.fetch.egress import Refusal
from ingather.model.scope import Scope
from ingather.ports.clock import Clock
from ingather.ports.resolver import Resolver

__all__ = ["Mail", "MailConf", "message"]

_SCHEME: Final = "smtp"
_WIDEST: Final = 150
_LASTING: Final = range(500, 600)
_CALLS: Final = 4
"""So many times the time-out of one answer is the whole conversation's."""


@dataclass(frozen=True, slots=True)
class MailConf:
    """To whom and over which server.

    Attributes:
        server, port: the mail server.
        tls: ``starttls``, ``tls`` from the first byte on, or ``none``.
        sender, recipients: addresses.
        user, password: for the server; ``""`` = it wants none.
        addresses: ranges that may be reached although they are not public.
        timeout_s: for one answer.
    """

    server: str
    port: int
    sender: str
    recipients: tuple[str, ...]
    tls: str = "starttls"
    user: str = ""
    password: str = field(default="", repr=False)
    addresses: tuple[str, ...] = ()
    timeout_s: float = 10.0


class _Smtp(smtplib.SMTP):
    """Speaks to the address that was admitted, under the name that its certificate must have."""

    def __init__(self, conf: MailConf, address: str, tls: ssl.SSLContext) -> None:
        super().__init__(timeout=conf.timeout_s, local_hostname=conf.sender.rpartition("@")[2])
        self._host = conf.server  # what starttls() verifies
        self._address, self._tls, self._whole = address, tls, conf.tls == "tls"

    def _get_socket(self, host: str, port: int, timeout: float) -> socket.socket:
        plain = socket.create_connection((self._address, port), timeout=timeout)
        if not self._whole:
            return plain
        try:
            return self._tls.wrap_socket(plain, server_hostname=host)
        except BaseException:
            plain.close()
            raise


class Mail:
    """Sends mails; blocks, and belongs to one thread at a time.

    Args:
        conf: to whom.
        clock: of dates.
        resolver: makes a resolver; each attempt has one of its own.
        own_ports: of our listeners, which are never reached.
        tls: verifies certificates; the machine's authorities without it.
    """

    def __init__(
        self,
        conf: MailConf,
        clock: Clock,
        resolver: Callable[[], Resolver],
        *,
        own_ports: Collection[tuple[str, int]] = (),
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._conf, self._clock, self._resolver, self._own_ports = conf, clock, resolver, own_ports
        self._tls = tls or ssl.create_default_context()

    @property
    def place(self) -> str:
        """Recipients and server, for people."""
        return f"{', '.join(self._conf.recipients)} over {self._conf.server}:{self._conf.port}"

    def send(self, notices: Sequence[Notice]) -> Delivery:
        """Send *notices*, at least one, as one mail, once."""
        conf = self._conf
        scope = Scope(source="notices.mail-server", schemes=frozenset({_SCHEME}), addresses=conf.addresses)
        found = admitted((_SCHEME, conf.server, conf.port), scope, self._resolver, self._own_ports)
        if isinstance(found, Refusal):
            return Delivery(trouble=f"{conf.server} may not be reached: {found.detail}")
        try:
            return self._spoken(found[0], message(conf, notices, self._clock.wall()))
        except smtplib.SMTPResponseException as error:
            return Delivery(
                error.smtp_code,
                f"{conf.server} answered {error.smtp_code}",
                lasting=error.smtp_code in _LASTING,
            )
        except smtplib.SMTPRecipientsRefused as error:
            codes = [code for code, _ in error.recipients.values()]
            lasting = all(code in _LASTING for code in codes)
            return Delivery(
                max(codes), f"{conf.server} refused every recipient ({max(codes)})", lasting=lasting
            )
        except (OSError, smtplib.SMTPException, ValueError) as error:
            return Delivery(trouble=f"{conf.server} could not be told: {str(error) or type(error).__name__}")

    def _spoken(self, address: str, mail: EmailMessage) -> Delivery:
        conf = self._conf
        smtp = _Smtp(conf, address, self._tls)
        end = Timer(_CALLS * conf.timeout_s, self._cut, (smtp,))
        end.daemon = True
        end.start()
        try:
            code, _ = smtp.connect(conf.server, conf.port)
            if code != 220:  # noqa: PLR2004 - RFC 5321, 4.2.3
                return Delivery(code, f"{conf.server} answered {code}", lasting=code in _LASTING)
            if conf.tls == "starttls":
                smtp.starttls(context=self._tls)
            if conf.user:
                self._log_in(smtp)
            refused = smtp.send_message(mail)
            smtp.quit()
        finally:
            end.cancel()
            smtp.close()
        # Those who were taken have the mail: the others are not worth a second one for all.
        return Delivery(250 if not refused else 251)

    def _log_in(self, smtp: smtplib.SMTP) -> None:
        conf = self._conf
        smtp.ehlo_or_helo_if_needed()
        if "PLAIN" not in smtp.esmtp_features.get("auth", "").upper().split():
            smtp.login(conf.user, conf.password)
            return
        # RFC 4616 wants UTF-8; smtplib's own login takes ASCII only.
        shown = b64encode(f"\0{conf.user}\0{conf.password}".encode()).decode()
        code, answer = smtp.docmd("AUTH", f"PLAIN {shown}")
        if code != 235:  # noqa: PLR2004 - RFC 4954, 6
            raise smtplib.SMTPAuthenticationError(code, answer)

    @staticmethod
    def _cut(smtp: smtplib.SMTP) -> None:
        """End a conversation that takes too long; the reader gets an error."""
        try:
            if smtp.sock is not None:
                smtp.sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            return


def message(conf: MailConf, notices: Sequence[Notice], at_s: float) -> EmailMessage:
    """Return the mail that tells *notices*; its id is the same whenever it is sent again."""
    mail = EmailMessage()
    first = notices[0]
    more = f" (and {len(notices) - 1} more)" if len(notices) > 1 else ""
    headline = " ".join(f"[Ingather] {first.kind}: {_text(first)}".split())
    mail["Subject"] = headline[: _WIDEST - len(more)] + more
    mail["From"] = conf.sender
    mail["To"] = ", ".join(conf.recipients)
    mail["Date"] = formatdate(at_s)
    digest = sha256("\0".join(notice.id for notice in notices).encode()).hexdigest()[:32]
    mail["Message-ID"] = f"<{digest}@{conf.sender.rpartition('@')[2]}>"
    mail["Auto-Submitted"] = "auto-generated"
    mail.set_content("\n\n".join(_paragraph(notice) for notice in notices) + "\n")
    return mail


def _text(notice: Notice) -> str:
    return str(
        notice.about.get("text") or notice.about.get("detail") or notice.about.get("name") or notice.id
    )


def _paragraph(notice: Notice) -> str:
    about = json.dumps(dict(notice.about), ensure_ascii=False, indent=2, default=str)
    return f"{notice.at}  {notice.kind}\n{_text(notice)}\n{about}"
