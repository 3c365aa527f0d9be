"""Senders that were refused, and tokens that stand for a data source."""

import hashlib
import hmac
import json
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ingather.feeds.trust import write_durably

__all__ = ["RefusedSender", "RefusedSenders", "SourceTokens", "load_refused"]

_MOST: Final = 1000


@dataclass(slots=True)
class RefusedSender:
    """An address that was turned away: how often, and when last (epoch seconds)."""

    address: str
    count: int
    last_s: float


class RefusedSenders:
    """The addresses that were turned away, the newest thousand; kept in a file for the command line."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._senders = {sender.address: sender for sender in reversed(load_refused(path))}
        self._changed = False

    def note(self, address: str, now_s: float) -> bool:
        """Count a refusal; return whether the address is new."""
        old = self._senders.pop(address, None)
        self._senders[address] = RefusedSender(address, old.count + 1 if old else 1, now_s)
        if len(self._senders) > _MOST:
            del self._senders[next(iter(self._senders))]
        self._changed = True
        return old is None

    def listed(self) -> list[RefusedSender]:
        """Return them, the latest first."""
        return list(reversed(self._senders.values()))

    def save(self) -> None:
        """Write the file if anything has changed.

        Raises:
            OSError: it cannot be written.
        """
        if self._changed:
            self._changed = False
            rows = [{"address": s.address, "count": s.count, "last": s.last_s} for s in self.listed()]
            write_durably(self._path, json.dumps(rows, indent=1))


def load_refused(path: Path) -> list[RefusedSender]:
    """Return the refused senders in the file at *path*, the latest first; none if there is no file or a damaged one."""
    try:
        rows = json.loads(path.read_text("utf-8"))
        return [RefusedSender(str(r["address"]), int(r["count"]), float(r["last"])) for r in rows][:_MOST]
    except (OSError, ValueError, TypeError, KeyError):
        return []


class SourceTokens:
    """Tokens that admit a sender from anywhere, each for one data source. The file holds digests only."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def make(self, source: str) -> str:
        """Give *source* a new token, which replaces its old one, and return it.

        Raises:
            OSError: the file cannot be written.
        """
        token = secrets.token_urlsafe(32)
        self._write({**self._read(), source: _digest(token)})
        return token

    def remove(self, source: str) -> bool:
        """Forget the token of *source*; return whether there was one.

        Raises:
            OSError: the file cannot be written.
        """
        kept = self._read()
        if kept.pop(source, None) is None:
            return False
        self._write(kept)
        return True

    def sources(self) -> list[str]:
        """Return the sources that have a token."""
        return sorted(self._read())

    def source_of(self, token: str) -> str | None:
        """Return the source that *token* admits to, ``None`` if it is nobody's."""
        found = None
        shown = _digest(token)
        for source, digest in self._read().items():
            if hmac.compare_digest(digest, shown):
                found = source
        return found

    def _read(self) -> dict[str, str]:
        try:
            rows = json.loads(self._path.read_text("utf-8"))
            return {str(source): str(digest) for source, digest in rows.items()}
        except (OSError, ValueError, AttributeError):
            return {}

    def _write(self, rows: dict[str, str]) -> None:
        write_durably(self._path, json.dumps(rows, indent=1, sort_keys=True))


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()
