"""100,000 registered documents of one source: what is due is found by an index, however many there are."""

from typing import Any

from ingather.app.syndication.records import document_of
from ingather.catalog.syndication.sqlite_syndication_rows import FeedRow
from ingather.syndication.facts import DocState, Due, Registration
from ingather.testing.fedhome import FedHome, Said, rss

FEED, A = "https://n.test/feed.xml", "https://n.test/a"


def plan(home: FedHome, sql: str) -> str:
    """Return how a query is carried out."""
    return " | ".join(str(row[-1]) for row in home.rows(f"explain query plan {sql}"))


def test_what_is_due_is_read_from_an_index_in_order(home: FedHome) -> None:
    due = "select * from rss_document indexed by rss_document_due where source = 1 and counted = 1 and due is not null and due {} "
    for condition in ("<= 5", "> 5"):
        found = plan(home, due.format(condition) + "order by due, id limit 501")
        assert "USING INDEX rss_document_due" in found
        assert "TEMP B-TREE" not in found
    asked = "select count(*) from rss_document where source = 1 and counted = 1 and asked is not null"
    assert "rss_document_asked" in plan(home, asked)
    assert "rss_document_wanted" in plan(
        home, "select * from rss_document where source = 1 and wanted != 0 order by id"
    )
    listed = "select * from rss_listing indexed by rss_listing_now where feed = 1 and listed = 1 order by id"
    assert "TEMP B-TREE" not in plan(home, listed)


def test_a_hundred_thousand_documents_wait_and_few_are_read(home: FedHome) -> None:
    home.web |= {A: Said(body="Alpha"), FEED: Said(body=rss(A))}
    home.cycle()
    ((number, _),) = home.desk.numbers()
    later = home.now_s + 86_400

    def fill(writer: Any, _: object) -> None:
        writer.syndication.put_documents(
            document_of(number, Registration(n, state=DocState.LIVE, due=Due.CHECK, due_s=later + n))
            for n in range(1_000, 101_000)
        )

    home.job(fill)
    store = home.writer.syndication
    found = store.due_documents(number, later + 1_004, far_s=later * 2, counted=True, limit=501)
    assert [row.id for row in found] == [1_000, 1_001, 1_002, 1_003, 1_004]
    assert len(store.due_documents(number, later + 1e9, far_s=later * 3, counted=True, limit=501)) == 501
    feed = store.feeds(number)[0]
    assert isinstance(feed, FeedRow)
