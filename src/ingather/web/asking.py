"""A search as it stands in an address: read strictly, written back for links, made a request of the service.

The page and the API take the same parameters, so that a page's address and the API's differ in
the path alone.
"""

import datetime as dt
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request

from ingather.index import Order
from ingather.search import DATE_RANGES, SearchRequest
from ingather.web.failures import WebError
from ingather.web.fields import single

__all__ = ["Asked", "Paging", "read_asked"]

_VALUES = 16
_DIGITS = 6
_YEARS = range(1700, 2200)


@dataclass(frozen=True, slots=True)
class Paging:
    """How results are paged.

    Attributes:
        size: results a page when nobody says how many.
        most: results that may be asked for at once.
        window: the last result that can be paged to.
    """

    size: int = 10
    most: int = 100
    window: int = 10_000


@dataclass(frozen=True, slots=True)
class Asked:
    """One search, in the words of its address.

    Attributes:
        query: what was typed.
        start: results before the first one wanted.
        num: results wanted; 0 = a page of them, as *paging* has it.
        types: short names of types (``pdf``), any of them; empty = all.
        sites: hosts, any of them.
        date: a name of ``DATE_RANGES``, or ``""``; instead of it:
        after: first day wanted, UTC, ``None`` = no limit.
        before: last day wanted.
        sort: by relevance, or newest first.
        databases: named partitions of descriptions, any of them; empty = all.
        classes: (metadata class, whole value), any of those of one class.
        paging: what holds where the address says nothing.
    """

    query: str = ""
    start: int = 0
    num: int = 0
    types: tuple[str, ...] = ()
    sites: tuple[str, ...] = ()
    date: str = ""
    after: dt.date | None = None
    before: dt.date | None = None
    sort: Order = Order.RELEVANCE
    databases: tuple[str, ...] = ()
    classes: tuple[tuple[str, str], ...] = ()
    paging: Paging = Paging()

    def __post_init__(self) -> None:
        if not self.num:
            object.__setattr__(self, "num", self.paging.size)

    def pairs(self) -> list[tuple[str, str]]:
        """Return the parameters that differ from what holds without them, in a fixed order."""
        found = [("q", self.query)]
        found += [("type", kind) for kind in self.types]
        found += [("site", site) for site in self.sites]
        found += [("database", name) for name in self.databases]
        found += [("class", f"{name}:{value}") for name, value in self.classes]
        found += [("date", self.date)] if self.date else []
        found += [
            (name, day.isoformat()) for name, day in (("after", self.after), ("before", self.before)) if day
        ]
        found += [("sort", self.sort.value)] if self.sort is not Order.RELEVANCE else []
        found += [("num", str(self.num))] if self.num != self.paging.size else []
        if self.start:
            page, rest = divmod(self.start, self.num)
            found.append(("start", str(self.start)) if rest else ("page", str(page + 1)))
        return found

    def href(self, **changes: Any) -> str:
        """Return the page's address with *changes*; any change but of ``start`` goes to the first page."""
        return "/?" + urlencode(replace(self, **{"start": 0, **changes}).pairs())

    def as_request(self) -> SearchRequest:
        """Return what the search service takes."""
        return SearchRequest(
            query=self.query,
            offset=self.start,
            limit=self.num,
            kinds=self.types,
            sites=self.sites,
            date=self.date,
            since_s=_midnight(self.after) if self.after else None,
            until_s=_midnight(self.before + dt.timedelta(days=1)) if self.before else None,
            order=self.sort,
            databases=self.databases,
            classes=self.classes,
        )


PARAMETERS = frozenset(
    [
        "q",
        "num",
        "start",
        "page",
        "date",
        "after",
        "before",
        "type",
        "site",
        "sort",
        "database",
        "class",
        "as",
        "as-group",
    ]
)
"""What a search takes; those that begin with as say as whom."""
_SHOWN = 64
_MOST_IGNORED = 20


