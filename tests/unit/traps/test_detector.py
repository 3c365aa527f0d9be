"""Traps are named when their addresses go on and bring nothing new, and ordinary sites are not."""

from collections.abc import Iterable, Iterator
from itertools import product

import pytest

import re2
from ingather.conf.report import Report
from ingather.conf.sites.rulesconf import parse_rules
from ingather.robot.traps.finding import Found, Seen, TrapDetector
from ingather.robot.traps.rules import Cost, candidates, rule_lines, weigh
from ingather.robot.traps.shapes import shapes_of

ORIGIN = "http://site.test"
YEAR = 2026


def page(path: str, content: object, *, visited: bool = True) -> Seen:
    """Return a URL whose content is named by *content*."""
    number = abs(hash(("content", content))) + 1
    return Seen(path, visited, number if visited else 0, visited)


def articles(count: int) -> Iterator[Seen]:
    """Yield an honest site beside whatever is tested."""
    return (page(f"/article/{number}.html", f"article {number}") for number in range(count))


def traps(rows: Iterable[Seen]) -> list[Found]:
    detector = TrapDetector(YEAR)
    detector.read(rows)
    return detector.found()


def rule(rows: list[Seen]) -> tuple[Found, Cost]:
    """Return the one trap of *rows*, and its rule."""
    (trap,) = traps(rows)
    cost = weigh(ORIGIN, candidates(ORIGIN, trap), rows, trap)
    assert cost is not None
    report = Report()
    parsed = parse_rules(rule_lines("trap-1", cost.pattern, trap.why), "filterrules.conf", report)
    assert not report.sorted()
    pattern = parsed.rules[0].matches[0].pattern
    assert pattern is not None
    assert sum(pattern.test(ORIGIN + row.path) for row in rows) == cost.excluded
    return trap, cost


# -- what is a trap ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "form",
    [
        "/events/{y:04}/{m:02}/",
        "/cal?date={y:04}-{m:02}-01",
        "/cal.php?view=month&year={y}&month={m}",
        "/cal/{y:04}-{m:02}",
    ],
)
def test_a_calendar_without_end_is_named_and_its_rule_spares_the_near_years(form: str) -> None:
    months = [(year, month) for year in range(2024, 2045) for month in range(1, 13)]
    rows = [
        *articles(50),
        *(page(form.format(y=y, m=m), f"month {y} {m}", visited=y < 2032) for y, m in months),
    ]
    trap, cost = rule(rows)
    assert trap.kind == "calendar"
    assert "after 2028" in trap.why
    assert cost.excluded == 12 * len(range(2029, 2045))
    search = re2.compile(cost.pattern).search
    assert not search(ORIGIN + form.format(y=2028, m=12))
    assert search(ORIGIN + form.format(y=2999, m=1))
    assert search(ORIGIN + form.format(y=3100, m=1))


def test_a_calendar_of_empty_months_behind_us_is_named() -> None:
    months = [(year, month) for year in range(1990, 2026) for month in range(1, 13)]
    rows = [*articles(50), *(page(f"/cal/{y}/{m:02}", "nothing on") for y, m in months)]
    trap, cost = rule(rows)
    assert (trap.kind, trap.contents) == ("calendar", 1)
    assert cost == Cost(cost.pattern, len(months), 1)


@pytest.mark.parametrize(
    ("form", "name"),
    [("/p{n}?sid={t}", "?sid={token}"), ("/p{n};jsessionid={t}", ";jsessionid={token}"), ("/(S({t}))/p{n}", "/(S({token}))/"),
     ("/p{n}?key={t}&x=1", "?key={token}")],
)  # fmt: skip
def test_session_tokens_are_named_and_what_can_be_had_without_them_is_not_lost(form: str, name: str) -> None:
    tokens = [f"a{number:07x}b{number * 7:09x}" for number in range(60)]
    rows = [page(form.format(n=at % 6, t=token), f"page {at % 6}") for at, token in enumerate(tokens)]
    rows += [page(f"/p{number}", f"page {number}") for number in range(6)]
    trap, cost = rule(rows)
    assert (trap.kind, trap.name) == ("session", name)
    assert (cost.excluded, cost.good) == (60, 0)


def test_documents_that_only_sessions_lead_to_are_counted() -> None:
    rows = [page(f"/p{at % 6}?sid=a{at:018x}", f"page {at % 6}") for at in range(60)]
    assert rule(rows)[1].good == 6


