"""The files of a configuration on their way between ``config/``, a folder of their own, and the catalog.

A new configuration is *staged* in ``run/publish-...`` and checked there. When it is kept in the
catalog, its folder is renamed to ``run/publishing`` and copied into ``config/`` file by file; whoever
opens the home next finishes a copy that was cut off. So ``config/`` is never left half old, half new.
"""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath

from ingather.app.home import Home
from ingather.catalog.sqlite_open import open_reader
from ingather.catalog.sqlite_rows import Rows
from ingather.catalog.sqlite_versions import Versions
from ingather.conf import load
from ingather.errors import HomeError, UsageError

__all__ = [
    "STAGE_PREFIX",
    "digest_of",
    "finish_publishing",
    "overwritten",
    "packed",
    "put_in_place",
    "reading_versions",
    "stage_at",
    "staged",
]

STAGE_PREFIX = "publish-"
_PLACE = "publishing"
_OBSOLETE = "obsolete.json"


def packed(bodies: Mapping[str, bytes]) -> dict[str, str | bytes]:
    """Return file bodies as the catalog keeps them: text where it is UTF-8, so that people can read it there."""
    return {name: _text(body) for name, body in bodies.items()}


def digest_of(bodies: Mapping[str, bytes]) -> str:
    """Return the digest over all files, as :attr:`ingather.conf.Loaded.digest` counts it."""
    lines = (f"{name}\0{hashlib.sha256(body).hexdigest()}\n" for name, body in sorted(bodies.items()))
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _text(body: bytes) -> str | bytes:
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError:
        return body


@contextmanager
def reading_versions(home: Home, database_name: str = "catalog.db") -> Iterator[Versions]:
    """Give the versions that the home's catalog keeps, for reading.

    Raises:
        CatalogError: there is no catalog yet, or it cannot be read.
    """
    path = home.catalog / database_name
    db = open_reader(path)
    try:
        yield Versions(Rows(db, path))
    finally:
        db.close()


@contextmanager
def staged(home: Home, bodies: Mapping[str, bytes]) -> Iterator[Path]:
    """Give a folder in ``run/`` whose ``config`` holds *bodies*; it is removed, unless it was put in place.

    Names that led outside of the configuration's folder (``../extra.types``) come to lie in it; files named
    by an absolute path stay where they are.
    """
    try:
        home.run.mkdir(mode=0o700, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=STAGE_PREFIX, dir=home.run))
        (folder / "config").mkdir()
        for name, body in bodies.items():
            inside = _inside(name)
            if inside is None:
                continue
            path = folder / "config" / inside
            path.parent.mkdir(parents=True, exist_ok=True)
            _write(path, body)
    except OSError as error:
        raise HomeError(f"{home.run} cannot be written: {error.strerror}") from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def stage_at(home: Home, name: str) -> Path:
    """Return the staged folder called *name*, as another process staged it.

    Raises:
        UsageError: that is no name of a stage, or there is none.
    """
    folder = home.run / name
    plain = name.startswith(STAGE_PREFIX) and "/" not in name and "\0" not in name
    if not plain or folder.is_symlink() or not (folder / "config").is_dir():
        raise UsageError(f"{name[:80]!r} is no staged configuration", hint="use: ingather conf publish")
    return folder


def overwritten(home: Home, new: Iterable[str]) -> dict[str, bytes]:
    """Return what stands in ``config/`` now: the configuration, and every file in the way of the names *new*."""
    bodies = dict(load(home.config).bodies)
    for name in new:
        path = home.config / name
        if name not in bodies and _inside(name) is not None and path.is_file():
            bodies[name] = path.read_bytes()
    return bodies


def put_in_place(home: Home, stage: Path, old: Iterable[str]) -> None:
    """Let ``config/`` hold what *stage* holds; files of the *old* configuration that are not in it go.

    Raises:
        HomeError: a file cannot be written; opening the home again tries again.
    """
    obsolete = [
        name for name in old if _inside(name) == Path(name) and not (stage / "config" / name).exists()
    ]
    try:
        _write(stage / _OBSOLETE, json.dumps(obsolete).encode())
        shutil.rmtree(home.run / _PLACE, ignore_errors=True)
        stage.rename(home.run / _PLACE)
        _sync(home.run)
    except OSError as error:
        raise HomeError(f"{home.run} cannot be written: {error.strerror}") from error
    finish_publishing(home)


def finish_publishing(home: Home) -> bool:
    """Finish a copy into ``config/`` that was begun; tell whether there was one. Needs the home's lock.

    Raises:
        HomeError: a file cannot be written.
    """
    place = home.run / _PLACE
    if not (place / "config").is_dir():
        return False
    try:
        source = place / "config"
        for path in sorted(source.rglob("*")):
            if path.is_file():
                target = home.config / path.relative_to(source)
                target.parent.mkdir(parents=True, exist_ok=True)
                new = target.with_name(target.name + ".new")
                _write(new, path.read_bytes())
                if target.exists():
                    new.chmod(target.stat().st_mode & 0o777)
                new.replace(target)
        for name in json.loads((place / _OBSOLETE).read_bytes()):
            with suppress(FileNotFoundError):
                (home.config / name).unlink()
        _sync(home.config)
        shutil.rmtree(place)
    except OSError as error:
        raise HomeError(
            f"{error.filename or home.config} cannot be written: {error.strerror}",
            hint="make it writable: the next start finishes what was published",
        ) from error
    return True


def _inside(name: str) -> Path | None:
    """Return where in a configuration's folder the file *name* comes to lie, ``None`` for absolute paths."""
    path = PurePosixPath(name)
    if path.is_absolute():
        return None
    parts = [part for part in path.parts if part not in ("..", ".")]
    return Path(*parts) if parts else None


def _write(path: Path, body: bytes) -> None:
    with path.open("wb") as file:
        path.chmod(0o644)
        file.write(body)
        file.flush()
        os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
