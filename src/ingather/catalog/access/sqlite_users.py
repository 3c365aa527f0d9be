"""Who may come in: local users, their sessions, and tokens of programs.

Secrets are not here: of a password its Argon2id verifier, of a cookie and of a token the SHA-256 digest. Times are
seconds since the epoch; a session is good from its birth to its expiry and while it is used, so a clock that was set
back ends it rather than prolongs it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import apsw
from msgspec import msgpack

from ingather.catalog.sqlite_open import open_reader
from ingather.catalog.sqlite_rows import Rows, fetch

__all__ = ["ApiToken", "LocalUser", "PeopleReader", "SessionLife", "Users"]

_SESSIONS: Final = 32
"""Open sessions of one user; the oldest makes room."""
_SLACK_S: Final = 60.0
_TABLES: Final = ("user_session", "provider_session")
_USER: Final = "id, name, domain, namespace, password, disabled, created, changed"
_TOKEN: Final = "id, name, rights, created, expires, revoked"  # noqa: S105 - names of columns


@dataclass(frozen=True, slots=True)
class LocalUser:
    """One local user; ``verifier`` is what a password is compared with."""

    id: int
    name: str
    domain: str
    namespace: str
    verifier: str
    disabled: bool
    created_s: float
    changed_s: float

    def __repr__(self) -> str:
        return f"LocalUser({self.id}, {self.name!r})"


@dataclass(frozen=True, slots=True)
class ApiToken:
    """One token; *rights* is the sum of the column."""

    id: int
    name: str
    rights: int
    created_s: float
    expires_s: float | None
    revoked_s: float | None


@dataclass(frozen=True, slots=True)
class SessionLife:
    """How long a session is good: *idle_s* without a request, *life_s* whatever happens."""

    idle_s: float = 7_200.0
    life_s: float = 43_200.0

    @property
    def renew_s(self) -> float:
        """Seconds after which a use is written down."""
        return min(300.0, self.idle_s / 4)


class Users:
    """Part of the one writer; every method runs inside the caller's transaction."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db
        self._cursor = db.cursor()

    # -- users ----------------------------------------------------------------------------------

    def add(  # noqa: PLR0913, PLR0917 - the columns
        self, name: str, folded: str, domain: str, namespace: str, verifier: str, now_s: float
    ) -> bool:
        """Add a user; ``False`` if there is one of that name."""
        self._cursor.execute(
            "insert into local_user (name, folded, domain, namespace, password, disabled, created, changed) "
            "values (?, ?, ?, ?, ?, 0, ?, ?) on conflict (folded) do nothing",
            (name, folded, domain, namespace, verifier, now_s, now_s),
        )
        return bool(self._db.changes())

    def set_password(self, folded: str, verifier: str, now_s: float) -> bool:
        """Change a password and end the user's sessions; ``False`` if there is no such user."""
        self._cursor.execute(
            "update local_user set password = ?, changed = ? where folded = ?", (verifier, now_s, folded)
        )
        return bool(self._db.changes()) and self._end_all(folded)

    def set_disabled(self, folded: str, *, disabled: bool) -> bool:
        """Let a user in no more, or again; either way his sessions end. ``False`` if there is no such user."""
        self._cursor.execute("update local_user set disabled = ? where folded = ?", (int(disabled), folded))
        return bool(self._db.changes()) and self._end_all(folded)

    def delete(self, folded: str) -> bool:
        """Delete a user with his sessions; ``False`` if there is none."""
        self._end_all(folded)
        self._cursor.execute("delete from local_user where folded = ?", (folded,))
        return bool(self._db.changes())

    def all(self) -> list[LocalUser]:
        """Return all users by name."""
        return [_user(row) for row in fetch(self._cursor, f"select {_USER} from local_user order by folded")]  # noqa: S608 - a constant

    # -- sessions -------------------------------------------------------------------------------

    def open_session(self, digest: bytes, user: int, life: SessionLife, now_s: float) -> bool:
        """Keep a session; ``False`` if the user is gone or disabled meanwhile. What has expired is forgotten here."""
        self._cursor.execute(
            "delete from user_session where expires <= ? or born > ?", (now_s, now_s + _SLACK_S)
        )
        if self._cursor.execute("select disabled from local_user where id = ?", (user,)).get != 0:
            return False
        self._cursor.execute(
            "insert into user_session (digest, user, born, used, expires) values (?, ?, ?, ?, ?)",
            (digest, user, now_s, now_s, now_s + life.life_s),
        )
        self._cursor.execute(
            "delete from user_session where digest in "
            "(select digest from user_session where user = ? order by born desc, digest limit -1 offset ?)",
            (user, _SESSIONS),
        )
        return True

    def open_provided(
        self, digest: bytes, name: str, groups: Sequence[str], life: SessionLife, now_s: float
    ) -> None:
        """Keep a session of somebody for whom an identity provider vouched."""
        self._cursor.execute(
            "delete from provider_session where expires <= ? or born > ?", (now_s, now_s + _SLACK_S)
        )
        self._cursor.execute(
            "insert into provider_session (digest, name, groups, born, used, expires) values (?, ?, ?, ?, ?, ?)",
            (digest, name, msgpack.encode(list(groups)), now_s, now_s, now_s + life.life_s),
        )

    def use_session(self, digest: bytes, now_s: float) -> None:
        """Note that a session is in use."""
        for table in _TABLES:
            self._cursor.execute(
                f"update {table} set used = ?2 where digest = ?1 and used < ?2",  # noqa: S608 - a constant
                (digest, now_s),
            )

    def end_session(self, digest: bytes) -> None:
        """End a session; an unknown one is no error."""
        for table in _TABLES:
            self._cursor.execute(f"delete from {table} where digest = ?", (digest,))  # noqa: S608 - a constant

    def _end_all(self, folded: str) -> bool:
        self._cursor.execute(
            "delete from user_session where user = (select id from local_user where folded = ?)", (folded,)
        )
        return True

    # -- tokens ---------------------------------------------------------------------------------

    def add_token(self, name: str, digest: bytes, rights: int, now_s: float, expires_s: float | None) -> bool:
        """Keep a token; ``False`` if the name was given before."""
        self._cursor.execute(
            "insert into api_token (name, digest, rights, created, expires) values (?, ?, ?, ?, ?) "
            "on conflict (name) do nothing",
            (name, digest, rights, now_s, expires_s),
        )
        return bool(self._db.changes())

    def revoke_token(self, name: str, now_s: float) -> bool:
        """Revoke a token; ``False`` if none of that name is in force."""
        self._cursor.execute(
            "update api_token set revoked = ? where name = ? and revoked is null", (now_s, name)
        )
        return bool(self._db.changes())

    def tokens(self) -> list[ApiToken]:
        """Return all tokens in order of their making."""
        return [ApiToken(*row) for row in fetch(self._cursor, f"select {_TOKEN} from api_token order by id")]  # noqa: S608 - a constant


