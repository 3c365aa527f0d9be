"""Local users and tokens: what the operator does with them, on a home that nobody owns and on one that is served."""

import hashlib
import secrets
import unicodedata
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from ingather.access import principal
from ingather.access.principals import fold
from ingather.app.access.passwords import Passwords
from ingather.app.jobs import Job
from ingather.app.operating import Operations
from ingather.catalog.access.sqlite_users import ApiToken, LocalUser
from ingather.errors import UsageError
from ingather.model.acl import DEFAULT_NAMESPACE, Principal, PrincipalScope
from ingather.web.auth import TOKEN_PREFIX
from ingather.web.endpoint import Role

__all__ = ["RIGHTS", "SEARCH_AS", "Accounts", "HomeAccounts", "digest_of", "folded_name", "principal_of"]

SEARCH_AS: Final = "search-as"
RIGHTS: Final[Mapping[str, int]] = {
    Role.SEARCHER.value: 1,
    Role.FEEDER.value: 2,
    Role.ADMINISTRATOR.value: 4,
    SEARCH_AS: 8,
}
"""What a token may be good for, and its part of the sum that the catalog keeps."""
_LONGEST: Final = 256
_DAY_S: Final = 86_400.0
_DAYS: Final = 36_500
_UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})

Do = Callable[[str, Mapping[str, str] | None, Job], Any]
"""Does a job, or asks whoever owns the home: (path of the API, form, job)."""


class Accounts:
    """Users and tokens; what :class:`ingather.web.parts.Accounts` promises.

    Args:
        do: runs a job in a transaction.
        changed: called after users changed.
        passwords: makes verifiers.
    """

    def __init__(
        self, do: Do, *, changed: Callable[[], None] = lambda: None, passwords: Passwords | None = None
    ) -> None:
        self._do = do
        self._changed = changed
        self._passwords = passwords or Passwords()

    def users(self) -> dict[str, Any]:
        """Return the users under ``users``."""
        found: dict[str, Any] = self._do(
            "users", None, lambda w, _a, _now: {"users": [user_form(user) for user in w.users.all()]}
        )
        return found

    def add_user(self, form: Mapping[str, str]) -> dict[str, Any]:
        """Add a user."""
        name, domain = _name(form.get("name", "")), form.get("domain", "").strip()
        namespace = form.get("namespace", "").strip() or DEFAULT_NAMESPACE
        for text in (domain, namespace):
            _fit(text, least=0)
        verifier = self._passwords.verifier(form.get("password", ""))

        def job(writer: Any, _applied: Any, now_s: float) -> dict[str, Any]:
            return {
                "done": writer.users.add(name, folded_name(name), domain, namespace, verifier, now_s),
                "name": name,
            }

        return self._settled("users/add", form, job, f"there is a user {name!r} already")

    def set_password(self, form: Mapping[str, str]) -> dict[str, Any]:
        """Set a password."""
        name = _name(form.get("name", ""))
        verifier = self._passwords.verifier(form.get("password", ""))
        return self._settled(
            "users/password",
            form,
            lambda w, _a, now: {"done": w.users.set_password(folded_name(name), verifier, now), "name": name},
            f"there is no user {name!r}",
        )

    def set_disabled(self, name: str, *, disabled: bool) -> dict[str, Any]:
        """Let a user in no more, or again."""
        folded = folded_name(_name(name))
        return self._settled(
            "users/disable" if disabled else "users/enable",
            {"name": name},
            lambda w, _a, _now: {"done": w.users.set_disabled(folded, disabled=disabled), "name": name},
            f"there is no user {name!r}",
        )

    def delete_user(self, name: str) -> dict[str, Any]:
        """Delete a user."""
        folded = folded_name(_name(name))
        return self._settled(
            "users/delete",
            {"name": name},
            lambda w, _a, _now: {"done": w.users.delete(folded), "name": name},
            f"there is no user {name!r}",
        )

    def tokens(self) -> dict[str, Any]:
        """Return the tokens under ``tokens``."""
        found: dict[str, Any] = self._do(
            "tokens", None, lambda w, _a, _now: {"tokens": [token_form(token) for token in w.users.tokens()]}
        )
        return found

    def add_token(self, form: Mapping[str, str]) -> dict[str, Any]:
        """Make a token."""
        name, rights = _name(form.get("name", "")), _rights(form.get("rights", ""))
        days = form.get("days", "").strip()
        if days and not (days.isascii() and days.isdigit() and 0 < int(days[:6]) <= _DAYS):
            raise UsageError(f"{days!r} is no number of days", hint=f"give 1 to {_DAYS}, or none for ever")
        text = TOKEN_PREFIX + secrets.token_urlsafe(32)

        def job(writer: Any, _applied: Any, now_s: float) -> dict[str, Any]:
            expires_s = now_s + int(days) * _DAY_S if days else None
            total = sum(RIGHTS[word] for word in rights)
            done = writer.users.add_token(name, digest_of(text), total, now_s, expires_s)
            return {
                "done": done,
                "name": name,
                "rights": rights,
                "token": text if done else "",
                "expires": _moment(expires_s),
            }

        return self._settled("tokens/add", form, job, f"the name {name!r} was given to a token before")

    def revoke_token(self, name: str) -> dict[str, Any]:
        """End a token."""
        return self._settled(
            "tokens/revoke",
            {"name": name},
            lambda w, _a, now: {"done": w.users.revoke_token(name.strip(), now), "name": name},
            f"there is no token {name!r} in force",
        )

    def _settled(self, path: str, form: Mapping[str, str], job: Job, trouble: str) -> dict[str, Any]:
        answer: dict[str, Any] = dict(self._do(path, form, job))
        if not answer.pop("done", True):
            raise UsageError(trouble, hint=f"list them with: ingather {path.partition('s/')[0]} list")
        self._changed()
        return answer


