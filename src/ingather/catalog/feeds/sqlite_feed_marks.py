"""What the contents of feeds were made from, read: whether a description stands as it was made."""

from pathlib import Path
from typing import Final

from ingather.catalog.sqlite_open import open_reader
from ingather.catalog.sqlite_rows import Rows
from ingather.model.urlparts import key

__all__ = ["STANDS", "FeedMarks"]

STANDS: Final = (
    "select h.origin || u.path from feed_mark m join url u on u.id = m.id join host h on h.id = u.host join page p on p.id = u.id "
    "join fed f on f.id = u.id where u.key = ?1 and m.mark = ?2 and u.version is not null and u.seg is not null "
    "and u.seg = m.seg and u.off is m.off and u.toff is m.toff and p.digests = m.digests and f.content and f.source = u.source"
)
"""The URL with key ?1, if what is kept of it is what was made when its mark was ?2: its body and text still lie where they were
written, and nobody replaced its description."""


class FeedMarks:
    """One read-only connection; one thread at a time. Raises :class:`CatalogError` as all readers.

    Args:
        path: the catalog's file.
        seed: of URL keys.
    """

    def __init__(self, path: Path, seed: int) -> None:
        self._rows = Rows(open_reader(path), path)
        self._seed = seed

    def stands(self, url: str, mark: bytes, version: int) -> bool:
        """Return whether *url* is described as it was made from what *mark* is of, under configuration *version*."""
        return bool(
            self._rows.value(f"{STANDS} and u.version = ?3", (key(url, self._seed), mark, version)) == url
        )

    def close(self) -> None:
        """Close the connection."""
        self._rows.close()
