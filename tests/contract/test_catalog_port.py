"""The catalog of one machine passes the suites of its port."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from hashlib import md5
from pathlib import Path
from tempfile import TemporaryDirectory

from ingather.catalog.bodies import SegmentWriter
from ingather.ports.catalog import CatalogReader
from ingather.testing.contracts import CatalogContract, Sown
from ingather.testing.contracts_catalog import CatalogWriterContract, SqliteUnderTest, Visitor


class TestSqliteReader(CatalogContract):
    def make(self, pages: Sequence[Sown]) -> AbstractContextManager[CatalogReader]:
        return _sown(pages)


class TestSqliteWriter(CatalogWriterContract):
    def make(self, folder: Path) -> SqliteUnderTest:
        return SqliteUnderTest(folder)


@contextmanager
def _sown(pages: Sequence[Sown]) -> Iterator[CatalogReader]:
    with TemporaryDirectory() as name:
        folder = Path(name)
        catalog = SqliteUnderTest(folder)
        visitor = Visitor(catalog)
        with SegmentWriter(folder / "bodies", "test") as segment:
            for page in pages:
                found = visitor.discovery(page.url, depth=page.depth)
                visitor.discover(found, page.referrer)
                row = visitor.claim(page.url)
                body = page.text.encode()
                digest = md5(body, usedforsecurity=False).digest()
                report = visitor.report(row, page.url, page.text, title=page.title)
                report.stored = segment.append(
                    page.url, 200, [], body, page.text, at_s=visitor.now_s, digest=digest
                )
                segment.sync()
                visitor.settle(report, row)
        reader = catalog.reader()
        try:
            yield reader
        finally:
            reader.close()
            catalog.close()
