"""How open a document is, as an access chain id."""

from typing import Final

__all__ = ["NOBODY", "PUBLIC", "chain_of"]

NOBODY: Final = 0
"""Chain of documents that are shown to nobody (yet)."""
PUBLIC: Final = 1
"""Chain of documents that everybody may see."""

_OPEN_SCHEMES: Final = frozenset({"http", "https"})


def chain_of(*, access: str, scheme: str, credentials: bool) -> int:
    """Return the chain of a document that brought no access list of its own.

    Public is only what an open source gave without credentials over the open web; files and
    whatever is not understood are shown to nobody.

    Args:
        access: the source's setting, ``public`` or ``secure``; any other word counts as secure.
        scheme: URL scheme, lower case.
        credentials: whether the request that gave the document carried any.
    """
    if access == "public" and scheme in _OPEN_SCHEMES and not credentials:
        return PUBLIC
    return NOBODY
