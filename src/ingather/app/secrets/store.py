"""``HOME/secrets.json``: secrets by name, each encrypted with AES-256-GCM, its name bound to it.

``{"version": 1, "key": ID, "secrets": {NAME: {"set": S, "nonce": B64, "value": B64}}}``; ID tells a wrong key from a broken file. Names and
dates stand in clear. One process changes it at a time; whoever reads gets the old or the new file, never half of one.
"""

import fcntl
import json
import os
import re
import secrets
from base64 import b64decode, b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ingather.app.secrets.files import require_private
from ingather.app.secrets.keyfile import KeyFile, identity, write_private
from ingather.errors import UsageError

__all__ = ["FILE", "Secret", "SecretStore", "is_secret_name"]

FILE: Final = "secrets.json"
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")
_LONGEST: Final = 65_536
_MOST_BYTES: Final = 16 << 20
_NONCE: Final = 12
_LATEST_S: Final = 2.5e11
"""The end of the years that dates are shown for."""


def is_secret_name(text: str) -> bool:
    """Whether *text* may name a secret."""
    return _NAME.match(text) is not None


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret: its *value*, never shown, and when it was set (seconds since the epoch)."""

    name: str
    set_s: float
    value: str = field(repr=False)


class SecretStore:
    """The secrets of a home. Any thread and process may read; writers wait for one another.

    Args:
        home: the home folder.
        key: the file with the key.
    """

    def __init__(self, home: Path, key: KeyFile) -> None:
        self._path = home / FILE
        self.key = key

    @property
    def path(self) -> Path:
        """The file."""
        return self._path

    def names(self) -> dict[str, float]:
        """Return when each secret was set, by name; no key is needed.

        Raises:
            UsageError: the file cannot be read.
        """
        return {name: float(entry["set"]) for name, entry in sorted(self._read()["secrets"].items())}

    def get(self, name: str) -> Secret:
        """Return the secret *name*.

        Raises:
            UsageError: there is none, or file or key cannot be used.
        """
        tree = self._read()
        entry = tree["secrets"].get(name)
        if entry is None:
            raise UsageError(f"there is no secret {name!r}", hint=f"ingather secret set {name}")
        return Secret(name, float(entry["set"]), _opened(self._key_of(tree), name, entry))

    def set(self, name: str, value: str, now_s: float) -> bool:
        """Keep *value* as *name*, and return whether a key was made for it.

        Raises:
            UsageError: name or value cannot be one, or file or key cannot be used.
        """
        if not is_secret_name(name):
            raise UsageError(
                f"{name!r} cannot name a secret", hint="letters, digits and . _ - , at most 64, no sign first"
            )
        if not value or len(value.encode()) > _LONGEST or "\0" in value:
            raise UsageError("that is no secret: it is empty, longer than 64 KiB, or has a zero byte in it")
        with self._changing() as tree:
            key, made = self._key_for(tree)
            tree["key"] = identity(key)
            tree["secrets"][name] = _closed(key, name, value, now_s)
        return made

    def delete(self, name: str) -> None:
        """Forget *name*; no key is needed.

        Raises:
            UsageError: there is no such secret.
        """
        with self._changing() as tree:
            if tree["secrets"].pop(name, None) is None:
                raise UsageError(f"there is no secret {name!r}", hint="ingather secret list")

    def rekey(self) -> int:
        """Encrypt everything anew with a new key and return how many secrets there are.

        Cut short at any point it leaves a key file that opens the file: it holds both keys until the new one is in use.

        Raises:
            UsageError: file or key cannot be used.
        """
        with self._changing() as tree:
            old = self._key_of(tree) if tree["secrets"] else b""
            opened = [
                (name, float(entry["set"]), _opened(old, name, entry))
                for name, entry in tree["secrets"].items()
            ]
            new = secrets.token_bytes(32)
            self.key.write(*((new, old) if old else (new,)))
            tree["key"] = identity(new)
            tree["secrets"] = {name: _closed(new, name, value, set_s) for name, set_s, value in opened}
        self.key.write(new)
        return len(opened)

    def check(self) -> None:
        """Raise if a secret that is kept could not be opened.

        Raises:
            UsageError: why not.
        """
        tree = self._read()
        if tree["secrets"]:
            key = self._key_of(tree)
            for name, entry in tree["secrets"].items():
                _opened(key, name, entry)

    def _key_for(self, tree: dict[str, Any]) -> tuple[bytes, bool]:
        """Return the key for a new secret; it is made only where nothing was encrypted with another one."""
        if tree["secrets"]:
            return self._key_of(tree), False
        keys = self.key.read()
        return (keys[0], False) if keys else (self.key.make(), True)

    def _key_of(self, tree: dict[str, Any]) -> bytes:
        keys = self.key.read()
        if not keys:
            raise UsageError(
                f"the key of the secrets is missing: {self.key.path}",
                hint="bring it back from where it is kept; without it delete the secrets and set them anew",
            )
        for key in keys:
            if identity(key) == tree["key"]:
                return key
        raise UsageError(
            f"{self.key.path} is not the key of these secrets", hint="bring back the key that belongs to this home"
        )  # fmt: skip

    def _read(self) -> dict[str, Any]:
        try:
            with self._path.open("rb") as stream:
                require_private(self._path, stream.fileno(), FILE)
                body = stream.read(_MOST_BYTES + 1)
        except FileNotFoundError:
            return {"version": 1, "key": "", "secrets": {}}
        except OSError as error:
            raise UsageError(f"{self._path} cannot be read: {error.strerror}") from error
        tree = _tree(body)
        if tree is None:
            raise UsageError(f"{self._path} is broken", hint="bring it back from a backup")
        return tree

    @contextmanager
    def _changing(self) -> Iterator[dict[str, Any]]:
        """Give the tree to one writer at a time, and write it back when all went well."""
        try:
            folder = os.open(self._path.parent, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise UsageError(f"{self._path.parent} cannot be opened: {error.strerror}") from error
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            tree = self._read()
            yield tree
            write_private(self._path, json.dumps(tree, indent=1, sort_keys=True).encode() + b"\n")
            if not os.geteuid():  # root sets secrets for the user that the service runs as
                owner = os.fstat(folder)
                os.chown(self._path, owner.st_uid, owner.st_gid)
        except OSError as error:
            raise UsageError(f"{self._path} cannot be written: {error.strerror}") from error
        finally:
            os.close(folder)


def _tree(body: bytes) -> dict[str, Any] | None:
    try:
        tree: dict[str, Any] = json.loads(body)
        whole = tree["version"] == 1 and isinstance(tree["key"], str)
        for entry in tree["secrets"].values():
            whole = (
                whole and {"set", "nonce", "value"} <= entry.keys() and 0 <= float(entry["set"]) < _LATEST_S
            )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return tree if whole else None


def _closed(key: bytes, name: str, value: str, set_s: float) -> dict[str, Any]:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    nonce = secrets.token_bytes(_NONCE)
    sealed = AESGCM(key).encrypt(nonce, value.encode(), _bound(name))
    return {"set": set_s, "nonce": b64encode(nonce).decode(), "value": b64encode(sealed).decode()}


def _opened(key: bytes, name: str, entry: dict[str, Any]) -> str:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    try:
        nonce, sealed = b64decode(entry["nonce"], validate=True), b64decode(entry["value"], validate=True)
        return AESGCM(key).decrypt(nonce, sealed, _bound(name)).decode()
    except (InvalidTag, ValueError, TypeError) as error:
        raise UsageError(
            f"the secret {name!r} cannot be opened: {FILE} was changed", hint=f"ingather secret set {name}"
        ) from error


def _bound(name: str) -> bytes:
    return b"ingather secret\0" + name.encode()
