from collections.abc import Callable

import pytest

from ingather.catalog.frontier.sqlite_budget import BudgetLimits
from ingather.catalog.sqlite_changes import Applied
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.model.lifecycle import State
from ingather.model.report import Discovery
from ingather.model.verdict import Exclusion
from ingather.testing.contracts_catalog import SqliteUnderTest, Visitor

SITE = "http://a.test"
Limited = Callable[[BudgetLimits], Visitor]


@pytest.mark.parametrize(
    ("limits", "paths", "refused"),
    [
        (
            BudgetLimits(per_host=2),
            ["/a", "/b", "/c", "/d"],
            [("/c", "urls-per-host"), ("/d", "urls-per-host")],
        ),
        (
            BudgetLimits(per_prefix=2),
            ["/x/y/1", "/x/y/2", "/x/y/3?q", "/x/z/1"],
            [("/x/y/3?q", "urls-per-prefix")],
        ),
        (BudgetLimits(per_prefix=2), ["/x/y", "/x/y/1", "/x/y/2"], [("/x/y/2", "urls-per-prefix")]),
        (BudgetLimits(per_path=2), ["/c?d=1", "/c?d=2", "/c?d=3", "/c"], [("/c?d=3", "urls-per-path")]),
        (BudgetLimits(per_host=0, per_prefix=0, per_path=0), [f"/a/b/c?{n}" for n in range(9)], []),
    ],
)
def test_a_budget_refuses_what_is_beyond_it_and_every_refusal_is_reported(
    limited: Limited, limits: BudgetLimits, paths: list[str], refused: list[tuple[str, str]]
) -> None:
    visitor = limited(limits)
    rows = [visitor.discover(visitor.discovery(SITE + path)) for path in paths]
    assert visitor.refused == [(SITE + path, limit) for path, limit in refused]
    assert [path for path, row in zip(paths, rows, strict=True) if row is None] == [
        path for path, _ in refused
    ]


def test_counters_survive_a_restart(limited: Limited) -> None:
    visitor = limited(BudgetLimits(per_host=2))
    visitor.start(f"{SITE}/a")
    visitor.catalog.restart()
    visitor.start(f"{SITE}/b")
    visitor.catalog.restart()
    assert visitor.start(f"{SITE}/c") is None


def test_counters_do_not_survive_a_rollback(limited: Limited) -> None:
    visitor = limited(BudgetLimits(per_host=1))
    good = visitor.discovery(f"{SITE}/a")
    bad = Discovery(key=1, origin="http://b.test", path="/", depth="deep")  # type: ignore[arg-type]
    with pytest.raises(Exception, match="TEXT value in INTEGER column"):
        visitor.catalog.discover([good, bad], None, visitor.now_s)
    assert visitor.start(f"{SITE}/b") is not None


def test_denied_urls_cost_nothing(limited: Limited) -> None:
    visitor = limited(BudgetLimits(per_host=1))
    for name in "abc":
        visitor.discover(visitor.discovery(f"{SITE}/{name}", denied=Exclusion.FILTER_RULES))
    assert visitor.start(f"{SITE}/d") is not None
    assert visitor.refused == []


def test_what_is_known_is_met_although_the_budget_is_full(limited: Limited) -> None:
    visitor = limited(BudgetLimits(per_host=1))
    visitor.discover(visitor.discovery(f"{SITE}/a", depth=3))
    visitor.discover(visitor.discovery(f"{SITE}/a", depth=1))
    assert visitor.refused == []
    assert visitor.record(f"{SITE}/a").depth == 1


def test_meeting_a_known_url_counts_nothing(limited: Limited) -> None:
    visitor = limited(BudgetLimits(per_host=2))
    for _ in range(5):
        visitor.start(f"{SITE}/a")
    assert visitor.start(f"{SITE}/b") is not None


def test_reopening_is_charged_and_may_be_refused(limited: Limited) -> None:
    visitor = limited(BudgetLimits(per_host=1))
    visitor.discover(visitor.discovery(f"{SITE}/a", depth=5, denied=Exclusion.DEPTH))
    visitor.start(f"{SITE}/b")
    visitor.discover(visitor.discovery(f"{SITE}/a", depth=1))
    assert visitor.record(f"{SITE}/a").state is State.EXCLUDED
    assert visitor.refused == [(f"{SITE}/a", "urls-per-host")]


def test_judging_anew_is_charged_and_what_is_beyond_the_budget_is_reported(limited: Limited) -> None:
    visitor = limited(BudgetLimits(per_host=1))
    for name in "ab":
        visitor.discover(visitor.discovery(f"{SITE}/{name}", denied=Exclusion.FILTER_RULES))
    applied = Applied()
    catalog = visitor.catalog
    assert isinstance(catalog, SqliteUnderTest)
    assert catalog.writer.transaction(lambda w: w.registry.rejudge_excluded(applied)) == 1
    assert applied.refused == [(f"{SITE}/b", "urls-per-host")]


def test_refusals_are_counted_for_operators(limited: Limited) -> None:
    visitor = limited(BudgetLimits(per_host=1))
    for name in "abcd":
        visitor.start(f"{SITE}/{name}")
    visitor.catalog.restart()
    visitor.start(f"{SITE}/e")
    catalog = visitor.catalog
    assert isinstance(catalog, SqliteUnderTest)
    reader = catalog.reader()
    assert reader.refusals() == [(SITE, "host", "", 1, 4)]
    reader.close()


def test_counters_beyond_the_memory_are_read_again(limited: Limited) -> None:
    visitor = limited(BudgetLimits(per_path=2, remembered=1))
    for query in ("1", "2"):
        visitor.start(f"{SITE}/c?{query}")
        visitor.start(f"http://b.test/{query}")
    assert visitor.start(f"{SITE}/c?3") is None


def test_a_source_may_have_budgets_of_its_own(
    limited: Limited, tmp_path_factory: pytest.TempPathFactory
) -> None:
    visitor = limited(BudgetLimits())
    path = tmp_path_factory.mktemp("own") / "catalog.db"
    writer = CatalogWriter(
        path, budgets=BudgetLimits(per_host=1), by_source={"big": BudgetLimits(per_host=3)}
    )
    applied = Applied()

    def work(w: CatalogWriter) -> list[int | None]:
        found = [visitor.discovery(f"http://big.test/{n}", source="big") for n in range(4)]
        found += [visitor.discovery(f"{SITE}/{n}") for n in range(2)]
        return [w.applier.discover(one, None, applied) for one in found]

    rows = writer.transaction(work)
    writer.close()
    assert [row is not None for row in rows] == [True, True, True, False, True, False]
