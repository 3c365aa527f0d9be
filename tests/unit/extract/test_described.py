"""JSON-LD, Open Graph and Dublin Core values become attributes by one table."""

import json
from pathlib import Path

import pytest

from ingather.extract import read_page
from ingather.extract.described import SOURCES, described

URL = "http://h.test/a"


def page(head: str) -> dict[str, list[str]]:
    body = f"<html><head><title>T</title>{head}</head><body>text</body></html>".encode()
    metas = read_page(body, url=URL, content_type="text/html").metas
    return {name: values for name, values in metas.items() if name in SOURCES}


def linked(*data: object) -> str:
    return "".join(f'<script type="application/ld+json">{json.dumps(one)}</script>' for one in data)


ARTICLE = {
    "@type": "NewsArticle",
    "author": [{"@type": "Person", "name": "Ada"}, "Eve"],
    "datePublished": "2026-01-02T03:04:05+01:00",
    "dateModified": "2026-01-03",
    "articleSection": "Gardens",
}
FOUND = {
    "document-type": ["NewsArticle"],
    "author": ["Ada", "Eve"],
    "published": ["2026-01-02T02:04:05Z"],
    "modified": ["2026-01-03T00:00:00Z"],
    "section": ["Gardens"],
}


@pytest.mark.parametrize(
    "data",
    [
        [ARTICLE],
        [{"@context": "https://schema.org", "@graph": [{"@type": "WebSite", "author": "no"}, ARTICLE]}],
        [{"@type": "BreadcrumbList", "itemListElement": []}, [ARTICLE]],
        [
            {"@type": "Organization", "name": "x"},
            {"@type": ["NewsArticle"], **{k: v for k, v in ARTICLE.items() if k != "@type"}},
        ],
    ],
    ids=["alone", "graph", "second-block", "types"],
)
def test_json_ld_describes_the_document(data: list[object]) -> None:
    assert page(linked(*data)) == FOUND


@pytest.mark.parametrize(
    ("name", "attribute"), [(name, attribute) for attribute, (names, _) in SOURCES.items() for name in names]
)
def test_every_meta_of_the_table_gives_its_attribute(name: str, attribute: str) -> None:
    value, told = (
        ("2026-01-02", "2026-01-02T00:00:00Z")
        if attribute in {"published", "modified"}
        else ("value", "value")
    )

    assert page(f'<meta property="{name}" content="{value}">') == {attribute: [told]}


def test_the_attribute_s_own_meta_goes_first_then_the_order_of_the_table() -> None:
    head = '<meta name="author" content="Own"><meta property="og:type" content="article"><meta name="dc.type" content="text">'

    assert page(head + linked(ARTICLE)) == FOUND | {"author": ["Own"], "document-type": ["article"]}


@pytest.mark.parametrize(
    "json_ld",
    [
        "",
        "{",
        "[" * 100_000,
        '{"@type": 1, "author": {"name": 2}, "datePublished": "soon"}',
        '{"x": "' + "y" * 300_000 + '"}',
        "null",
    ],
)
def test_what_is_broken_or_says_nothing_gives_nothing(json_ld: str) -> None:
    assert described({}, [json_ld]) == {}


def test_an_address_is_no_author() -> None:
    assert described({"article:author": ["https://social.test/ada"], "dc.creator": [""]}, []) == {}


def test_the_reference_has_the_table() -> None:
    told = (Path(__file__).parents[3] / "docs/reference/rafs/describing.md").read_text(encoding="utf-8")
    for attribute, (metas, keys) in SOURCES.items():
        row = next(line for line in told.splitlines() if line.startswith(f"* `{attribute}`: "))
        assert [name for name in (*metas, *keys) if f"`{name}`" not in row] == []
