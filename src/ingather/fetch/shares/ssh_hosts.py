"""Which host keys are believed: fingerprints that the operator wrote, and OpenSSH's ``known_hosts``. Nothing is ever learnt.

A fingerprint is OpenSSH's: ``SHA256:`` and the digest of the key in base64 without padding (``ssh-keygen -lf``).
"""

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Final

__all__ = ["FINGERPRINT", "fingerprint", "is_fingerprinted", "is_known"]

FINGERPRINT: Final = re.compile(r"(?:(?P<host>\S+)[ ]+)?(?P<digest>SHA256:[A-Za-z0-9+/]{43})=?\Z")
"""An entry of ``host-keys``: a fingerprint, the name of its host before it."""
_SSH_PORT: Final = 22
_HASHED_PARTS: Final = 4
_ENTRY_PARTS: Final = 3


def fingerprint(key: bytes) -> str:
    """Return the fingerprint of a public key as it travels."""
    digest = base64.b64encode(hashlib.sha256(key).digest()).decode().rstrip("=")
    return f"SHA256:{digest}"


def is_fingerprinted(host: str, key: bytes, entries: Iterable[str]) -> bool:
    """Whether one of *entries* is the fingerprint of *key*, for every host or for *host* (lower case, no brackets)."""
    wanted = fingerprint(key)
    for entry in entries:
        match = FINGERPRINT.match(entry)
        if match and match["digest"] == wanted and (match["host"] or host).lower().strip("[]") == host:
            return True
    return False


def is_known(host: str, port: int, key: bytes, known_hosts: str) -> bool:
    """Whether *known_hosts* (text of such a file) has *key* for *host*; a key that it revokes is never known."""
    names = [f"[{host}]:{port}"] if port != _SSH_PORT else [host, f"[{host}]:{port}"]
    found = False
    for line in known_hosts.splitlines():
        words = line.split()
        marker = words.pop(0) if words and words[0].startswith("@") else ""
        if len(words) < _ENTRY_PARTS or words[0].startswith("#") or _key(words[2]) != key:
            continue
        if not any(_fits(words[0], name) for name in names):
            continue
        if marker == "@revoked":
            return False
        found = found or not marker
    return found


def _key(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (ValueError, binascii.Error):
        return b""


def _fits(patterns: str, name: str) -> bool:
    if patterns.startswith("|1|"):
        return _is_hash_of(patterns, name)
    fits = False
    for pattern in patterns.lower().split(","):
        if pattern.startswith("!"):
            if _matches(name, pattern[1:]):
                return False
        elif _matches(name, pattern):
            fits = True
    return fits


def _matches(name: str, pattern: str) -> bool:
    """Compare with a pattern of ``*`` and ``?`` alone: brackets are part of names with ports."""
    return fnmatchcase(name, pattern.replace("[", "[[]"))


def _is_hash_of(hashed: str, name: str) -> bool:
    parts = hashed.split("|")
    if len(parts) != _HASHED_PARTS:
        return False
    salt, digest = _key(parts[2]), _key(parts[3])
    return bool(salt and digest) and hmac.compare_digest(
        hmac.new(salt, name.encode(), hashlib.sha1).digest(), digest
    )
