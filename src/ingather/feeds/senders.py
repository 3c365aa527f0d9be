"""Senders that were refused, and tokens that admit from anywhere."""

import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
from msgspec.structs import replace

from ingather.feeds.authority import Grant
from ingather.feeds.trust import write_durably
from ingather.model.source_name import source_key, spelled

__all__ = ["FeedTokens", "RefusedSender", "RefusedSenders", "load_refused", "standard_grant"]

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


class _Row(NamedTuple):
    digest: str
    grant: Grant


class FeedTokens:
    """Tokens that admit senders from anywhere, by name, each with its grant. The file holds digests of the tokens only.

    A file that an older version wrote has sources with a digest each: such a token writes documents and access lists of
    its source, and no memberships.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def make(self, name: str, grant: Grant | None = None) -> str:
        """Make a token called *name*, which replaces the old one of that name, and return it.

        *grant*: what it may say; ``None`` = as the old one, else its own data source.

        Raises:
            OSError: the file cannot be written.
        """
        rows = self._read()
        name = spelled(name, rows)
        if grant is None:
            grant = rows[name].grant if name in rows else standard_grant(name)
        token = secrets.token_urlsafe(32)
        self._write({**rows, name: _Row(_digest(token), replace(grant, token=name))})
        return token

    def change(self, name: str, grant: Grant) -> bool:
        """Let the token *name* say what *grant* says from now on; return whether there is one. It stays the same token.

        Raises:
            OSError: the file cannot be written.
        """
        rows = self._read()
        name = spelled(name, rows)
        if name not in rows:
            return False
        self._write({**rows, name: _Row(rows[name].digest, replace(grant, token=name))})
        return True

    def remove(self, name: str) -> bool:
        """Forget the token *name*; return whether there was one. What was pushed with it stays.

        Raises:
            OSError: the file cannot be written.
        """
        kept = self._read()
        if kept.pop(spelled(name, kept), None) is None:
            return False
        self._write(kept)
        return True

    def grants(self) -> list[Grant]:
        """Return what each token may say, by name."""
        return [row.grant for _, row in sorted(self._read().items())]

    def grant(self, name: str) -> Grant | None:
        """Return what the token *name* may say, ``None`` if there is none."""
        rows = self._read()
        row = rows.get(spelled(name, rows))
        return None if row is None else row.grant

    def grant_of(self, token: str) -> Grant | None:
        """Return what the bearer of *token* may say, ``None`` if it is nobody's."""
        found = None
        shown = _digest(token)
        for row in self._read().values():
            if hmac.compare_digest(row.digest, shown):
                found = row.grant
        return found

    def _read(self) -> dict[str, _Row]:
        """Return the tokens by name; a row that cannot be read admits nobody."""
        try:
            rows = json.loads(self._path.read_text("utf-8"))
            return {name: row for name, row in map(_row, rows.items()) if row is not None}
        except (OSError, ValueError, AttributeError):
            return {}

    def _write(self, rows: Mapping[str, _Row]) -> None:
        found = {name: {"digest": row.digest, **msgspec.to_builtins(row.grant)} for name, row in rows.items()}
        write_durably(self._path, json.dumps(found, indent=1, sort_keys=True))


def standard_grant(name: str) -> Grant:
    """Return what a token may say that is made for a data source: its documents with their access lists."""
    key = source_key(name)
    return Grant(token=name, sources=(key,), group_sources=(key,))


def _row(item: tuple[str, object]) -> tuple[str, _Row | None]:
    name, value = item
    if isinstance(value, str):
        return name, _Row(value, standard_grant(name))
    try:
        rest = dict(value)  # type: ignore[call-overload]
        digest = msgspec.convert(rest.pop("digest"), str)
        return name, _Row(digest, replace(msgspec.convert(rest, Grant), token=name))
    except (TypeError, ValueError, KeyError, msgspec.ValidationError):
        return name, None


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()
