"""URLs that the filters deny are kept with their reason, so many of a host and no more."""

from pathlib import Path

from ingather.catalog.frontier.sqlite_budget import BudgetLimits
from ingather.catalog.sqlite_changes import Applied
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.model.report import Denial, Discovery
from ingather.model.urlparts import key

DENIED = Denial("filter rules", "filter.conf:1", "no", 1)


def found(writer: CatalogWriter, number: int, *, host: str = "h.test", denied: bool = True) -> Discovery:
    url = f"http://{host}/{number}"
    return Discovery(
        key(url, writer.seed), f"http://{host}", f"/{number}", 1, denial=DENIED if denied else None
    )


def test_what_is_beyond_the_bound_is_counted_and_forgotten(tmp_path: Path) -> None:
    writer = CatalogWriter(tmp_path / "catalog.db", budgets=BudgetLimits(per_host_excluded=3))

    def discover(*urls: Discovery) -> list[bool]:
        return writer.transaction(
            lambda w: [w.applier.discover(url, None, Applied()) is not None for url in urls]
        )

    try:
        kept = discover(*(found(writer, n) for n in range(5)), found(writer, 9, host="other.test"))
        assert kept == [True, True, True, False, False, True]
        assert discover(found(writer, 1), found(writer, 7, denied=False)) == [True, True]
        assert discover(found(writer, 0, denied=False)) == [True]  # allowed by now: its place is free
        assert discover(found(writer, 3), found(writer, 4)) == [True, False]
        rows = writer.transaction(
            lambda w: w.registry._rows.all(
                "select h.origin, b.n, b.refused from budget b join host h on h.id = b.host where b.kind = 'excluded' order by 1"
            )
        )
        assert rows == [("http://h.test", 3, 3), ("http://other.test", 1, 0)]
    finally:
        writer.close()
