"""The JSON form is documented member by member and holds nothing else."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ingather.ports.index import IndexDocument
from ingather.search import date_form, results_form
from ingather.search.suggestions import correction, distance

Doc = Callable[..., IndexDocument]
PAGE = Path(__file__).parents[3] / "docs" / "reference" / "search-api-json.md"


def members(form: Any) -> set[str]:
    if isinstance(form, dict):
        return set(form) | {name for value in form.values() for name in members(value)}
    if isinstance(form, list):
        return {name for value in form for name in members(value)}
    return set()


def test_the_form_is_plain_json_of_a_fixed_shape(site: Any, doc: Doc) -> None:
    site.put(doc(1, "Ask for holidays <here>.", title="Holiday & form", date_s=1_795_258_920))
    form = results_form(site.search("holiday"))
    assert json.loads(json.dumps(form)) == form
    assert form == {
        "query": "holiday",
        "total": 1,
        "offset": 0,
        "limit": 10,
        "all_words": True,
        "results": [
            {
                "rank": 1,
                "url": "https://example.com/1.html",
                "display_url": "https://example.com/1.html",
                "title": "Holiday & form",
                "title_segments": [{"text": "Holiday", "marked": True}, {"text": " & form", "marked": False}],
                "snippet": [
                    {
                        "segments": [
                            {"text": "Ask for ", "marked": False},
                            {"text": "holidays", "marked": True},
                            {"text": " <here>.", "marked": False},
                        ],
                        "start": 0,
                        "before": False,
                        "after": False,
                    }
                ],
                "site": "example.com",
                "path": "/1.html",
                "kind": "html",
                "media_type": "text/html",
                "language": "en",
                "date": "2026-11-21T11:02:00Z",
                "size": 10,
                "score": form["results"][0]["score"],
                "source": "web",
                "title_original": "",
                "classes": {},
            }
        ],
        "facets": {
            "kinds": [{"value": "html", "count": 1}],
            "sites": [{"value": "example.com", "count": 1}],
            "dates": [{"value": "year", "count": 1}],
            "classes": {},
        },
        "help": {"did_you_mean": "", "unknown": [], "without_filters": 0},
        "took_ms": 0.0,
        "partial": False,
    }


def test_every_member_is_documented(site: Any, doc: Doc) -> None:
    site.put(doc(1, "holidays", title="Holiday"))
    page = PAGE.read_text(encoding="utf-8")
    assert [
        name for name in sorted(members(results_form(site.search("holiday")))) if f"`{name}`" not in page
    ] == []


def test_dates_are_rfc_3339_or_nothing() -> None:
    assert date_form(0) == "1970-01-01T00:00:00Z"
    assert date_form(-62_135_596_800) == "0001-01-01T00:00:00Z"
    assert date_form(None) is None
    assert date_form(10**17) is None


def test_corrections_are_near_and_frequent_words() -> None:
    words = [("holiday", 3), ("holidays", 9), ("hospital", 50), ("hol", 99)]

    def lookup(prefix: str, limit: int) -> list[tuple[str, int]]:
        return [(w, n) for w, n in words if w.startswith(prefix)][:limit]

    assert correction("holidya", lookup) == "holiday"
    assert correction("Holidayz", lookup) == "holidays"
    assert correction("ohliday", lookup) == "holiday"
    assert correction("hlo", lookup) == ""
    assert correction("x1234", lookup) == ""
    assert correction("入門入門入門", lookup) == ""


def test_distances_count_swaps_once_and_stop_early() -> None:
    assert distance("abc", "abc", 2) == 0
    assert distance("abc", "acb", 2) == 1
    assert distance("abcd", "abxd", 2) == 1
    assert distance("abcd", "abd", 2) == 1
    assert distance("abcdef", "uvwxyz", 2) > 2
    assert distance("a", "abcdef", 2) > 2
