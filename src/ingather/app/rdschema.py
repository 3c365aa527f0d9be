"""The RD schema of a home: the file in ``config/``, or what is shipped where there is none."""

from pathlib import Path

from ingather.conf.physical import decode
from ingather.conf.rdschema import NAME, RdSchema, parse_schema, shipped_schema
from ingather.conf.report import Report
from ingather.errors import ConfigurationError
from ingather.model.diagnostic import Place
from ingather.robot.documents import CatalogDocuments, DocumentReader

__all__ = ["documents_of", "read_schema", "schema_of"]

_MOST_BYTES = 16 * 1024 * 1024


def read_schema(config: Path, report: Report) -> RdSchema:
    """Read the schema of the folder *config*; what is wrong with it is in *report*."""
    file = config / NAME
    try:
        if not file.exists():
            return shipped_schema()
        if not file.is_file() or file.stat().st_size > _MOST_BYTES:
            report.add("E-FILE", Place(NAME, 1), f"{NAME} is no file of at most {_MOST_BYTES} bytes")
            return shipped_schema()
        body = file.read_bytes()
    except OSError as error:
        report.add("E-FILE", Place(NAME, 1), f"cannot read {NAME}: {error.strerror or error}")
        return shipped_schema()
    return parse_schema(decode(body, NAME, report), NAME, report)


def schema_of(config: Path) -> RdSchema:
    """Return the schema of the folder *config*.

    Raises:
        ConfigurationError: it has errors; all of them are in it.
    """
    report = Report()
    schema = read_schema(config, report)
    if report.refused:
        raise ConfigurationError(report.sorted())
    return schema


def documents_of(schema: RdSchema, reader: DocumentReader) -> CatalogDocuments:
    """Return the source of index documents under *schema*."""
    return CatalogDocuments(reader, unindexed=schema.unindexed, scores=schema.scores)
