"""What was deleted, why, and who decided: read off the catalog for ``ingather tombstones``, ``holds`` and the API."""

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from ingather.catalog.deletion.sqlite_tombstones import Decided, HoldRow, Stone, TombstoneReader
from ingather.errors import UnknownNameError, UrlError, UsageError
from ingather.explain.forms import instant
from ingather.explain.proof import evidence_form, stone_form
from ingather.model.decided import Undo
from ingather.model.url import spellings

__all__ = ["DeletionBook", "undo_of"]

_MOST: Final = 1_000
_DIGITS: Final = 18


class DeletionBook:
    """Answers are JSON-ready; every call opens and closes its own reader, so that several threads may ask.

    Args:
        database: the catalog's file.
    """

    def __init__(self, database: Path) -> None:
        self._database = database

    def tombstones(self, form: Mapping[str, str]) -> dict[str, Any]:
        """Return ``tombstones`` and ``next`` (what ``after`` is to be for more, ``None`` = these were all).

        Args:
            form: ``run``, ``reason``, ``hold``, ``source`` as :func:`undo_of` takes them, ``after``, ``limit``.

        Raises:
            UsageError: a number is none.
        """
        wanted = undo_of(form)
        after, limit = _number(form, "after", 0), min(max(_number(form, "limit", 100), 1), _MOST)
        if not self._database.exists():
            return {"tombstones": [], "next": None}
        with closing(TombstoneReader(self._database)) as reader:
            by_hand = wanted.run is None and wanted.hold is None
            found = reader.stones(wanted, hand=by_hand, after=after, limit=limit)
        return {
            "tombstones": [_listed(stone) for stone in found],
            "next": found[-1].id if len(found) == limit else None,
        }

    def counts(self, wanted: Undo) -> list[dict[str, Any]]:
        """Return how many deletions an undo would take back: ``source``, ``reason``, ``documents``."""
        if not self._database.exists():
            return []
        with closing(TombstoneReader(self._database)) as reader:
            return [
                {"source": source, "reason": reason, "documents": count}
                for source, reason, count in reader.counts(wanted)
            ]

    def tombstone(self, text: str) -> dict[str, Any]:
        """Return the tombstone of a URL with its ``evidence``; ``tombstone`` is ``None`` if it was not deleted.

        Raises:
            UsageError: *text* is no URL, or nobody ever met it.
        """
        try:
            url = spellings(text)[-1]
        except UrlError as error:
            raise UsageError(f"{text!r} is not a URL: {error.text}", hint="write a whole URL") from error
        if not self._database.exists():
            raise UsageError(f"{url} was never met", hint="there is no catalog yet")
        with closing(TombstoneReader(self._database)) as reader:
            url = reader.meant(text)
            row = reader.row_of(url)
            if row is None:
                raise UsageError(f"{url} was never met", hint=f"ask: ingather explain {url}")
            stone, evidence = reader.stone(row), reader.evidence(row)
        return {"url": url, "tombstone": stone_form(stone), "evidence": evidence_form(evidence)}

    def closed_holds(self, limit: int = 100) -> list[dict[str, Any]]:
        """Return the holds that ended, newest first."""
        if not self._database.exists():
            return []
        with closing(TombstoneReader(self._database)) as reader:
            return [_hold_form(row) for row in reader.holds(limit=min(max(limit, 1), _MOST))]

    def hold(self, number: int, *, after: int = 0, limit: int = 100) -> dict[str, Any]:
        """Return a hold, open or closed, with ``items``: what is in it, each with its evidence.

        Raises:
            UsageError: there never was such a hold.
        """
        if not self._database.exists():
            raise _no_hold(number)
        limit = min(max(limit, 1), _MOST)
        with closing(TombstoneReader(self._database)) as reader:
            row = reader.hold(number)
            if row is None:
                raise _no_hold(number)
            items = reader.held(number, after=after, limit=limit)
            listed = [
                {
                    "id": url_id,
                    "url": url,
                    "since": instant(at_s),
                    "evidence": evidence_form(reader.evidence(url_id)),
                }
                for url_id, url, at_s in items
            ]
        return {**_hold_form(row), "items": listed, "next": items[-1][0] if len(items) == limit else None}

    def decisions(self, limit: int = 100) -> list[dict[str, Any]]:
        """Return what people decided about deletions, newest first."""
        if not self._database.exists():
            return []
        with closing(TombstoneReader(self._database)) as reader:
            return [_decided_form(one) for one in reader.decisions(limit=min(max(limit, 1), _MOST))]


def _no_hold(number: int) -> UnknownNameError:
    hint = "list them with: ingather holds list --closed"
    return UnknownNameError(f"there is no hold {number}", kind="hold", name=str(number), hint=hint)


def undo_of(form: Mapping[str, str]) -> Undo:
    """Read ``run``, ``reason``, ``hold``, ``source``, ``decision``.

    Raises:
        UsageError: a number is none.
    """
    return Undo(
        run=_number(form, "run", None), reason=form.get("reason", "").strip(), hold=_number(form, "hold", None),
        source=form.get("source", "").strip(), decision=_number(form, "decision", None),
    )  # fmt: skip


def _number(form: Mapping[str, str], name: str, default: Any) -> Any:
    text = form.get(name, "").strip()
    if not text:
        return default
    if not (text.isascii() and text.isdigit() and len(text) <= _DIGITS):
        raise UsageError(f"{name}: {text[:40]!r} is not a number", hint="write digits only")
    return int(text)


def _listed(stone: Stone) -> dict[str, Any]:
    return {"id": stone.id, "url": stone.url, **(stone_form(stone) or {})}


def _hold_form(row: HoldRow) -> dict[str, Any]:
    return {
        "id": row.id, "source": row.source, "reason": row.reason, "opened": instant(row.opened_s), "documents": row.documents,
        "why": row.why, "closed": instant(row.closed_s), "verdict": row.verdict or None, "who": row.who, "note": row.note,
    }  # fmt: skip


def _decided_form(one: Decided) -> dict[str, Any]:
    return {
        "id": one.id, "at": instant(one.at_s), "who": one.who, "verb": one.verb, "target": one.target,
        "source": one.source or None, "reason": one.reason, "note": one.note, "documents": one.documents,
    }  # fmt: skip
