"""What is laid over documents when they are put into the index: metadata classes and external metadata.

One :class:`Laying` is one state of all overlays with the classes of the home. It is replaced whole when a new version
comes into force; documents that were made before are made again by the changes that are logged then.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from ingather.access import need_of
from ingather.conf.classes import ClassTable
from ingather.conf.sources.days import day_of, end_of_day
from ingather.index import lay
from ingather.model.default_page import stripped
from ingather.model.description import AttributesView
from ingather.model.source_name import BySource, source_key
from ingather.overlay import fingerprint
from ingather.ports.index import IndexDocument

__all__ = ["NO_LAYING", "Laid", "Laying", "Stack"]

_NEVER: Final[frozenset[str]] = frozenset()


class Stack(Protocol):
    """The layers of one source; see :class:`ingather.overlay.layers.Layers`."""

    def lookup_key(self, stripped_key: str) -> Mapping[str, tuple[str, ...]]:
        """Return classes and values."""

    def requirements(self, stripped_key: str) -> tuple[frozenset[str], ...]:
        """Return lists of principals, of each of which a searcher must be one."""


@dataclass(frozen=True, slots=True)
class Laid:
    """What is laid over one URL: classes, from when on it is not found, whom a searcher must be one of."""

    values: Mapping[str, tuple[str, ...]]
    expires_s: int | None = None
    needs: tuple[frozenset[str], ...] = ()

    @property
    def mark(self) -> tuple[int, int | None, tuple[frozenset[str], ...]]:
        """What differs when the index document differs."""
        return fingerprint(self.values), self.expires_s, self.needs


_NOTHING: Final = Laid({})


class Laying:
    """Lays over documents; any thread may ask.

    Args:
        table: metadata classes.
        stacks: the layers of each source that has some of its own.
        common: the layers of all others.
        zones: where a source's days end; ``UTC`` for those that are not named.
        unhidden: stripped URLs that do not expire, whatever is said of them.
        version: number under which the catalog keeps this state, 0 = none was ever kept.
        closed: sources whose documents nobody sees, because their restrictions are not known.
    """

    def __init__(  # noqa: PLR0913 - one state, its parts
        self,
        table: ClassTable,
        stacks: Mapping[str, Stack] | None = None,
        common: Stack | None = None,
        *,
        zones: Mapping[str, str] | None = None,
        zone: str = "UTC",
        unhidden: frozenset[str] = _NEVER,
        version: int = 0,
        closed: frozenset[str] = _NEVER,
    ) -> None:
        self.table = table
        self.stacks = BySource(stacks or {})
        self.common = common
        self.unhidden = unhidden
        self.version = version
        self.closed = closed
        self._closed = frozenset(map(source_key, closed))
        self._zones = BySource(zones or {})
        self._zone = zone

    def over(self, key: str, source: str) -> Laid:
        """Return what is laid over the stripped URL *key* of *source*."""
        stack = self.stacks.get(source, self.common)
        values: Mapping[str, tuple[str, ...]] = {} if stack is None else stack.lookup_key(key)
        if not values:
            return Laid({}, needs=(frozenset(),)) if self._is_closed(source) else _NOTHING
        expires_s: int | None = None
        days = values.get("X")
        if days and key not in self.unhidden:
            day = day_of(days[0])
            expires_s = None if day is None else end_of_day(day, self._zones.get(source, self._zone))
        needs: Iterable[frozenset[str]] = ()
        if self._is_closed(source):
            needs = (frozenset(),)
        elif stack is not None and self.table.permissions:
            needs = (frozenset(map(need_of, names)) for names in stack.requirements(key))
        return Laid(values, expires_s, tuple(needs))

    def _is_closed(self, source: str) -> bool:
        return bool(self._closed) and source_key(source) in self._closed

    def __call__(self, document: IndexDocument, found: AttributesView) -> None:
        """Fill in *document*; see :data:`ingather.robot.indexing.documents.Lay`."""
        said = self.over(stripped(document.url), document.source)
        lay(document, found, self.table, said.values, expires_s=said.expires_s, needs=said.needs)


NO_LAYING: Final = Laying(ClassTable())
"""The three classes that are there by themselves, and no overlay."""
