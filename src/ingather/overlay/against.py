"""Findings that need the catalog: a line that no document matches, a line for http whose documents are all https."""

from collections.abc import Callable

from ingather.model.diagnostic import Diagnostic, Place
from ingather.overlay.changes import KeyRange, ranges_of
from ingather.overlay.record import Record

__all__ = ["judged", "range_of"]


def range_of(record: Record) -> KeyRange:
    """Return the stripped keys that a record is for."""
    return ranges_of([(record.prefix, record.exact)])[0]


def judged(record: Record, file: str, count: Callable[[KeyRange], int]) -> Diagnostic | None:
    """Return what the catalog says against a record.

    Args:
        record: one that applies.
        file: its file's name.
        count: gives the number of documents with a stripped key in a range (any number above 0 will do).
    """
    if count(range_of(record)):
        return None
    place = Place(file, record.line, 1)
    rest = record.prefix.removeprefix("http://")
    if rest != record.prefix and not record.schemeless:
        if count(ranges_of([(f"https://{rest}", record.exact)])[0]):
            text = f"only https documents begin with {rest}, the line is for http"
            hint = f"write https://{rest}, or let the source's schemeless be any"
            return Diagnostic("schemeless-https", place, text, hint, severity="warning")
    elif record.schemeless and count(ranges_of([(f"https://{rest}", record.exact)])[0]):
        return None
    return Diagnostic("never-matched", place, f"no document begins with {record.prefix}", severity="warning")
