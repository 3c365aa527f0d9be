"""A whole set of records as JSON and as CSV, and foreign tables as records.

Both forms are lossless: what :func:`from_json` and :func:`from_csv` read of what the others wrote are the same records.
"""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from ingather.errors import UsageError
from ingather.overlay.laid import Overlay
from ingather.overlay.line import class_name
from ingather.overlay.options import Options
from ingather.overlay.reading import overlay_of
from ingather.overlay.record import Record, print_line

__all__ = ["from_csv", "from_json", "import_csv", "record_of", "to_csv", "to_json"]

_URL: Final = "prefix"
_FORMAT: Final = "ingather-overlay-1"


def to_json(records: Iterable[Record]) -> Iterator[str]:
    """Yield the lines of a JSON document: ``{"format": ..., "records": [{"prefix": ..., "classes": {...}}, ...]}``."""
    yield f'{{"format": "{_FORMAT}", "records": ['
    comma = ""
    for record in records:
        form = {
            "prefix": _prefix(record),
            "classes": {name: list(each) for name, each in record.classes.items()},
        }
        yield f"{comma}\n{json.dumps(form, ensure_ascii=False)}"
        comma = ","
    yield "\n]}\n"


def from_json(text: str | bytes, options: Options | None = None, name: str = "records.json") -> Overlay:
    """Read what :func:`to_json` wrote; line numbers in the overlay count records.

    Raises:
        UsageError: it is no JSON of this form.
    """
    try:
        form = json.loads(text)
        rows = [(str(each["prefix"]), _multimap(each["classes"])) for each in form["records"]]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UsageError(f"{name} is no JSON of an overlay: {error!r}") from error
    return _read(rows, options or Options(), name)


def to_csv(records: Iterable[Record]) -> Iterator[str]:
    """Yield the lines of a CSV table with the columns prefix, class, value; one row a value, an empty value clears."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow((_URL, "class", "value"))
    for record in records:
        for name, values in record.classes.items():
            writer.writerows((_prefix(record), name, value) for value in values or ("",))
        yield out.getvalue()
        out.seek(0)
        out.truncate()
    yield out.getvalue()


def from_csv(text: str, options: Options | None = None, name: str = "records.csv") -> Overlay:
    """Read what :func:`to_csv` wrote; rows of one prefix that follow one another are one record.

    Raises:
        UsageError: the first row does not name the columns.
    """
    rows = csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""))
    if next(rows, None) != [_URL, "class", "value"]:
        raise UsageError(f"{name} has no first row prefix,class,value")
    records: list[tuple[str, dict[str, list[str]]]] = []
    try:
        for row in rows:
            if not row:
                continue
            prefix, class_, value = (*row, "", "", "")[:3]
            if not records or records[-1][0] != prefix:
                records.append((prefix, {}))
            records[-1][1].setdefault(class_, []).append(value)
    except csv.Error as error:
        raise UsageError(f"{name}:{rows.line_num}: {error}") from error
    return _read(records, options or Options(), name)


def import_csv(  # noqa: PLR0913 - each by its name
    text: str,
    *,
    url: str,
    classes: Mapping[str, str],
    options: Options | None = None,
    name: str = "import.csv",
    separator: str = ",",
) -> Overlay:
    """Read a foreign table: one row a document.

    Args:
        text: the table; its first row names the columns.
        url: the column with URLs or prefixes.
        classes: column to class; columns that are not named are left out. Empty cells say nothing. A cell is parted
            at the class's delimiter. Dates may be written ``2004-12-31``.
        options: how the values are read.
        name: the table's name in diagnostics.
        separator: between cells.

    Raises:
        UsageError: a column that is named is not there, or what is to be a class cannot be one.
    """
    rows = csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline=""), delimiter=separator)
    try:
        there = set(rows.fieldnames or ())
        missing = [column for column in (url, *classes) if column not in there]
        if missing:
            known = ", ".join(sorted(there)) or "none"
            raise UsageError(f"{name} has no column {missing[0]!r}; it has {known}")
        wrong = [each for each in classes.values() if not class_name(each)]
        if wrong:
            raise UsageError(
                f"{wrong[0]!r} is no class: 1 to 64 letters and digits that do not begin with FUN"
            )
        records = []
        for row in rows:
            multimap: dict[str, list[str]] = {}
            for column, class_ in classes.items():
                cell = " ".join((row[column] or "").split("\n"))
                if cell.strip():
                    multimap.setdefault(class_, []).append(cell)
            if (row[url] or "").strip() and multimap:
                records.append(((row[url] or "").strip(), multimap))
    except csv.Error as error:
        raise UsageError(f"{name}:{rows.line_num}: {error}") from error
    return _read(records, options or Options(), name)


def record_of(prefix: str, classes: Mapping[str, Iterable[str]], options: Options) -> Record:
    """Return a record of a prefix as somebody writes it and a multimap.

    Raises:
        UsageError: the prefix or a class or a value cannot be; the text says why.
    """
    overlay = _read([(prefix, {name: list(each) for name, each in classes.items()})], options, "record")
    if overlay.counts.errors:
        found = overlay.diagnostics[0]
        raise UsageError(f"{found.code}: {found.text}", hint=found.hint)
    return (
        overlay.record(0)._replace(line=0) if len(overlay) == 1 else next(overlay.records())._replace(line=0)
    )


def _prefix(record: Record) -> str:
    return print_line(record).partition(" ")[0]


def _multimap(form: Any) -> dict[str, list[str]]:
    return {
        str(name): [str(each) for each in ([values] if isinstance(values, str) else values)]
        for name, values in form.items()
    }


def _read(rows: Iterable[tuple[str, Mapping[str, list[str]]]], options: Options, name: str) -> Overlay:
    """Read rows as lines: one way into a table, with one set of checks."""
    lines = []
    for prefix, classes in rows:
        first = "".join(f"%{ord(char):02X}" if char in " \t\r\n" else char for char in prefix.strip())
        # What would be a blank line or a comment is to be found fault with.
        words = [f"/{first}" if not first or first.startswith("#") else first]
        for class_, values in classes.items():
            words += [f"{class_}:{_quoted(class_, value)}" for value in values or [""]]
        lines.append(" ".join(words))
    return overlay_of("\n".join(lines).encode("utf-8", "surrogatepass"), name, options)


def _quoted(class_: str, value: str) -> str:
    # No line can hold a line feed; between words it means a blank.
    text = " ".join(value.split("\n")) if "\n" in value else value
    if class_ in {"d", "X"}:
        text = text.strip().replace("-", "") if len(text.strip()) == len("2004-12-31") else text
    return '"' + text.replace('"', '""') + '"'
