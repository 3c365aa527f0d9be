"""The writer: commits with their sequence, replacements, failures, sudden ends."""

import contextlib
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ingather.errors import IndexingError
from ingather.index import IndexFolder, Word
from ingather.ports.index import IndexDocument

Doc = Callable[..., IndexDocument]


def test_nothing_is_seen_before_the_commit_and_everything_after(index: Any, doc: Doc) -> None:
    index.writer.put([doc(1, "alpha")])
    index.reader.reload()
    assert index.rows(Word("alpha")) == []
    index.writer.commit(17)
    assert index.rows(Word("alpha")) == []
    index.reader.reload()
    assert index.rows(Word("alpha")) == [1]
    assert index.reader.snapshot().sequence == index.writer.sequence() == 17


def test_a_snapshot_stays_as_it_was(index: Any, doc: Doc) -> None:
    index.put(doc(1, "alpha"))
    before = index.reader.snapshot()
    index.put(doc(2, "alpha"))
    assert before.count == 1
    assert index.reader.snapshot().count == 2


def test_putting_again_replaces(index: Any, doc: Doc) -> None:
    index.put(doc(1, "alpha"), doc(1, "beta"))
    index.put(doc(1, "gamma"))
    assert index.rows(Word("beta")) == []
    assert index.rows(Word("gamma")) == [1]
    assert list(index.reader.snapshot().rows()) == [(1, 1)]


def test_a_replacement_after_reopening_replaces_too(index: Any, doc: Doc) -> None:
    index.put(doc(1, "alpha"))
    index.writer.close()
    index.writer = index.folder.writer()
    assert index.writer.sequence() == 1
    index.put(doc(1, "beta"))
    assert list(index.reader.snapshot().rows()) == [(1, 1)]


def test_removed_documents_are_gone_and_absent_ones_no_error(index: Any, doc: Doc) -> None:
    index.put(doc(1, "alpha"), doc(2, "alpha"))
    index.remove(1, 99)
    assert index.rows(Word("alpha")) == [2]
    assert not index.reader.snapshot().has(1)
    assert index.reader.snapshot().has(2)


def test_what_nobody_may_see_is_not_in_the_index_at_all(index: Any, doc: Doc) -> None:
    index.put(doc(1, "alpha"), doc(2, "alpha", chain=0))
    assert list(index.reader.snapshot().rows()) == [(1, 1)]
    index.put(doc(1, "alpha", chain=0))
    assert list(index.reader.snapshot().rows()) == []


def test_a_commit_of_nothing_new_is_none(index: Any, doc: Doc) -> None:
    index.put(doc(1, "alpha"))
    stamp = (index.folder.generation() / "meta.json").stat().st_mtime_ns
    index.writer.commit(index.sequence)
    assert (index.folder.generation() / "meta.json").stat().st_mtime_ns == stamp
    index.writer.commit(index.sequence + 5)
    index.reader.reload()
    assert index.reader.snapshot().sequence == index.sequence + 5


def test_rolled_back_documents_never_were(index: Any, doc: Doc) -> None:
    index.put(doc(1, "alpha"))
    index.writer.put([doc(2, "alpha")])
    index.writer.rollback()
    index.put(doc(3, "alpha"))
    assert sorted(index.rows(Word("alpha"))) == [1, 3]


def test_a_document_that_cannot_be_added_fails_its_commit_and_no_other(index: Any, doc: Doc) -> None:
    index.put(doc(1, "alpha"))
    with pytest.raises(IndexingError):
        index.writer.put([doc(2, "alpha"), doc(-3, "alpha")])
    index.put(doc(4, "alpha"))
    assert sorted(index.rows(Word("alpha"))) == [1, 4]


