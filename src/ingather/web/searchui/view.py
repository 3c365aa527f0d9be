"""From an answer of the search service to what the page shows: labels, numbers, addresses."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from ingather.index import Order
from ingather.search import DATE_RANGES, SearchResult, SearchResults, Segment
from ingather.web.asking import Asked
from ingather.web.failures import Problem
from ingather.web.rendering import crumbs, link_target, plain, shown_target

__all__ = ["Choice", "Facet", "Row", "View", "refused_view", "result_view", "start_view"]

_DATES: Mapping[str, str] = {
    "day": "Past day",
    "week": "Past week",
    "month": "Past month",
    "year": "Past year",
}
_SORTS = ((Order.RELEVANCE, "Relevance"), (Order.DATE, "Newest"))
_LANGUAGE = re.compile(r"[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*")
_ELLIPSIS = Segment("…")
_GAP = Segment(" … ")
_CLASSES, _VALUES, _VALUE_CHARS = 8, 6, 160
"""So many metadata classes of a result are shown, so many values of each, so much of a value; the API gives all."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Something to click: where it leads, whether it is in force, how many documents it stands for."""

    label: str
    href: str
    active: bool = False
    count: int | None = None


@dataclass(frozen=True, slots=True)
class Facet:
    """A kind of filter with its values."""

    name: str
    label: str
    choices: Sequence[Choice]


@dataclass(frozen=True, slots=True)
class Row:
    """One result; *href* is ``""`` when the URL is of a kind that pages do not link to.

    ``classes`` are labels of metadata classes with their values, as far as there is room.
    """

    title: str
    href: str
    crumbs: Sequence[str]
    snippet: Sequence[Segment]
    kind: str
    date: str
    language: str
    size: int
    classes: Sequence[tuple[str, Sequence[str]]] = ()


@dataclass(frozen=True, slots=True)
class View:
    """Everything that the template shows; ``asked`` False is the start page.

    ``kept`` are the parameters that a new query keeps; ``beyond`` says that there are results, but
    not so many; ``unknown`` are words that no visible document has; ``nothing`` says why nothing
    at all was gathered yet.
    """

    asked: bool = False
    query: str = ""
    problem: Problem | None = None
    total: int = 0
    first: int = 0
    last: int = 0
    beyond: bool = False
    all_words: bool = True
    partial: bool = False
    start_href: str = "/"
    results: Sequence[Row] = ()
    facets: Sequence[Facet] = ()
    chips: Sequence[Choice] = ()
    sorts: Sequence[Choice] = ()
    pages: Sequence[Choice] = ()
    previous: str = ""
    next: str = ""
    suggestions: Sequence[Choice] = ()
    tries: Sequence[Choice] = ()
    unknown: Sequence[str] = ()
    kept: Sequence[tuple[str, str]] = ()
    after: str = ""
    before: str = ""
    nothing: str = ""


def start_view() -> View:
    """The page before anything was asked."""
    return View()


def refused_view(query: str, problem: Problem) -> View:
    """The page that says why there is no answer."""
    return View(asked=True, query=query, problem=problem)


def result_view(asked: Asked, found: SearchResults) -> View:
    """The page of an answer."""
    ways = found.help
    chips = _chips(asked)
    last = asked.start + len(found.results)
    within = min(found.total, asked.paging.window)
    return View(
        asked=True,
        query=asked.query,
        total=found.total,
        first=asked.start + 1,
        last=last,
        beyond=bool(found.total) and not found.results,
        all_words=found.all_words,
        partial=found.partial,
        start_href=asked.href(),
        results=[_row(result, found.labels) for result in found.results],
        facets=_facets(asked, found),
        chips=chips,
        sorts=[Choice(label, asked.href(sort=order), asked.sort is order) for order, label in _SORTS],
        pages=_pages(asked, within),
        previous=asked.href(start=max(0, asked.start - asked.num)) if asked.start and found.results else "",
        next=asked.href(start=last)
        if found.results and last < within and last + asked.num <= asked.paging.window
        else "",
        suggestions=[Choice(ways.did_you_mean, asked.href(query=ways.did_you_mean))]
        if ways.did_you_mean
        else [],
        tries=_tries(asked, ways.without_filters) if not found.total and chips else [],
        unknown=ways.unknown,
        kept=[(name, value) for name, value in asked.pairs() if name not in {"q", "page", "start"}],
        after=asked.after.isoformat() if asked.after else "",
        before=asked.before.isoformat() if asked.before else "",
    )


def _row(result: SearchResult, labels: Mapping[str, str]) -> Row:
    shown = result.display_url or result.url
    steps = crumbs(shown)
    return Row(
        title=" ".join(plain(result.title).split()) or steps[-1],
        href=shown_target(shown) if result.display_url else link_target(shown),
        crumbs=steps,
        snippet=_joined(result),
        kind=result.kind,
        date=_day(result.date_s),
        language=result.language if _LANGUAGE.fullmatch(result.language) else "",
        size=result.size if result.kind != "html" else 0,
        classes=[
            (labels.get(name, name), _some(values))
            for name, values in islice(result.classes.items(), _CLASSES)
        ],
    )