def ignored(request: Request) -> list[str]:
    """Return the parameters of a search that nobody reads, each once, in their order; a long name is cut."""
    return [name[:_SHOWN] for name in dict.fromkeys(request.query_params.keys()) if name not in PARAMETERS][
        :_MOST_IGNORED
    ]


def read_asked(request: Request, paging: Paging) -> Asked:
    """Read the query string; parameters that are not ours are left to :func:`ignored`.

    Raises:
        WebError: 400 ``bad-parameter``, naming the parameter and what it takes.
    """
    num = _number(request, "num", paging.size, 1, paging.most)
    start = _number(request, "start", 0, 0, 10**_DIGITS - 1)
    if "page" in request.query_params:
        if "start" in request.query_params:
            raise _bad("Both page and start are given.", "page counts from 1, start from 0.")
        start = (_number(request, "page", 1, 1, 10**_DIGITS - 1) - 1) * num
    named, after, before = (
        _one_of(request, "date", ("", *DATE_RANGES)),
        _date(request, "after"),
        _date(request, "before"),
    )
    if named and (after or before):
        raise _bad("The parameter date is given beside after or before.", "Give one or the others.")
    if after and before and after > before:
        raise _bad("The parameter after is later than before.", "Exchange the two.")
    return Asked(
        query=single(request, "q").strip(),
        start=start,
        num=num,
        types=_several(request, "type"),
        sites=_several(request, "site"),
        date=named,
        after=after,
        before=before,
        sort=Order(_one_of(request, "sort", tuple(Order)) or Order.RELEVANCE),
        databases=_several(request, "database"),
        classes=_classes(request),
        paging=paging,
    )


def _bad(message: str, hint: str) -> WebError:
    return WebError(400, "bad-parameter", message, hint=hint)


def _number(request: Request, name: str, default: int, least: int, most: int) -> int:
    text = single(request, name).strip()
    if not text:
        return default
    if not (text.isascii() and text.isdigit() and len(text) <= _DIGITS and least <= int(text) <= most):
        raise _bad(
            f"The parameter {name} is not a number that it takes.", f"Give a number from {least} to {most}."
        )
    return int(text)


def _one_of(request: Request, name: str, values: tuple[str, ...]) -> str:
    text = single(request, name).strip().lower()
    if text and text not in values:
        raise _bad(
            f"The parameter {name} is none that we know.", f"Give one of {', '.join(v for v in values if v)}."
        )
    return text


def _several(request: Request, name: str) -> tuple[str, ...]:
    values = [value.strip().lower() for value in request.query_params.getlist(name)]
    wanted = tuple(dict.fromkeys(value for value in values if value))
    if len(wanted) > _VALUES:
        raise _bad(f"The parameter {name} is given {len(wanted)} times.", f"Give at most {_VALUES} values.")
    return wanted


def _classes(request: Request) -> tuple[tuple[str, str], ...]:
    found = dict.fromkeys(value.strip() for value in request.query_params.getlist("class"))
    pairs = tuple(value.partition(":")[::2] for value in found if value)
    if len(pairs) > _VALUES:
        raise _bad(f"The parameter class is given {len(pairs)} times.", f"Give at most {_VALUES} values.")
    if not all(name and value for name, value in pairs):
        raise _bad("The parameter class has no value.", "Write class=NAME:VALUE.")
    return pairs


def _date(request: Request, name: str) -> dt.date | None:
    text = single(request, name).strip()
    if not text:
        return None
    try:
        found: dt.date | None = dt.date.fromisoformat(text)
    except ValueError:
        found = None
    if found is None or found.year not in _YEARS:
        raise _bad(f"The parameter {name} is not a date.", f"Write {name}=YYYY-MM-DD.")
    return found


def _midnight(day: dt.date) -> int:
    return int(dt.datetime.combine(day, dt.time(), dt.UTC).timestamp())
