"""``HOME/credentials.toml``: names and passwords for fetching, by the beginning of URLs.

The file is beside the configuration and not in it: versions of the configuration are kept in the catalog with their full text, and a
password has no business there. It has to be readable by its owner alone. Passwords are shown nowhere: messages name an entry by its
number, and the values' ``repr`` leaves them out.
"""

import os
import threading
import tomllib
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ingather.app.secrets import require_private, secret_of
from ingather.errors import UrlError, UsageError
from ingather.log import get
from ingather.model.source_name import same_source
from ingather.model.url import canonical

__all__ = ["FILE", "Credential", "CredentialFile", "read_credentials"]

FILE: Final = "credentials.toml"
_log = get("fetch")
_KEYS: Final = frozenset({"url", "user", "password", "password-file", "domain", "sources"})
_MOST_BYTES: Final = 1 << 20
_LOOK_S: Final = 2.0


@dataclass(frozen=True, slots=True)
class Credential:
    """One entry.

    Attributes:
        prefix: canonical beginning of the URLs, with scheme, host and port.
        user: as it is sent, its domain before it.
        password: never shown.
        sources: for which alone it is; empty = all.
    """

    prefix: str
    user: str
    password: str = field(repr=False)
    sources: tuple[str, ...] = ()

    def fits(self, url: str, source: str) -> bool:
        """Whether it is for *url*, fetched for *source*."""
        return url.startswith(self.prefix) and (
            not self.sources or any(same_source(source, one) for one in self.sources)
        )

    def header(self) -> bytes:
        """Return the header line of RFC 7617, in UTF-8."""
        return b"Authorization: Basic " + b64encode(f"{self.user}:{self.password}".encode())


class CredentialFile:
    """The entries as the file has them now; a change counts within seconds. Any thread may ask.

    A file that cannot be read, or that others could read, gives none: then nothing is sent, and that is logged.

    Args:
        home: the home folder.
        monotonic: paces the looks at the file.
    """

    def __init__(self, home: Path, monotonic: Callable[[], float]) -> None:
        self._home = home
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._looked_s = float("-inf")
        self._state: tuple[int, ...] = ()
        self._entries: tuple[Credential, ...] = ()

    def find(self, url: str, source: str) -> Credential | None:
        """Return the entry for *url* (canonical): of those that fit the one with the longest beginning, the first of equals."""
        entries = self._fresh()
        return (
            max((entry for entry in entries if entry.fits(url, source)), key=_length, default=None)
            if entries
            else None
        )

    def header(self, url: str, source: str) -> bytes | None:
        """Return the header line for *url*, ``None`` = none."""
        found = self.find(url, source)
        return None if found is None else found.header()

    def _fresh(self) -> tuple[Credential, ...]:
        now_s = self._monotonic()
        if now_s - self._looked_s < _LOOK_S:
            return self._entries
        with self._lock:
            self._looked_s = now_s
            state = _state(self._home / FILE)
            if state != self._state:
                self._state = state
                try:
                    self._entries = read_credentials(self._home)
                except UsageError as error:
                    self._entries = ()
                    _log.error("no credentials are sent", error=str(error))
            return self._entries


def read_credentials(home: Path) -> tuple[Credential, ...]:
    """Return the entries of a home, in their order; none without the file.

    Raises:
        UsageError: the file or an entry is wrong; the text has no value of a password in it.
    """
    path = home / FILE
    try:
        with path.open("rb") as stream:
            require_private(path, stream.fileno(), FILE)
            body = stream.read(_MOST_BYTES + 1)
        if len(body) > _MOST_BYTES:
            raise UsageError(f"{path} is longer than 1 MiB")
        tree = tomllib.loads(body.decode())
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8", hint="save it as UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        # What it says of the place is wanted, what it may quote is not.
        place = str(error)[str(error).rfind("(at") :] if "(at" in str(error) else ""
        raise UsageError(
            f"{path} is not TOML {place}".rstrip(), hint="see docs/how-to/crawl-with-a-password.md"
        ) from None
    if set(tree) - {"credential"} or not isinstance(tree.get("credential", []), list):
        raise UsageError(f"{path} holds something else than [[credential]] tables")
    return tuple(_entry(home, number, table) for number, table in enumerate(tree.get("credential", []), 1))


def _entry(home: Path, number: int, table: object) -> Credential:
    where = f"{FILE}: credential {number}"
    if not isinstance(table, dict):
        raise UsageError(f"{where} is no table")
    if unknown := sorted(set(table) - _KEYS):
        raise UsageError(f"{where} has no key {unknown[0]!r}", hint=f"there are: {', '.join(sorted(_KEYS))}")
    user, domain = _text(where, table, "user"), _text(where, table, "domain")
    if not user or ":" in user + domain:
        raise UsageError(f"{where}: user is missing or has a colon in it", hint="RFC 7617 allows none")
    if ("password" in table) == ("password-file" in table):
        raise UsageError(f"{where}: give either password or password-file")
    if "password-file" in table:
        password = secret_of(home, _text(where, table, "password-file"), where)
    else:
        password = _text(where, table, "password")
    return Credential(
        _prefix(where, _text(where, table, "url")),
        f"{domain}\\{user}" if domain else user,
        password,
        _sources(where, table),
    )


def _text(where: str, table: Mapping[str, Any], key: str) -> str:
    value = table.get(key, "")
    if not isinstance(value, str) or any(ord(char) < 32 or ord(char) == 127 for char in value):  # noqa: PLR2004 - ASCII's controls
        raise UsageError(f"{where}: {key} is no text of one line")
    return value


def _prefix(where: str, url: str) -> str:
    """Return the canonical beginning; it names a whole origin, so that nothing is sent to another."""
    try:
        made = canonical(url)
    except UrlError as error:
        raise UsageError(
            f"{where}: url: {error.text}", hint="write it like https://intranet.example/reports/"
        ) from error
    rest = made.partition("://")[2]
    if (
        not made.startswith(("http://", "https://"))
        or "/" not in rest
        or "@" in url.partition("://")[2].partition("/")[0]
    ):
        raise UsageError(
            f"{where}: url is no beginning of http or https URLs",
            hint="write it like https://intranet.example/reports/",
        )
    return made


def _sources(where: str, table: Mapping[str, Any]) -> tuple[str, ...]:
    value: Sequence[object] = table.get("sources", [])
    if not isinstance(value, list) or not all(isinstance(name, str) and name for name in value):
        raise UsageError(f"{where}: sources is no list of names")
    return tuple(str(name) for name in value)


def _length(entry: Credential) -> int:
    return len(entry.prefix)


def _state(path: Path) -> tuple[int, ...]:
    try:
        found = os.stat(path)  # noqa: PTH116 - one call
    except OSError:
        return ()
    return found.st_ino, found.st_mtime_ns, found.st_size, found.st_mode, found.st_ctime_ns
