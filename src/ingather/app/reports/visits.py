"""Reports about visits: errors, what filters and robots.txt denied, what became of descriptions, how fast it went."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from heapq import merge
from math import inf
from operator import itemgetter
from typing import Any, NamedTuple

from ingather.app.reports.hosts import hosts_named
from ingather.app.reports.table import Ask, Column, Context, Table
from ingather.catalog.reports.sqlite_report_walks import MOST_GROUPS, OTHERS, UNKEPT
from ingather.catalog.reports.sqlite_runs import Run
from ingather.errors import UnknownNameError, UsageError
from ingather.model.error_class import error_detail
from ingather.model.exclusion import DETAILS, reported

__all__ = ["WHATS", "descriptions", "errors", "excluded", "performance", "robots", "run_named"]

_NUMBER, _TIME, _SECONDS, _BYTES = "number", "time", "seconds", "bytes"
_NO_FIGURES = (
    "this run is older than its figures, or they are kept no more: counts are missing, lists are not"
)
_EVER_S = 1e18
_COPY = "duplicate"
"""What a walk over a run calls a URL behind equal bytes: no error."""
WHATS = ("new", "changed", "unchanged", "removed")
"""What may become of a resource description in a run."""


def run_named(context: Context, number: int) -> Run:
    """Return a run, 0 = the newest.

    Raises:
        UsageError: there is none of that number, or none at all.
    """
    found = context.reader.run(number)
    if found is None:
        what = f"there is no run {number}" if number else "there was no run yet"
        raise UnknownNameError(
            what, kind="run", name=str(number or "last"), hint="ingather runs list shows them"
        )
    return found


def _span(run: Run) -> tuple[float, float]:
    return run.started_s, inf if run.ended_s is None else run.ended_s


def _about(run: Run) -> dict[str, Any]:
    return {"run": run.number, "state": run.state}


def errors(context: Context, ask: Ask) -> Table:
    """Errors by class and host; with a class or a host the URLs; of all that is known, or of what one run visited."""
    named, hosts = ask["class"], hosts_named(context, ask["host"])
    if ask["run"]:
        return _errors_of_run(context, ask, named, hosts)
    if named or hosts is not None:
        rows = (
            (e.url, e.error, e.status or None, e.detail, e.fails, e.fetched_s, e.due_s, e.id)
            for e in context.reader.error_urls(error=named, hosts=hosts, after=ask.after)
        )
        return Table(
            (Column("url"), Column("class"), Column("status", _NUMBER), Column("detail"), Column("fails", _NUMBER),
             Column("last_visit", _TIME), Column("next_visit", _TIME)),
            rows, numbered=True,
        )  # fmt: skip
    counted = context.reader.errors()
    classes: Counter[str] = Counter()
    for (_, name), count in counted.items():
        classes[name] += count
    return Table(
        (Column("class"), Column("server"), Column("urls", _NUMBER)),
        [(name, origin, count) for origin, name, count in _by_origin(context, ask, counted)],
        facts={"urls": counted.total(), "classes": dict(classes.most_common())},
        note="URLs whose last visit went wrong; --class and --host list them, --run N is of one run",
    )


def _errors_of_run(context: Context, ask: Ask, named: str, hosts: Sequence[int] | None) -> Table:
    """What :func:`errors` tells, of one run; of URLs that later runs settled again by their remembered visits."""
    run = run_named(context, ask.run)
    began_s, ended_s = _span(run)
    origins = None if hosts is None else set(context.reader.origins(sorted(hosts)).values())
    listed = bool(named) or origins is not None
    failed = (
        one
        for one in context.reader.failed(
            run.number, began_s=began_s, ended_s=ended_s, after=ask.after if listed else 0
        )
        if one[2] != _COPY
    )
    note = (
        "each URL by its last visit in the run; of one that a later run settled again the class of a failure without an answer is "
        "failed, and one that was visited a dozen times since is missing"
    )
    if listed:
        rows = (
            (url, name, detail, row)
            for row, url, name, detail in failed
            if (not named or name == named) and (origins is None or _origin(url) in origins)
        )
        return Table(
            (Column("url"), Column("class"), Column("detail")), rows, numbered=True, facts=_about(run), note=note
        )  # fmt: skip
    counted: Counter[tuple[str, str]] = Counter()
    for _, url, name, _ in failed:
        key = (name, _origin(url))
        counted[key if key in counted or len(counted) < MOST_GROUPS else (name, UNKEPT)] += 1
    classes: Counter[str] = Counter()
    for (name, _), count in counted.items():
        classes[name] += count
    return Table(
        (Column("class"), Column("server"), Column("urls", _NUMBER)),
        [(*key, count) for key, count in counted.most_common()],
        facts={**_about(run), "urls": counted.total(), "classes": dict(classes.most_common())},
        note=note,
    )


def _origin(url: str) -> str:
    scheme, mark, rest = url.partition("://")
    return f"{scheme}{mark}{rest.partition('/')[0]}"


def robots(context: Context, ask: Ask) -> Table:
    """URLs that robots.txt keeps us from, by host and line; with a host the URLs."""
    hosts = hosts_named(context, ask["host"])
    if hosts is not None:
        rows = (
            (url, reason, fetched, row)
            for row, url, reason, fetched in context.reader.robots_urls(hosts, after=ask.after)
        )
        return Table((Column("url"), Column("reason"), Column("last_look", _TIME)), rows, numbered=True)
    counted = context.reader.closed_by_robots()
    unreachable = context.reader.unreachable_robots(ask.limit + 1 if ask.limit else -1)
    closed = [
        (origin, f"robots.txt is unreachable: {why}", context.reader.waiting_at(host), since)
        for host, origin, since, why in unreachable
    ]
    lost = [(origin, reason, count, None) for origin, reason, count in _by_origin(context, ask, counted)]
    return Table(
        (Column("server"), Column("reason"), Column("urls", _NUMBER), Column("since", _TIME)),
        [*lost, *closed],
        facts={"urls": counted.total(), "unreachable": len(closed)},
        note="--host lists the URLs; of a host whose robots.txt is unreachable the URLs that wait are counted",
    )


def _by_origin(
    context: Context, ask: Ask, counted: Counter[tuple[int, str]]
) -> Iterator[tuple[str, str, int]]:
    top = counted.most_common(ask.limit + 1 if ask.limit else None)
    origins = context.reader.origins(sorted({host for (host, _), _ in top}))
    for (host, name), count in top:
        yield (UNKEPT if host == OTHERS else origins.get(host, UNKEPT)), name, count


class _Reason(NamedTuple):
    """Why a run excluded URLs: as the old robot's report groups it, and in our words; *key*: a directive or a class of errors."""

    category: str
    detail: str
    reason: str
    where: str
    urls: int
    version: int | None
    key: int | str | None = None
    own: str = ""

    def bears(self, name: str) -> bool:
        """Whether *name* (case folded) is one of its names."""
        return name in {self.category, self.detail, self.own.casefold(), self.where.casefold(), str(self.key)}


