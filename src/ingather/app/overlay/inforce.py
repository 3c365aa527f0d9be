"""What of external metadata is in force, what would come into force, and how far documents follow."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ingather.app.overlay.files import FileState
from ingather.app.overlay.texts import Reader, Taken
from ingather.catalog.descriptions.sqlite_overlay import OverlayReader
from ingather.catalog.sqlite_open import open_reader
from ingather.catalog.sqlite_rows import Rows
from ingather.conf.classes import ClassTable
from ingather.errors import CatalogError
from ingather.overlay import Overlay
from ingather.robot.indexing.laying import Laying
from ingather.robot.indexing.overlaypass import OverlayPass

__all__ = ["Change", "Progress", "Ready", "in_force"]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far documents follow: ``running`` while a pass is under way."""

    version: int = 0
    running: bool = False
    places: int = 0
    place: int = 0
    looked: int = 0
    changed: int = 0

    def form(self) -> dict[str, Any]:
        """Return it as JSON shows it."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Change:
    """What would come into force: the texts, what became of each file, and what it means for documents."""

    texts: Mapping[str, bytes]
    taken: Mapping[str, Taken] = field(default_factory=dict)
    states: Mapping[str, FileState] = field(default_factory=dict)
    unread: Mapping[str, str] = field(default_factory=dict)
    """Files that could not be read, and why: their last good version goes on."""


@dataclass(frozen=True, slots=True)
class Ready:
    """A change as it will be laid over documents, with the pass that is due then."""

    change: Change
    laying: Laying
    layers: Mapping[str, Overlay]
    steps: OverlayPass


def in_force(path: Path, table: ClassTable) -> Laying:
    """Return what is laid over documents as the catalog *path* says; without a catalog the classes alone."""
    try:
        db = open_reader(path)
    except CatalogError:
        return Laying(table)
    try:
        kept = OverlayReader(Rows(db, path))
        number = kept.in_force()
        texts = kept.texts(number) or {}
    finally:
        db.close()
    return Reader().laying(texts, table, number)[0]
