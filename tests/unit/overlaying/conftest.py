"""A home with descriptions, external metadata over them, and a search: no process, no network."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ingather.access import ANONYMOUS, Visible
from ingather.app.home import Home
from ingather.app.homeparts import database_of, follower_of
from ingather.app.operating import follow_directly
from ingather.app.overlay.laying import Overlays
from ingather.catalog.descriptions.sqlite_descriptions import NewDescription
from ingather.catalog.sqlite_changes import Applied
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.index import IndexFolder
from ingather.search import SearchRequest, SearchResults, SearchService

NOW = datetime(2004, 6, 1, tzinfo=UTC)


class Hour:
    """A clock that stands at a moment."""

    def __init__(self) -> None:
        self.at = NOW

    def wall(self) -> float:
        return self.at.timestamp()

    def monotonic(self) -> float:
        return 0.0


class Desk:
    """What an editor has: a home whose files are changed and taken in, and the search of everybody."""

    def __init__(self, path: Path) -> None:
        self.home = Home.create(path)
        self.clock = Hour()
        self.sequence = 0
        self._settings = ""
        self._reader: Any = None

    def settings(self, text: str) -> None:
        self._settings += f"\n{text}\n"
        self.home.settings_file.write_text(self._settings)

    def write(self, text: str, *, source: str = "") -> None:
        folder = self.home.config / "sources" / source if source else self.home.config
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "external_metadata.cfg").write_text(text, "utf-8")

    def put(self, *documents: tuple[str, dict[str, str | tuple[str, ...]]], source: str = "web") -> None:
        """Describe pages, as a visit does."""

        def job(writer: CatalogWriter) -> None:
            for url, values in documents:
                attributes = {n: (v,) if isinstance(v, str) else v for n, v in values.items()}
                attributes.setdefault("content-type", ("text/html",))
                new = NewDescription(url, "page", attributes, source=source, access="public")
                writer.descriptions.put(new, self.clock.wall(), Applied())

        self._transaction(job)

    def take_in(self) -> Overlays:
        """Take in what stands in the files, as a start does, and let the index follow."""
        read = self.home.settings()
        assert not read.refused, read.diagnostics
        overlays = Overlays(self.home, read.settings, read.sources, read.classes, self.clock.wall)
        self._transaction(overlays.begin)
        self.follow(overlays)
        return overlays

    def edit(self, work: Callable[[CatalogWriter], Any]) -> None:
        """Change the catalog in a transaction of its own."""
        self._transaction(lambda writer: writer.transaction(work))

    def follow(self, overlays: Overlays | None = None) -> None:
        """Let the index follow the catalog."""
        follower = follower_of(self.home, self.home.settings().settings, self.clock, lay=overlays)
        follow_directly(follower, self.sequence)

    def changes(self) -> list[str]:
        """Return the URLs that the index was told to make anew since the last time this was asked."""
        writer = CatalogWriter(database_of(self.home))
        try:
            rows = writer.frontier._rows.all(
                "select h.origin || u.path from change c join url u on u.id = c.id join host h on h.id = u.host "
                "where c.seq > ? order by 1",
                (getattr(self, "_seen", 0),),
            )
            self._seen = writer.applier.sequence
        finally:
            writer.close()
        return [url for (url,) in rows]

    def search(self, query: str, *, viewer: Visible = ANONYMOUS, **given: Any) -> SearchResults:
        table = self.home.settings().classes
        service = SearchService(
            IndexFolder(self.home.index).reader(),
            lambda _: {},
            self.clock,
            classes=table.kind,
            labels=table.label,
        )
        return service.search(SearchRequest(query, limit=50, viewer=viewer, **given))

    def found(self, query: str, **given: Any) -> list[str]:
        """Return the URLs that have every word of *query*, sorted."""
        answer = self.search(query, **given)
        return sorted(result.url for result in answer.results) if answer.all_words else []

    def _transaction(self, work: Callable[[CatalogWriter], Any]) -> None:
        writer = CatalogWriter(database_of(self.home))
        try:
            writer.applier.now_s = self.clock.wall()
            if work.__name__ == "begin":
                work(writer)
            else:
                writer.transaction(work)
            self.sequence = writer.applier.sequence
        finally:
            writer.close()


@pytest.fixture
def desk(home: Path) -> Desk:
    return Desk(home)
