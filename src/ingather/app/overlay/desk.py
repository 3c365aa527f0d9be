"""What people do to external metadata: set records, go back, let documents be found again.

It is handed to who owns the home, or done here when nobody does. Answers are JSON-ready; the command line and the API
print the same.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from ingather.app.home import Home
from ingather.app.overlay.book import OverlayBook, line_key
from ingather.app.overlay.texts import API, CLOSED, COMMON, Switches, file_of
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.conf.settings.file import SettingsFile
from ingather.errors import UsageError
from ingather.overlay import Record, print_line
from ingather.overlay.interchange import from_csv, from_json, record_of

__all__ = ["Edit", "OverlayDesk"]

Edit = Callable[[CatalogWriter, float], None]
"""What is done to the catalog's own records inside a transaction, at a wall time."""


class OverlayDesk(OverlayBook):
    """External metadata of a home, for people who read and change it.

    Args:
        home: whose.
        read: its settings.
        apply: does an edit and lets the index have it; returns whether another version is in force now.
        now_s: wall time.
    """

    def __init__(
        self,
        home: Home,
        read: SettingsFile,
        apply: Callable[[Edit, str, str], bool],
        now_s: Callable[[], float],
    ) -> None:
        super().__init__(home, read, now_s)
        self._apply = apply

    def put(self, prefix: str, classes: Mapping[str, Iterable[str]], author: str) -> dict[str, Any]:
        """Set the record of *prefix*; no values clear a class.

        Raises:
            UsageError: prefix, class or value cannot be; the text says why.
        """
        line = print_line(self._record(prefix, classes))
        key = line.partition(" ")[0]
        changed = self._apply(lambda w, now_s: _put(w, key, line, now_s, author), author, f"set {key}")
        return {"prefix": key, "line": line, "changed": changed}

    def record(self, prefix: str) -> dict[str, Any] | None:
        """Return the record of *prefix* in whatever form that is written, ``None`` if there is none.

        Raises:
            UsageError: no prefix can be so.
        """
        key = line_key(self._record(prefix, {"x": ["1"]}))
        return next((record for record in self.records() if record["prefix"] == key), None)

    def delete(self, prefix: str, author: str) -> dict[str, Any]:
        """Take the record of *prefix* away.

        Raises:
            UsageError: there is none.
        """
        key = line_key(self._record(prefix, {"x": ["1"]}))
        if self.record(prefix) is None:
            raise UsageError(f"there is no record of {key}", hint="list them with: ingather overlay list")
        return {
            "prefix": key,
            "changed": self._apply(lambda w, _: _delete(w, key), author, f"unset {key}"),
        }

    def replace(self, body: str, kind: str, author: str) -> dict[str, Any]:
        """Let the records be exactly those of *body* (``json`` or ``csv``).

        Raises:
            UsageError: it cannot be read, or a record cannot be.
        """
        options = self._switches().options(API, "skip_line")
        overlay = from_json(body, options) if kind == "json" else from_csv(body, options)
        first = next((d for d in overlay.diagnostics if d.is_error), None)
        if first is not None:
            raise UsageError(f"record {first.line}: {first.code}: {first.text}", hint=first.hint)
        lines = [print_line(record) for record in overlay.records()]

        def job(writer: CatalogWriter, now_s: float) -> None:
            writer.overlays.clear_records()
            for line in lines:
                writer.overlays.put_record(line.partition(" ")[0], line, now_s, author)

        return {"records": len(lines), "changed": self._apply(job, author, f"{len(lines)} records")}

    def set_hidden(self, url: str, author: str, *, hidden: bool) -> dict[str, Any]:
        """Let a document be found although its last day is over, or no more.

        Raises:
            UsageError: it is no URL.
        """
        key = self.explain(url)["stripped"]

        def job(writer: CatalogWriter, _: float) -> None:
            kept = set(writer.overlays.unhidden().decode().split())
            writer.overlays.set_unhidden(kept - {key} if hidden else kept | {key})

        changed = self._apply(job, author, f"{'hide' if hidden else 'unhide'} {key}")
        return {"url": key, "hidden": hidden, "changed": changed}

    def publish(self, author: str, note: str = "") -> dict[str, Any]:
        """Put what stands in the files in force now, unless one has an error; ``errors`` are told and nothing changes then."""
        found = self.compare()
        changed = not found["errors"] and self._apply(_nothing, author, note or "as the files are")
        with self._open() as (_, laying, _, _):
            version = laying.version
        return {
            "version": version, "changed": changed, "errors": found["errors"], "warnings": found["warnings"],
            "documents": found["documents"] if changed else 0,
        }  # fmt: skip

    def rollback(self, version: int, author: str) -> dict[str, Any]:
        """Put version *version* in force again: its files are written back, its records set again.

        Raises:
            UsageError: there is no such version, or it has no good file of a source that narrows access.
        """
        with self._open() as (reader, _, _, _):
            texts = None if reader is None else reader.overlays.texts(version)
        if texts is None:
            raise UsageError(
                f"there is no version {version}", hint="list them with: ingather overlay history"
            )

        if closed := texts.get(CLOSED, b"").decode():
            raise UsageError(
                f"version {version} hides source {closed}: its restrictions could not be read then",
                hint="mend its external_metadata.cfg, or go back to another version",
            )

        def job(writer: CatalogWriter, now_s: float) -> None:
            writer.overlays.clear_records()
            for line in texts.get(API, b"").decode().splitlines():
                writer.overlays.put_record(line.partition(" ")[0], line, now_s, author)
            for layer in (COMMON, *map(file_of, self._read.sources)):
                _restore(self._home.path / layer, texts.get(layer))

        return {"version": version, "changed": self._apply(job, author, f"rolled back to version {version}")}

    # -- parts ----------------------------------------------------------------------------------------

    def _record(self, prefix: str, classes: Mapping[str, Iterable[str]]) -> Record:
        return record_of(prefix, classes, self._switches().options(API, "skip_line"))

    def _switches(self) -> Switches:
        return Switches.of(self._read.settings, self._read.sources, self._read.classes)


def _nothing(_writer: CatalogWriter, _now_s: float) -> None:
    """Edit no record."""


def _put(writer: CatalogWriter, key: str, line: str, now_s: float, author: str) -> None:
    writer.overlays.put_record(key, line, now_s, author)


def _delete(writer: CatalogWriter, key: str) -> None:
    writer.overlays.delete_record(key)


def _restore(path: Path, body: bytes | None) -> None:
    if not body:
        with suppress(FileNotFoundError):
            path.unlink()
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.new")
    with new.open("wb") as file:
        file.write(body)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)
