"""The home folder: everything that one Ingather keeps, in one place.

::

    HOME/
      ingather.toml   settings (conf.settings_file)
      admin-token     secret of the admin listener, readable by its owner only
      credentials.toml  names and passwords for fetching, where there are some (app.credentials)
      secrets.json    secrets for hosts, encrypted, where there are some; their key lies elsewhere (app.secrets)
      config/         robot.conf, filter.conf, filterrules.conf, mime.types; follow.txt, donotfollow.txt, policy-acl.txt
      catalog/        the database          bodies/   WARC segments
      index/          the full-text index   log/      access log, robot.log
      feeds/          what was pushed (spool/), who may push (trusted, tokens), the certificate for https
      plugins/        code of one's own, where there is some (setting plugins.folder)
      run/            what a running process leaves: the lock, sockets

``Home.create`` makes one, ``Home.open`` finds one, ``home.lock`` (``homelock``) keeps a second process
out. Whoever only reads (``search``, ``explain``, ``config show``) opens without locking.
"""

import os
import secrets
from collections.abc import Mapping
from pathlib import Path

from ingather.app.homelock import HomeLock
from ingather.conf.settings.file import SETTINGS_FILE, SettingsFile, load_settings
from ingather.conf.settings.pages import commented_file
from ingather.conf.settings.values import Flag
from ingather.conf.shipped import shipped
from ingather.errors import HomeError

__all__ = ["Home"]

_TOKEN_FILE = "admin-token"  # noqa: S105 - the name of a file
_LOCK_FILE = "run/lock"
_FOLDERS = ("config", "catalog", "bodies", "index", "log", "run", "feeds")
_OURS = frozenset({SETTINGS_FILE, _TOKEN_FILE, "plugins", *_FOLDERS})
_NEW = ".new"
_SHARED_BITS = 0o077


