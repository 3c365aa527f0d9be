"""As whom a server of files is asked, and where a request to it goes."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import unquote_to_bytes

from ingather.errors import UrlError
from ingather.model.urlparts import split

__all__ = ["ANONYMOUS", "Account", "AccountOf", "Target", "no_account", "target_of"]


@dataclass(frozen=True, slots=True)
class Account:
    """A name and what proves it.

    Attributes:
        user: name of the account.
        password: never shown; with *key_file* its passphrase.
        key_file: private key (sftp alone).
    """

    user: str
    password: str = field(default="", repr=False)
    key_file: str = ""


AccountOf = Callable[[str, str], Account | None]
"""(canonical URL, source) to the account for it; ``None`` = none. Raises ``LoginError`` when there is one that cannot be used."""

ANONYMOUS = "anonymous"


def no_account(_url: str, _source: str) -> Account | None:
    """Give no account to anything."""
    return None


class Target(NamedTuple):
    """Where a canonical URL of a file leads.

    Attributes:
        scheme, host, port: of its origin; IPv6 in brackets.
        path: escaped, begins with ``/``, without a query.
    """

    scheme: str
    host: str
    port: int
    path: str

    @property
    def is_folder(self) -> bool:
        """Whether a folder is meant."""
        return self.path.endswith("/")

    @property
    def name(self) -> str:
        """Last segment with its escapes, for its extension; ``""`` of a folder."""
        return self.path.rpartition("/")[2]


def target_of(url: str) -> Target | str:
    """Take *url* apart, or say why nobody can be asked for it.

    A segment may not hold an escaped slash, which would lead out of the folder that the path shows, nor control characters,
    which would end a command.
    """
    try:
        parts = split(url)
    except UrlError as error:
        return error.text
    path = parts.path.partition("?")[0]
    plain = unquote_to_bytes(path)
    if any(byte < 0x20 or byte == 0x7F for byte in plain):  # noqa: PLR2004 - ASCII's controls
        return "a path with control characters"
    if plain.count(b"/") != path.count("/"):
        return "a path with an escaped slash"
    if {b".", b".."} & set(plain.split(b"/")):
        return "a path with dot segments"
    return Target(parts.scheme, parts.host, parts.port, path)
