"""A walk through every write and sync of the catalog: each fails once, and nothing acknowledged may be lost.

The same steps (discoveries, visits, removals; a transaction each) run again and again. In run *n* the
n-th operation of the file system fails, once or for good, perhaps followed by a power cut that takes what
was never synced. Afterwards the catalog must stand where it stood after the last step that was
acknowledged (or one further, when the answer was lost), and the remaining steps must lead to the same end.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from shutil import rmtree
from typing import Any

import apsw

from ingather.errors import CatalogError, DiskFullError
from ingather.model.lifecycle import Outcome
from ingather.testing.contracts_catalog import SqliteUnderTest, Visitor
from ingather.testing.storage import FaultyStorage

__all__ = ["Fault", "FaultWalk", "Walk"]

_HOST = "http://walk.test"
_STATE = (
    "select host, path, depth, state, outcome, status, version, digest, dup, held, etag from url order by 1, 2",
    "select id, title, attrs, extra, length(out) from page order by id",
    "select seq, id, kind from change order by seq",
    "select md5, class, head from digest order by md5, class",
    "select name, documents from source order by name",
    "select host, kind, name, n from budget order by 1, 2, 3",
    "select id, reason, decided from tombstone order by id",
    "select url, exact from removed order by url",
)
State = tuple[tuple[Any, ...], ...]


class Fault(Enum):
    """What happens at the chosen operation."""

    ONCE = "an I/O error, once"
    FULL = "no space, once"
    CUT = "an I/O error for good, then a power cut"


@dataclass(frozen=True)
class Walk:
    """One run: which operation failed, whether it was reached, and what was wrong afterwards (``""`` = nothing)."""

    operation: int
    reached: bool
    trouble: str = ""


def _steps(visitor: Visitor) -> Iterator[Callable[[], object]]:
    pages = [f"{_HOST}/p{n}" for n in range(6)]
    yield lambda: visitor.start(f"{_HOST}/")
    yield lambda: visitor.visit(f"{_HOST}/", "start", pages)
    for number, url in enumerate(pages):
        body = "twin" if number in {1, 4} else f"body {number} " * 200
        yield lambda url=url, body=body: visitor.visit(url, body, [f"{url}/a", f"{url}/b"])  # type: ignore[misc]
    yield lambda: visitor.answer(f"{pages[0]}/a", Outcome.NOT_FOUND, status=404)
    yield lambda: visitor.delete(pages[1])
    yield lambda: visitor.remove(f"{_HOST}/p2", exact=False)
    yield lambda: visitor.undelete(f"{_HOST}/p2", exact=False)
    yield lambda: visitor.visit(pages[3], "changed " * 300, [pages[5]])


def _state(folder: Path) -> State:
    db = apsw.Connection(str(folder / "catalog.db"), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return tuple(tuple(db.execute(sql).fetchall()) for sql in _STATE)
    finally:
        db.close()


def _undisturbed(folder: Path, vfs: str) -> list[State]:
    """Return the states after 0, 1, 2, ... steps."""
    rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    visitor = _opened(folder, vfs)
    states = [_state(folder)]
    for step in _steps(visitor):
        step()
        states.append(_state(folder))
    visitor.close()
    return states


def _opened(folder: Path, vfs: str | None = None) -> Visitor:
    catalog = SqliteUnderTest(folder, vfs=vfs)
    try:
        catalog.put_source("web", "public")
    except CatalogError:
        with suppress(apsw.Error):  # as below
            catalog.close()
        raise
    return Visitor(catalog)


class FaultWalk:
    """The walk, in *folder*; ``operations`` is how many there are, from opening to closing."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        storage = FaultyStorage()
        with storage.registered() as name:
            self._wanted = _undisturbed(folder / "undisturbed", name)
        self.operations = storage.operations

    def run(self, operation: int, fault: Fault) -> Walk:
        """Let *operation* (from 1) fail and judge what is left."""
        broken = self._folder / "broken"
        storage = FaultyStorage(operation, for_good=fault is Fault.CUT, full=fault is Fault.FULL)
        with storage.registered():
            done = _disturbed(broken, storage.name, again=fault is not Fault.CUT)
        if fault is Fault.CUT:
            storage.cut_power()
        return Walk(operation, storage.failed, _judge(broken, self._wanted, done))


def _disturbed(folder: Path, vfs: str, *, again: bool) -> int:
    """Run the steps; a step that fails is tried once more, or ends the run. Return how many were acknowledged."""
    rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        visitor = _opened(folder, vfs)
    except (CatalogError, DiskFullError):
        return 0
    done = 0
    try:
        for step in _steps(visitor):
            try:
                step()
            except (CatalogError, DiskFullError):
                if not again:
                    return done
                step()
            done += 1
    finally:
        with suppress(apsw.Error):  # what our file system raises while SQLite closes comes out here
            visitor.close()
    return done


def _judge(folder: Path, wanted: list[State], done: int) -> str:
    """Say what is wrong with the catalog in *folder* after *done* acknowledged steps, ``""`` if nothing is."""
    visitor = _opened(folder)
    try:
        if visitor.catalog.reader().integrity():  # type: ignore[attr-defined]
            return "integrity check"
        found = _state(folder)
        allowed = wanted[done : done + 2]
        if found not in allowed:
            return f"after {done} acknowledged steps: {_difference(found, allowed[0])}"
        at = done + allowed.index(found)
        for step in list(_steps(visitor))[at:]:
            step()
        if _state(folder) != wanted[-1]:
            return f"going on from step {at}: {_difference(_state(folder), wanted[-1])}"
    finally:
        visitor.close()
    return ""


def _difference(found: State, wanted: State) -> str:
    pairs = zip(_STATE, found, wanted, strict=False)
    return "; ".join(
        f"{sql.split(' from ')[1].split()[0]}: {list(set(have) ^ set(want))[:4]}"
        for sql, have, want in pairs
        if have != want
    )
