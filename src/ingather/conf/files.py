"""The files of one configuration: found relative to ``config/``, read once, kept for versions."""

import hashlib
import os
from collections.abc import Mapping
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

__all__ = ["MAX_FILE_BYTES", "Files", "exists", "is_file"]

MAX_FILE_BYTES = 16 * 1024 * 1024


def is_file(path: Path) -> bool:
    """Tell whether there is a regular file at *path*; also for paths that the system refuses to look at."""
    try:
        return path.is_file()
    except OSError:
        return False


def exists(path: Path) -> bool:
    """Tell whether there is anything at *path*; also for paths that the system refuses to look at."""
    try:
        return path.exists()
    except OSError:
        return False


class Files:
    """Reads the files that a configuration is made of, from a folder or from kept bytes.

    Names are those of the operator: ``filter.conf`` for a file of the folder itself, otherwise
    the path as it was found. ``bodies`` has everything that was read; giving it to another
    ``Files`` reproduces the configuration without touching the disk.
    """

    def __init__(self, directory: Path | None, kept: Mapping[str, bytes] | None = None) -> None:
        self.directory = directory
        self.bodies: dict[str, bytes] = {}
        self._kept = kept

    def _candidates(self, reference: str) -> list[tuple[str, Path | None]]:
        path = PurePosixPath(reference)
        parts = path.parts
        root = self.directory
        if path.is_absolute():
            if root is not None and path.is_relative_to(root.absolute()):
                inside = path.relative_to(root.absolute())
                return [(str(inside), root / inside)]
            return [(reference, Path(reference))]
        found: list[tuple[str, Path | None]] = []
        if len(parts) > 1 and parts[0] == "config":
            # "./config/..." is said from the folder that holds config/: this very folder, whatever its name.
            inside = PurePosixPath(*parts[1:])
            found.append((str(inside), root / inside if root else None))
        found.append((str(path), root / path if root else None))
        found.append((f"../{path}", root.parent / path if root else None))
        return found

    def find(self, reference: str) -> str:
        """Return the name under which *reference* is, or would be, read."""
        candidates = self._candidates(reference)
        for name, path in candidates:
            if (self._kept is not None and name in self._kept) or (path is not None and is_file(path)):
                return name
        return candidates[0][0]

    def exists(self, name: str) -> bool:
        """Tell whether there is a file *name* in the folder itself."""
        if self._kept is not None:
            return name in self._kept
        return self.directory is not None and exists(self.directory / name)

    def matching(self, *patterns: str) -> list[str]:
        """Return the names of what lies in the folder under one of *patterns*, sorted; also what cannot be read.

        A pattern is a name, or ``folder/*/name``.

        Raises:
            OSError: a folder cannot be listed.
        """
        if self._kept is not None:
            return sorted(
                name
                for name in self._kept
                if any(fnmatchcase(name, p) and name.count("/") == p.count("/") for p in patterns)
            )
        found: list[str] = []
        for pattern in patterns:
            folder, star, name = pattern.partition("/*/")
            if self.directory is None:
                continue
            if not star:
                found += [pattern] if os.path.lexists(self.directory / pattern) else []
            elif exists(self.directory / folder):
                inside = sorted(entry.name for entry in os.scandir(self.directory / folder) if entry.is_dir())
                found += [
                    f"{folder}/{own}/{name}"
                    for own in inside
                    if os.path.lexists(self.directory / folder / own / name)
                ]
        return sorted(found)

    def read(self, name: str) -> bytes:
        """Return the bytes of *name* as :meth:`find` gave it.

        Raises:
            OSError: missing, unreadable or larger than :data:`MAX_FILE_BYTES`.
        """
        if name in self.bodies:
            return self.bodies[name]
        if self._kept is not None:
            if name not in self._kept:
                raise FileNotFoundError(2, "No such file", name)
            body = self._kept[name]
        else:
            path = Path(name) if self.directory is None else self.directory / name
            if exists(path) and not is_file(path):
                text = "not a regular file"  # opening a pipe would wait for ever
                raise OSError(text)
            with path.open("rb") as stream:
                body = stream.read(MAX_FILE_BYTES + 1)
        if len(body) > MAX_FILE_BYTES:
            text = f"larger than {MAX_FILE_BYTES} bytes"
            raise OSError(text)
        self.bodies[name] = body
        return body

    def digests(self) -> dict[str, str]:
        """Return name -> SHA-256 of every file that was read."""
        return {name: hashlib.sha256(body).hexdigest() for name, body in sorted(self.bodies.items())}
