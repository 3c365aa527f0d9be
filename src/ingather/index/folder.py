"""The index on disk: generations side by side, one of them current, rebuilt beside and swapped.

::

    index/CURRENT       name of the current generation, replaced by rename
    index/g000001/      files of tantivy, and SCHEMA with the mark of our schema
    index/prior.bin     link counts, by catalog row (of no generation)

A schema cannot be changed in place, and a damaged index cannot be mended: in both cases a new
generation is filled from the catalog while the old one answers, and takes its place by one rename.
"""

import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Self

from ingather.errors import IndexDamagedError, IndexingError
from ingather.index.check import Damage, damage
from ingather.index.tantivy_reader import TantivyReader
from ingather.index.tantivy_schema import SCHEMA_MARK, create
from ingather.index.tantivy_writer import HEAP_BYTES, Run, TantivyWriter, run_here

__all__ = ["IndexFolder", "Rebuild"]

_CURRENT: Final = "CURRENT"
_MARK: Final = "SCHEMA"
_GENERATION: Final = re.compile(r"g\d{6}\Z")
_REBUILD_HINT: Final = "run: ingather index rebuild"


class Rebuild:
    """A new generation in the making; nobody searches it before :meth:`swap`.

    Use as a context manager: leaving it without a swap removes what was made.
    """

    def __init__(self, folder: "IndexFolder", generation: Path, writer: TantivyWriter) -> None:
        self._folder = folder
        self._generation = generation
        self._open = True
        self.writer = writer

    def swap(self) -> None:
        """Verify the new generation, make it the current one and remove the old.

        The writer must have committed; it is closed here. Readers change over at their next reload.

        Raises:
            IndexDamagedError: the new generation does not read back as written; the old one stands.
        """
        self.writer.close()
        _raise_first(damage(self._generation))
        self._open = False
        self._folder.point_to(self._generation)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        if self._open:
            self._open = False
            self.writer.close()
            shutil.rmtree(self._generation, ignore_errors=True)


class IndexFolder:
    """The place of one index; *path* is made when it is not there."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def generation(self) -> Path:
        """Return the current generation; the first one is made here.

        Raises:
            IndexDamagedError: there is an index, but its pointer, mark or list of files is broken
                or of another schema.
            IndexingError: the folder cannot be made or read.
        """
        try:
            name = self._pointer()
            return self._first() if name is None else self._checked(self.path / name)
        except OSError as error:
            msg = f"the index folder {self.path} cannot be used: {error.strerror or error}"
            raise IndexingError(msg) from error

    def writer(self, *, heap_bytes: int = HEAP_BYTES, run: Run = run_here) -> TantivyWriter:
        """Open the one writer; leftovers of interrupted rebuilds are removed. *run*: see :class:`TantivyWriter`.

        Raises:
            IndexDamagedError: the index is broken; *place* names the file.
            IndexingError: another process writes it.
        """
        generation = self.generation()
        fresh = not _segments(generation)
        try:
            writer = TantivyWriter(generation, heap_bytes=heap_bytes, fresh=fresh, run=run)
        except IndexingError:
            _raise_first(damage(generation))
            raise
        self._tidy(generation)
        return writer

    def reader(self) -> TantivyReader:
        """Open a reader; any number, in any process.

        Raises:
            IndexDamagedError: the index is broken; *place* names the file.
        """
        return TantivyReader(self.generation, self.path)

    def rebuild(self, *, heap_bytes: int = HEAP_BYTES) -> Rebuild:
        """Begin a new generation beside the current one, whatever state that is in.

        Raises:
            IndexingError: it cannot be made.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            taken = [int(d.name[1:]) for d in self.path.iterdir() if _GENERATION.match(d.name)]
            generation = _make(self.path / f"g{max(taken, default=0) + 1:06d}")
        except OSError as error:
            msg = f"a new index cannot be made in {self.path}: {error.strerror or error}"
            raise IndexingError(msg) from error
        return Rebuild(self, generation, TantivyWriter(generation, heap_bytes=heap_bytes, fresh=True))

    def point_to(self, generation: Path) -> None:
        """Make *generation* the current one, durably, and remove the others."""
        beside = self.path / f"{_CURRENT}.new"
        with beside.open("w", encoding="ascii") as out:
            out.write(f"{generation.name}\n")
            out.flush()
            os.fsync(out.fileno())
        beside.replace(self.path / _CURRENT)
        _sync(self.path)
        self._tidy(generation)

    def damage(self) -> list[str]:
        """Return what is broken, a sentence a file; reads every byte of the current generation."""
        try:
            return [str(d) for d in damage(self.generation())]
        except IndexDamagedError as error:
            return [error.text]

    def _pointer(self) -> str | None:
        try:
            name = (self.path / _CURRENT).read_text(encoding="ascii", errors="replace").strip()
        except FileNotFoundError:
            return None
        if not _GENERATION.match(name):
            msg = f"{self.path / _CURRENT} does not name a generation of the index"
            raise IndexDamagedError(msg, place=str(self.path / _CURRENT), hint=_REBUILD_HINT)
        return name

    def _first(self) -> Path:
        self.path.mkdir(parents=True, exist_ok=True)
        for old in self.path.iterdir():
            if _GENERATION.match(old.name) and _segments(old):
                msg = f"{self.path / _CURRENT} is missing, but {old.name} holds an index"
                raise IndexDamagedError(msg, place=str(self.path / _CURRENT), hint=_REBUILD_HINT)
        # What stands here without a pointer and without documents is a first start that was cut off.
        shutil.rmtree(self.path / "g000001", ignore_errors=True)
        generation = _make(self.path / "g000001")
        self.point_to(generation)
        return generation

    def _checked(self, generation: Path) -> Path:
        mark = generation / _MARK
        try:
            found = mark.read_text(encoding="ascii", errors="replace").strip()
        except FileNotFoundError:
            found = ""
        if found != SCHEMA_MARK:
            msg = (
                f"{mark}: the index was made by another version of Ingather"
                if found
                else f"{mark} is missing"
            )
            raise IndexDamagedError(msg, place=str(mark), hint=_REBUILD_HINT)
        return generation

    def _tidy(self, generation: Path) -> None:
        for old in self.path.iterdir():
            if _GENERATION.match(old.name) and old != generation:
                shutil.rmtree(old, ignore_errors=True)


def _make(generation: Path) -> Path:
    generation.mkdir()
    try:
        create(generation)
    except ValueError as error:
        msg = f"an index cannot be made in {generation}: {error}"
        raise IndexingError(msg) from error
    with (generation / _MARK).open("w", encoding="ascii") as out:
        out.write(f"{SCHEMA_MARK}\n")
        out.flush()
        os.fsync(out.fileno())
    _sync(generation)
    return generation


def _segments(generation: Path) -> bool:
    """Whether anything was ever committed to *generation*, as far as can be told."""
    try:
        return '"segment_id"' in (generation / "meta.json").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return any(generation.glob("*.store"))


def _raise_first(found: Sequence[Damage]) -> None:
    for broken in found:
        msg = f"the index is damaged: {broken}"
        raise IndexDamagedError(msg, place=str(broken.file), hint=_REBUILD_HINT)


def _sync(folder: Path) -> None:
    here = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(here)
    finally:
        os.close(here)
