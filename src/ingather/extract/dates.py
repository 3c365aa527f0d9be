"""The document's own date: what it says of itself first, what its server says last, never "now".

Sources in order: named METAs, JSON-LD, ``<time>``, the ``Last-Modified`` header. The first that can
be read wins. A date without a zone is taken as UTC, a date without a time as its midnight.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime
from typing import Final

from ingather.model.page import PageDate

__all__ = ["date_value", "document_date"]

DATE_METAS: Final = (
    "dcterms.modified", "dc.date.modified", "article:modified_time", "og:updated_time", "last-modified",
    "datemodified", "revised", "dcterms.date", "dc.date", "date", "dcterms.issued", "dc.date.issued",
    "dcterms.created", "dc.date.created", "article:published_time", "og:published_time", "datepublished",
    "pubdate", "publishdate", "publish-date", "publication_date", "citation_publication_date", "sailthru.date",
    "parsely-pub-date", "creation_date", "created",
)  # fmt: skip
"""META names that give a date, the change before the birth."""

_DATE_NAMES: Final = frozenset(DATE_METAS)
_JSON_KEYS: Final = ("dateModified", "datePublished", "uploadDate", "dateCreated")
_JSON_NODES: Final = 500
_EARLIEST_YEAR: Final = 1000
_ISO: Final = re.compile(
    r"(\d{4})(?:[-/.](\d{1,2})(?:[-/.](\d{1,2})"
    r"(?:[T\s]+(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?\s*(Z|UTC|GMT|[+-]\d{2}:?\d{2}|[+-]\d{2})?)?)?)?",
    re.IGNORECASE,
)
_COMPACT: Final = re.compile(r"(\d{4})(\d{2})(\d{2})(?:T?(\d{2})(\d{2})(\d{2})?)?Z?")
_MONTHS: Final = {
    name: number
    for number, names in enumerate(
        ("jan january", "feb february", "mar march", "apr april", "may", "jun june", "jul july", "aug august",
         "sep sept september", "oct october", "nov november", "dec december"),
        start=1,
    )
    for name in names.split()
}  # fmt: skip
_IMF_FIXDATE: Final = re.compile(
    r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (\d\d) (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) ([12]\d{3}) "
    r"((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d) GMT"
)
_DAY_MONTH: Final = re.compile(
    r"(?:[a-z]+,?\s+)?(\d{1,2})(?:st|nd|rd|th)?[\s.-]+([a-z]+)[\s.,-]+(\d{4})", re.IGNORECASE
)
_MONTH_DAY: Final = re.compile(
    r"(?:[a-z]+,\s+)?([a-z]+)\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})", re.IGNORECASE
)


def document_date(
    metas: Mapping[str, Sequence[str]], json_ld: Sequence[str], times: Sequence[str], last_modified: str
) -> PageDate | None:
    """Return the best date and what said so (``meta:NAME``, ``json-ld``, ``time``, ``last-modified``)."""
    if not _DATE_NAMES.isdisjoint(metas):
        for name in DATE_METAS:
            for content in metas.get(name, ()):
                value = date_value(content)
                if value:
                    return PageDate(value, f"meta:{name}")
    for text in json_ld:
        value = _in_json_ld(text)
        if value:
            return PageDate(value, "json-ld")
    for moment in times:
        value = date_value(moment)
        if value:
            return PageDate(value, "time")
    value = date_value(last_modified) if last_modified else ""
    return PageDate(value, "last-modified") if value else None


def date_value(text: str) -> str:
    """Return the date in *text* as RFC 3339 UTC (``2024-05-01T10:00:00Z``), ``""`` if it holds none.

    Reads ISO 8601 and its W3C profile (year or month alone too), RFC 1123 and 850 dates, ``1 May 2024``
    and ``May 1, 2024``. A time that day-first and month-first countries read differently is not guessed.
    """
    bare = text.strip()
    fixed = _IMF_FIXDATE.fullmatch(bare)
    try:
        if fixed is not None:
            day, month, year, time = fixed.groups()
            return f"{date(int(year), _MONTHS[month.lower()], int(day))}T{time}Z"
        moment = _iso(bare) or _internet(bare) or _spelt(bare)
        if moment is None or moment.year < _EARLIEST_YEAR:
            return ""
        return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError):
        return ""


def _iso(text: str) -> datetime | None:
    match = _ISO.fullmatch(text)
    if match is None:
        compact = _COMPACT.fullmatch(text)
        if compact is None:
            return None
        return datetime(*(int(part or 0) for part in compact.groups()), tzinfo=UTC)  # type: ignore[misc,arg-type]
    year, month, day, hour, minute, second, zone = match.groups()
    offset = UTC
    if zone and zone[0] in "+-":
        digits = zone[1:].replace(":", "").ljust(4, "0")
        offset = datetime.strptime(f"{zone[0]}{digits}", "%z").tzinfo or UTC  # type: ignore[assignment]
    whole_second = min(int(second or 0), 59)
    return datetime(
        int(year),
        int(month or 1),
        int(day or 1),
        int(hour or 0),
        int(minute or 0),
        whole_second,
        tzinfo=offset,
    )


def _internet(text: str) -> datetime | None:
    if ":" not in text:
        return None
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _spelt(text: str) -> datetime | None:
    match = _DAY_MONTH.match(text)
    if match:
        day, month, year = match.groups()
    else:
        match = _MONTH_DAY.match(text)
        if match is None:
            return None
        month, day, year = match.groups()
    number = _MONTHS.get(month.lower())
    return datetime(int(year), number, int(day), tzinfo=UTC) if number else None


def _in_json_ld(text: str) -> str:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    best = ""
    rank = len(_JSON_KEYS)
    for node in _objects(data):
        for place, name in enumerate(_JSON_KEYS[:rank]):
            value = node.get(name)
            if isinstance(value, str) and (found := date_value(value)):
                best, rank = found, place
                break
    return best


def _objects(data: object) -> Iterator[dict[str, object]]:
    """Yield the first objects of a JSON-LD block, outer before inner; bounded, without recursion."""
    waiting = [data]
    for _ in range(_JSON_NODES):
        if not waiting:
            return
        node = waiting.pop(0)
        if isinstance(node, dict):
            yield node
            waiting += node.values()
        elif isinstance(node, list):
            waiting += node
