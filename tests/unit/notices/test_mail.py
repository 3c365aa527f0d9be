"""Notices by mail: with TLS, through the egress gate, several together, the password never in the open."""

import base64
import shutil
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ingather.app.certificates import ensure_certificate
from ingather.app.home import Home
from ingather.app.notices import Delivery, Mail, MailConf, Notice, mail_of
from ingather.errors import UsageError
from ingather.fetch.dns import SystemResolver
from ingather.testing.clock import FakeClock
from ingather.testing.mailserver import Post, mail_server
from ingather.testing.rig import Rig

ONE = Notice("d-1", "disk", "2026-01-01T00:00:00Z", {"text": "the disk is full", "free_bytes": 7})
TWO = Notice("h-2", "hold", "2026-01-01T00:00:01Z", {"text": "5 deletions wait\r\nBcc: evil@x.test"})
PASSWORD = "canary-password-äöü"  # noqa: S105 - a canary


@pytest.fixture
def post(tmp_path: Path) -> Iterator[Post]:
    """A mail server on loopback that wants a login once TLS is begun."""
    certificate = ensure_certificate(tmp_path / "certificate") if shutil.which("openssl") else None
    with mail_server(certificate) as made:
        yield made


def mail(
    post: Post, *, server: str = "127.0.0.1", addresses: tuple[str, ...] = ("127.0.0.0/8", "::1"), **more: Any
) -> Mail:
    clock = FakeClock()
    trusted = more.pop("trusted", True)
    conf = MailConf(
        server,
        post.port,
        "ingather@here.test",
        ("ops@here.test", "night@here.test"),
        addresses=addresses,
        timeout_s=20.0,
        **more,
    )
    tls = (
        ssl.create_default_context(cafile=post.certificate if trusted else None)
        if conf.tls != "none"
        else None
    )
    return Mail(conf, clock, lambda: SystemResolver(clock, max_threads=1), tls=tls)


def test_several_notices_are_one_mail(post: Post) -> None:
    assert mail(post, tls="none").send([ONE, TWO]) == Delivery(250)
    [got] = post.mails
    assert got["Subject"] == "[Ingather] disk: the disk is full (and 1 more)"
    assert (got["From"], got["To"]) == ("ingather@here.test", "ops@here.test, night@here.test")
    assert (got["Auto-Submitted"], got["Bcc"]) == ("auto-generated", None)
    assert len(post.to) == 2
    text = got.get_payload(decode=True)
    assert isinstance(text, bytes)
    assert b"the disk is full" in text
    assert b'"free_bytes": 7' in text
    again = mail(post, tls="none")
    again.send([ONE, TWO])
    assert post.mails[1]["Message-ID"] == got["Message-ID"]


def test_no_notice_writes_a_header_of_its_own(post: Post) -> None:
    assert not mail(post, tls="none").send([TWO]).trouble
    [got] = post.mails
    assert got["Bcc"] is None
    assert "evil@x.test" not in " ".join(post.to)


@pytest.mark.skipif(not shutil.which("openssl"), reason="openssl is not installed")
def test_the_password_goes_over_tls_to_the_server_of_that_name(post: Post) -> None:
    said = mail(post, server="localhost", user="ops", password=PASSWORD).send([ONE])
    assert said == Delivery(250)
    assert len(post.mails) == 1
    shown = base64.b64encode(f"\0ops\0{PASSWORD}".encode())
    assert (shown in post.plain, shown in post.secure) == (False, True)


@pytest.mark.skipif(not shutil.which("openssl"), reason="openssl is not installed")
def test_a_certificate_that_nobody_vouches_for_gets_neither_password_nor_mail(post: Post) -> None:
    said = mail(post, server="localhost", user="ops", password=PASSWORD, trusted=False).send([ONE])
    assert "certificate" in said.trouble.lower()
    assert (post.mails, post.secure) == ([], b"")
    assert PASSWORD not in said.trouble


def test_a_server_that_cannot_do_tls_gets_nothing(post: Post) -> None:
    post.answers["STARTTLS"] = "454 not now"
    said = mail(post, server="localhost").send([ONE])
    assert (bool(said.trouble), post.mails) == (True, [])


def test_private_addresses_are_not_reached_without_leave(post: Post) -> None:
    said = mail(post, tls="none", addresses=()).send([ONE])
    assert "may not be reached" in said.trouble
    assert post.plain == b""


@pytest.mark.parametrize(
    ("word", "answer", "lasting"),
    [("MAIL", "550 no", True), ("MAIL", "451 later", False), ("RCPT", "550 who", True), ("RCPT", "450 later", False),
     ("DATA", "554 no", True), ("", "554 go away", True), ("", "421 busy", False)],
)  # fmt: skip
def test_what_the_server_refuses(post: Post, word: str, answer: str, lasting: bool) -> None:  # noqa: FBT001 - a case
    post.answers[word] = answer
    said = mail(post, tls="none").send([ONE])
    assert (bool(said.trouble), said.lasting, said.status) == (True, lasting, int(answer[:3]))


GOOD = {"mail-to": "ops@a.test", "mail-from": "i@a.test", "mail-server": "127.0.0.1:25", "mail-tls": "none"}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"mail-to": "ops"}, "mail-to"),
        ({"mail-to": "a@b.test\nBcc: x@y.test"}, "mail-to"),
        ({"mail-from": ""}, "mail-from"),
        ({"mail-server": "mail.test"}, "mail-server"),
        ({"mail-server": ":25"}, "mail-server"),
        ({"mail-server": "mail.test:25"}, "without TLS"),
        ({"mail-user": "me"}, "want each other"),
        ({"mail-user": "me", "mail-password-file": "none"}, "not sent without TLS"),
        ({"mail-user": "me", "mail-password-file": "none", "mail-tls": "tls"}, "cannot be read"),
    ],
)
def test_settings_that_cannot_be_used(home: Path, change: dict[str, str], told: str) -> None:
    made = Home.create(home)
    said = {
        f"INGATHER_NOTICES_{key.upper().replace('-', '_')}": text for key, text in {**GOOD, **change}.items()
    }
    settings = made.settings(environment=said).settings
    with pytest.raises(UsageError, match=told):
        mail_of(made, settings, FakeClock())


def test_the_command_tries_every_channel(home: Path, post: Post) -> None:
    Home.create(home)
    rig = Rig(home)
    nobody = rig.call("notify", "test")
    assert (nobody.status, nobody.err.count("\n")) == (2, 1)
    for key, text in {**GOOD, "mail-server": f"127.0.0.1:{post.port}", "addresses": "127.0.0.1"}.items():
        rig.tune(f"notices.{key}", text)
    said = rig.call("notify", "test")
    assert (said.status, "took it (250)" in said.out) == (0, True)
    post.answers["MAIL"] = "550 no"
    refused = rig.call("notify", "test", "--json")
    assert (refused.status, refused.json[0]["channel"], refused.json[0]["status"]) == (1, "mail", 550)
    assert post.mails[0]["Subject"] == "[Ingather] test: a test of ingather notify test"
