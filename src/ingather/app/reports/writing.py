"""The three forms of a report, piece by piece: JSON and CSV for programs, a table for people.

Nothing holds the whole report but the table for people, whose widths are those of its first rows.
"""

import csv
import io
import json
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import chain, islice
from typing import Any

from ingather.app.reports.table import Column, Table

__all__ = ["as_csv", "as_json", "as_text", "tree"]

_SAMPLE = 200
_WIDEST = 120
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_KILO = 1000.0


def as_json(name: str, table: Table, *, limit: int, now_s: float) -> Iterator[str]:
    """Yield the report as one JSON object: ``report``, ``at``, facts, ``note``, ``columns``, ``rows``, ``next``.

    ``rows`` are objects; times are epoch seconds. ``next``: what ``after`` goes on behind, null = these are all, or the
    report has no more of them.
    """
    head = {"report": name, "at": round(now_s, 3), **table.facts, "note": table.note, "columns": [c.name for c in table.columns]}  # fmt: skip
    yield json.dumps(head, ensure_ascii=False)[:-1] + ', "rows": ['
    taken = _Taken(table, limit)
    for number, row in enumerate(taken):
        yield (",\n " if number else "\n ") + json.dumps(_named(table.columns, row), ensure_ascii=False)
    yield f'\n], "next": {json.dumps(taken.next)}, "more": {json.dumps(taken.more)}}}\n'


def tree(name: str, table: Table, *, limit: int, now_s: float) -> dict[str, Any]:
    """Return the same as one value; for bounded limits."""
    taken = _Taken(table, limit)
    rows = [_named(table.columns, row) for row in taken]
    return {
        "report": name, "at": round(now_s, 3), **table.facts, "note": table.note, "columns": [c.name for c in table.columns],
        "rows": rows, "next": taken.next, "more": taken.more,
    }  # fmt: skip


def as_csv(table: Table, *, limit: int) -> Iterator[str]:
    """Yield the report as CSV (RFC 4180) with a line of names; times in ISO 8601, UTC.

    A text that a spreadsheet would take for a formula gets an apostrophe in front: reasons and URLs come from strangers.
    """
    yield _csv_line([column.name for column in table.columns])
    for row in _Taken(table, limit):
        yield _csv_line([_cell(c, value) for c, value in zip(table.columns, row, strict=True)])


def as_text(table: Table, *, limit: int) -> Iterator[str]:
    """Yield the report as lines for people: facts, the table, what is to be known."""
    for name, value in table.facts.items():
        yield f"{name.replace('_', ' ')}: {_shown_fact(value)}\n"
    taken = _Taken(table, limit)
    rows = iter(taken)
    shown = ([_shown(c, v) for c, v in zip(table.columns, row, strict=True)] for row in rows)
    first = list(islice(shown, _SAMPLE))
    if not first:
        yield "nothing to report\n"
    else:
        names = [column.name.replace("_", " ") for column in table.columns]
        widths = [
            min(max(len(row[i]) for row in (names, *first)), _WIDEST) for i in range(len(table.columns))
        ]
        right = [column.kind in {"number", "bytes", "seconds"} for column in table.columns]
        yield _line(names, widths, right)
        for row in chain(first, shown):
            yield _line(row, widths, right)
    if taken.more:
        more = f", go on with --after {taken.next}" if taken.next is not None else ""
        yield f"(there is more: --limit N, 0 = all{more})\n"
    if table.note:
        yield f"{table.note}\n"


class _Taken:
    """The first *limit* rows (0 = all) without their numbers; then ``more`` and ``next``."""

    def __init__(self, table: Table, limit: int) -> None:
        self._table, self._limit = table, limit
        self.more = False
        self.next: int | None = None

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        last: int | None = None
        for count, row in enumerate(self._table.rows):
            if self._limit and count >= self._limit:
                self.more, self.next = True, last
                return
            if self._table.numbered:
                *values, last = row
                yield tuple(values)
            else:
                yield row


def _named(columns: Sequence[Column], row: Sequence[Any]) -> dict[str, Any]:
    return {
        column.name: list(value) if isinstance(value, tuple) else value
        for column, value in zip(columns, row, strict=True)
    }


def _csv_line(values: Sequence[Any]) -> str:
    out = io.StringIO()
    csv.writer(out).writerow(values)
    return out.getvalue()


def _cell(column: Column, value: Any) -> Any:
    if value is None:
        return ""
    if column.kind == "time":
        return _moment(value, "%Y-%m-%dT%H:%M:%SZ")
    if isinstance(value, tuple):
        value = " ".join(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return f"'{value}" if value.startswith(_FORMULA) else value
    return value


def _shown(column: Column, value: Any) -> str:
    if value is None or value == "":
        return "-"
    form = _FORMS.get(column.kind)
    if form is not None:
        return form(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = (
        f"{value:.6g}"
        if isinstance(value, float)
        else " ".join(value)
        if isinstance(value, tuple)
        else str(value)
    )
    return "".join(c if c.isprintable() else " " for c in text)


def _shown_fact(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{count} {name}" for name, count in value.items()) or "none"
    return "-" if value is None else str(value)


def _line(row: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    cells = [
        text.rjust(width) if to_right else text.ljust(width)
        for text, width, to_right in zip(row, widths, right, strict=True)
    ]
    return "  ".join(cells).rstrip() + "\n"


def _moment(wall_s: float, form: str) -> str:
    try:
        return datetime.fromtimestamp(wall_s, UTC).strftime(form)
    except (OverflowError, ValueError, OSError):  # a clock that was wrong once
        return str(wall_s)


def _bytes(count: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if count < _KILO:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= _KILO
    return f"{count:.1f} TB"


def _span(seconds: float) -> str:
    left = round(seconds)
    if left < 100:  # noqa: PLR2004 - seconds say more than minutes then
        return f"{seconds:.3g} s"
    days, left = divmod(left, 86_400)
    hours, left = divmod(left, 3_600)
    minutes, left = divmod(left, 60)
    parts = ((days, "d"), (hours, "h"), (minutes, "min"), (left, "s"))
    return " ".join(f"{n} {unit}" for n, unit in parts if n)


_FORMS: dict[str, Callable[[Any], str]] = {
    "time": lambda wall_s: _moment(wall_s, "%Y-%m-%d %H:%M:%S"),
    "bytes": _bytes,
    "seconds": _span,
}
