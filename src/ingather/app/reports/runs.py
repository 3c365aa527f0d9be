"""The history of runs, and two of them side by side."""

from collections.abc import Iterator, Mapping
from typing import Any

from ingather.app.reports.table import Ask, Column, Context, Table
from ingather.app.reports.visits import run_named
from ingather.catalog.reports.sqlite_runs import Run
from ingather.errors import UsageError

__all__ = ["compared", "history", "run_form"]

_KINDS = ("visits", "rds", "duplicates", "outcome", "error", "refused", "excluded")


def history(context: Context, ask: Ask) -> Table:
    """The runs, newest first."""

    def rows() -> Iterator[tuple[Any, ...]]:
        for run in context.reader.runs(ask.limit + 1 if ask.limit else -1, ask.after):
            figures = context.reader.figures(run.number)
            rds = figures.get("rds", {})
            yield (
                run.number, run.kind, run.state, run.started_s, run.ended_s, figures.get("visits", {}).get("all", 0),
                sum(figures.get("error", {}).values()), *(rds.get(name, 0) for name in ("new", "changed", "unchanged", "removed")),
                run.detail, run.number,
            )  # fmt: skip

    number = "number"
    return Table(
        (Column("run", number), Column("kind"), Column("state"), Column("started", "time"), Column("ended", "time"),
         Column("visits", number), Column("errors", number), Column("new", number), Column("changed", number), Column("unchanged", number),
         Column("removed", number), Column("detail")),
        rows(), numbered=True,
    )  # fmt: skip


def run_form(context: Context, number: int) -> dict[str, Any]:
    """Return one run (0 = the newest) with its figures; reasons of exclusions by category.

    Raises:
        UsageError: there is no such run.
    """
    run = run_named(context, number)
    figures = _readable(context, run)
    return {
        **run.form(), "took_s": None if run.ended_s is None else round(run.ended_s - run.started_s, 3),
        "figures": {name: figures.get(name, {}) for name in _KINDS},
    }  # fmt: skip


def compared(context: Context, first: int, second: int) -> Table:
    """Two runs side by side: every figure that one of them has, and the difference.

    Raises:
        UsageError: there is no such run, or it is one run twice.
    """
    if first == second:
        raise UsageError(f"run {first} is compared with itself", hint="name two runs")
    runs = [run_named(context, number) for number in (first, second)]
    before, after = (_readable(context, run) for run in runs)
    rows: list[tuple[Any, ...]] = []
    took = [None if run.ended_s is None else max(round(run.ended_s - run.started_s, 1), 0.0) for run in runs]
    rows.append(("run", "seconds", took[0], took[1], _less(took[0], took[1])))
    for kind in _KINDS:
        one, other = before.get(kind, {}), after.get(kind, {})
        for name in sorted({*one, *other}):
            a, b = one.get(name, 0), other.get(name, 0)
            rows.append((kind, name, a, b, b - a))
    number = "number"
    return Table(
        (Column("kind"), Column("name"), Column(f"run_{first}", number), Column(f"run_{second}", number), Column("difference", number)),
        rows,
        facts={f"run_{run.number}_state": run.state for run in runs},
        note="URLs of a run: ingather report rds --run N --what new, ingather report excluded --run N --reason TEXT",
    )  # fmt: skip


def _less(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else round(after - before, 1)


def _readable(context: Context, run: Run) -> Mapping[str, Mapping[str, int]]:
    """Return the figures of a run with exclusions by category and place instead of rows of directives."""
    figures = context.reader.figures(run.number)
    excluded = figures.get("excluded", {})
    said = context.reader.directives(sorted(int(name) for name in excluded if name.isdigit()))
    named: dict[str, int] = {}
    for name, count in excluded.items():
        one = said.get(int(name)) if name.isdigit() else None
        # Lines of robots.txt are as many as hosts: they count together.
        key = "others" if one is None else one.category if not one.place or one.place.startswith("robots.txt") else f"{one.category} {one.place}"  # fmt: skip
        named[key] = named.get(key, 0) + count
    return {**figures, "excluded": named}