class HomeAccounts(Operations):
    """The same on a home: done here when nobody owns it, asked of its owner when somebody does."""

    @property
    def accounts(self) -> Accounts:
        """Users and tokens of the home."""
        return Accounts(self._do)


def digest_of(secret: str) -> bytes:
    """Return what the catalog knows of a cookie or token: enough, because both are 256 random bits."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).digest()


def folded_name(name: str) -> str:
    """Return a user's name as it is compared."""
    return fold(name.strip())


def principal_of(user: LocalUser) -> Principal | None:
    """Return whom access lists mean by a local user."""
    if user.domain:
        return Principal(PrincipalScope.USER, user.name, user.domain, user.namespace)
    return principal(user.name, PrincipalScope.USER, namespace=user.namespace)


def user_form(user: LocalUser) -> dict[str, Any]:
    """Return a user as JSON shows him; no secret is in it."""
    who = principal_of(user)
    return {
        "name": user.name,
        "principal": None
        if who is None
        else {"name": who.name, "domain": who.domain, "namespace": who.namespace},
        "disabled": user.disabled,
        "created": _moment(user.created_s),
        "password_set": _moment(user.changed_s),
    }


def token_form(token: ApiToken) -> dict[str, Any]:
    """Return a token as JSON shows it; no secret is in it."""
    return {
        "name": token.name,
        "rights": [word for word, bit in RIGHTS.items() if token.rights & bit],
        "created": _moment(token.created_s),
        "expires": _moment(token.expires_s),
        "revoked": _moment(token.revoked_s),
    }


def _name(text: str) -> str:
    name = text.strip()
    _fit(name, least=1)
    if not folded_name(name):
        raise UsageError("the name has no character that is seen", hint="give another one")
    return name


def _fit(text: str, *, least: int) -> None:
    if not least <= len(text) <= _LONGEST or any(unicodedata.category(letter) in _UNSEEN for letter in text):
        raise UsageError(
            f"{text[:40]!r} is not fit for a name", hint=f"write {least} to {_LONGEST} printable characters"
        )


def _rights(text: str) -> list[str]:
    words = list(dict.fromkeys(word.strip().lower() for word in text.split(",") if word.strip()))
    unknown = [word for word in words if word not in RIGHTS]
    if unknown or not words:
        raise UsageError(
            f"{unknown[0]!r} is no right" if unknown else "a token without rights is good for nothing",
            hint=f"give some of {', '.join(RIGHTS)}",
        )
    return words


def _moment(at_s: float | None) -> str | None:
    return None if at_s is None else datetime.fromtimestamp(at_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
