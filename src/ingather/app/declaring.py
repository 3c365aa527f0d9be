"""Sources of ``ingather.toml`` take effect on a catalog: whose documents everybody sees, who is crawled and for whom feeds push."""

from collections.abc import Mapping
from typing import Final

from ingather.app.sourcescopes import crawled_sources
from ingather.catalog.sqlite_changes import Applied
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.conf import Loaded
from ingather.conf.sources.source import SourceConf
from ingather.log import get
from ingather.model.source_name import BySource

__all__ = ["declare_sources"]

_log = get("app")
_REOPENED: Final = "pushed-reopened"
"""Name under which the catalog remembers that pushed URLs which an older version left out were let in."""


def declare_sources(writer: CatalogWriter, loaded: Loaded, sources: Mapping[str, SourceConf]) -> None:
    """Let the catalog know what the sections of *sources* say; inside a transaction.

    A section makes no site of what feeds push. Whoever has documents under two names that differ in case alone keeps both; the
    section counts for both of them.
    """
    writer.applier.names.crawled = crawled_sources(loaded)
    for name, source in BySource({"web": SourceConf()}).with_(sources).items():
        writer.registry.put_source(name, source.kind, source.access)
    for names in writer.applier.names.twins():
        _log.warning(
            "sources differ in case alone; each keeps its documents, a section of ingather.toml counts for all of them",
            sources=", ".join(names),
            hint="push under one of the names, then delete the other: ingather source delete NAME",
        )
    if writer.memory.recall(_REOPENED):
        return
    writer.memory.remember(_REOPENED, b"1")
    reopened = writer.registry.reopen_pushed(Applied())
    if reopened:
        said = "pushed URLs are visited that were left out because their source has a section and no site"
        _log.info(said, urls=reopened)
        writer.applier.event("pushed-reopened", "", f"{said}: {reopened}")
