"""Every URL that is known, for who holds lists of patterns against them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ingather.catalog.sqlite_open import open_reader
from ingather.catalog.sqlite_rows import Rows

__all__ = ["known_urls"]

_GROUP: Final = 5_000
_KNOWN: Final = (
    "select u.id, h.origin || u.path, s.name, u.version is not null and s.access = 'public' and u.acl & ~8 = 0 "
    "from url u join host h on h.id = u.host join source s on s.id = u.source where u.id > ? order by u.id limit ?"
)
"""8 = by policy (``sqlite_acl``): that is what the question is about."""


def known_urls(path: Path) -> Iterator[tuple[str, str, bool]]:
    """Yield (URL, source, whether it is a document that is public but for policy rules), excluded URLs too.

    Raises:
        CatalogError: the catalog cannot be read.
    """
    rows = Rows(open_reader(path), path)
    try:
        for group in rows.pages(_KNOWN, size=_GROUP):
            yield from ((url, source, bool(public)) for _, url, source, public in group)
    finally:
        rows.close()
