"""Which URL of the catalog a person means who types one: pushed URLs keep parameters that found ones lose."""

from functools import lru_cache

from ingather.catalog.sqlite_rows import Rows
from ingather.model.url import Canonicaliser, spellings
from ingather.model.urlparts import key

__all__ = ["meant_url"]


def meant_url(rows: Rows, text: str) -> str:
    """Return the URL that *text* means: as it stands with all its parameters if that is known; else as links are cut.

    A cut URL that is not known itself means the pushed URL that links to it lead to. What is not known at all is what a
    link to it would be.

    Raises:
        UrlError: *text* is not the URL of a document.
        CatalogError: as all queries.
    """
    by = rows.value("select value from meta where name = 'short-by'")
    forms = spellings(text) if by is None else spellings(text, _cutting(str(by)).canonical)
    seed = int(rows.value("select value from meta where name = 'seed'"))
    for url in forms:
        if rows.value(_URL, (key(url, seed),)) == url:
            return url
    pushed = rows.value(_PUSHED, (key(forms[-1], seed),))
    return str(pushed) if pushed is not None else forms[-1]


@lru_cache(maxsize=4)
def _cutting(names: str) -> Canonicaliser:
    return Canonicaliser(names.split("\n"))


_URL = "select h.origin || u.path from url u join host h on h.id = u.host where u.key = ?"
_PUSHED = (
    "select h.origin || u.path from pushed_short p join fed f on f.id = p.id join url u on u.id = p.id "
    "join host h on h.id = u.host where p.short = ? order by p.id limit 1"
)
