"""A login of each kind, made of its table and its secrets."""

import ssl
from collections.abc import Callable
from pathlib import Path

from ingather.app.secrets import require_private
from ingather.conf.sources.credentials import CredentialConf
from ingather.errors import UsageError
from ingather.fetch.logins import (
    Basic,
    Bearer,
    Certificate,
    Digest,
    Form,
    FormLogin,
    Login,
    LoginError,
    Negotiate,
    OAuth2,
)
from ingather.fetch.logins.negotiate import principal_of
from ingather.fetch.logins.oauth2 import Client
from ingather.ports.clock import Clock

__all__ = ["SecretOf", "make"]

SecretOf = Callable[[str], str]
"""The value of a secret by its name; raises ``LoginError``."""


def make(conf: CredentialConf, home: Path, secret: SecretOf, clock: Clock) -> Login:  # noqa: PLR0911 - one a kind
    """Return the login of *conf*.

    Args:
        conf: its table.
        home: relative paths lie there.
        secret: gives its secrets.
        clock: the time.

    Raises:
        LoginError: a secret or a file of it cannot be had.
    """
    match conf.kind:
        case "basic":
            user = f"{conf.domain}\\{conf.user}" if conf.domain else conf.user
            return Basic(user, secret(conf.secret))
        case "digest":
            return Digest(conf.user, secret(conf.secret))
        case "bearer":
            return Bearer(_token(secret(conf.secret)))
        case "oauth2":
            client = Client(
                conf.token_url, conf.user, secret(conf.secret), conf.scope, conf.audience, in_form=conf.client_authentication == "form"
            )  # fmt: skip
            return OAuth2(client, clock)
        case "certificate":
            certificate = _file(home, conf.certificate, private=not conf.key)
            key = _file(home, conf.key, private=True) if conf.key else certificate
            passphrase = secret(conf.secret) if conf.secret else ""
            _try(certificate, key, passphrase)
            return Certificate(certificate, key, passphrase)
        case "ntlm":
            from ingather.fetch.logins.ntlm import Ntlm

            return Ntlm(conf.user, conf.domain, secret(conf.secret))
        case "negotiate":
            return Negotiate(_keytab(_file(home, conf.keytab, private=True), conf.user))
        case "form":
            return Form(_form(conf, secret), clock)
        case _:
            raise LoginError(f"there is no login of kind {conf.kind}")


def _try(certificate: Path, key: Path, passphrase: str) -> None:
    """Load a certificate as a connection would: else each would fail, and robots.txt with it, which is for all sources.

    Raises:
        LoginError: it cannot be used.
    """
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_cert_chain(certificate, key, lambda: passphrase)
    except (OSError, ValueError) as error:
        reason = error.reason if isinstance(error, ssl.SSLError) else ""
        why = f" ({reason.replace('_', ' ').lower()})" if reason else ""
        what = f"{certificate} with the key {key}" if key != certificate else str(certificate)
        text = f"the certificate {what} cannot be used{why}: no PEM, another key, or a wrong passphrase"
        raise LoginError(text) from None


def _keytab(path: Path, user: str) -> Path:
    """Return *path* if its first account, which Kerberos takes, is *user*."""
    found = principal_of(path.read_bytes())
    if user not in {found, found.partition("@")[0]}:
        raise LoginError(f"the first account of {path} is {found or 'none'}, not {user}")
    return path


def _form(conf: CredentialConf, secret: SecretOf) -> FormLogin:
    values = [(conf.user_field, conf.user)] if conf.user_field else []
    if conf.secret_field:
        values.append((conf.secret_field, secret(conf.secret)))
    values += conf.fields
    values += ((name, secret(one)) for name, one in conf.secret_fields)
    return FormLogin(
        conf.url, conf.form_url, tuple(values), success_cookie=conf.success_cookie, success_url=conf.success_url,
        success_pattern=conf.success_pattern, ended_url=conf.ended_url, ended_pattern=conf.ended_pattern, logout=conf.logout_pattern,
    )  # fmt: skip


def _token(text: str) -> str:
    if not text.isascii() or not text.isprintable() or " " in text:
        raise LoginError("the token has characters that cannot be sent")
    return text


def _file(home: Path, name: str, *, private: bool) -> Path:
    path = home / name
    try:
        with path.open("rb") as stream:
            if private:
                require_private(path, stream.fileno(), "a credential")
    except OSError as error:
        raise LoginError(f"{path} cannot be read: {error.strerror}") from None
    except UsageError as error:
        raise LoginError(f"{error.text}; {error.hint}") from None
    return path
