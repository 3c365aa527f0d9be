"""Secrets that a test plants, and every form in which they could be written down somewhere."""

from base64 import b64encode
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import quote, quote_plus

__all__ = ["Canaries", "forms_of"]

_TELLING = 8
"""Shorter pieces are met by chance."""


def forms_of(secret: str, user: str = "crawler") -> set[bytes]:
    """Return the ways in which a *secret* of *user* might be written: plain, hexadecimal, in URLs, in base64, in UTF-16."""
    raw = secret.encode()
    ways = {
        raw,
        raw.hex().encode(),
        raw.hex().upper().encode(),
        quote(secret, safe="").encode(),
        quote_plus(secret).encode(),
    }
    ways |= {
        b64encode(user.encode() + b":" + raw),
        b64encode(user.encode() + b":" + quote_plus(secret).encode()),
        secret.encode("utf-16-le"),
    }
    for ahead in range(3):  # as it stands within a longer text in base64
        whole = b64encode(bytes(ahead) + raw)
        ways.add(whole[-(-ahead * 4 // 3) : -4])
    return {way for way in ways if len(way) > _TELLING}


class Canaries:
    """Looks for *secrets*, which must be nowhere."""

    def __init__(self, secrets: Iterable[str]) -> None:
        self._never: Mapping[bytes, str] = {way: secret for secret in secrets for way in forms_of(secret)}

    def spoken(self, where: str, body: bytes) -> list[str]:
        """Return a complaint for each form of a secret in *body*."""
        return [f"{secret} in {where}" for way, secret in self._never.items() if way in body]

    def kept(self, folder: Path) -> list[str]:
        """Return a complaint for each form of a secret in a file below *folder*."""
        found = []
        for path in folder.rglob("*"):
            if path.is_file() and not path.is_symlink():
                found += self.spoken(str(path), path.read_bytes())
        return found