class Home:
    """Paths of one home; nothing is touched by making this object.

    Attributes:
        path: the folder, absolute.
        settings_file, config, catalog, bodies, index, log, run, feeds: what lies in it.
    """

    def __init__(self, path: Path) -> None:
        self.path = Path(os.path.abspath(path.expanduser()))  # noqa: PTH100 - resolve() would follow links
        self.settings_file = self.path / SETTINGS_FILE
        self.config = self.path / "config"
        self.catalog = self.path / "catalog"
        self.bodies = self.path / "bodies"
        self.index = self.path / "index"
        self.log = self.path / "log"
        self.run = self.path / "run"
        self.feeds = self.path / "feeds"

    def __str__(self) -> str:
        return str(self.path)

    @classmethod
    def create(cls, path: Path, *, written: Mapping[str, str] | None = None) -> "Home":
        """Make a home at *path*, or complete one that is there; files that exist are never changed.

        Args:
            path: a folder that does not exist, is empty, or is a home already (also half of one).
            written: settings that the new ``ingather.toml`` states: name to TOML text.

        Raises:
            HomeError: the folder holds something else, or cannot be written.
        """
        home = cls(path)
        home._refuse_foreign()
        try:
            home.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            home._make_folders()
            _write_new(home.settings_file, commented_file(written).encode(), mode=0o644)
            _write_new(home.path / _TOKEN_FILE, f"{secrets.token_urlsafe(32)}\n".encode(), mode=0o600)
            for name, text in shipped().items():
                _write_new(home.config / name, text.encode(), mode=0o644)
        except OSError as error:
            raise _trouble(Path(error.filename or home.path), "written", error) from error
        return home

    @classmethod
    def open(cls, path: Path) -> "Home":
        """Find the home at *path*; folders that are missing are made again.

        Raises:
            HomeError: there is none, or it cannot be read; the hint says what to do.
        """
        home = cls(path)
        try:
            if not home.path.is_dir():
                what = "is not a folder" if home.path.exists() else "does not exist"
                raise HomeError(f"{home} {what}", hint=f"make a home with: ingather init {home}")
            os.listdir(home.path)  # noqa: PTH208 - only whether it may be read
            if not home.settings_file.exists():
                raise HomeError(
                    f"{home} has no {SETTINGS_FILE}", hint=f"make a home with: ingather init {home}"
                )
            with home.settings_file.open("rb"):
                pass
            for folder in _FOLDERS:
                if (home.path / folder).is_dir():
                    os.listdir(home.path / folder)  # noqa: PTH208 - only whether it may be read
        except OSError as error:
            raise _trouble(Path(error.filename or home.path), "read", error) from error
        return home

    def prepare(self) -> None:
        """Make sure that everything can be written, before work begins.

        Raises:
            HomeError: a folder cannot be made or written.
        """
        try:
            self._make_folders()
            for folder in _FOLDERS:
                probe = self.path / folder / f".probe-{os.getpid()}"
                probe.touch()
                probe.unlink()
        except OSError as error:
            raise _trouble(Path(error.filename or self.path), "written", error) from error

    def lock(self, command: str, *, wait_s: float = 0.5) -> HomeLock:
        """Own this home until the lock is released or this process ends.

        Args:
            command: what this process is, for the message that others get (``ingather serve``).
            wait_s: how long to wait for an owner that is just ending.

        Raises:
            HomeLockedError: another process owns it.
            HomeError: the lock file cannot be opened.
        """
        try:
            self.run.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise _trouble(self.run, "written", error) from error
        return HomeLock.take(self.path / _LOCK_FILE, str(self), command, wait_s=wait_s)

    def settings(
        self, *, environment: Mapping[str, str] | None = None, flags: Mapping[str, Flag] | None = None
    ) -> SettingsFile:
        """Read the settings; findings are in the answer."""
        return load_settings(self.settings_file, environment=environment, flags=flags)

    def admin_token(self) -> str:
        """Return the secret of the admin listener.

        Raises:
            HomeError: it is missing or empty, cannot be read, or others can read it too.
        """
        path = self.path / _TOKEN_FILE
        try:
            mode = path.stat().st_mode
            token = path.read_text("ascii").strip()
        except FileNotFoundError as error:
            raise HomeError(
                f"{path} is missing", hint=f"make a new one with: ingather init {self}"
            ) from error
        except (OSError, UnicodeDecodeError) as error:
            if isinstance(error, OSError):
                raise _trouble(path, "read", error) from error
            raise HomeError(
                f"{path} is not a token", hint=f"remove it and run: ingather init {self}"
            ) from error
        if mode & _SHARED_BITS:
            raise HomeError(f"{path} can be read by others", hint=f"chmod 600 {path}")
        if not token:
            raise HomeError(f"{path} is empty", hint=f"remove it and run: ingather init {self}")
        return token

    def _refuse_foreign(self) -> None:
        try:
            names = {entry.name for entry in self.path.iterdir()}
        except FileNotFoundError:
            return
        except OSError as error:
            raise _trouble(self.path, "read", error) from error
        foreign = sorted(names - _OURS - {f"{name}{_NEW}" for name in _OURS})
        if foreign and SETTINGS_FILE not in names:
            raise HomeError(
                f"{self} is not empty and no home of ours: it holds {foreign[0]}",
                hint="name a folder that is empty or does not exist",
            )

    def _make_folders(self) -> None:
        for folder in _FOLDERS:
            (self.path / folder).mkdir(mode=0o700, exist_ok=True)


def _write_new(path: Path, body: bytes, *, mode: int) -> None:
    """Write *path* whole or not at all; leave it alone if it exists."""
    if path.exists():
        return
    new = path.with_name(path.name + _NEW)
    fd = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, mode)
    with os.fdopen(fd, "wb") as file:
        os.fchmod(fd, mode)
        file.write(body)
        file.flush()
        os.fsync(fd)
    new.rename(path)


def _trouble(path: Path, verb: str, error: OSError) -> HomeError:
    hint = None
    if isinstance(error, PermissionError):
        try:
            hint = f"run as {path.owner()}, or give this user access to it"
        except (OSError, KeyError, NotImplementedError):
            hint = "give this user access to it"
    elif error.errno is not None:
        hint = f"look at {path.parent}"
    return HomeError(f"{path} cannot be {verb}: {error.strerror or error}", hint=hint)
