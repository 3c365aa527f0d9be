"""What ``crawl URL...`` opens for its run beside hosts: protocols, and folders of this machine."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Final
from urllib.parse import unquote_to_bytes

from ingather.conf.sources.source import SourceConf
from ingather.errors import UsageError
from ingather.model.urlparts import split

__all__ = ["CRAWLED", "opened_for", "root_of"]

CRAWLED: Final = ("http", "https", "ftp", "ftps", "sftp", "smb", "file")
"""Schemes of URLs that a run can begin at."""


def opened_for(source: SourceConf, urls: Iterable[str]) -> tuple[SourceConf, tuple[str, ...]]:
    """Return *source* with the schemes and roots that *urls* (canonical) need, and the roots that were added.

    Raises:
        UsageError: a file URL leads to nothing on this machine.
    """
    parts = [split(url) for url in urls]
    schemes = frozenset(part.scheme for part in parts)
    wanted = dict.fromkeys(root_of(part.path) for part in parts if part.scheme == "file")
    roots = tuple(root for root in wanted if not any(_is_below(root, known) for known in source.reach.roots))
    reach = replace(source.reach, roots=(*source.reach.roots, *roots)) if roots else source.reach
    if schemes <= source.schemes and not roots:
        return source, ()
    return replace(source, schemes=source.schemes | schemes, reach=reach), roots


def root_of(path: str) -> str:
    """Return the folder that the *path* of a file URL is, or in which the file lies.

    Raises:
        UsageError: there is neither.
    """
    place = Path(unquote_to_bytes(path.partition("?")[0]).decode("utf-8", "surrogateescape"))
    if place.is_dir():
        return str(place)
    if place.is_file():
        return str(place.parent)
    raise UsageError(f"file://{path}: there is no such folder or file on this machine")


def _is_below(path: str, root: str) -> bool:
    return path == root or path.startswith(f"{root.rstrip('/')}/")
