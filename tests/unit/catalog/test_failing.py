"""What happens when the storage says no: nothing of the batch is kept, nothing before it is lost."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import apsw
import pytest

from ingather.catalog.sqlite_changes import Applied
from ingather.catalog.sqlite_open import open_writer
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.errors import CatalogDamagedError, CatalogError, DiskFullError, StorageError
from ingather.testing.contracts_catalog import SqliteUnderTest, Visitor
from ingather.testing.storage import FaultyStorage

PAGE = "http://a.test/"


class _Failing(apsw.VFS):
    """Passes everything on to the disk until *budget* calls of writing and syncing are used up."""

    def __init__(self, error: type[apsw.Error], code: int) -> None:
        self.budget = 1 << 60
        self.error, self.code = error, code
        super().__init__("failing", "")

    def xOpen(self, name: Any, flags: list[int]) -> "_FailingFile":
        return _FailingFile(self, name, flags)

    def spend(self) -> None:
        self.budget -= 1
        if self.budget < 0:
            trouble: Any = self.error("planted")
            trouble.extendedresult = self.code
            raise trouble


class _FailingFile(apsw.VFSFile):
    def __init__(self, vfs: _Failing, name: Any, flags: list[int]) -> None:
        self._vfs = vfs
        super().__init__("", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:
        self._vfs.spend()
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:
        self._vfs.spend()
        super().xSync(flags)


@pytest.fixture(params=["full", "io"])
def broken(request: pytest.FixtureRequest) -> Iterator[_Failing]:
    if request.param == "full":
        vfs = _Failing(apsw.FullError, apsw.SQLITE_FULL)
    else:
        vfs = _Failing(apsw.IOError, apsw.SQLITE_IOERR_WRITE)
    yield vfs
    vfs.unregister()


def _contents(visitor: Visitor) -> tuple[object, ...]:
    reader = visitor.catalog.reader()
    try:
        stats = reader.stats()
        return stats.states, stats.outcomes, stats.sources, reader.changes(0, 1000)
    finally:
        reader.close()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_whichever_write_or_sync_fails_the_batch_is_lost_whole_and_the_next_one_works(
    tmp_path: Path, broken: _Failing
) -> None:
    catalog = SqliteUnderTest(tmp_path, vfs="failing")
    visitor = Visitor(catalog)
    visitor.start(PAGE)
    visitor.visit(PAGE, "one")
    kinds: set[type[Exception]] = set()
    for n in range(60):
        url = f"{PAGE}{n}"
        before = _contents(visitor)
        broken.budget = n
        failed = False
        try:
            visitor.start(url)
        except (CatalogError, DiskFullError) as error:
            kinds.add(type(error))
            failed = True
        broken.budget = 1 << 60
        if not failed:
            break
        assert _contents(visitor) == before
        assert visitor.start(url) is not None
        visitor.visit(url, f"body {n}")
    else:
        pytest.fail("every write fails")
    assert kinds == {DiskFullError if broken.error is apsw.FullError else StorageError}
    sequences = [change.sequence for change in visitor.reader.changes(0, 1000)]
    assert sequences == list(range(1, len(sequences) + 1))
    visitor.close()
    reopened = SqliteUnderTest(tmp_path)
    reader = reopened.reader()
    assert reader.integrity() == []
    assert reader.stats().sources == {"web": n + 1}
    reader.close()
    reopened.close()


_LIMITED = """
import resource, sys
from pathlib import Path
from typing import Any
from ingather.errors import DiskFullError
from ingather.testing.contracts_catalog import SqliteUnderTest, Visitor
catalog = SqliteUnderTest(Path(sys.argv[1]))
visitor = Visitor(catalog)
visitor.start("http://a.test/")
kept = 0
soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, hard))
try:
    while True:
        url = f"http://a.test/{kept}"
        visitor.start(url)
        visitor.visit(url, "x" * 500)
        kept += 1
except DiskFullError as error:
    print(error.text)
for _ in range(3):
    try:
        visitor.start("http://a.test/next")
        visitor.visit("http://a.test/next", "y" * 400_000)
    except DiskFullError:
        continue
    raise SystemExit("there was room")
resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
visitor.start("http://a.test/next")
visitor.visit("http://a.test/next", "y")
stats = visitor.reader.stats()
assert stats.sources == {"web": kept + 1}, (stats, kept)
assert catalog.reader().integrity() == []
visitor.close()
print("recovered")
"""


def test_a_full_disk_refuses_work_loses_nothing_and_recovers_by_itself(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", _LIMITED, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == ["no space left for catalog.db", "recovered"]


def test_a_disk_that_fills_amid_a_transaction_is_called_full(tmp_path: Path) -> None:
    """SQLite ends such a transaction by itself, so that ending it fails, too: that is not what is to be told."""
    writer = CatalogWriter(tmp_path / "catalog.db")
    pages = writer.syndication.query("pragma page_count")[0][0]
    writer.syndication.query(f"pragma max_page_count={pages + 20}")
    with pytest.raises(DiskFullError, match=r"\Ano space left for catalog\.db") as caught:
        writer.transaction(
            lambda w: w.syndication.query(
                "insert into meta select 'n' || value, zeroblob(10000) from json_each(?) returning name",
                (str(list(range(100))),),
            )
        )
    assert "raise the limit" in str(caught.value.hint)
    writer.syndication.query("pragma max_page_count=1000000")
    writer.transaction(lambda w: w.memory.remember("n", bytes(10_000)))
    assert not writer.syndication.query("select value from meta where name = 'n0'")
    writer.close()


def test_a_mistake_of_the_caller_rolls_back_what_memory_had_ahead(
    visitor: Visitor, catalog: SqliteUnderTest
) -> None:
    def work(writer: CatalogWriter) -> None:
        writer.applier.discover(visitor.discovery("http://new.test/"), None, Applied())
        writer.applier.source("fresh")
        writer.deletions.remove("http://new.test/", 1.0, Applied(), exact=False)
        msg = "the caller's own"
        raise RuntimeError(msg)

    with pytest.raises(RuntimeError, match="the caller's own"):
        catalog.writer.transaction(work)
    assert visitor.start("http://new.test/") is not None
    assert visitor.start("http://fresh.test/", source="fresh") is not None
    assert visitor.record("http://fresh.test/").source == "fresh"
    assert catalog.writer.applier.sequence == 0


def test_what_was_committed_before_a_kill_is_there_after_it(tmp_path: Path) -> None:
    script = """
import os, sys
from pathlib import Path
from typing import Any
from ingather.testing.contracts_catalog import SqliteUnderTest, Visitor
catalog = SqliteUnderTest(Path(sys.argv[1]))
visitor = Visitor(catalog)
for n in range(50):
    visitor.start(f"http://a.test/{n}")
    visitor.visit(f"http://a.test/{n}", "same" if n % 2 else f"body {n}")
catalog.writer._db.execute("begin").fetchall()
catalog.writer._db.execute("delete from url").fetchall()
os.kill(os.getpid(), 9)
"""
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=False, timeout=60)
    assert done.returncode == -9
    catalog = SqliteUnderTest(tmp_path)
    visitor = Visitor(catalog)
    assert visitor.reader.stats().outcomes == {"indexed": 26, "duplicate": 24}
    visitor.start("http://a.test/0again")
    visitor.visit("http://a.test/0again", "same")
    assert visitor.record("http://a.test/1").duplicate_of == "http://a.test/0again"
    visitor.close()


def test_damage_met_in_a_transaction_is_named(visitor: Visitor, catalog: SqliteUnderTest) -> None:
    def work(_: CatalogWriter) -> None:
        raise apsw.CorruptError("database disk image is malformed")

    with pytest.raises(CatalogDamagedError) as caught:
        catalog.writer.transaction(work)
    assert caught.value.place == str(catalog.writer.path)
    assert visitor.start(PAGE) is not None


def test_whatever_fails_while_a_new_catalog_is_made_it_is_one_of_our_errors(tmp_path: Path) -> None:
    """Storage that fails for good fails at closing too, and the next start makes the catalog."""
    whole = FaultyStorage()
    with whole.registered() as name:
        open_writer(tmp_path / "whole.db", vfs=name).close()
    refused = 0
    for operation in range(1, whole.operations + 1, 3):
        path = tmp_path / f"{operation}.db"
        storage = FaultyStorage(operation, for_good=True)
        with storage.registered() as name:
            try:
                db = open_writer(path, vfs=name)
            except CatalogError:
                refused += 1
            else:
                with suppress(apsw.Error):
                    db.close(force=True)
        open_writer(path).close()
    assert refused > whole.operations // 6
