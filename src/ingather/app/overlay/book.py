"""What people ask of external metadata: why a URL gets what it gets, what lines touch, what a file would change.

Nobody's leave is needed. Answers are JSON-ready; the command line and the API print the same.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from ingather.app.home import Home
from ingather.app.homeparts import database_of
from ingather.app.overlay.comparing import State, compared, with_file
from ingather.app.overlay.files import read_stable
from ingather.app.overlay.laying import Overlays
from ingather.app.overlay.texts import API, COMMON, NO_LAYERS, SWITCHES, Switches, file_of, source_of
from ingather.catalog.descriptions.sqlite_overlay import OverlayReader
from ingather.catalog.sqlite_reader import SqliteReader
from ingather.conf.settings.file import SettingsFile
from ingather.errors import CatalogError, UrlError, UsageError
from ingather.index.classes import class_words
from ingather.model.default_page import stripped
from ingather.model.url import fed_url
from ingather.overlay import DATES, Overlay, Record, print_line
from ingather.overlay.against import judged
from ingather.overlay.changes import KeyRange
from ingather.overlay.interchange import to_csv, to_json
from ingather.robot.indexing.laying import Laying

__all__ = ["CURRENT", "STANDING", "OverlayBook", "line_key"]

CURRENT = "current"
STANDING = "config"
_DIGITS = 10
_LINES = 100_000


class OverlayBook:
    """External metadata of a home, for people who read.

    Args:
        home: whose.
        read: its settings.
        now_s: wall time.
    """

    def __init__(self, home: Home, read: SettingsFile, now_s: Callable[[], float]) -> None:
        self._home, self._read, self._now_s = home, read, now_s

    def explain(self, url: str) -> dict[str, Any]:
        """Return why *url* gets what it gets: chain of lines, which line won each class, what that means.

        Raises:
            UsageError: it is no URL.
        """
        with self._open() as (reader, laying, layers, texts):
            canonical = Switches.read(texts.get(SWITCHES, b"")).options(COMMON, "skip_line").canonical
            try:
                whole = fed_url(url, canonical)
            except UrlError as error:
                raise UsageError(f"{url[:200]!r} is no URL: {error.text}") from error
            record = None if reader is None else reader.find(whole)
            source = "web" if record is None else record.source
            key = stripped(whole)
            over = laying.over(key, source)
            return {
                "url": url, "canonical": whole, "stripped": key, "source": source, "version": laying.version,
                "described": record is not None and record.described,
                "layers": [
                    self._layer_form(name, overlay, whole)
                    for name, overlay in layers.items() if source_of(name) in {"", source}
                ],
                "values": {name: list(values) for name, values in over.values.items()},
                "terms": _terms(over.values, laying),
                "expires": None if over.expires_s is None else datetime.fromtimestamp(over.expires_s, UTC).isoformat(),
                "expired": over.expires_s is not None and over.expires_s <= self._now_s(),
                "restricted": bool(over.needs),
            }  # fmt: skip

    @staticmethod
    def _layer_form(name: str, overlay: Overlay, url: str) -> dict[str, Any]:
        found = overlay.explain(url)
        return {
            "layer": name,
            "chain": [
                {"line": s.line, "prefix": s.prefix, "exact": s.exact, "own": {n: list(v) for n, v in s.own.items()}}
                for s in found.chain
            ],
            "classes": [
                {
                    "class": c.name, "values": list(c.values), "line": c.won.line,
                    "overrode": [{"line": s.line, "values": list(s.own[c.name])} for s in c.overrode],
                }
                for c in found.classes
            ],
        }  # fmt: skip

    def stats(self) -> dict[str, Any]:
        """Return for each line in force how many documents it touches, and all warnings."""
        with self._open() as (reader, laying, layers, _):
            if reader is None:
                return {"version": 0, "lines": [], "warnings": []}
            lines: list[dict[str, Any]] = []
            warnings = [str(d) for overlay in layers.values() for d in overlay.diagnostics]
            for name, overlay in layers.items():
                kept, source = reader.overlays, source_of(name)

                def count(span: KeyRange, kept: OverlayReader = kept, source: str = source) -> int:
                    return _count(kept, span.first, source, exact=span.end == span.first + "\0")

                for record in overlay.records():
                    documents = sum(
                        _count(kept, prefix, source, exact=record.exact) for prefix in _prefixes(record)
                    )
                    finding = None if documents else judged(record, name, count)
                    warnings += [str(finding)] if finding is not None else []
                    if len(lines) < _LINES:
                        lines.append(
                            {"layer": name, "line": record.line, "prefix": record.prefix, "exact": record.exact, "documents": documents}
                        )  # fmt: skip
            return {"version": laying.version, "lines": lines, "warnings": warnings}

    def diff(
        self, body: bytes, source: str = "", size: int | None = None, *, name: str = "", old: str = CURRENT
    ) -> dict[str, Any]:
        """Return what would change if *body* were the file of *source* (``""``: of all sources); nothing is changed.

        Args:
            body: the file.
            source: whose.
            size: of a file beyond the limit, of which *body* is not the whole.
            name: what its findings call it; default: where it would stand.
            old: what it is compared with: see :meth:`compare`.

        Raises:
            UsageError: there is no such source or version.
        """
        self._require_source(source)
        layer = file_of(source)
        with self._open() as (reader, _, _, texts):
            shadow = self._shadow()
            before = self._state(old, shadow, reader, texts)
            form = compared(shadow, reader, before, with_file(shadow, before, layer, body, size, name))
            return {**form, "file": layer, "state": form["states"][layer]}

    def compare(self, old: str = CURRENT, new: str = STANDING) -> dict[str, Any]:
        """Return what lies between two states: a version's number, ``current`` (in force) or ``config`` (the files).

        Raises:
            UsageError: there is no such version.
            ConfigurationError: a file is being written all the time.
        """
        with self._open() as (reader, _, _, texts):
            shadow = self._shadow()
            states = [self._state(each, shadow, reader, texts) for each in (old, new)]
            return compared(shadow, reader, *states)

    def _state(
        self, name: str, shadow: Overlays, reader: SqliteReader | None, in_force: Mapping[str, bytes]
    ) -> State:
        if name == CURRENT:
            return State("in force", in_force)
        if name == STANDING:
            state = State(name, in_force)
            for layer in shadow.files():
                found = read_stable(self._home.path / layer)
                if found is not None:
                    state = with_file(shadow, state, layer, *found)
                else:
                    state = State(name, {n: t for n, t in state.texts.items() if n != layer}, state.files)
            refused = any(taken.state == "refused" for taken in state.files.values())
            return State(name, in_force if refused else state.texts, state.files)
        number = int(name) if name.isascii() and name.isdecimal() and len(name) < _DIGITS else -1
        texts = None if reader is None else reader.overlays.texts(number)
        if texts is None:
            raise UsageError(f"there is no version {name}", hint="list them with: ingather overlay history")
        return State(f"version {number}", texts)

    def _require_source(self, source: str) -> None:
        if source and source not in self._read.sources:
            known = ", ".join(sorted(self._read.sources))
            raise UsageError(f"there is no source {source!r}", hint=f"sources are {known}")

    def _shadow(self) -> Overlays:
        return Overlays(self._home, self._read.settings, self._read.sources, self._read.classes, self._now_s)

    def files(self, version: str = CURRENT) -> dict[str, str]:
        """Return the texts of a state by layer: a version's number, ``current`` (in force) or ``config`` (the files).

        Raises:
            UsageError: there is no such version.
        """
        with self._open() as (reader, _, _, texts):
            state = self._state(version, self._shadow(), reader, texts)
        return {
            name: body.decode("utf-8", "replace")
            for name, body in state.texts.items()
            if name not in NO_LAYERS
        }

    def history(self) -> list[dict[str, Any]]:
        """Return what was in force when, newest first; the first is in force."""
        with self._open() as (reader, _, _, _):
            found = [] if reader is None else reader.overlays.publications()
            return [
                {
                    "version": p.version,
                    "at": p.at_s,
                    "author": p.author,
                    "note": p.note,
                    "in_force": place == 0,
                }
                for place, p in enumerate(found)
            ]

    def records(self) -> list[dict[str, Any]]:
        """Return the records that were set here, by prefix."""
        with self._open() as (reader, _, layers, _):
            own = {} if API not in layers else {line_key(record): record for record in layers[API].records()}
            kept = [] if reader is None else reader.overlays.records()
            return [
                {
                    "prefix": record.prefix, "at": record.at_s, "author": record.author, "line": record.line,
                    "classes": {n: list(v) for n, v in own[record.prefix].classes.items()} if record.prefix in own else {},
                }
                for record in kept
            ]  # fmt: skip

    def exported(self, kind: str) -> str:
        """Return the records as ``json``, ``csv`` or ``cfg`` (the file's format); each reads back to the same records."""
        with self._open() as (_, _, layers, _):
            records: Iterable[Record] = layers[API].records() if API in layers else ()
            if kind == "json":
                return "".join(to_json(records))
            if kind == "csv":
                return "".join(to_csv(records))
            return "".join(f"{print_line(record)}\n" for record in records)

    def expired(self) -> list[dict[str, Any]]:
        """Return the documents that nobody finds because their last day is over."""
        found: dict[int, dict[str, Any]] = {}
        now_s = self._now_s()
        with self._open() as (reader, laying, layers, _):
            if reader is None:
                return []
            for overlay in layers.values():
                for record in overlay.records():
                    if "X" not in record.classes:
                        continue
                    for row in (
                        row for prefix in _prefixes(record) for row in _below(reader.overlays, prefix)
                    ):
                        over = laying.over(row.key, row.source)
                        if over.expires_s is not None and over.expires_s <= now_s:
                            found[row.id] = {"url": row.key, "source": row.source, "expired": over.expires_s}
        return list(found.values())

    @contextmanager
    def _open(
        self,
    ) -> Iterator[tuple[SqliteReader | None, Laying, Mapping[str, Overlay], Mapping[str, bytes]]]:
        """Give the catalog, what is in force with its layers, and its texts."""
        shadow = self._shadow()
        try:
            reader = SqliteReader(database_of(self._home), self._home.bodies)
        except CatalogError:
            yield None, Laying(self._read.classes), {}, {}
            return
        try:
            number = reader.overlays.in_force()
            texts = reader.overlays.texts(number) or {}
            laying, layers = shadow.laid(texts, number)
            yield reader, laying, layers, texts
        finally:
            reader.close()


def line_key(record: Record) -> str:
    """Return the prefix of *record* as its line has it."""
    return print_line(record).partition(" ")[0]


def _prefixes(record: Record) -> tuple[str, ...]:
    both = record.schemeless and record.prefix.startswith("http://")
    return (record.prefix, f"https://{record.prefix[7:]}") if both else (record.prefix,)


def _parted(prefix: str) -> tuple[str, str]:
    slash = prefix.find("/", prefix.find("://") + 3)
    return prefix[:slash], prefix[slash:]


def _count(kept: OverlayReader, prefix: str, source: str, *, exact: bool) -> int:
    return kept.count(*_parted(prefix), exact=exact, source=source)


def _below(kept: OverlayReader, prefix: str) -> Iterator[Any]:
    after = ""
    while rows := kept.below(*_parted(prefix), after=after):
        yield from rows
        after = rows[-1].path


def _terms(values: Mapping[str, tuple[str, ...]], laying: Laying) -> list[str]:
    """Return the terms of values as the index has them; days and names of searchers are none there."""
    return [
        f"{word}_{name}"
        for name, of_class in values.items()
        if name not in DATES and name not in laying.table.permissions
        for value in of_class
        for word in class_words(value)
    ]