def _grouped(category: str, reason: str = "") -> tuple[str, str]:
    found = reported(category, reason)
    return str(found.category), found.detail


def _reasons(context: Context, figures: Mapping[str, Mapping[str, int]]) -> list[_Reason]:
    counts = {int(name): n for name, n in figures.get("excluded", {}).items() if name.isdigit()}
    found = [
        _Reason(*_grouped(d.category, d.reason), d.reason, d.place, counts[row], d.version, row, d.category)
        for row, d in context.reader.directives(sorted(counts)).items()
    ]
    for name, n in figures.get("error", {}).items():
        detail = error_detail(name)
        found.append(_Reason(str(DETAILS[detail]), detail, name, "", n, None, name))
    for limit, n in figures.get("refused", {}).items():
        detail = "removed" if limit == "removed" else "budget"
        found.append(_Reason(str(DETAILS[detail]), detail, limit, "", n, None))
    hidden = figures.get("duplicates", {}).get("hidden", 0)
    if hidden:
        found.append(
            _Reason(
                str(DETAILS["duplicate"]),
                "duplicate",
                "equal bytes as another page",
                "",
                hidden,
                None,
                "duplicate",
            )
        )
    unnamed = figures.get("excluded", {}).get("others", 0)
    if unnamed:
        found.append(
            _Reason(*_grouped(""), "reasons beyond the first thousands of the run", "", unnamed, None)
        )
    return sorted(found, key=lambda r: (-r.urls, r.category, r.detail, r.where, r.reason))


def excluded(context: Context, ask: Ask) -> Table:
    """What a run excluded, by reason; with a reason the URLs, each once."""
    run = run_named(context, ask.run)
    figures = context.reader.figures(run.number)
    reasons = _reasons(context, figures)
    if ask["reason"]:
        return _excluded_urls(context, ask, run, reasons)
    categories: Counter[str] = Counter()
    for one in reasons:
        categories[one.category] += one.urls
    return Table(
        (Column("category"), Column("detail"), Column("reason"), Column("where"), Column("count", _NUMBER),
         Column("configuration", _NUMBER)),
        [tuple(one)[:6] for one in reasons],
        facts={**_about(run), "count": categories.total(), "categories": dict(categories.most_common())},
        note="--reason (a category, a detail, a place like filter.conf:12, or words of the reason) lists the URLs, each once; "
        "URLs that a budget refused are in the access log only" if figures else _NO_FIGURES,
    )  # fmt: skip


