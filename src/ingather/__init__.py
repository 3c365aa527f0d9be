"""Ingather gathers documents for enterprise search.

It crawls web sites, takes pushed feeds, follows RSS, Atom and sitemaps, lays external
metadata over what it finds, keeps everything in one durable catalog and answers searches
with every document's access rights obeyed.

The package is a house of rooms, and imports run one way through it, from ``testing`` and
``cli`` on top to ``units`` at the bottom (``pyproject.toml`` holds the order, ``./run check``
enforces it). This module itself imports nothing: a child process pays for what it imports,
and every child imports this one.
"""

from typing import Final

__all__ = ["__version__"]

__version__: Final = "0.1.0"
