"""The key of the secrets: a file outside the home, readable by its owner alone.

It holds one line, 32 random bytes in base64; while all secrets are being encrypted anew, two: the new key, then the old one.
"""

import os
import secrets
from base64 import b64decode, b64encode
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Final

from ingather.app.secrets.files import require_private
from ingather.errors import UsageError

__all__ = ["KeyFile", "identity", "write_private"]

_BYTES: Final = 32
_MOST: Final = 4_096
_CREDENTIAL: Final = "ingather-secrets-key"
_SETTING: Final = "secrets.key-file"


def identity(key: bytes) -> str:
    """Return by what a key is known without being told."""
    return sha256(b"ingather secrets key\0" + key).hexdigest()[:16]


class KeyFile:
    """Where the key is.

    Args:
        path: the file.
        given: systemd gave it: it is neither made nor changed by us.
    """

    def __init__(self, path: Path, *, given: bool = False) -> None:
        self.path = path
        self.given = given

    def __repr__(self) -> str:
        return f"KeyFile({self.path})"

    @classmethod
    def of(cls, home: Path, setting: str, environment: Mapping[str, str]) -> "KeyFile":
        """Return the file that *setting* names, else systemd's credential ``ingather-secrets-key``, else one in the user's configuration.

        Raises:
            UsageError: it would lie in the home, whose backups it must not be part of.
        """
        folder = environment.get("CREDENTIALS_DIRECTORY", "")
        if setting.strip():
            made = cls(Path(setting.strip()).expanduser())
            if not made.path.is_absolute():
                raise UsageError(f"{_SETTING} is no whole path: {setting}", hint="write it from / on")
        elif folder and (given := Path(folder) / _CREDENTIAL).exists():
            made = cls(given, given=True)
        else:
            base = environment.get("XDG_CONFIG_HOME") or os.path.join(  # noqa: PTH118 - text in, text out
                environment.get("HOME") or str(Path("~").expanduser()), ".config"
            )
            made = cls(Path(base) / "ingather" / "secrets.key")
        if made.path.resolve().is_relative_to(home.resolve()):
            raise UsageError(
                f"the key {made.path} would lie in the home", hint=f"{_SETTING} names a file elsewhere: backups take the home along"
            )  # fmt: skip
        return made

    def read(self) -> tuple[bytes, ...]:
        """Return the key, or new and old one; empty if there is no file.

        Raises:
            UsageError: it cannot be read, others may read it, or it holds no key.
        """
        try:
            with self.path.open("rb") as stream:
                if not self.given:  # systemd's are closed by their folder
                    require_private(self.path, stream.fileno(), _SETTING)
                text = stream.read(_MOST)
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise UsageError(
                f"the key of the secrets, {self.path}, cannot be read: {error.strerror}", hint=f"look at it, or at {_SETTING}"
            ) from error  # fmt: skip
        try:
            keys = tuple(b64decode(line, validate=True) for line in text.split())
        except ValueError:
            keys = ()
        if not keys or len(keys) > 2 or any(len(key) != _BYTES for key in keys):  # noqa: PLR2004 - new and old
            raise UsageError(
                f"{self.path} holds no key of secrets", hint="bring the file back that was made with them"
            )
        return keys

    def make(self) -> bytes:
        """Make a key, write it and return it.

        Raises:
            UsageError: it cannot be written.
        """
        key = secrets.token_bytes(_BYTES)
        self.write(key)
        return key

    def write(self, *keys: bytes) -> None:
        """Write *keys* in place of what the file holds.

        Raises:
            UsageError: it cannot be written.
        """
        if self.given:
            raise UsageError(
                f"the key {self.path} is systemd's: it is not changed here", hint=f"set {_SETTING} for a file of our own"
            )  # fmt: skip
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_private(self.path, b"".join(b64encode(key) + b"\n" for key in keys))
        except OSError as error:
            raise UsageError(
                f"the key of the secrets, {self.path}, cannot be written: {error.strerror}", hint=f"{_SETTING} names another place"
            ) from error  # fmt: skip


def write_private(path: Path, body: bytes) -> None:
    """Write a whole file that its owner alone may read, so that either the old or the new one is there."""
    new = path.with_name(f".{path.name}.{os.getpid()}.new")
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with open(descriptor, "wb") as stream:  # noqa: PTH123 - it is open
            stream.write(body)
            stream.flush()
            os.fsync(descriptor)
        new.replace(path)
    except OSError:
        new.unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