def test_combinations_of_filters_are_named() -> None:
    colors, sizes, brands, orders = "rgbwy", "sml", range(12), ("price", "name")
    rows = [*articles(20)]
    for color, size, brand, order in product(colors, sizes, brands, orders):
        rows.append(page(f"/shop?color={color}&size={size}&brand={brand}&sort={order}", f"{brand} {color}"))
        if order == "price":
            rows.append(page(f"/shop?brand={brand}&color={color}", f"{brand} {color}"))
    trap, cost = rule(rows)
    assert trap.kind == "facets"
    assert cost.good == 0
    assert cost.excluded >= 360


@pytest.mark.parametrize(
    "form", ["/list?page={n}", "/list?q=x&start={n}", "/list/page/{n}", "/list/page/{n}/"]
)
def test_pages_behind_the_last_one_are_named_and_the_list_may_grow(form: str) -> None:
    rows = [page(form.format(n=n), f"items {n}" if n <= 12 else "no items") for n in range(1, 60)]
    trap, cost = rule(rows)
    assert (trap.kind, trap.beyond) == ("paging", 13)
    search = re2.compile(cost.pattern).search
    assert [bool(search(ORIGIN + form.format(n=n))) for n in (1, 12, 26, 27, 59, 99, 1000)] == [False] * 3 + [
        True
    ] * 4
    assert cost.good == 0


@pytest.mark.parametrize("unit", ["/a/b", "/img", "/x/y/z"])
def test_folders_that_repeat_are_named(unit: str) -> None:
    rows = [
        page(unit * depth + f"/page{number}.html", f"page {number}")
        for depth in range(1, 9)
        for number in range(4)
    ]
    trap, cost = rule(rows)
    assert (trap.kind, trap.name) == ("loop", unit)
    assert cost.good == 0
    assert cost.excluded < len(rows)


# -- what is none -----------------------------------------------------------------------------------


def test_a_calendar_of_thirty_events_is_none() -> None:
    assert not traps(
        [page(f"/events/2026/{1 + n % 12:02}/{1 + n % 28:02}/", f"event {n}") for n in range(30)]
    )


def test_a_year_of_days_ahead_is_none() -> None:
    assert not traps([page(f"/events/2027-{1 + n % 12:02}-{1 + n // 12:02}", f"day {n}") for n in range(330)])


def test_an_archive_of_a_newspaper_is_none() -> None:
    days = product(range(1995, 2026), range(1, 13), range(1, 10))
    assert not traps([page(f"/{y}/{m:02}/{d:02}/news.html", f"news of {y} {m} {d}") for y, m, d in days])


def test_documents_in_versions_are_none() -> None:
    versions = [f"{major}.{minor}" for major in range(1, 6) for minor in range(12)]
    assert not traps(
        [page(f"/docs/{v}/page{n}.html", f"page {n} of {v}") for v in versions for n in range(20)]
    )
    assert not traps([page(f"/docs/{v}/page{n}.html", f"page {n}") for v in versions for n in range(20)])


def test_a_shop_with_three_orders_is_none() -> None:
    rows = [
        page(f"/shop?cat={cat}&sort={order}", f"{cat} {order}")
        for cat in range(60)
        for order in ("price", "name", "new")
    ]
    assert not traps(rows)
    assert not traps([page(row.path, row.path.partition("&")[0]) for row in rows])


def test_items_by_number_and_language_are_none() -> None:
    assert not traps(
        [page(f"/item?id={n}&lang={lang}", f"{n} {lang}") for n in range(400) for lang in ("de", "en", "fr")]
    )


def test_commits_by_hash_are_none() -> None:
    assert not traps([page(f"/commit?id={n * 7919:040x}", f"commit {n}") for n in range(1, 400)])


def test_a_list_that_shows_something_new_on_each_page_is_none() -> None:
    assert not traps([page(f"/list?page={n}", f"items {n}") for n in range(1, 400)])


def test_what_was_not_visited_yet_proves_nothing_of_contents() -> None:
    assert not traps([page(f"/p{n % 5}?sid=a{n:018x}", n, visited=False) for n in range(400)])


def test_memory_is_bounded_whatever_the_host_says() -> None:
    detector = TrapDetector(YEAR)
    detector.read(page(f"/{n}/x?page=1&b={n}", n) for n in range(30_000))
    assert len(detector._counts) <= 4_000


@pytest.mark.parametrize(
    "path",
    [
        "/" + "a/" * 3_000,
        "/?" + "&" * 500,
        "/?=&=&a",
        "/;jsessionid=",
        "/(S())/",
        "/9999/99/99",
        "/?page=٣",
        "/?year=²&month=³",
    ],
)
def test_hostile_paths_are_read(path: str) -> None:
    shapes_of(path)
