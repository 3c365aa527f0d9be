"""Reading everything back: catalog, bodies, index; and the index made anew."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ingather.app.descriptions.schema import documents_of, schema_of
from ingather.app.home import Home
from ingather.app.homeparts import database_of, laying_of
from ingather.catalog.bodies import SegmentReader
from ingather.catalog.sqlite_reader import SqliteReader
from ingather.conf.settings.values import Settings
from ingather.errors import CatalogDamagedError, CatalogError, IndexingError
from ingather.index import IndexFolder, compare, write_prior
from ingather.ports.catalog import CatalogStats
from ingather.robot.indexing.documents import CatalogDocuments
from ingather.robot.indexing.linkpass import link_pass

__all__ = ["catalog_stats", "check_catalog", "check_index", "damaged_bodies", "rebuild_index"]

_GROUP = 200


def catalog_stats(home: Home) -> CatalogStats:
    """Return the catalog's counts."""
    reader = SqliteReader(database_of(home), home.bodies)
    try:
        return reader.stats()
    finally:
        reader.close()


def check_catalog(home: Home, *, bodies: bool) -> list[dict[str, str]]:
    """Read the catalog and, on request, every kept body and text back; return what is damaged."""
    try:
        reader = SqliteReader(database_of(home), home.bodies)
    except CatalogError as error:
        return [{"place": str(database_of(home)), "what": error.text}]
    findings: list[dict[str, str]] = []
    try:
        findings += [{"place": database_of(home).name, "what": line} for line in reader.rot()]
        findings += [{"place": database_of(home).name, "what": line} for line in reader.integrity()]
        if bodies:
            findings += [
                {"place": error.place, "what": error.text, "url": url}
                for _, url, error in damaged_bodies(reader, home.bodies)
            ]
    except CatalogError as error:
        findings.append({"place": database_of(home).name, "what": error.text})
    finally:
        reader.close()
    return findings


def damaged_bodies(reader: SqliteReader, bodies: Path) -> Iterator[tuple[int, str, CatalogDamagedError]]:
    """Read every kept body and text back; yield (row, URL, what is wrong) of each that is damaged."""
    segments = SegmentReader(bodies)
    try:
        for url_id, segment, offset, length, text_offset, text_length, digest in reader.places():
            try:
                if length:
                    segments.body(segment, offset, length, digest)
                if text_length:
                    segments.text(segment, text_offset, text_length)
            except CatalogDamagedError as error:
                record = reader.get([url_id]).get(url_id)
                yield url_id, record.url if record else "", error
    finally:
        segments.close()


def check_index(home: Home) -> dict[str, Any]:
    """Check the index's files and compare its rows with the catalog's."""
    folder = IndexFolder(home.index)
    findings = list(folder.damage())
    documents = sequence = 0
    if not findings:
        reader = SqliteReader(database_of(home), home.bodies)
        try:
            snapshot = folder.reader().snapshot()
            documents, sequence = snapshot.count, snapshot.sequence
            difference = compare(snapshot.rows(), _expected(reader))
            if not difference.equal:
                findings.append(str(difference))
            behind = reader.last_sequence() - sequence
            if behind:
                findings.append(f"the index is {behind} changes behind the catalog")
        except IndexingError as error:
            findings.append(error.text)
        finally:
            reader.close()
    return {"ok": not findings, "documents": documents, "sequence": sequence, "findings": findings}


def _expected(reader: SqliteReader) -> Iterator[int]:
    """Yield the rows that the index must hold: what somebody may find."""
    group: list[int] = []
    for row in reader.shown():
        group.append(row)
        if len(group) >= _GROUP:
            yield from _findable(reader, group)
            group = []
    yield from _findable(reader, group)


def _findable(reader: SqliteReader, rows: list[int]) -> Iterator[int]:
    shown = reader.shown_rows(rows) if rows else {}
    return (row for row in rows if row in shown and shown[row].chain > 0)


def rebuild_index(home: Home, settings: Settings, *, tell: Callable[[int], None]) -> int:
    """Make the index anew from catalog and texts, swap it in; return how many documents it has."""
    folder = IndexFolder(home.index)
    schema = schema_of(home.config)
    reader = SqliteReader(database_of(home), home.bodies)
    source = documents_of(lambda: schema, reader, laying_of(home))
    done = told = 0
    try:
        sequence = reader.last_sequence()
        with folder.rebuild(heap_bytes=settings.size("index.memory")) as rebuild:
            group: list[int] = []
            for row in reader.shown():
                group.append(row)
                if len(group) >= _GROUP:
                    done += _put(rebuild.writer, source, group)
                    group = []
                    if done - told >= 5000:  # noqa: PLR2004 - a line now and then
                        told = done
                        tell(done)
            done += _put(rebuild.writer, source, group)
            rebuild.writer.commit(sequence)
            rebuild.swap()
        write_prior(home.index, link_pass(reader).counts)
    finally:
        source.close()
    return done


def _put(writer: Any, source: CatalogDocuments, rows: list[int]) -> int:
    documents = source.documents([(row, None) for row in rows])
    writer.put(documents)
    return len(documents)
