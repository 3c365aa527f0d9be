"""Which login goes along with which URL of which source, made with its secrets."""

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ingather.app.credentials import FILE, CredentialFile
from ingather.app.reaching.ledger import FileLedger
from ingather.app.reaching.making import SecretOf, make
from ingather.app.secrets import KeyFile, SecretStore
from ingather.conf.robot.robotconf import RobotConf
from ingather.conf.settings.values import Settings
from ingather.conf.sites.rules import Site
from ingather.conf.sources.credentials import CredentialConf
from ingather.conf.sources.source import SourceConf
from ingather.errors import UsageError
from ingather.fetch.logins import Basic, Form, Guard, Jar, Login, LoginError, WhenAsked, WithCookies
from ingather.fetch.logins.through import Through
from ingather.log import get
from ingather.model.resource import Failure, Request, Response
from ingather.model.scope import Scope
from ingather.model.source_name import BySource
from ingather.model.urlparts import split
from ingather.ports.clock import Clock

__all__ = ["LoginBook"]

_LOOK_S: Final = 2.0
_ROBOT: Final = "robot.conf"
_WEB: Final = ("http://", "https://")
_log = get("fetch")


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a credential is for: URLs with this beginning, and only those that *covers* (``None`` = all)."""

    conf: CredentialConf
    covers: Callable[[str], bool] | None = None

    def fits(self, url: str) -> bool:
        return url.startswith(self.conf.url) and (self.covers is None or self.covers(url))


class _Unusable:
    """A credential whose secret cannot be had: nothing is sent."""

    def __init__(self, text: str) -> None:
        self._text = text

    async def ask(self, request: Request, scope: Scope, send: object) -> Response | Failure:
        raise LoginError(self._text)


class LoginBook:
    """The logins of a home; of one event loop. A secret that is set anew counts within seconds.

    Args:
        home: the home folder.
        settings: where the key is.
        sources: with their credentials.
        clock: the time.
        sites: of filterrules.conf: those that name credentials, and the hosts that robot.conf's password is for.
        robot: its username and password.
    """

    def __init__(  # noqa: PLR0913 - what an answer may depend on
        self, home: Path, settings: Settings, sources: Mapping[str, SourceConf], clock: Clock, *,
        sites: Iterable[Site] = (), robot: RobotConf | None = None,
    ) -> None:  # fmt: skip
        self._home, self._clock = home, clock
        self._store: SecretStore | None = None
        self._trouble = ""
        try:
            self._store = SecretStore(home, KeyFile.of(home, settings.text("secrets.key-file"), os.environ))
        except UsageError as error:
            self._trouble = str(error)
            _log.error("no secret is sent", error=str(error))
        self._file = CredentialFile(home, clock.monotonic)
        self._places: BySource[list[_Place]] = BySource()
        self._jars = BySource((name, Jar()) for name, source in sources.items() if source.reach.cookies)
        self._made: dict[tuple[str, str], tuple[str, Login]] = {}
        self._looked_s = float("-inf")
        self._set: dict[str, float] = {}
        self._add_sources(sources)
        enabled = [site for site in sites if site.enabled]
        self._add_sites(enabled, sources)
        user, password = ("", "") if robot is None else (str(robot.username or ""), str(robot.password or ""))
        self._robot = (user or "anonymous", password) if password else None
        self._robot_sites: BySource[list[Site]] = BySource()
        for site in enabled if self._robot else ():
            self._robot_sites.listed(site.source).append(site)
        self._any = BySource(dict.fromkeys((*self._places, *self._jars, *self._robot_sites), True))

    def find(self, url: str, source: str) -> Login | None:
        """Return the login for canonical *url* of *source*: of those that fit the one with the longest beginning."""
        login = self._login(url, source) if source in self._any else None
        if login is None:
            login = self._older(url, source)
        jar = self._jars.get(source)
        if jar is None or isinstance(login, Guard):
            return login
        if login is None or isinstance(login, WhenAsked):
            return WithCookies(jar, login, self._clock.wall, shared=True)
        return login

    def password(self, url: str, source: str) -> tuple[str, str] | None:
        """Return name and password for a URL of a protocol beside http, ``None`` = there are none for it.

        Raises:
            LoginError: there are, but they cannot be used now.
        """
        place = self._place(url, source)
        if place is not None and place.conf.kind == "password":
            closed = self._ledger(place.conf).closed()
            if closed is not None:
                raise LoginError(closed.text)
            user = f"{place.conf.domain}\\{place.conf.user}" if place.conf.domain else place.conf.user
            return user, self._secret(place.conf)(place.conf.secret)
        if self._robot is not None and self._robot_site(url, source):
            return self._robot
        return None

    def guard(self, url: str, source: str) -> Login | None:
        """Return who counts refusals of what :meth:`password` gives for a URL, and holds it back after too many."""
        place = self._place(url, source)
        if place is not None and place.conf.kind == "password":
            name, mark, ledger = place.conf.name, self._mark(place.conf), self._ledger(place.conf)
        elif self._robot is not None and self._robot_site(url, source):
            name, mark = f"{_ROBOT} at {split(url).host}", _state(self._home / "config" / _ROBOT)
            ledger = FileLedger(
                self._home / "run", name, mark, 3, wall=self._clock.wall, monotonic=self._clock.monotonic
            )
        else:
            return None
        made = self._made.get((source, f"password {name}"))
        if made is None or made[0] != mark:
            made = self._made[source, f"password {name}"] = mark, Guard(name, Through(), ledger)
        return made[1]

    def counting(self, url: str, source: str) -> Guard | None:
        """Return who counts the refusals of the login for *url* of *source*, whatever its protocol."""
        login = self._login(url, source) if source in self._any else None
        login = login or self._older(url, source) or self.guard(url, source)
        return login if isinstance(login, Guard) else None

    def _login(self, url: str, source: str) -> Login | None:
        place = self._place(url, source)
        if place is not None:
            return self._of(place.conf, source) if place.conf.kind != "password" else None
        if self._robot is None or not url.startswith(_WEB) or not self._robot_site(url, source):
            return None
        name = f"{_ROBOT} at {split(url).host}"
        made = self._made.get((source, name))
        if made is None:
            mark = _state(self._home / "config" / _ROBOT)
            ledger = FileLedger(
                self._home / "run", name, mark, 3, wall=self._clock.wall, monotonic=self._clock.monotonic
            )
            login = self._keeping(Basic(*self._robot), source)
            made = self._made[source, name] = ("", WhenAsked(Guard(name, login, ledger)))
        return made[1]

    def _older(self, url: str, source: str) -> Login | None:
        """Return the login of credentials.toml; its refusals are counted like those of a table."""
        entry = self._file.find(url, source)
        if entry is None:
            return None
        name, mark = f"{FILE}: {entry.user} at {split(entry.prefix).host}", _state(self._home / FILE)
        made = self._made.get((source, entry.prefix))
        if made is None or made[0] != mark:
            ledger = FileLedger(
                self._home / "run", name, mark, 3, wall=self._clock.wall, monotonic=self._clock.monotonic
            )
            login = self._keeping(Basic(entry.user, entry.password), source)
            made = self._made[source, entry.prefix] = mark, Guard(name, login, ledger)
        return made[1]

    def _place(self, url: str, source: str) -> _Place | None:
        fitting = [place for place in self._places.get(source, ()) if place.fits(url)]
        return max(fitting, key=lambda place: len(place.conf.url), default=None)

    def _robot_site(self, url: str, source: str) -> bool:
        return any(site.covers(url) for site in self._robot_sites.get(source, ()))

    def _of(self, conf: CredentialConf, source: str) -> Login:
        mark = self._mark(conf)
        made = self._made.get((source, conf.name))
        if made is None or made[0] != mark:
            made = self._made[source, conf.name] = (mark, self._guarded(conf, source))
        return made[1]

    def _keeping(self, login: Login, source: str) -> Login:
        """Return *login* with cookies of its own where its source wants cookies; a form has them anyway."""
        if source not in self._jars or isinstance(login, Form):
            return login
        return WithCookies(Jar(), login, self._clock.wall)

    def _guarded(self, conf: CredentialConf, source: str) -> Login:
        login: Login
        try:
            login = self._keeping(make(conf, self._home, self._secret(conf), self._clock), source)
        except LoginError as error:
            _log.error("a credential is not sent", credential=conf.name, error=error.text)
            login = _Unusable(error.text)
        return Guard(conf.name, login, self._ledger(conf))

    def _ledger(self, conf: CredentialConf) -> FileLedger:
        return FileLedger(
            self._home / "run", conf.name, self._mark(conf), conf.attempts,
            wall=self._clock.wall, monotonic=self._clock.monotonic,
        )  # fmt: skip

    def _secret(self, conf: CredentialConf) -> SecretOf:
        def secret(name: str) -> str:
            if self._store is None:
                raise LoginError(self._trouble)
            try:
                return self._store.get(name).value
            except UsageError as error:
                raise LoginError(str(error)) from None

        return secret

    def _mark(self, conf: CredentialConf) -> str:
        """Return what changes when a secret of *conf*, or a file of it, is another one."""
        now_s = self._clock.monotonic()
        if now_s - self._looked_s >= _LOOK_S:
            self._looked_s = now_s
            try:
                self._set = {} if self._store is None else self._store.names()
            except UsageError:
                self._set = {}
        marks = [str(self._set.get(name)) for name in conf.secrets]
        if conf.secrets and self._store is not None:
            marks.append(_state(self._store.key.path))
        marks += [_state(self._home / one) for one in (conf.certificate, conf.key, conf.keytab) if one]
        return " ".join(marks)

    def _add_sources(self, sources: Mapping[str, SourceConf]) -> None:
        for name, source in sources.items():
            for conf in source.reach.logins:
                if conf.name in source.reach.credentials:
                    self._places.listed(name).append(_Place(conf))

    def _add_sites(self, sites: Iterable[Site], sources: Mapping[str, SourceConf]) -> None:
        for site in sites:
            source = sources.get(site.source)
            for conf in source.reach.logins if source is not None and site.credentials else ():
                if conf.name == site.credentials:
                    self._places.listed(site.source).append(_Place(conf, site.covers))


def _state(path: Path) -> str:
    try:
        found = os.stat(path)  # noqa: PTH116 - one call
    except OSError:
        return ""
    return f"{found.st_ino}.{found.st_mtime_ns}.{found.st_mode}"
