"""Content that was pushed before: told from new content by a mark, before anything is read of it.

A mark is a digest of everything that a description is made from: the bytes, what the record says of them, the configuration
with its settings and plug-ins, and the programs that read. Where one of them is another, the content is read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from hashlib import blake2b
from importlib.metadata import distributions
from pathlib import Path
from typing import Any, Final

from ingather.app.blueprint import Blueprint
from ingather.catalog.feeds.sqlite_feed_marks import FeedMarks
from ingather.errors import CatalogError
from ingather.plugins import PlugIns

__all__ = ["ContentMarks", "steady"]

_SIZE: Final = 16


class ContentMarks:
    """Makes marks and finds out which stand in the catalog; of one process.

    Args:
        database: the catalog's file; read only, opened when it is first asked for.
        blueprint, own: what the process is made from.
    """

    def __init__(self, database: Path, blueprint: Blueprint, own: PlugIns) -> None:
        self._database, self._seed, self._version = database, blueprint.seed, blueprint.version
        self._around = _around(blueprint, own)
        self._kept: FeedMarks | None = None

    def mark(
        self, url: str, body: bytes, headers: Sequence[tuple[str, str]], source: str, *, follow: bool
    ) -> bytes:
        """Return the mark of what *source* pushes for *url*; *follow*: whether its links are followed."""
        made = blake2b(self._around, digest_size=_SIZE)
        made.update(repr((url, tuple(headers), source, follow, len(body))).encode("utf-8", "surrogatepass"))
        made.update(body)
        return made.digest()

    def stands(self, url: str, mark: bytes) -> bool:
        """Return whether the description of *url* in the catalog was made from what *mark* is of. Who cannot know says no."""
        try:
            if self._kept is None:
                self._kept = FeedMarks(self._database, self._seed)
            return self._kept.stands(url, mark, self._version)
        except CatalogError:
            self.close()
            return False

    def close(self) -> None:
        """Close the connection, if there is one."""
        kept, self._kept = self._kept, None
        if kept is not None:
            kept.close()


def _around(blueprint: Blueprint, own: PlugIns) -> bytes:
    """Return a digest of everything but the content that a description depends on."""
    said = steady((
        blueprint.version, blueprint.seed, sorted(blueprint.files.items()), blueprint.sites, blueprint.sources, blueprint.overrides,
        [(setting.name, found.value) for setting, found in blueprint.settings],
        sorted((one.name, one.version) for one in distributions()),
        [(plug_in.name, plug_in.origin, plug_in.trouble) for plug_in in own.plugins],
    ))  # fmt: skip
    made = blake2b(said.encode("utf-8", "surrogatepass"), digest_size=_SIZE)
    for path in sorted(own.folder.rglob("*.py")) if own.folder is not None and own.folder.is_dir() else ():
        made.update(f"\0{path}\0".encode("utf-8", "surrogateescape"))
        try:
            made.update(path.read_bytes())
        except OSError as error:
            made.update(str(error).encode())
    return made.digest()


def steady(value: Any) -> str:
    """Return *value* as a text that is the same in every process: sets and mappings in order."""
    if is_dataclass(value) and not isinstance(value, type):
        inner = [(one.name, getattr(value, one.name)) for one in fields(value)]
        return f"{type(value).__name__}{steady(inner)}"
    if isinstance(value, Mapping):
        return f"{{{','.join(sorted(f'{steady(key)}:{steady(one)}' for key, one in value.items()))}}}"
    if isinstance(value, set | frozenset):
        return f"{{{','.join(sorted(map(steady, value)))}}}"
    if isinstance(value, list | tuple):
        return f"[{','.join(map(steady, value))}]"
    return repr(value)
