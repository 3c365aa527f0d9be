"""The RD schema of a home: the file in ``config/``, or what is shipped where there is none."""

from collections.abc import Callable, Mapping
from pathlib import Path

from ingather.conf.files import Files
from ingather.conf.rd.rdschema import RdSchema, read_schema
from ingather.conf.report import Report
from ingather.errors import ConfigurationError
from ingather.robot.indexing.documents import CatalogDocuments, DocumentReader, Lay

__all__ = ["documents_of", "schema_of"]


def schema_of(config: Path) -> RdSchema:
    """Return the schema of the folder *config*.

    Raises:
        ConfigurationError: it has errors; all of them are in it.
    """
    report = Report()
    schema = read_schema(Files(config), report)
    if report.refused:
        raise ConfigurationError(report.sorted())
    return schema


def documents_of(
    schema: Callable[[], RdSchema], reader: DocumentReader, lay: Lay | None = None
) -> CatalogDocuments:
    """Return the source of index documents under the schema that *schema* gives now; *lay* fills in metadata classes."""

    def rules() -> tuple[frozenset[str], Mapping[str, int]]:
        now = schema()
        return now.unindexed, now.scores

    return CatalogDocuments(reader, rules=rules, lay=lay)
