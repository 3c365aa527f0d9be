"""What would change between two states of external metadata: record by record, and document by document.

A state is what the layers say: a version that the catalog keeps, what is in force, what stands in the files, or that with
another file in place of one. Nothing is changed, and no log is written.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from ingather.app.overlay.files import told
from ingather.app.overlay.laying import Overlays
from ingather.app.overlay.texts import CLOSED, SWITCHES, UNHIDDEN, Switches, Taken, source_of
from ingather.catalog.descriptions.sqlite_overlay import OverlayReader
from ingather.catalog.sqlite_changes import Applied
from ingather.catalog.sqlite_reader import SqliteReader
from ingather.model.default_page import stripped
from ingather.overlay import Options, Overlay, overlay_of
from ingather.overlay.changes import Change, changes, unified
from ingather.robot.indexing.laying import Laying
from ingather.robot.indexing.overlaypass import At, OverlayPass, Place, changed_places

__all__ = ["State", "compared", "with_file"]

_SAMPLE = 10
_LINES = 100_000


@dataclass(frozen=True, slots=True)
class State:
    """One side of a comparison.

    Attributes:
        name: how people know it.
        texts: as a version of the catalog has them.
        files: files that were read for it and how they were judged, by layer.
    """

    name: str
    texts: Mapping[str, bytes]
    files: Mapping[str, Taken] = field(default_factory=dict)


def with_file(  # noqa: PLR0913, PLR0917 - one file and where it would stand
    shadow: Overlays, before: State, layer: str, body: bytes, size: int | None = None, name: str = ""
) -> State:
    """Return *before* as it would be if *body* were the file *layer*, by the settings of now.

    With ``on-error = "fail"`` and an error everything stays, and the file's state is ``refused``.

    Args:
        shadow: reads, by the settings.
        before: what the file comes to.
        layer: whose file it would be.
        body: its bytes.
        size: of a file beyond the limit, of which *body* is not the whole.
        name: the file's own name, for its findings.
    """
    closed = set(before.texts.get(CLOSED, b"").decode().split())
    good = None if source_of(layer) in closed else before.texts.get(layer)
    taken = shadow.judge(layer, body, good, size, name=name, refuse=True)
    files = {**before.files, layer: taken}
    if taken.state == "refused":
        return State(name or before.name, before.texts, files)
    texts = {**before.texts, SWITCHES: shadow.switches.text(), layer: taken.text}
    closed.discard(source_of(layer))
    if taken.state == "kept" and good is None and shadow.narrows(layer):
        closed.add(source_of(layer))
    texts.pop(CLOSED, None)
    if closed:
        texts[CLOSED] = " ".join(sorted(closed)).encode()
    return State(name or layer, texts, files)


def compared(shadow: Overlays, reader: SqliteReader | None, old: State, new: State) -> dict[str, Any]:
    """Return what *new* would change of *old*, JSON-ready."""
    before, layers = shadow.laid(old.texts)
    after, now = shadow.laid(new.texts)
    found = [
        (layer, change)
        for layer in dict.fromkeys([*layers, *now])
        for change in _changes(layer, layers.get(layer), now.get(layer))
    ]
    further = _how_read(old.texts).reaches_further(_how_read(new.texts))
    more: list[Place] = [(key, True) for key in before.unhidden ^ after.unhidden]
    steps = OverlayPass(
        before, after, changed_places(layers, now, more), everything=further or before.closed != after.closed
    )
    rows = [] if reader is None else _differing(steps, reader.overlays)
    sample = {} if reader is None else reader.get(rows[:_SAMPLE])
    findings = [finding for taken in new.files.values() for finding in taken.overlay.diagnostics]
    return {
        "old": old.name, "new": new.name,
        "states": {layer: taken.state for layer, taken in new.files.items()},
        "problems": [text for layer, taken in new.files.items() if (text := told(layer, taken))],
        "errors": [str(finding) for finding in findings if finding.is_error],
        "warnings": [str(finding) for finding in findings if not finding.is_error],
        "records": len(found), "changes": [str(change) for _, change in islice(found, _LINES)],
        "diff": [*islice(_unified(found, old.name, new.name), _LINES), *_marks(old, new)],
        "notes": _notes(old, new, further=further),
        "documents": len(rows),
        "sample": [
            {
                "url": record.url,
                "before": _plain(before, record.url, record.source),
                "after": _plain(after, record.url, record.source),
            }
            for record in sample.values()
        ],
    }  # fmt: skip


def _changes(layer: str, old: Overlay | None, new: Overlay | None) -> Iterable[Change]:
    empty = overlay_of(b"", layer, Options())
    return () if old is new else changes(old or empty, new or empty)


def _unified(found: Iterable[tuple[str, Change]], old: str, new: str) -> Iterable[str]:
    last = None
    for layer, change in found:
        if layer != last:
            last = layer
            yield f"--- {layer} ({old})"
            yield f"+++ {layer} ({new})"
        yield from unified(change)


def _marks(old: State, new: State) -> Iterable[str]:
    """Yield what is said of single documents and of whole sources beside the layers."""
    for name, what in ((UNHIDDEN, "found although expired"), (CLOSED, "sources that nobody sees")):
        before, after = (set(state.texts.get(name, b"").decode().split()) for state in (old, new))
        if before != after:
            yield f"--- {what} ({old.name})"
            yield f"+++ {what} ({new.name})"
            yield from (f"{'-' if each in before else '+'}{each}" for each in sorted(before ^ after))


def _how_read(texts: Mapping[str, bytes]) -> Switches:
    return Switches.read(texts.get(SWITCHES, b""))


def _notes(old: State, new: State, *, further: bool) -> list[str]:
    before, after = _how_read(old.texts), _how_read(new.texts)
    if not old.texts.get(SWITCHES) or before == after:
        return []
    said = ["files are read by other settings (schemeless, strict, schemes, acl-overlay)"]
    if further:
        said = [
            "classes, delimiters, time zones or the form of URLs differ: every document is put into the index again"
        ]
    return said


class _Dry:
    """A store that only says what would be done."""

    def __init__(self, kept: OverlayReader) -> None:
        self.found: list[int] = []
        self.below, self.at, self.everything = kept.below, kept.at, kept.everything

    def changed(self, ids: Iterable[int], _applied: Applied) -> int:
        ids = list(ids)
        self.found += ids
        return len(ids)


def _differing(steps: OverlayPass, kept: OverlayReader) -> list[int]:
    dry, at = _Dry(kept), At()
    while not at.done:
        at = steps.step(dry, Applied(), at)
    return dry.found


def _plain(laying: Laying, url: str, source: str) -> dict[str, list[str]]:
    return {name: list(values) for name, values in laying.over(stripped(url), source).values.items()}
