"""A record as a value, and as a line."""

import re
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from ingather.overlay.options import DATES

__all__ = ["Record", "elements_of", "print_line", "print_records"]

_WORD: Final = re.compile(r"[A-Za-z0-9_]+\Z")


class Record(NamedTuple):
    """One line of a file, in canonical form.

    Attributes:
        prefix: canonical, without a default page.
        exact: a default page was stripped: the record is for *prefix* itself and its default pages.
        classes: values by class, in the order of the line; ``()`` clears the class. Days as ``2004-12-31``.
        line: where it stands, 0 = in no file.
        schemeless: it stands for http and https; *prefix* has the http form.
    """

    prefix: str
    exact: bool
    classes: Mapping[str, tuple[str, ...]]
    line: int = 0
    schemeless: bool = False


def print_line(record: Record) -> str:
    """Return the line of a record, which reads back to the same record.

    Raises:
        ValueError: it has no classes, or a value with a line feed, which no line can hold.
    """
    prefix = record.prefix
    if record.schemeless:
        prefix = prefix.removeprefix("http://")
    words = [f"{prefix}index.html" if record.exact else prefix]
    for name, values in record.classes.items():
        words.append(elements_of(name, values))
    line = " ".join(words)
    if len(words) == 1:
        msg = f"{prefix} has no classes"
        raise ValueError(msg)
    if "\n" in line:
        msg = f"a value of {prefix} has a line feed"
        raise ValueError(msg)
    return line


def elements_of(name: str, values: tuple[str, ...]) -> str:
    """Return the elements of one class as a line has them; no values clear the class."""
    return " ".join(f"{name}:{_written(name, value)}" for value in values or ("",))


def print_records(records: Iterable[Record]) -> bytes:
    """Return records as a file.

    Raises:
        ValueError: see :func:`print_line`.
    """
    return "".join([f"{print_line(record)}\n" for record in records]).encode("utf-8", "surrogatepass")


def _written(name: str, value: str) -> str:
    if name in DATES and value:
        return value.replace("-", "")
    if _WORD.match(value):
        return value
    return '"' + value.replace('"', '""') + '"'
