"""Who searches: local users, sessions and tokens of a catalog, and what each may see."""

import ipaddress
import secrets
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from ingather.access import principal
from ingather.app.access.accounts import RIGHTS, SEARCH_AS, digest_of, folded_name, principal_of
from ingather.app.access.directory import KnownPeople
from ingather.app.access.passwords import Passwords
from ingather.app.jobs import Job
from ingather.catalog.access.sqlite_users import PeopleReader, SessionLife
from ingather.conf.settings.values import Settings
from ingather.errors import IngatherError, UsageError
from ingather.model.acl import Principal, PrincipalScope
from ingather.model.viewer import Viewer
from ingather.ports.clock import Clock
from ingather.web.auth import Holder, Person, Proxies
from ingather.web.auth.proxies import Network
from ingather.web.endpoint import Role

__all__ = ["CatalogPeople", "named_person", "proxies_of", "session_life"]

_LONGEST: Final = 1_024


class CatalogPeople:
    """What the listeners ask about people; see :class:`ingather.web.auth.People`.

    Args:
        database: the catalog's file.
        write: runs a job on the keeper and waits until it is durable.
        clock: of sessions and tokens (wall).
        passwords: compares them.
        life: of sessions.
        directory: knows other people's passwords; asked about names that no local user has.
    """

    def __init__(  # noqa: PLR0913 - parts of a whole
        self,
        database: Path,
        write: Callable[[Job], Any],
        clock: Clock,
        *,
        passwords: Passwords | None = None,
        life: SessionLife | None = None,
        directory: KnownPeople | None = None,
    ) -> None:
        self._database = database
        self._write = write
        self._clock = clock
        self._passwords = passwords or Passwords()
        self._life = life or SessionLife()
        self._directory = directory if directory is not None and directory.offers_login else None
        self._own = threading.local()
        self._all: list[PeopleReader] = []
        self._lock = threading.Lock()
        self._offers = False
        self.refresh()

    def refresh(self) -> None:
        """Look again whether anybody could log in; only our own process changes that."""
        self._offers = self._reader().any_users()

    def offers_login(self) -> bool:
        """Whether there is anybody who could log in."""
        return self._offers or self._directory is not None

    def check(self, name: str, password: str) -> int | str | None:
        """Compare a password; it takes as long for nobody and for who is disabled.

        A name that a local user has is his, disabled or not: the directory is not asked about it.
        """
        user = self._reader().user(folded_name(name))
        fits = self._passwords.fits(None if user is None else user.verifier, password)
        if user is None and self._directory is not None:
            return self._directory.log_in(name, password)
        return user.id if fits and user is not None and not user.disabled else None

    def open_session(self, user: int) -> str | None:
        """Open a session."""
        cookie = secrets.token_urlsafe(32)
        life = self._life
        kept = self._write(lambda w, _a, now: w.users.open_session(digest_of(cookie), user, life, now))
        return cookie if kept else None

    def open_provided(self, user: str, groups: Sequence[str]) -> str | None:
        """Open a session for somebody for whom a provider vouches."""
        if named_person(user, groups) is None:
            return None
        cookie = secrets.token_urlsafe(32)
        life = self._life
        self._write(lambda w, _a, now: w.users.open_provided(digest_of(cookie), user, groups, life, now))
        return cookie

    def session(self, cookie: str) -> Person | None:
        """Return whose session this is; a use is written down now and then."""
        digest, now_s = digest_of(cookie), self._clock.wall()
        if (found := self._reader().session(digest, self._life, now_s)) is not None:
            user, used_s = found
            who = principal_of(user)
            person = None if who is None else Person(user.name, Viewer((who,)))
        elif (provided := self._reader().provided(digest, self._life, now_s)) is not None:
            name, groups, used_s = provided
            person = named_person(name, groups)
        else:
            return None
        if now_s - used_s > self._life.renew_s:
            with suppress(IngatherError):  # a full disk ends sessions by and by, and no search at once
                self._write(lambda w, _a, now: w.users.use_session(digest, now))
        return person

    def end_session(self, cookie: str) -> None:
        """End a session."""
        self._write(lambda w, _a, _now: w.users.end_session(digest_of(cookie)))

    def token(self, text: str) -> Holder | None:
        """Return whose token this is."""
        found = self._reader().token(digest_of(text), self._clock.wall())
        if found is None:
            return None
        words = [word for word, bit in RIGHTS.items() if found.rights & bit]
        roles = {Role(word) for word in words if word != SEARCH_AS}
        if SEARCH_AS in words:
            roles.add(Role.SEARCHER)
        return Holder(found.name, frozenset(roles), stands_in=SEARCH_AS in words)

    def named(self, user: str, groups: Sequence[str]) -> Person | None:
        """Return the person whom a proxy or front end names."""
        return named_person(user, groups)

    def close(self) -> None:
        """Close the readers; nobody asks any more."""
        with self._lock:
            for reader in self._all:
                reader.close()
            self._all.clear()

    def _reader(self) -> PeopleReader:
        reader: PeopleReader | None = getattr(self._own, "reader", None)
        if reader is None:
            reader = self._own.reader = PeopleReader(self._database)
            with self._lock:
                self._all.append(reader)
        return reader


def named_person(user: str, groups: Sequence[str] = ()) -> Person | None:
    """Return whom the text of a principal means, with the groups that others mean; ``None`` for no name."""
    if any(len(text) > _LONGEST for text in (user, *groups)):
        return None
    who = principal(user, PrincipalScope.USER)
    if who is None:
        return None
    found: list[Principal] = []
    for text in groups:
        group = principal(text, PrincipalScope.GROUP)
        if group is not None:
            found.append(group)
    return Person(user.strip(), Viewer((who,), tuple(found)))


def session_life(settings: Settings) -> SessionLife:
    """How long people stay logged in."""
    return SessionLife(settings.seconds("access.session-idle"), settings.seconds("access.session-life"))


def proxies_of(settings: Settings) -> Proxies:
    """Return whom we believe about who searches.

    Raises:
        UsageError: a network is none, or a header has a name that no header can have.
    """
    networks: list[Network] = []
    for text in settings.words("access.proxies"):
        try:
            networks.append(ipaddress.ip_network(text, strict=False))
        except ValueError as error:
            raise UsageError(
                f"access.proxies: {text!r} is neither an address nor a network",
                hint='write it like ["10.0.0.5", "fd00::/8"]',
            ) from error
    names = []
    for key in ("access.user-header", "access.groups-header"):
        name = settings.text(key).strip().lower()
        if name and not (name.isascii() and name.replace("-", "").isalnum()):
            raise UsageError(f"{key}: {name!r} is no header's name", hint='write it like "X-Remote-User"')
        names.append(name)
    return Proxies(tuple(networks), names[0], names[1])