def _excluded_urls(context: Context, ask: Ask, run: Run, reasons: Sequence[_Reason]) -> Table:
    folded = ask["reason"].strip().casefold()
    chosen = [one for one in reasons if one.bears(folded)] or [
        one for one in reasons if folded in one.reason.casefold()
    ]
    if not chosen:
        known = sorted({one.category for one in reasons})
        raise UsageError(
            f"run {run.number} excluded nothing for a reason like {ask['reason']!r}",
            hint=f"its categories: {', '.join(known)}" if known else "it excluded nothing",
        )
    by_key = {one.key: one for one in chosen}
    began_s, ended_s = _span(run)
    found: list[Iterator[tuple[int, str, _Reason, str]]] = []
    directives = [key for key in by_key if isinstance(key, int)]
    if directives:
        denied = context.reader.denied(
            run.number, directives, began_s=began_s, ended_s=ended_s, after=ask.after
        )
        found.append((row, url, by_key[key], by_key[key].reason) for row, url, key in denied)
    if any(isinstance(key, str) for key in by_key):
        failed = context.reader.failed(run.number, began_s=began_s, ended_s=ended_s, after=ask.after)
        found.append(
            (row, url, by_key[name], detail or by_key[name].reason)
            for row, url, name, detail in failed
            if name in by_key
        )
    rows = (
        (url, one.category, one.detail, reason, one.where, row)
        for row, url, one, reason in merge(*found, key=itemgetter(0))
    )
    return Table(
        (Column("url"), Column("category"), Column("detail"), Column("reason"), Column("where")),
        rows,
        numbered=True,
        facts=_about(run),
    )


def descriptions(context: Context, ask: Ask) -> Table:
    """Resource descriptions that a run made, changed, found unchanged or removed; with one of these words the URLs."""
    run, what = run_named(context, ask.run), ask["what"]
    counts = context.reader.figures(run.number).get("rds", {})
    if not what:
        return Table(
            (Column("what"), Column("count", _NUMBER)),
            [(name, counts.get(name, 0)) for name in (*WHATS, "restored")],
            facts=_about(run),
            note="--what new, changed, unchanged or removed lists the URLs" if counts else _NO_FIGURES,
        )
    if what not in WHATS:
        raise UsageError(f"{what!r} never becomes of a description", hint=f"one of: {', '.join(WHATS)}")
    began_s, ended_s = _span(run)
    until_s = min(ended_s, _EVER_S)
    if what == "removed":
        rows: Iterator[tuple[Any, ...]] = (
            (url, what, reason, row)
            for row, url, reason in context.reader.removed(run.number, began_s, until_s, after=ask.after)
        )
    else:
        rows = (
            (url, what, "", row)
            for row, url in context.reader.descriptions(what, began_s, until_s, after=ask.after)
        )
    return Table(
        (Column("url"), Column("what"), Column("reason")),
        rows,
        numbered=True,
        facts=_about(run),
        note="told by the last twelve visits of each URL"
        if what != "removed"
        else "those that came back are not listed",
    )


def performance(context: Context, ask: Ask) -> Table:
    """How fast the last runs were."""

    def rows() -> Iterator[tuple[Any, ...]]:
        for run in context.reader.runs(ask.limit + 1 if ask.limit else -1, ask.after):
            figures = context.reader.figures(run.number)
            visits, wrong = figures.get("visits", {}), sum(figures.get("error", {}).values())
            took = max((run.ended_s or context.now_s) - run.started_s, 0.0)
            answered = visits.get("answered", 0)
            yield (
                run.number, run.state, run.started_s, took, visits.get("all", 0), _rate(visits.get("all", 0), took), visits.get("bytes", 0),
                _rate(visits.get("bytes", 0), took), round(visits.get("ms", 0) / answered) if answered else None, wrong, run.number,
            )  # fmt: skip

    live = context.live()
    return Table(
        (Column("run", _NUMBER), Column("state"), Column("started", _TIME), Column("took", _SECONDS), Column("visits", _NUMBER),
         Column("visits_s", _NUMBER), Column("bytes", _BYTES), Column("bytes_s", _BYTES), Column("mean_ms", _NUMBER),
         Column("errors", _NUMBER)),
        rows(), numbered=True, facts={"robot": live.get("state", "unknown"), "rate": live.get("rate") or None},
    )  # fmt: skip


def _rate(count: int, seconds: float) -> float | None:
    return round(count / seconds, 2) if seconds >= 1 else None
