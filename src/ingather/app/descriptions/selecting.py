"""Choosing resource descriptions: all, by category, by URL, by an attribute or by a search; and what is shown of them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from ingather.catalog.descriptions.sqlite_description_reader import DescribedRow, DescriptionReader
from ingather.catalog.descriptions.sqlite_descriptions import Parts
from ingather.conf.rd.soif import MOST_OBJECT_BYTES, MOST_VALUE_BYTES, writable_name, write_object
from ingather.errors import UrlError, UsageError
from ingather.model.description import LAYERS, PERSISTENT, Attributes, Description

__all__ = ["KINDS", "Choice", "Chosen", "Unwritten", "choose", "data_of", "soif_of"]

KINDS: Final = ("all", "uncategorized", "categorized", "by_category", "by_url", "by_query")
_GROUP: Final = 200

Find = Callable[[str], Iterator[int]]
"""Asks the index; yields catalog rows, best first."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What is chosen.

    Attributes:
        kind: of :data:`KINDS`; the last three go by *value*: a category (with all below it), a URL (or its
            beginning, with ``*`` at the end), ``attribute=value`` or a search.
        database: only this one, ``""`` = all.
        parts: which data is meant; descriptions that have none of it are left out.
        view: attributes wanted, empty = all.
        public: only what a searcher who did not sign in may see.
    """

    kind: str = "all"
    value: str = ""
    database: str = ""
    parts: Parts = Parts.MERGED
    view: tuple[str, ...] = ()
    public: bool = False


@dataclass(frozen=True, slots=True)
class Chosen:
    """One chosen description with the attributes wanted of it."""

    row: DescribedRow
    description: Description
    attributes: Attributes


@dataclass(slots=True)
class Unwritten:
    """What SOIF could not carry: how many attributes, and one of their names."""

    attributes: int = 0
    example: str = ""


def choose(reader: DescriptionReader, choice: Choice, *, find: Find) -> Iterator[Chosen]:
    """Yield what is chosen; memory does not grow with its number.

    Raises:
        UsageError: the kind is none, or its value is missing or cannot be read.
    """
    if choice.kind not in KINDS:
        raise UsageError(f"{choice.kind!r} is no choice", hint=f"one of {', '.join(KINDS)}")
    if choice.kind.startswith("by_") and not choice.value:
        raise UsageError(f"{choice.kind} needs a value")
    name, _, wanted = choice.value.partition("=")
    by_attribute = choice.kind == "by_query" and bool(wanted) and writable_name(name) and ":" not in name
    if by_attribute:
        choice = replace(choice, value=wanted)
    for rows in _candidates(reader, choice, find, by_attribute=by_attribute):
        meant = [row for row in rows if _meant(row, choice)]
        for row, description in reader.descriptions(meant):
            effective = description.effective()
            if by_attribute:
                if not _has(effective, name.lower(), choice.value):
                    continue
            elif not _in_category(effective, choice):
                continue
            attributes = data_of(description, choice.parts, choice.view)
            if attributes or choice.parts is Parts.MERGED:
                yield Chosen(row, description, attributes)


def _candidates(
    reader: DescriptionReader, choice: Choice, find: Find, *, by_attribute: bool
) -> Iterator[list[DescribedRow]]:
    if choice.kind == "by_url" and not choice.value.endswith("*"):
        try:
            record = reader.find(reader.meant(choice.value))
        except UrlError as error:
            raise UsageError(error.text, hint=error.hint) from error
        if record is not None:
            yield list(reader.described([record.id]).values())
        return
    if choice.kind == "by_query" and not by_attribute:
        ranked = find(choice.value)
        while ids := list(islice(ranked, _GROUP)):
            found = reader.described(ids)
            yield [found[one] for one in ids if one in found]
        return
    yield from reader.walk()


def _meant(row: DescribedRow, choice: Choice) -> bool:
    if choice.database and row.database != choice.database:
        return False
    if choice.public and (row.access != "public" or not row.shown):
        return False
    if choice.kind == "by_url" and choice.value.endswith("*"):
        return row.url.startswith(choice.value.rstrip("*"))
    return True


def _in_category(effective: Attributes, choice: Choice) -> bool:
    match choice.kind:
        case "uncategorized":
            return not any(effective.get("classification", ()))
        case "categorized":
            return any(effective.get("classification", ()))
        case "by_category":
            return _has(effective, "classification", choice.value)
        case _:
            return True


def _has(effective: Attributes, name: str, value: str) -> bool:
    """Whether an attribute has a value; a category also by what lies below it."""
    values = effective.get(name, ())
    if name == "classification":
        top = ":".join(level.strip() for level in value.split(":"))
        return any(v == top or v.startswith(top + ":") for v in values)
    return value in values


def data_of(description: Description, parts: Parts, view: tuple[str, ...] = ()) -> Attributes:
    """Return the attributes of the data that is meant, only those of *view* if it names any."""
    if parts is Parts.MERGED:
        found = description.effective()
    else:
        wanted = [layer for layer in LAYERS if (layer in PERSISTENT) is (parts is Parts.PERSISTENT)]
        layers = {name: values for name, values in description.layers.items() if name in wanted}
        found = Description(description.url, layers).effective()
    return {name: values for name, values in found.items() if name in view} if view else found


def soif_of(
    url: str, attributes: Mapping[str, tuple[str, ...]], unwritten: Unwritten, *, charset: str = "utf-8"
) -> bytes:
    """Return a description as SOIF; what SOIF cannot carry is left out and counted in *unwritten*."""
    kept: Attributes = {}
    left = MOST_OBJECT_BYTES // 4  # a character has at most four bytes
    for name, values in attributes.items():
        size = sum(map(len, values))
        if not writable_name(name) or size > left or any(4 * len(v) > MOST_VALUE_BYTES for v in values):
            unwritten.attributes += 1
            unwritten.example = unwritten.example or name
            continue
        left -= size
        kept[name] = values
    return write_object("DOCUMENT", url, kept, charset=charset)
