"""``[credential.NAME]``: how we show who we are to the hosts of a source. A secret is named here, its value stands elsewhere.

A credential is for the URLs that begin with its ``url``, of the sources that name it in ``credentials``.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

import re2
from ingather.conf.names import suggestion
from ingather.conf.patterns.dialects import options
from ingather.conf.report import Report
from ingather.conf.settings.kinds import Kind, Setting, Value
from ingather.errors import UnitError, UrlError
from ingather.model.diagnostic import Place
from ingather.model.url import canonical

__all__ = ["CREDENTIAL_KEYS", "KINDS", "CredentialConf", "origin_of", "read_credential"]

KINDS: Final = (
    "basic", "digest", "bearer", "oauth2", "certificate", "ntlm", "negotiate", "form", "password",
)  # fmt: skip

CREDENTIAL_KEYS: tuple[Setting, ...] = (
    Setting("credential", "kind", Kind.CHOICE, "basic",
            "How we show who we are. password: name and password of protocols beside http (ftp, ftps, sftp, smb).", choices=KINDS),
    Setting("credential", "url", Kind.TEXT, "", "Beginning of the URLs that it is for, with scheme and host: nothing is sent to another origin."),
    Setting("credential", "user", Kind.TEXT, "", "Name of the account; of oauth2 the client's, of negotiate the principal."),
    Setting("credential", "domain", Kind.TEXT, "", "Domain of the account; basic, ntlm, and password for smb."),
    Setting("credential", "secret", Kind.TEXT, "",
            "Name of the secret (`ingather secret set NAME`): password, token, the client's secret, or the passphrase of a certificate's key."),
    Setting("credential", "attempts", Kind.INT, 3,
            "Refusals in a row after which it is suspended until its secret is set anew or an operator resumes it. 0: never.", low=0, high=100),
    Setting("credential", "token-url", Kind.TEXT, "", "oauth2: where tokens are given."),
    Setting("credential", "scope", Kind.TEXT, "", "oauth2: what is asked for."),
    Setting("credential", "audience", Kind.TEXT, "", "oauth2: for whom, where the server wants to be told."),
    Setting("credential", "client-authentication", Kind.CHOICE, "basic",
            "oauth2: how the client shows its secret: in a header, or in the form.", choices=("basic", "form")),
    Setting("credential", "certificate", Kind.TEXT, "", "certificate: PEM file of the certificate with its chain; below the home, or a whole path."),
    Setting("credential", "key", Kind.TEXT, "", "certificate: PEM file of the private key, readable by its owner alone. Nothing: it stands in the certificate's."),
    Setting("credential", "keytab", Kind.TEXT, "", "negotiate: keytab of the account, readable by its owner alone; below the home, or a whole path."),
    Setting("credential", "form-url", Kind.TEXT, "", "form: page with the form; what is filled in goes to its origin alone."),
    Setting("credential", "user-field", Kind.TEXT, "", "form: field that gets the user."),
    Setting("credential", "secret-field", Kind.TEXT, "", "form: field that gets the secret."),
    Setting("credential", "fields", Kind.WORDS, (), 'form: other fields to fill in: "language=en". Hidden fields come along by themselves.'),
    Setting("credential", "secret-fields", Kind.WORDS, (), 'form: other fields with names of secrets: "pin=wiki-pin".'),
    Setting("credential", "success-cookie", Kind.TEXT, "", "form: logged in is who has this cookie."),
    Setting("credential", "success-url", Kind.TEXT, "", "form: pattern of the address where a good login leads."),
    Setting("credential", "success-pattern", Kind.TEXT, "", "form: pattern in the page after a good login."),
    Setting("credential", "ended-url", Kind.TEXT, "", "form: pattern of addresses to which a host sends whose session has ended; the form's own always counts."),
    Setting("credential", "ended-pattern", Kind.TEXT, "", "form: pattern in pages that are shown to whose session has ended."),
    Setting("credential", "logout-pattern", Kind.TEXT, "", "form: pattern of addresses that end the session, beside the usual ones: never asked for."),
)  # fmt: skip

_BY_KEY: Final = {setting.key: setting for setting in CREDENTIAL_KEYS}
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}\Z")
_SECRET_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")
_NOT_HERE: Final = frozenset({"password", "passwd", "pass", "token", "passphrase", "client-secret", "pin"})
_PATTERNS: Final = ("success-url", "success-pattern", "ended-url", "ended-pattern", "logout-pattern")
_WANTED: Final[Mapping[str, tuple[str, ...]]] = {
    "basic": ("user", "secret"), "digest": ("user", "secret"), "bearer": ("secret",), "oauth2": ("user", "secret", "token-url"),
    "certificate": ("certificate",), "ntlm": ("user", "secret"), "negotiate": ("keytab", "user"), "form": ("form-url",),
    "password": ("user", "secret"),
}  # fmt: skip
_SCHEMES: Final[Mapping[str, tuple[str, ...]]] = {"password": ("ftp", "ftps", "sftp", "smb")}
_WEB: Final = ("http", "https")


@dataclass(frozen=True, slots=True)
class CredentialConf:
    """One credential, without any secret; the keys of the same names tell more.

    Attributes:
        name: of the table.
        url: canonical beginning of URLs.
        fields, secret_fields: (field, value) and (field, name of a secret) of a form.
        origins: where each key was written.
    """

    name: str
    kind: str = "basic"
    url: str = ""
    user: str = ""
    domain: str = ""
    secret: str = ""
    attempts: int = 3
    token_url: str = ""
    scope: str = ""
    audience: str = ""
    client_authentication: str = "basic"
    certificate: str = ""
    key: str = ""
    keytab: str = ""
    form_url: str = ""
    user_field: str = ""
    secret_field: str = ""
    fields: tuple[tuple[str, str], ...] = ()
    secret_fields: tuple[tuple[str, str], ...] = ()
    success_cookie: str = ""
    success_url: str = ""
    success_pattern: str = ""
    ended_url: str = ""
    ended_pattern: str = ""
    logout_pattern: str = ""
    origins: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def secrets(self) -> tuple[str, ...]:
        """Names of the secrets that it wants."""
        names = (self.secret, *(name for _, name in self.secret_fields))
        return tuple(dict.fromkeys(name for name in names if name))

    def value(self, key: str) -> Value:
        """Return the value of *key* in the form of its setting."""
        found = getattr(self, key.replace("-", "_"))
        value: Value = (
            tuple(f"{one}={other}" for one, other in found) if key in {"fields", "secret-fields"} else found
        )
        return value


def origin_of(url: str) -> str:
    """Return scheme, host and port of a canonical *url*."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.partition('/')[0]}"


