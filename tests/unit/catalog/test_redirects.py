from collections.abc import Callable

from ingather.catalog.feeds.sqlite_feeds import Listing
from ingather.catalog.frontier.sqlite_budget import BudgetLimits
from ingather.catalog.sqlite_changes import Applied
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.model.lifecycle import Outcome
from ingather.testing.contracts_catalog import DAY_S, HOUR_S, SqliteUnderTest, Visitor

SITE = "http://a.test"


def _redirected(visitor: Visitor, number: int) -> Applied:
    target = visitor.discovery(f"{SITE}/to/{number}", depth=0, hops=1)
    return visitor.answer(f"{SITE}/", Outcome.REDIRECTED, status=302, redirect=target)


def test_redirects_of_a_url_in_a_day_are_limited(limited: Callable[[BudgetLimits], Visitor]) -> None:
    visitor = limited(BudgetLimits(redirects_a_day=3))
    visitor.start(f"{SITE}/")
    begun = visitor.now_s
    for number in range(3):
        assert _redirected(visitor, number).refused == []
        visitor.now_s += HOUR_S
    assert _redirected(visitor, 3).refused == [(f"{SITE}/", "redirects-a-day")]
    record = visitor.record(f"{SITE}/")
    assert (record.outcome, record.detail, record.redirects_to) == (
        Outcome.REDIRECTED,
        "too many redirects in a day",
        "",
    )
    assert record.due_s is not None
    assert record.due_s >= begun + DAY_S
    assert visitor.reader.find(f"{SITE}/to/2") is not None
    assert visitor.reader.find(f"{SITE}/to/3") is None
    visitor.now_s = begun + DAY_S + 60
    assert _redirected(visitor, 4).refused == []
    assert visitor.reader.find(f"{SITE}/to/4") is not None


def test_the_limit_can_be_switched_off(limited: Callable[[BudgetLimits], Visitor]) -> None:
    visitor = limited(BudgetLimits(redirects_a_day=0))
    visitor.start(f"{SITE}/")
    for number in range(30):
        assert _redirected(visitor, number).refused == []


def test_a_url_that_redirects_once_a_day_is_never_refused(
    limited: Callable[[BudgetLimits], Visitor],
) -> None:
    visitor = limited(BudgetLimits(redirects_a_day=2))
    visitor.start(f"{SITE}/")
    for number in range(10):
        assert _redirected(visitor, number).refused == []
        visitor.now_s += DAY_S + 1


def _pushed(visitor: Visitor, catalog: SqliteUnderTest, url: str, short: str) -> int:
    row = visitor.start(url)
    assert row is not None

    def note(writer: CatalogWriter) -> None:
        writer.feeds.put_listing(row, Listing(writer.feeds.make_source("pushed"), web=True))
        writer.feeds.note_short(row, short)

    catalog.writer.transaction(note)
    return row


def test_a_redirect_to_the_cut_form_of_a_pushed_url_leads_to_that(
    visitor: Visitor, catalog: SqliteUnderTest
) -> None:
    pushed = f"{SITE}/view?utm_source=x"
    _pushed(visitor, catalog, pushed, f"{SITE}/view")
    visitor.start(f"{SITE}/old")
    target = visitor.discovery(f"{SITE}/view", depth=0, hops=1)
    visitor.answer(f"{SITE}/old", Outcome.REDIRECTED, status=302, redirect=target)
    assert visitor.record(f"{SITE}/old").redirects_to == pushed
    assert visitor.reader.find(f"{SITE}/view") is None


def test_a_pushed_url_that_redirects_to_its_own_cut_form_does_not_redirect_to_itself(
    visitor: Visitor, catalog: SqliteUnderTest
) -> None:
    pushed = f"{SITE}/view?utm_source=x"
    _pushed(visitor, catalog, pushed, f"{SITE}/view")
    target = visitor.discovery(f"{SITE}/view", depth=0, hops=1)
    visitor.answer(pushed, Outcome.REDIRECTED, status=302, redirect=target)
    assert visitor.record(pushed).redirects_to == f"{SITE}/view"
