"""A home with a source of web feeds as a keeper leaves it; ``rig`` gives each test a copy."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ingather.app.home import Home
from ingather.app.homeparts import database_of
from ingather.app.syndication.records import document_of, feed_row, listing_row, source_row
from ingather.app.wiring import budget_limits
from ingather.catalog.sqlite_apply import Applied
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.catalog.syndication.sqlite_syndication_rows import EventRow
from ingather.model.intent import Intent
from ingather.syndication.facts import (
    DocState,
    Due,
    FeedFacts,
    FeedState,
    ListedDates,
    Registration,
    SourceFacts,
)
from ingather.testing.rig import Rig

GOOD, GONE, NEW = "http://n.test/feed?a=1,2", "http://n.test/gone", "http://n.test/new"
T0 = 1_521_534_780.0  # 2018-03-20T08:33:00Z
HOUR = 3600.0


@pytest.fixture(scope="module")
def made() -> Iterator[Path]:
    """A home with a source of three feeds, two of which a keeper has met, and three documents."""
    with tempfile.TemporaryDirectory(prefix="ingather-rss-") as folder:
        rig = Rig(Path(folder) / "home").init()
        with (rig.path / "ingather.toml").open("a") as file:
            file.write(f'\n[source.news]\nkind = "rss"\nfeeds = ["{GOOD}", "{GONE}", "{NEW}"]\n')
        home = Home.open(rig.path)
        home.prepare()
        writer = CatalogWriter(database_of(home), budgets=budget_limits(home.settings().settings))
        try:
            writer.transaction(_filled)
        finally:
            writer.close()
        yield rig.path


def _filled(writer: CatalogWriter) -> None:
    store, applied = writer.syndication, Applied()
    source = writer.registry.put_source("news", "rss", "public")
    store.put_source(source_row(source, SourceFacts(held=0), next_s=T0 + HOUR, cycle=None))
    good, gone = (store.add_feed(source, url, store.make(url, source, applied) or 0) for url in (GOOD, GONE))
    assert good is not None
    assert gone is not None
    store.put_feed(
        feed_row(
            good,
            FeedFacts(
                good.id, url=GOOD, title="News \x1b[31mhere", kind="rss", due_s=T0 + 3 * HOUR, why="ttl of 180 min", polled_s=T0,
                good_s=T0, items=3, new=1, changed=2, rejected=1, malformed=True, overrun=True, overrun_s=T0, halvings=1,
                ttl_s=10800.0, skip_hours=(3,), skip_days=(6,), status=200,
            ),
        )
    )  # fmt: skip
    store.put_feed(
        feed_row(
            gone,
            FeedFacts(
                gone.id,
                url=GONE,
                state=FeedState.GONE,
                polled_s=T0,
                errors=1,
                error="answers 410",
                failing_s=T0,
            ),
        )
    )
    a, b, c = (store.make(f"http://n.test/{name}", source, applied) or 0 for name in "abc")
    store.put_documents(
        [
            document_of(source, Registration(a, link="http://n.test/a", state=DocState.LIVE, indexed_s=T0, checked_s=T0, known_s=T0 - HOUR,
                                             due_s=T0 + 48 * HOUR, due=Due.REFRESH, listed=1)),
            document_of(source, Registration(b, link="http://n.test/b", state=DocState.RETRY, indexed_s=T0, seen_s=T0 - HOUR, fails=2,
                                             failing_s=T0, due_s=T0 + HOUR, due=Due.RETRY, reason="HTTP 503", status=503)),
            document_of(source, Registration(c, link="http://n.test/c", intent=Intent.NEW, asked_s=T0, listed=1)),
        ]
    )  # fmt: skip
    store.put_listings(
        [
            listing_row(ListedDates(good.id, a, published="2018-03-20T08:33:00Z", waiting=("2018-03-21T08:33:00Z", "", "", ""), noticed_s=T0,
                                    first_s=T0 - HOUR, last_s=T0)),
            listing_row(ListedDates(good.id, b, listed=False, first_s=T0 - 2 * HOUR, last_s=T0 - HOUR)),
            listing_row(ListedDates(good.id, c, first_s=T0, last_s=T0)),
        ]
    )  # fmt: skip
    store.events(
        [
            EventRow(
                0,
                T0,
                source,
                gone.id,
                None,
                "active",
                "gone",
                "its server says that it is gone",
                410,
                notice=True,
            ),
            EventRow(0, T0, source, good.id, a, "pending", "live", "indexed", 200),
        ]
    )


@pytest.fixture
def rig(made: Path, tmp_path: Path) -> Rig:
    home = tmp_path / "home"
    shutil.copytree(made, home)
    return Rig(home)