class PeopleReader:
    """One read-only connection; one thread at a time. Raises :class:`CatalogError` as all readers."""

    def __init__(self, path: Path) -> None:
        self._rows = Rows(open_reader(path), path)

    def close(self) -> None:
        """Close the connection."""
        self._rows.close()

    def any_users(self) -> bool:
        """Whether somebody could log in."""
        return bool(self._rows.value("select exists (select 1 from local_user where disabled = 0)"))

    def user(self, folded: str) -> LocalUser | None:
        """Return the user of that name, disabled or not."""
        row = self._rows.one(f"select {_USER} from local_user where folded = ?", (folded,))  # noqa: S608 - a constant
        return None if row is None else _user(row)

    def session(self, digest: bytes, life: SessionLife, now_s: float) -> tuple[LocalUser, float] | None:
        """Return the user of a living session and when its use was written down last."""
        columns = ", ".join(f"u.{name}" for name in _USER.split(", "))
        row = self._rows.one(
            f"select s.used, {columns} from user_session s join local_user u on u.id = s.user "  # noqa: S608 - constants
            "where s.digest = ? and u.disabled = 0 and s.expires > ? and s.born <= ? and s.used > ?",
            (digest, now_s, now_s + _SLACK_S, now_s - life.idle_s),
        )
        return None if row is None else (_user(row[1:]), row[0])

    def provided(
        self, digest: bytes, life: SessionLife, now_s: float
    ) -> tuple[str, tuple[str, ...], float] | None:
        """Return name and groups of a living session that a provider vouched for, and when it was used last."""
        row = self._rows.one(
            "select name, groups, used from provider_session "
            "where digest = ? and expires > ? and born <= ? and used > ?",
            (digest, now_s, now_s + _SLACK_S, now_s - life.idle_s),
        )
        return None if row is None else (row[0], tuple(msgpack.decode(row[1], type=list[str])), row[2])

    def token(self, digest: bytes, now_s: float) -> ApiToken | None:
        """Return the token of that digest if it is in force."""
        row = self._rows.one(
            f"select {_TOKEN} from api_token where digest = ? and revoked is null "  # noqa: S608 - a constant
            "and (expires is null or expires > ?)",
            (digest, now_s),
        )
        return None if row is None else ApiToken(*row)


def _user(row: Any) -> LocalUser:
    return LocalUser(row[0], row[1], row[2], row[3], row[4], bool(row[5]), row[6], row[7])
