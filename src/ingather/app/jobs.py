"""What an operator wants done: a function for the one writer, run by the keeper or beside a home at rest."""

from collections.abc import Callable
from typing import Any

from ingather.catalog.sqlite_apply import Applied
from ingather.catalog.sqlite_writer import CatalogWriter

__all__ = ["Job"]

Job = Callable[[CatalogWriter, Applied, float], Any]
"""What is done inside a transaction, at a wall time; its answer goes to whoever asked."""
