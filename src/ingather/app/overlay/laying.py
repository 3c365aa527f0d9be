"""External metadata of a home: files and records become a version in force, and documents follow it.

One :class:`Overlays` belongs to who owns the home. Its ``laying`` is what is laid over documents now; it is replaced whole.
What comes in goes one way: texts are read and judged by ``on-error``, the command of the operator is asked, the version is
published, and a pass logs a change for every document over which another value is laid.

Whoever does not own the home but makes index documents (a rebuild, a check) reads the version in force (``inforce``).
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ingather.app.home import Home
from ingather.app.overlay.command import run_command
from ingather.app.overlay.files import FileState, look, read_stable, told, write_log
from ingather.app.overlay.inforce import Change, Progress, Ready
from ingather.app.overlay.texts import (
    API,
    CLOSED,
    COMMON,
    FETCHED,
    SWITCHES,
    UNHIDDEN,
    Reader,
    Switches,
    Taken,
    file_of,
    source_of,
)
from ingather.catalog.descriptions.sqlite_overlay import OverlayReader, OverlayStore
from ingather.catalog.sqlite_changes import Applied
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.conf.classes import ClassTable
from ingather.conf.settings.values import Settings
from ingather.conf.sources.source import SourceConf
from ingather.errors import ConfigurationError
from ingather.log import get
from ingather.model.description import AttributesView
from ingather.model.diagnostic import Diagnostic
from ingather.model.diagnostic import Place as Spot
from ingather.model.source_name import BySource
from ingather.overlay import Overlay
from ingather.ports.index import IndexDocument
from ingather.robot.indexing.laying import NO_LAYING, Laying
from ingather.robot.indexing.overlaypass import At, OverlayPass, Place, changed_places

__all__ = ["Overlays"]

_log = get("overlay")


class Overlays:
    """Owns what is laid over documents of a home; used by one thread at a time, but ``laying`` by any.

    Args:
        home: whose files are read.
        settings: section ``overlay``.
        sources: with their own switches.
        table: metadata classes.
        now_s: wall time.
    """

    def __init__(
        self,
        home: Home,
        settings: Settings,
        sources: Mapping[str, SourceConf],
        table: ClassTable,
        now_s: Callable[[], float] = time.time,
    ) -> None:
        self._home, self._settings, self._sources, self.table = home, settings, BySource(sources), table
        self._now_s = now_s
        self._reader = Reader()
        self.switches = Switches.of(settings, sources, table)
        """How layers are read from now on."""
        self.laying = NO_LAYING
        self.layers: Mapping[str, Overlay] = {}
        self.progress = Progress()
        self.problems: dict[str, str] = {}
        """Files that do not apply as they stand: layer -> what is wrong, for operators."""
        self._states: Mapping[str, FileState] = {}
        self._texts: dict[str, bytes] = {}

    def __call__(self, document: IndexDocument, found: AttributesView) -> None:
        """Lay over *document* what is in force; see :data:`ingather.robot.indexing.documents.Lay`."""
        self.laying(document, found)

    # -- at the start, by the one who owns the writer -------------------------------------------------

    def begin(
        self, writer: CatalogWriter, *, author: str = "", note: str = "as the files were at the start"
    ) -> None:
        """Finish a pass that was cut off, then take in what stands in the files now.

        Raises:
            ConfigurationError: a file has an error and its ``on-error`` is ``fail``.
        """
        store = writer.overlays
        number = store.in_force()
        self._adopt(store.texts(number) or {}, number)
        before = store.pass_from()
        if before is not None:
            texts = store.texts(before)
            old, layers = self._reader.laying(texts or {}, self.table, before)
            anew = (before != 0 and texts is None) or bool(self.table.defined)
            self._run(writer, self._pass(old, self.laying, layers, self.layers, anew=anew))
        change = self.read(store)
        if change is None:
            return
        try:
            steps = self.put_in_force(writer.transaction, change, author=author, note=note)
        except ConfigurationError as error:  # the command of the operator: what is in force stays so
            self.refused(error)
            return
        if steps is not None:
            self._run(writer, steps)

    def refused(self, error: ConfigurationError) -> None:
        """Note why a new version is not in force."""
        self.problems = {**self.problems, "refused": error.text}
        _log.error("external metadata stays as it was", why=error.text)

    def _run(self, writer: CatalogWriter, steps: OverlayPass) -> None:
        at = At()
        while not at.done:
            at = writer.transaction(lambda w, at=at: self.step(w, Applied(), steps, at))  # type: ignore[misc]

    # -- what stands in the files ---------------------------------------------------------------------

    def moved(self) -> bool:
        """Whether a file is another than the one that was read last."""
        return look(self._home, self._sources) != self._states

    def read(self, store: OverlayReader) -> Change | None:
        """Read what stands in the files and the catalog's records; ``None`` when that is in force already.

        Raises:
            ConfigurationError: a file has an error and its ``on-error`` is ``fail``.
        """
        states = look(self._home, self._sources)
        self._states = states  # what is refused is looked at again when it has changed
        texts: dict[str, bytes] = {SWITCHES: self.switches.text()}
        taken: dict[str, Taken] = {}
        closed: list[str] = []
        unread: dict[str, str] = {}
        never = frozenset(self._texts.get(CLOSED, b"").decode().split())
        for layer in states:
            # What stands for a source that was closed is no good version, but the lack of one.
            good = None if source_of(layer) in never else self._texts.get(layer)
            try:
                found = read_stable(self._home.path / layer)
            except OSError as error:
                unread[layer] = self._unread(layer, error)
                if good is not None:
                    texts[layer] = good
                elif self.narrows(layer):
                    closed.append(source_of(layer))
                continue
            if found is None:
                continue
            body, size = found
            taken[layer] = self.judge(layer, body, good, size)
            texts[layer] = taken[layer].text
            if taken[layer].state == "kept" and good is None and self.narrows(layer):
                closed.append(source_of(layer))
        if closed:
            texts[CLOSED] = " ".join(closed).encode()
        listings = {f"{FETCHED}:{url}" for url in self._settings.words("overlay.listings")}
        texts |= {layer: text for layer, text in self._texts.items() if layer in listings}
        if unhidden := store.unhidden():
            texts[UNHIDDEN] = unhidden
        records = "".join(f"{record.line}\n" for record in store.records())
        if records:
            texts[API] = records.encode()
        return self.judged(Change(texts, taken, states, unread))

    def judged(self, change: Change) -> Change | None:
        """Note what is wrong with files; return *change* unless it is in force already."""
        self._states = change.states
        self._note(change.taken, change.unread)
        if not self._texts and change.texts.keys() == {SWITCHES} and not self.table.defined:
            return None  # there is nothing to lay, and there never was
        return None if dict(change.texts) == self._texts else change

    def texts(self) -> dict[str, bytes]:
        """Return the texts of all layers in force."""
        return dict(self._texts)

    def states(self) -> Mapping[str, FileState]:
        """Return the files as they were read last."""
        return self._states

    def note_listings(self, failed: Mapping[str, str]) -> None:
        """Note which listings could not be had."""
        for layer, text in failed.items():
            if self.problems.get(layer) != text:
                _log.warning("a listing of external metadata was not taken in", what=text)
        others = {name: text for name, text in self.problems.items() if not name.startswith(FETCHED)}
        self.problems = {**others, **failed}

    def judge(  # noqa: PLR0913 - one file and how it is judged
        self,
        layer: str,
        body: bytes,
        good: bytes | None,
        size: int | None = None,
        *,
        name: str = "",
        refuse: bool = False,
    ) -> Taken:
        """Return what *body* would come to as the text of *layer*; *good* applied before.

        *size* is that of a file beyond the limit, of which *body* is not the whole; *name* is what its findings call it.

        Raises:
            ConfigurationError: it has an error and its ``on-error`` is ``fail``; with *refuse* its state says so instead.
        """
        how = self.on_error(layer)
        fails = refuse and how == "fail"
        taken = self._reader.take(
            layer, body, self.switches, "keep_last_good" if fails else how, good, size, name=name
        )
        return replace(taken, state="refused") if fails and taken.state != "ok" else taken

    def laid(self, texts: Mapping[str, bytes], number: int = 0) -> tuple[Laying, dict[str, Overlay]]:
        """Return *texts* as they would be laid over documents, and their layers."""
        return self._reader.laying(texts, self.table, number)

    def on_error(self, layer: str) -> str:
        """Return what a bad line does in *layer*."""
        source = self._sources.get(source_of(layer))
        own = None if source is None else source.overlay_on_error
        return own or self._settings.text("overlay.on-error")

    def narrows(self, layer: str) -> bool:
        """Tell whether *layer* may narrow access."""
        source = self._sources.get(source_of(layer))
        return source is not None and source.acl_overlay == "restrict"

    def _unread(self, layer: str, error: OSError) -> str:
        """Return what is told of a file that cannot be read.

        Raises:
            ConfigurationError: its ``on-error`` is ``fail``.
        """
        what = f"cannot be read: {error.strerror or error}"
        if self.on_error(layer) == "fail":
            hint = "let the program's user read it, or take it away"
            raise ConfigurationError((Diagnostic("E-FILE", Spot(layer, 1), what, hint=hint),)) from error
        return f"{layer} {what}"

    def _note(self, taken: Mapping[str, Taken], unread: Mapping[str, str]) -> None:
        problems = {layer: what for layer, file in taken.items() if (what := told(layer, file))} | dict(
            unread
        )
        for layer, text in problems.items():
            if self.problems.get(layer) != text:
                _log.error("external metadata has errors", file=layer, what=text)
        for layer, file in taken.items():
            write_log(self._home, layer, file)
        fetched = {name: text for name, text in self.problems.items() if name.startswith(FETCHED)}
        self.problems = {**problems, **fetched}

    # -- into force -----------------------------------------------------------------------------------

    def put_in_force(
        self,
        transaction: Callable[[Callable[[CatalogWriter], Any]], Any],
        change: Change,
        *,
        author: str = "",
        note: str = "",
    ) -> OverlayPass | None:
        """Publish *change* and lay it over documents from now on; return the pass that is due, ``None`` for none.

        Raises:
            ConfigurationError: the operator's command failed; nothing was changed.
        """
        self.ask_command()
        ready = self.ready(change)
        number = transaction(lambda w: self.publish(w, Applied(), ready, author=author, note=note))
        return self.adopted(ready, number) if number else None

    def ready(self, change: Change) -> Ready:
        """Return *change* as it will be laid over documents; nothing is changed yet."""
        laying, layers = self._reader.laying(change.texts, self.table, 0)
        before = self._texts.get(SWITCHES, b"")
        anew = Switches.read(before).reaches_further(self.switches) if before else bool(self.table.defined)
        return Ready(change, laying, layers, self._pass(self.laying, laying, self.layers, layers, anew=anew))

    def publish(
        self, writer: CatalogWriter, applied: Applied, ready: Ready, *, author: str = "", note: str = ""
    ) -> int:
        """Publish inside the caller's transaction; return the version's number, 0 if it is in force already.

        Where access is narrowed the whole pass is part of the transaction: from its commit on nobody sees what he may not.
        """
        now_s = self._now_s()
        writer.applier.now_s = now_s
        for layer, text in self.problems.items():
            writer.overlays.event("overlay", layer, text)
        number, fresh = writer.overlays.publish(ready.change.texts, now_s, author=author, note=note)
        if fresh and (self.table.permissions or ready.laying.closed):
            at = At()
            while not at.done:
                at = self.step(writer, applied, ready.steps, at)
        return number if fresh else 0

    def adopted(self, ready: Ready, number: int) -> OverlayPass:
        """Lay version *number* over documents from now on; return the pass over those that are in the index."""
        self._texts, self.layers = dict(ready.change.texts), ready.layers
        ready.laying.version = number
        self.laying = ready.laying
        self.progress = replace(self.progress, version=number, running=True, places=ready.steps.places)
        return ready.steps

    def _pass(
        self,
        old: Laying,
        new: Laying,
        before: Mapping[str, Overlay],
        now: Mapping[str, Overlay],
        *,
        anew: bool,
    ) -> OverlayPass:
        everything = old.closed != new.closed
        more: list[Place] = [(key, True) for key in old.unhidden ^ new.unhidden]
        places = [] if everything or anew else changed_places(before, now, more)
        return OverlayPass(old, new, places, everything=everything, anew=anew)

    def _adopt(self, texts: Mapping[str, bytes], number: int) -> None:
        self._texts = dict(texts)
        self.laying, self.layers = self._reader.laying(texts, self.table, number)
        self.progress = Progress(number)

    def step(self, writer: CatalogWriter, applied: Applied, steps: OverlayPass, at: At) -> At:
        """Make one step of a pass inside the caller's transaction; return where the next one begins."""
        writer.applier.now_s = self._now_s()
        found = steps.step(writer.overlays, applied, at)
        if found.done:
            writer.overlays.end_pass()
        self.progress = replace(
            self.progress,
            running=not found.done,
            place=found.place,
            looked=found.looked,
            changed=found.changed,
        )
        return found

    def ask_command(self) -> None:
        """Run the operator's command, if there is one.

        Raises:
            ConfigurationError: it failed, or took too long.
        """
        command = self._settings.text("overlay.pre-index-command")
        if command:
            run_command(command, self._home.path, self._settings.seconds("overlay.pre-index-timeout"))

    # -- for people -----------------------------------------------------------------------------------

    def form(self) -> dict[str, Any]:
        """Return what the status says of external metadata."""
        return {
            **self.progress.form(),
            "problems": dict(self.problems),
            "layers": {name: len(overlay) for name, overlay in self.layers.items()},
        }

    def files(self) -> Sequence[str]:
        """Return the files that may be there."""
        return (COMMON, *map(file_of, self._sources))


_store: type[OverlayReader] = OverlayStore