def test_odd_text_is_indexed_all_the_same(index: Any, doc: Doc) -> None:
    index.put(
        doc(
            1,
            "lone \ud800 surrogate alpha",
            title="\udfff",
            anchors=("\ud800",),
            meta={"keywords": ("\ud800",)},
        ),
        doc(2, "alpha " + "x" * 100_000, title="y" * 70_000, anchors=("z" * 70_000,), path="/" + "p" * 5000),
        doc(3, "alpha \x00 nul", date_s=-9_000_000_000_000, language="\x00" * 99, kind="k" * 70_000),
        doc(4, "alpha", site="", path="", title="", language="zz-ZZ-x-private", date_s=None),
    )
    assert sorted(index.rows(Word("alpha"))) == [1, 2, 3, 4]


def test_two_writers_cannot_be(index: Any) -> None:
    with pytest.raises(IndexingError, match="written"):
        index.folder.writer()


def run(code: str, *arguments: str, wait: bool = True) -> "subprocess.Popen[str]":
    child = subprocess.Popen(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(code), *arguments],
        stdout=subprocess.PIPE,
        text=True,
    )
    if wait:
        child.wait(60)
    return child


def test_killed_at_any_moment_the_index_tells_the_truth(tmp_path: Path) -> None:
    """Every commit adds the row of its sequence number: rows and sequence must agree after each kill."""
    code = """
        import sys
        from pathlib import Path
        from ingather.index import IndexFolder
        from ingather.ports.index import IndexDocument
        writer = IndexFolder(Path(sys.argv[1])).writer()
        while True:
            number = writer.sequence() + 1
            writer.put([IndexDocument(number, f"https://x.example/{number}", 1, title="t", body="alpha " * 50)])
            writer.commit(number)
            print(number, flush=True)
    """
    told = 0
    for cycle in range(3):
        with run(code, str(tmp_path / "index"), wait=False) as child:
            assert child.stdout is not None
            for line in child.stdout:
                told = int(line)
                if told % (4 + cycle) == 0:
                    break
            child.send_signal(signal.SIGKILL)
            rest = child.stdout.read().split()
            told = max([told, *(int(n) for n in rest)])
        snapshot = IndexFolder(tmp_path / "index").reader().snapshot()
        assert snapshot.sequence >= told
        assert list(snapshot.rows()) == [(n, 1) for n in range(1, snapshot.sequence + 1)]
        assert IndexFolder(tmp_path / "index").damage() == []


def test_a_full_disk_fails_the_commit_and_writing_goes_on_when_there_is_room(tmp_path: Path) -> None:
    code = """
        import resource, sys
        from pathlib import Path
        from ingather.errors import IndexingError
        from ingather.index import IndexFolder
        from ingather.ports.index import IndexDocument
        folder = IndexFolder(Path(sys.argv[1]))
        writer = folder.writer()
        def put(first, number):
            writer.put(IndexDocument(n, f"https://x.example/{n}", 1, title=f"t{n}", body=f"w{n} " * 400)
                       for n in range(first, first + number))
        put(1, 5)
        writer.commit(1)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2048, resource.RLIM_INFINITY))
        try:
            put(100, 500)
            writer.commit(2)
        except IndexingError as error:
            print("failed")
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        reader = folder.reader()
        print(reader.snapshot().sequence, reader.snapshot().count)
        put(100, 500)
        writer.commit(2)
        reader.reload()
        print(reader.snapshot().sequence, reader.snapshot().count, folder.damage())
        writer.close()
    """
    with run(code, str(tmp_path / "index")) as child:
        assert child.stdout is not None
        assert child.stdout.read().split("\n") == ["failed", "1 5", "2 505 []", ""]
    assert child.returncode == 0


def test_documents_of_half_a_million_rows_apart_are_listed_in_order(index: Any, doc: Doc) -> None:
    index.put(doc(500_000, "b"), doc(3, "a"), doc(65_536, "c"), doc(65_535, "d"))
    assert list(index.reader.snapshot().rows()) == [(3, 1), (65_535, 1), (65_536, 1), (500_000, 1)]


def test_closing_twice_is_no_error(tmp_path: Path) -> None:
    writer = IndexFolder(tmp_path / "index").writer()
    writer.close()
    with contextlib.suppress(IndexingError):
        writer.close()
