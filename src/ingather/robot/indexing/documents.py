"""Index documents out of reports that are at hand, or out of the catalog when they are not."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol

from ingather.access import NOBODY, PUBLIC
from ingather.catalog.packing import unpack_attributes
from ingather.index import PageFacts, ShownRow, page_document
from ingather.model.change import Change
from ingather.model.description import DISPLAY_URL, Attributes, AttributesView, overlay
from ingather.model.report import Report
from ingather.ports.index import IndexDocument

__all__ = ["NOBODY", "PUBLIC", "CatalogDocuments", "DocumentReader", "Lay"]


_NEEDED = frozenset({
    "content-language", "content-type", "date", "full-text", "headings", "language", "last-modified", "marked", "partial-text",
    "robots", "title", "toc",
})  # fmt: skip
"""Attributes that the index document is made of, whatever the schema says."""


Lay = Callable[[IndexDocument, AttributesView], None]
"""Changes a document in place, given its effective attributes."""


class _Shown(ShownRow, Protocol):
    @property
    def chain(self) -> int: ...


class DocumentReader(Protocol):
    """What is read of the catalog; see ``catalog.sqlite_reader``."""

    def changes(self, after: int, limit: int) -> list[Change]:
        """Return changes above *after*."""

    def first_sequence(self) -> int:
        """Return the oldest change that the log still has, 0 if it has none."""

    def last_sequence(self) -> int:
        """Return the newest change."""

    def shown(self) -> Iterator[int]:
        """Yield the rows that the index must hold, ascending."""

    def shown_rows(self, ids: Sequence[int]) -> Mapping[int, _Shown]:
        """Return what readers may see among *ids*."""

    def hidden_holds(self, ids: Sequence[int]) -> set[int]:
        """Return those whose deletion is held and that are hidden meanwhile."""

    def page_layers(self, ids: Sequence[int]) -> Mapping[int, tuple[str, Attributes, PageFacts]]:
        """Return (title, attributes, extra)."""

    def upper_layers(self, ids: Sequence[int]) -> dict[int, Attributes]:
        """Return attributes of the layers above the page's."""

    def texts(self, ids: Sequence[int]) -> dict[int, str]:
        """Return kept texts."""

    def close(self) -> None:
        """Close the connection."""


class CatalogDocuments:
    """The index follower's source; one thread.

    Args:
        reader: the catalog; closed with this.
        unindexed: attributes whose values are not to be searched (RD schema, ``indexable=false``).
        scores: attributes whose values count more than once as text (RD schema, ``score``).
        rules: gives both, asked before each batch, instead of the two; for whom the schema may change meanwhile.
        lay: fills in metadata classes and external metadata (:class:`ingather.robot.indexing.laying.Laying`).
    """

    def __init__(
        self,
        reader: DocumentReader,
        *,
        unindexed: frozenset[str] = frozenset(),
        scores: Mapping[str, int] | None = None,
        rules: Callable[[], tuple[frozenset[str], Mapping[str, int]]] | None = None,
        lay: Lay | None = None,
    ) -> None:
        self._lay = lay
        self._reader = reader
        self._rules = rules
        self._adopt(unindexed, scores or {})

    def changes(self, after: int, limit: int) -> list[Change]:
        """Return changes above *after*, ascending."""
        return self._reader.changes(after, limit)

    def kept(self) -> tuple[int, int]:
        """Return the oldest and the newest change that the log has, (0, 0) if it has none."""
        return self._reader.first_sequence(), self._reader.last_sequence()

    def shown(self) -> Iterator[int]:
        """Yield every row that the index must hold."""
        return self._reader.shown()

    def documents(self, fresh: Sequence[tuple[int, Report | None]]) -> list[IndexDocument]:
        """Return the documents of (row, report or ``None``); what is not shown is left out."""
        if not fresh:
            return []
        if self._rules is not None:
            self._adopt(*self._rules())
        ids = [url_id for url_id, _ in fresh]
        shown = self._reader.shown_rows(ids)
        hidden = self._reader.hidden_holds(ids)
        cold = [url_id for url_id, report in fresh if report is None and url_id in shown]
        layers = self._reader.page_layers(cold) if cold else {}
        texts = self._reader.texts(cold) if cold else {}
        warm = [url_id for url_id, report in fresh if report is not None and url_id in shown]
        upper = self._reader.upper_layers(warm) if warm else {}
        made: list[IndexDocument] = []
        found: list[AttributesView] = []
        facts: PageFacts
        for url_id, report in fresh:
            row = shown.get(url_id)
            if row is None or url_id in hidden:
                continue
            if report is not None:
                attributes = unpack_attributes(report.attributes, None)
                attributes.pop(DISPLAY_URL, None)  # what a page says of itself here is nobody's word
                if url_id in upper:
                    overlay(attributes, upper[url_id])
                title, facts, text = report.title, report, report.text
            elif url_id in layers:
                title, attributes, facts = layers[url_id]
                text = texts.get(url_id, "")
            else:
                continue
            self._by_schema(attributes)
            made.append(page_document(url_id, row, facts, title, attributes, text, row.chain))
            found.append(attributes)
        if self._lay is not None:
            # Side by side, in the order of URLs: what is laid over neighbours is looked up in the same places of memory.
            for at in sorted(range(len(made)), key=lambda at: made[at].url):
                self._lay(made[at], found[at])
        return made

    def _adopt(self, unindexed: frozenset[str], scores: Mapping[str, int]) -> None:
        self._unindexed = unindexed - _NEEDED
        self._scores = {name: score for name, score in scores.items() if name not in _NEEDED}

    def _by_schema(self, attributes: Attributes) -> None:
        for name in self._unindexed.intersection(attributes):
            del attributes[name]
        for name, score in self._scores.items():
            if name in attributes:
                attributes[name] *= score

    def close(self) -> None:
        """Close the catalog's connection."""
        self._reader.close()
