"""The vendor's robot application functions, one family a file; registered like a user's own."""

from ingather.filters.rafs import (
    assigning,
    attributes,
    comparing,
    converting,
    digests,
    extracting,
    generating,
    limiting,
    linking,
    ruling,
    setting_up,
    summarizing,
)
from ingather.plugins import Registry

__all__ = ["builtin_registry"]

_FAMILIES = (
    setting_up,
    comparing,
    limiting,
    digests,
    ruling,
    assigning,
    converting,
    attributes,
    generating,
    linking,
    extracting,
    summarizing,
)


def builtin_registry() -> Registry:
    """Return a registry of all built-in functions."""
    return Registry(_FAMILIES)
