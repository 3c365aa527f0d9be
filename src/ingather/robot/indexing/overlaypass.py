"""From one state of external metadata to the next: which documents the index must make anew, found by ranges of keys.

Two versions of a file differ in some prefixes. Only documents below those are looked at, and only those over which
another value is laid get a change. A step is one transaction; what it returns is where the next one begins, so that a
step that failed is made again.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final, Protocol

from ingather.catalog.descriptions.sqlite_overlay import Touched
from ingather.catalog.sqlite_changes import Applied
from ingather.overlay import Options, Overlay, overlay_of
from ingather.overlay.changes import changes
from ingather.robot.indexing.laying import Laying

__all__ = ["At", "OverlayPass", "Place", "Store", "changed_places"]

_ROWS: Final = 1_000
_PLACES: Final = 200

Place = tuple[str, bool]
"""A canonical prefix, and whether it stands for its own stripped URL alone."""


class Store(Protocol):
    """What is asked of the catalog inside a transaction; see :class:`ingather.catalog.descriptions.sqlite_overlay.OverlayStore`."""

    def everything(self, *, after: int) -> list[Touched]:
        """Return the next described documents, by row."""

    def changed(self, ids: Iterable[int], applied: Applied) -> int:
        """Have the index make *ids* anew."""

    def below(self, origin: str, path: str, *, after: str, limit: int) -> list[Touched]:
        """Return documents whose path begins with *path*."""

    def at(self, origin: str, path: str) -> list[Touched]:
        """Return documents whose stripped path is *path*."""


@dataclass(frozen=True, slots=True)
class At:
    """Where a pass goes on: number of the place, last path there; with ``everything`` the last row.

    ``looked`` and ``changed`` count documents so far; ``done``: nothing is left.
    """

    place: int = 0
    after: str = ""
    row: int = 0
    looked: int = 0
    changed: int = 0
    done: bool = False


def changed_places(
    old: Mapping[str, Overlay], new: Mapping[str, Overlay], more: Iterable[Place] = ()
) -> list[Place]:
    """Return the places at which layers (by name) say something else, none of which lies below another.

    Args:
        old: the layers before.
        new: the layers now.
        more: further places.
    """
    found = set(more)
    for name in old.keys() | new.keys():
        found |= _changed(old.get(name), new.get(name))
    kept: list[Place] = []
    above = ""
    for prefix, exact in sorted(found):  # of equal texts the ordinary one comes first
        if above and prefix.startswith(above):
            continue
        kept.append((prefix, exact))
        if not exact:
            above = prefix
    return kept


def _changed(old: Overlay | None, new: Overlay | None) -> set[Place]:
    if old is new:
        return set()
    empty = overlay_of(b"", "", Options())
    places = {(change.prefix, change.exact) for change in changes(old or empty, new or empty)}
    folding = frozenset[str]().union(*(o.options.case_insensitive_hosts for o in (old, new) if o is not None))
    return {_whole_host(place, folding) for place in places} if folding else places


def _whole_host(place: Place, folding: frozenset[str]) -> Place:
    """Return the whole host where paths are compared without case: keys of documents are not."""
    origin, _ = _parted(place[0])
    host = origin.partition("://")[2].partition(":")[0]
    return (f"{origin}/", False) if host in folding else place


class OverlayPass:
    """One pass over what may have changed.

    Args:
        old: what was laid over documents before.
        new: what is laid over them now.
        places: where the two may differ.
        everything: they may differ everywhere.
        anew: the classes differ: every document is made anew, whatever is laid over it.
    """

    def __init__(
        self,
        old: Laying,
        new: Laying,
        places: Sequence[Place],
        *,
        everything: bool = False,
        anew: bool = False,
    ) -> None:
        self._old, self._new = old, new
        self._places = places
        self._anew = anew
        self.everything = everything or anew

    @property
    def places(self) -> int:
        """How many places there are to look at."""
        return len(self._places)

    def step(self, store: Store, applied: Applied, at: At) -> At:
        """Look at the next documents inside the caller's transaction."""
        if self.everything:
            rows = store.everything(after=at.row)
            if not rows:
                return replace(at, done=True)
            changed = store.changed(self._differing(rows), applied)
            return At(row=rows[-1].id, looked=at.looked + len(rows), changed=at.changed + changed)
        number, after, seen, changed = at.place, at.after, 0, 0
        for number, (prefix, exact) in islice(enumerate(self._places), at.place, at.place + _PLACES):
            origin, path = _parted(prefix)
            found = store.at(origin, path) if exact else store.below(origin, path, after=after, limit=_ROWS)
            changed += store.changed(self._differing(found), applied)
            seen += len(found)
            if not exact and len(found) >= _ROWS:
                return At(number, found[-1].path, 0, at.looked + seen, at.changed + changed)
            after = ""
            if seen >= _ROWS:
                break
        done = number + 1 >= len(self._places)
        return At(number + 1, "", 0, at.looked + seen, at.changed + changed, done)

    def _differing(self, rows: Iterable[Touched]) -> list[int]:
        found = []
        for row in rows:
            old, new = self._old.over(row.key, row.source), self._new.over(row.key, row.source)
            if row.shown and (self._anew or old.mark != new.mark):
                found.append(row.id)
        return found


def _parted(prefix: str) -> tuple[str, str]:
    slash = prefix.find("/", prefix.find("://") + 3)
    return prefix[:slash], prefix[slash:]