def read_credential(
    name: str, table: Mapping[str, object], place_of: Callable[[str], Place], report: Report
) -> CredentialConf | None:
    """Read one ``[credential.NAME]`` table; ``None`` if something in it is wrong: then nothing is ever sent for it.

    Args:
        name: of the table.
        table: its keys as TOML gave them.
        place_of: key (``""`` = the table itself) to its place.
        report: where findings go; no value of a key that might be a secret stands in one.
    """
    reader = _Reader(name, place_of, report)
    if not _NAME.match(name):
        reader.wrong("", f"{name!r} is not a name", "a-z, 0-9, _ and -, at most 63")
    for key, raw in table.items():
        reader.take(key, raw)
    return reader.made()


class _Reader:
    """One table on its way."""

    def __init__(self, name: str, place_of: Callable[[str], Place], report: Report) -> None:
        self._name, self._place_of, self._report = name, place_of, report
        self._values: dict[str, object] = {}
        self._origins: dict[str, str] = {}
        self._good = True

    def wrong(self, key: str, what: str, hint: str | None = None, code: str = "E-VALUE") -> None:
        """Report what is wrong at *key*."""
        where = f"credential.{self._name}.{key}" if key else f"credential {self._name}"
        self._report.add(code, self._place_of(key), f"{where}: {what}", hint=hint)
        self._good = False

    def take(self, key: str, raw: object) -> None:
        """Read one key."""
        setting = _BY_KEY.get(key)
        if setting is None:
            if key in _NOT_HERE:  # told at the table, so that no excerpt of the line is shown
                text = f"credential {self._name}: {key} does not stand in this file"
                hint = f'ingather secret set {self._name}, and write secret = "{self._name}"'
                self._report.add("E-KEY", self._place_of(""), text, hint=hint)
            else:
                text = f"a credential has no key {key!r}"
                self._report.add("E-KEY", self._place_of(key), text, hint=suggestion(key, _BY_KEY))
            self._good = False
            return
        try:
            self._values[key] = _converted(key, setting.read(raw))
        except UnitError as error:
            self.wrong(key, error.text, error.hint)
        place = self._place_of(key)
        self._origins[key] = f"{place.file}:{place.line}"

    def made(self) -> CredentialConf | None:
        """Return the whole, if it is one."""
        kind = str(self._values.get("kind", "basic"))
        for key in ("url", *_WANTED[kind]):
            if not self._values.get(key) and self._good:
                self.wrong(key if key in self._values else "", f"{kind} needs {key}")
        schemes = _SCHEMES.get(kind, _WEB)
        url = str(self._values.get("url", ""))
        if url and url.partition(":")[0] not in schemes:
            self.wrong("url", f"{kind} is for {', '.join(schemes)}")
        hidden = self._values.get("secret-field") or self._values.get("secret-fields")
        if kind == "form" and self._good and not hidden:
            self.wrong("", "form needs secret-field, the field that gets the secret")
        if self._values.get("secret-field") and not self._values.get("secret"):
            self.wrong("secret-field", "there is no secret for it", 'write secret = "NAME"')
        if ":" in str(self._values.get("user", "")) and kind == "basic":
            self.wrong("user", "it has a colon in it", "RFC 7617 allows none")
        if not self._good:
            return None
        values = {key.replace("-", "_"): value for key, value in self._values.items()}
        return CredentialConf(self._name, origins=self._origins, **values)  # type: ignore[arg-type]


