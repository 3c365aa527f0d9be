"""The JSON form of search results: one shape for the API and the command line, documented and stable.

``docs/reference/search-api-json.md`` describes every member; members are added, never renamed or
removed. Catalog row numbers stay inside: they would tell how much there is that one may not see.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from ingather.search.results import SearchResult, SearchResults
from ingather.search.snippets import Fragment, Segment

__all__ = ["date_form", "results_form"]


def results_form(answer: SearchResults) -> dict[str, Any]:
    """Return *answer* in plain dictionaries, lists, strings, numbers and booleans."""
    return {
        "query": answer.query,
        "total": answer.total,
        "offset": answer.offset,
        "limit": answer.limit,
        "all_words": answer.all_words,
        "results": [_result_form(result) for result in answer.results],
        "facets": {
            "kinds": _counts_form(answer.facets.kinds),
            "sites": _counts_form(answer.facets.sites),
            "dates": _counts_form(answer.facets.dates),
            "classes": {
                name: {"label": answer.facets.labels.get(name, name), "values": _counts_form(counts)}
                for name, counts in answer.facets.classes.items()
            },
        },
        "help": {
            "did_you_mean": answer.help.did_you_mean,
            "unknown": list(answer.help.unknown),
            "without_filters": answer.help.without_filters,
        },
        "took_ms": answer.took_ms,
        "partial": answer.partial,
    }


def date_form(moment_s: int | None) -> str | None:
    """Return epoch seconds as RFC 3339 in UTC (``2026-11-21T11:02:00Z``); ``None`` stays, years beyond 9999 too."""
    if moment_s is None:
        return None
    try:
        return datetime.fromtimestamp(moment_s, UTC).isoformat().removesuffix("+00:00") + "Z"
    except (ValueError, OverflowError, OSError):
        return None


def _result_form(result: SearchResult) -> dict[str, Any]:
    return {
        "rank": result.rank,
        "url": result.url,
        "display_url": result.display_url or result.url,
        "title": result.title,
        "title_segments": _segments_form(result.title_segments),
        "snippet": [_fragment_form(fragment) for fragment in result.snippet],
        "site": result.site,
        "path": result.path,
        "kind": result.kind,
        "media_type": result.media_type,
        "language": result.language,
        "date": date_form(result.date_s),
        "size": result.size,
        "score": result.score,
        "source": result.source,
        "title_original": result.title_original,
        "classes": {name: list(values) for name, values in result.classes.items()},
    }


def _fragment_form(fragment: Fragment) -> dict[str, Any]:
    return {
        "segments": _segments_form(fragment.segments),
        "start": fragment.start,
        "before": fragment.before,
        "after": fragment.after,
    }


def _segments_form(segments: Iterable[Segment]) -> list[dict[str, Any]]:
    return [{"text": segment.text, "marked": segment.marked} for segment in segments]


def _counts_form(counts: Mapping[str, int]) -> list[dict[str, Any]]:
    return [{"value": value, "count": count} for value, count in counts.items()]
