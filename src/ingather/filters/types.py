"""Media types as they are compared: without parameters, lower case (DEC-9)."""

from functools import lru_cache

__all__ = ["HTML_TYPES", "media_type"]

HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})


@lru_cache(maxsize=4096)
def media_type(value: str) -> str:
    """Return ``text/html`` for ``Text/HTML; charset=x``."""
    return value.partition(";")[0].strip().lower()
