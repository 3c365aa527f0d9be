"""Restrictions of external metadata that an index has not followed yet: asked of the catalog with each question.

The changes of a narrowing version are logged in the transaction that puts it in force. So whatever an index at a change
would show wrongly is among the documents that changed since, whichever process asks, and however often one was started.
"""

import threading
from pathlib import Path
from typing import Final

from ingather.access import Visible, need_of
from ingather.app.overlay.texts import CLOSED, SWITCHES, Reader, Switches, source_of
from ingather.catalog.descriptions.sqlite_overlay import OverlayReader
from ingather.catalog.sqlite_open import open_reader
from ingather.catalog.sqlite_rows import Rows
from ingather.errors import CatalogError
from ingather.index import MOST_NEEDS
from ingather.overlay.layers import Layers

__all__ = ["Withheld"]

_Needs = tuple[frozenset[str], ...]
_NOBODY: Final[_Needs] = (frozenset(),)


class _Narrowed:
    """Whom a searcher must be one of, as one version says: its restricting sources alone are read."""

    def __init__(self, texts: dict[str, bytes]) -> None:
        switches = Switches.read(texts.get(SWITCHES, b""))
        self._closed = frozenset(texts.get(CLOSED, b"").decode().split())
        own = {
            layer: text
            for layer, text in texts.items()
            if switches.layers.get(layer, {}).get("acl") == "restrict"
        }
        permission = frozenset(switches.permissions)
        self._stacks = {
            source_of(layer): Layers([overlay], permission=permission)
            for layer, overlay in Reader().layers(own, switches).items()
            if permission
        }
        self.sources = tuple(sorted(self._closed | self._stacks.keys()))

    def needs(self, key: str, source: str) -> _Needs:
        """Return lists of principals, of each of which a searcher of the stripped URL *key* must be one."""
        if source in self._closed:
            return _NOBODY
        found = self._stacks[source].requirements(key)
        if len(found) > MOST_NEEDS:
            return _NOBODY
        return tuple(frozenset(map(need_of, names)) for names in found)


class Withheld:
    """Says which documents a viewer may not see although an index at a change would show them; any thread may ask.

    Args:
        path: the catalog.

    Raises:
        CatalogError: it cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self._rows = Rows(open_reader(path), path)
        self._kept = OverlayReader(self._rows)
        self._lock = threading.Lock()
        self._version = 0
        self._narrowed = _Narrowed({})
        self._from = self._last = 0
        self._pending: dict[int, tuple[int, _Needs]] = {}

    def __call__(self, viewer: Visible, applied: int) -> tuple[int, ...]:
        """Return rows, ascending, that *viewer* may not see by the version in force and that changed after *applied*.

        Raises:
            CatalogError: the catalog could not be read: show nothing.
        """
        if viewer.everything:
            return ()
        his = frozenset(viewer.needs)
        with self._lock:
            self._refresh(applied)
            return tuple(
                sorted(
                    row
                    for row, (changed, needs) in self._pending.items()
                    if changed > applied and not all(one & his for one in needs)
                )
            )

    def close(self) -> None:
        """Close the connection; nobody asks any more."""
        with self._lock:
            self._rows.close()

    def _refresh(self, applied: int) -> None:
        with self._rows.snapshot():
            version = self._kept.in_force()
            if version != self._version:
                texts = self._kept.texts(version)
                if texts is None:
                    raise CatalogError(f"version {version} of external metadata cannot be read")
                self._narrowed, self._version = _Narrowed(texts), version
                self._forget(applied)
            if applied < self._from:  # an older state of the index, still in somebody's hands
                self._forget(applied)
            if not self._narrowed.sources:
                return
            fresh = self._kept.changed_after(self._last, self._narrowed.sources)
        for changed, row in fresh:
            self._last = max(self._last, changed)
            needs = self._narrowed.needs(row.key, row.source)
            self._pending.pop(row.id, None)
            if needs:
                self._pending[row.id] = (changed, needs)
        if applied > self._from:
            self._from = applied
            self._last = max(self._last, applied)
            self._pending = {r: found for r, found in self._pending.items() if found[0] > applied}

    def _forget(self, applied: int) -> None:
        self._pending = {}
        self._from = self._last = applied
