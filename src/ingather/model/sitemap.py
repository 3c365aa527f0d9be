"""What became of an entry of a site's sitemap."""

from enum import IntEnum

__all__ = ["EntryState"]


class EntryState(IntEnum):
    """Column ``sitemap_entry.state``."""

    NEW = 0
    """To be judged: it is new, or its date moved."""
    TAKEN = 1
    """It is a URL of the catalog, whatever the filters said of it."""
    FOREIGN = 2
    """The sitemap may not list it: it lies elsewhere, and its host's robots.txt does not name the sitemap."""
    REFUSED = 3
    """A budget or an operator refused it."""