def _some(values: Sequence[str]) -> list[str]:
    shown = [
        value if len(value) <= _VALUE_CHARS else f"{value[:_VALUE_CHARS]}…" for value in values[:_VALUES]
    ]
    return [*shown, "…"] if len(values) > _VALUES else shown


def _joined(result: SearchResult) -> list[Segment]:
    parts: list[Segment] = []
    for fragment in result.snippet:
        if parts:
            parts.append(_GAP)
        elif fragment.before:
            parts.append(_ELLIPSIS)
        parts.extend(fragment.segments)
    if result.snippet and result.snippet[-1].after:
        parts.append(_ELLIPSIS)
    return parts


def _day(seconds: int | None) -> str:
    if seconds is None:
        return ""
    try:
        return datetime.fromtimestamp(seconds, UTC).date().isoformat()
    except (ValueError, OSError, OverflowError):
        return ""


def _facets(asked: Asked, found: SearchResults) -> list[Facet]:
    counts = found.facets
    facets = [
        Facet("type", "Type", _toggles(asked, "types", counts.kinds, str.upper)),
        Facet("site", "Site", _toggles(asked, "sites", counts.sites, str)),
    ]
    dates = [
        Choice(
            _DATES[name],
            asked.href(date="" if asked.date == name else name, after=None, before=None),
            asked.date == name,
            counts.dates.get(name, 0),
        )
        for name in DATE_RANGES
        if counts.dates.get(name) or asked.date == name
    ]
    if dates or asked.after or asked.before or found.total:
        facets.append(Facet("date", "Date", dates))
    facets += [
        Facet(f"class-{name}", counts.labels.get(name, name), _class_toggles(asked, name, values))
        for name, values in counts.classes.items()
    ]
    return [facet for facet in facets if facet.choices or facet.name == "date"]


def _toggles(asked: Asked, name: str, counts: Mapping[str, int], label: Any) -> list[Choice]:
    chosen: tuple[str, ...] = getattr(asked, name)
    values = [*counts, *(value for value in chosen if value not in counts)]
    return [
        Choice(
            label(value),
            asked.href(
                **{name: tuple(v for v in chosen if v != value) if value in chosen else (*chosen, value)}
            ),
            value in chosen,
            counts.get(value, 0),
        )
        for value in values
    ]


def _class_toggles(asked: Asked, name: str, counts: Mapping[str, int]) -> list[Choice]:
    chosen = [value for one, value in asked.classes if one == name]
    return [
        Choice(
            value,
            asked.href(
                classes=tuple(pair for pair in asked.classes if pair != (name, value))
                if value in chosen
                else (*asked.classes, (name, value))
            ),
            value in chosen,
            counts.get(value, 0),
        )
        for value in (*counts, *(value for value in chosen if value not in counts))
    ]


def _chips(asked: Asked) -> list[Choice]:
    chips = [
        Choice(kind.upper(), asked.href(types=tuple(k for k in asked.types if k != kind)), active=True)
        for kind in asked.types
    ]
    chips += [
        Choice(site, asked.href(sites=tuple(s for s in asked.sites if s != site)), active=True)
        for site in asked.sites
    ]
    chips += [
        Choice(name, asked.href(databases=tuple(d for d in asked.databases if d != name)), active=True)
        for name in asked.databases
    ]
    chips += [
        Choice(
            f"{name}: {value}",
            asked.href(classes=tuple(p for p in asked.classes if p != (name, value))),
            active=True,
        )
        for name, value in asked.classes
    ]
    if asked.date:
        chips.append(Choice(_DATES[asked.date], asked.href(date=""), active=True))
    if asked.after or asked.before:
        span = f"{asked.after or ''} \u2013 {asked.before or ''}".strip()
        chips.append(Choice(span, asked.href(after=None, before=None), active=True))
    return chips


def _tries(asked: Asked, without_filters: int) -> list[Choice]:
    if not without_filters:
        return []
    href = asked.href(types=(), sites=(), databases=(), classes=(), date="", after=None, before=None)
    return [Choice("Without filters", href, count=without_filters)]


def _pages(asked: Asked, within: int) -> list[Choice]:
    """The first page, the neighbours of this one, the last; a choice without address is a gap."""
    last = min(-(-within // asked.num), asked.paging.window // asked.num)
    here = asked.start // asked.num + 1
    if last < 2 or here > last:  # noqa: PLR2004 - one page needs no numbers
        return []
    shown = sorted({1, last, *range(max(1, here - 1), min(last, here + 1) + 1)})
    choices: list[Choice] = []
    before = 0
    for page in shown:
        if page > before + 1:
            choices.append(Choice("…", ""))
        choices.append(Choice(str(page), asked.href(start=(page - 1) * asked.num), page == here))
        before = page
    return choices
