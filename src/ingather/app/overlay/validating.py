"""The validator and concatenator of external metadata on the files of a home (``ingather overlay check|concatenate``).

A collection of the original is a source here::

    config/external_metadata.cfg                        of all sources
    config/sources/S/external_metadata.cfg              of source S
    config/sources/S/profiles/P/external_metadata.cfg   of a profile: without effect until concatenated
    log/S/external_metadata.cfg-validation.log          what was found

What :func:`concatenate_source` writes is known by its digest in a file beside it, because the format has no place for a
mark: comments would not be understood by everybody who reads such files.
"""

import contextlib
import hashlib
import os
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from ingather.app.home import Home
from ingather.app.homeparts import database_of
from ingather.app.overlay.texts import FILE_NAME, Switches, file_of
from ingather.catalog.sqlite_reader import SqliteReader
from ingather.errors import CatalogError, ConfigurationError, IngatherError, UsageError
from ingather.overlay import Options
from ingather.overlay.against import judged
from ingather.overlay.changes import KeyRange
from ingather.overlay.findings import KEPT
from ingather.overlay.validating import File, Validation, concatenate, log_text, validate

__all__ = ["Outcome", "check_source", "concatenate_source", "log_file"]

_MARK: Final = f".{FILE_NAME}.concatenated"
_BACKUP: Final = f"{FILE_NAME}.bak"
_NEW: Final = f".{FILE_NAME}.new"


class Outcome(NamedTuple):
    """What a run came to.

    Attributes:
        accepted: the share of bad records is within the threshold.
        validation: what was found; ``None`` = there is no file.
        written: the file that was written.
        lines: how many lines it has.
    """

    accepted: bool
    validation: Validation | None
    written: Path | None = None
    lines: int = 0


def log_file(home: Home, source: str) -> Path:
    """Return where the findings about a source's files are written; ``""`` = the file of all sources."""
    return home.log / source / f"{FILE_NAME}-validation.log"


def check_source(home: Home, source: str, threshold: Decimal) -> Outcome:
    """Validate a source's file (``""``: that of all sources); no file is nothing to do.

    Raises:
        UsageError: there is no such source.
        OSError: a file cannot be read, or the log not be written.
    """
    options = _options(home, source)
    layer = file_of(source)
    file = _file(home, layer, options)
    if file is None:
        return Outcome(accepted=True, validation=None)
    validation = _against(home, source, validate([file], threshold, options))
    _write_log(log_file(home, source), validation)
    return Outcome(validation.accepted, validation)


def concatenate_source(home: Home, source: str, threshold: Decimal, *, force: bool = False) -> Outcome:
    """Make a source's file of those of its profiles, in byte order of their names.

    Over the threshold nothing is written. The version before stays as ``external_metadata.cfg.bak``.

    Raises:
        UsageError: there is no such source.
        IngatherError: the file that is there was written by somebody else, and *force* is not set.
        OSError: a file cannot be read or written.
    """
    if not source:
        raise UsageError("profiles belong to a source", hint="name it: collection=NAME")
    options = _options(home, source)
    target = home.path / file_of(source)
    files = []
    for profile in _profiles(target.parent / "profiles"):
        layer = f"{Path(file_of(source)).parent}/profiles/{profile}/{FILE_NAME}"
        file = _file(home, layer, options)
        if file is not None:
            files.append(file)
    if not files:
        return Outcome(accepted=True, validation=None)
    made = concatenate(files, threshold, options)
    made = replace(made, validation=_against(home, source, made.validation))
    _write_log(log_file(home, source), made.validation)
    if not made.validation.accepted:
        return Outcome(accepted=False, validation=made.validation)
    before = target.read_bytes() if target.exists() else None
    if before is not None and not force and not _ours(target, before):
        raise IngatherError(
            f"{file_of(source)} was not written by concatenating, or was changed since",
            hint="move its lines into a profile, or say force=true; the version before is kept as .bak",
        )
    _replace(target, made.body, before)
    return Outcome(accepted=True, validation=made.validation, written=target, lines=made.lines)


def _options(home: Home, source: str) -> Options:
    found = home.settings(environment=os.environ)
    if any(each.is_error for each in found.diagnostics):
        raise ConfigurationError(found.diagnostics)
    if source and source not in found.sources:
        known = ", ".join(sorted(found.sources))
        raise UsageError(f"there is no source {source!r}", hint=f"sources are {known}")
    own = found.sources[source].overlay_on_error if source else None
    on_error = own or found.settings.text("overlay.on-error")
    return Switches.of(found.settings, found.sources, found.classes).options(file_of(source), on_error)


def _against(home: Home, source: str, validation: Validation) -> Validation:
    """Add what the catalog says against good lines; a home that has gathered nothing yet says nothing."""
    try:
        reader = SqliteReader(database_of(home), home.bodies)
    except CatalogError:
        return validation
    try:
        kept = reader.overlays
        if not kept.everything(after=0, limit=1):
            return validation

        def any_in(span: KeyRange) -> int:
            slash = span.first.find("/", span.first.find("://") + 3)
            origin, path = span.first[:slash], span.first[slash:]
            return kept.touches(origin, path, exact=span.end == f"{span.first}\0", source=source)

        found = (
            finding
            for overlay in validation.overlays
            for record in overlay.records()
            if (finding := judged(record, overlay.name, any_in)) is not None
        )
        more = sorted(islice(found, KEPT), key=lambda each: each.place[:2])
    finally:
        reader.close()
    return replace(validation, diagnostics=(*validation.diagnostics, *more))


def _profiles(folder: Path) -> Sequence[str]:
    try:
        names = os.listdir(folder)  # noqa: PTH208 - names are sorted as bytes
    except FileNotFoundError:
        return ()
    return sorted(names, key=os.fsencode)


def _file(home: Home, layer: str, options: Options) -> File | None:
    """Return a file; of one beyond the limit no bytes, but its size."""
    try:
        with (home.path / layer).open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size > options.limit_bytes:
                return layer, b"", size
            return layer, file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _ours(target: Path, body: bytes) -> bool:
    try:
        mark = (target.parent / _MARK).read_text("ascii", "replace")
    except FileNotFoundError:
        return False
    return mark.strip() == hashlib.sha256(body).hexdigest()


def _replace(target: Path, body: bytes, before: bytes | None) -> None:
    """Write *target* so that after a power cut it is the old file or the new one, and known as ours in both cases."""
    folder = target.parent
    if before is not None and before != body:
        _write(folder / _BACKUP, before)
    # The mark first: between the two the old file is taken for a hand-written one, which loses nothing.
    _write(folder / _MARK, f"{hashlib.sha256(body).hexdigest()}\n".encode())
    _write(target, body)


def _write(path: Path, body: bytes) -> None:
    new = path.with_name(f"{_NEW}-{os.getpid()}")
    try:
        with new.open("wb") as file:
            file.write(body)
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            new.unlink()
        raise
    fd = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _write_log(path: Path, validation: Validation) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(log_text(validation), "utf-8", "backslashreplace")