def _converted(key: str, value: Value) -> object:
    if isinstance(value, str) and any(ord(char) < 32 or ord(char) == 127 for char in value):  # noqa: PLR2004 - ASCII's controls
        raise UnitError("it is no text of one line")
    if key in {"url", "token-url", "form-url"}:
        return _url(str(value)) if value else ""
    if key == "secret" and value and not _SECRET_NAME.match(str(value)):
        raise UnitError(
            "it is not the name of a secret",
            hint="ingather secret set NAME; its value never stands in this file",
        )
    if key in _PATTERNS:
        return _pattern(str(value))
    if isinstance(value, tuple):
        pairs = tuple(
            (one.strip(), other) for one, sign, other in (text.partition("=") for text in value) if sign
        )
        if len(pairs) != len(value) or not all(one for one, _ in pairs):
            raise UnitError("an entry is not of the form field=value")
        if key == "secret-fields" and not all(_SECRET_NAME.match(other) for _, other in pairs):
            raise UnitError(
                "an entry does not name a secret", hint="ingather secret set NAME; write field=NAME"
            )
        return pairs
    return value


def _url(text: str) -> str:
    """Return the canonical form; it names a whole origin."""
    try:
        made = canonical(text)
    except UrlError as error:
        raise UnitError(error.text, hint="write it like https://intranet.example/reports/") from error
    rest = made.partition("://")[2]
    if "/" not in rest or "@" in text.partition("://")[2].partition("/")[0]:
        raise UnitError("it is no beginning of URLs", hint="write it like https://intranet.example/reports/")
    return made


def _pattern(text: str) -> str:
    try:
        re2.compile(text, options(folded=False))  # no page can make it slow
    except (re2.error, UnicodeEncodeError) as error:
        said = error.args[0] if error.args else ""
        why = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
        raise UnitError(f"it is no regular expression (RE2): {why}") from error
    return text
