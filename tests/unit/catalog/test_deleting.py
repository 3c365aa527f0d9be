from ingather.catalog.deletion.sqlite_deletion import SourceFacts
from ingather.catalog.sqlite_changes import Applied
from ingather.model.lifecycle import Outcome, State
from ingather.testing.contracts_catalog import DAY_S, SqliteUnderTest, Visitor

SITE = "http://a.test"
GONE = "not found (404)"


def _pages(visitor: Visitor, *names: str) -> list[str]:
    urls = [f"{SITE}/{name}" for name in names]
    for url in urls:
        visitor.start(url)
        visitor.visit(url, url)
    return urls


def _facts(visitor: Visitor, catalog: SqliteUnderTest) -> SourceFacts:
    source = catalog.writer.applier.source("web")
    return catalog.writer.transaction(lambda w: w.deletions.facts(source, visitor.now_s))


def _close(catalog: SqliteUnderTest, visitor: Visitor, hold: int, *, release: bool) -> int | None:
    applied = Applied()
    count = catalog.writer.transaction(
        lambda w: w.deletions.close_hold(hold, release=release, now_s=visitor.now_s, applied=applied)
    )
    visitor._heard(applied)
    return count


def test_a_deletion_is_a_tombstone_with_its_reason(visitor: Visitor, catalog: SqliteUnderTest) -> None:
    [url] = _pages(visitor, "a")
    visitor.delete(url)
    record = visitor.record(url)
    assert (record.state, record.described) == (State.GONE, False)
    reader = catalog.reader()
    assert reader.tombstone(record.id) == (visitor.now_s, GONE)
    assert reader.shown_rows([record.id]) == {}
    reader.close()
    assert visitor.shown(url) == []


def test_a_document_that_only_lost_its_description_is_visited_as_before(visitor: Visitor) -> None:
    [url] = _pages(visitor, "a")
    due = visitor.record(url).due_s
    visitor.delete(url, "the page asks not to be indexed", gone=False)
    record = visitor.record(url)
    assert (record.state, record.described, record.due_s) == (State.DONE, False, due)
    visitor.visit(url, "back")
    assert visitor.shown(url) == [url]


def test_deleting_what_is_not_there_does_nothing(catalog: SqliteUnderTest) -> None:
    applied = Applied()
    catalog.writer.transaction(lambda w: w.deletions.delete(77, GONE, 1.0, applied, gone=True))
    assert applied.changes == []


def test_the_account_of_a_source(visitor: Visitor, catalog: SqliteUnderTest) -> None:
    urls = _pages(visitor, *"abcdefgh")
    visitor.answer(urls[0], Outcome.NOT_FOUND, status=404)
    visitor.answer(urls[1], Outcome.NOT_FOUND, status=404)
    visitor.hold(urls[1])
    visitor.delete(urls[2])
    visitor.remove(urls[3])
    visitor.hold(urls[4])
    [_, hold] = [*catalog.writer.deletions.holds(), None][:2]
    assert hold is None, "one source and reason, one hold"
    assert _facts(visitor, catalog) == SourceFacts(
        "web", "public", documents=6, deleted_24h=1, held=2, missing=1
    )
    visitor.now_s += DAY_S + 1
    assert _facts(visitor, catalog).deleted_24h == 0
    catalog.restart()
    assert _facts(visitor, catalog).documents == 6


def test_released_deletions_do_not_count_against_the_next(visitor: Visitor, catalog: SqliteUnderTest) -> None:
    [url, _] = _pages(visitor, "a", "b")
    visitor.hold(url)
    [hold] = catalog.writer.deletions.holds()
    assert _close(catalog, visitor, hold.id, release=True) == 1
    assert _facts(visitor, catalog).deleted_24h == 0


def test_the_account_is_read_from_indexes(catalog: SqliteUnderTest) -> None:
    for sql in (
        "select count(*) from url indexed by url_missing where source = 1 and missing is not null and version is not null and held is null",
        "select count(*) from tombstone indexed by tombstone_day where source = 1 and at > 0 and decided = 0",
    ):
        plan = catalog.writer._db.execute(f"explain query plan {sql}").fetchall()
        assert all("COVERING INDEX" in str(step) for step in plan)


# -- holds ------------------------------------------------------------------------------------


def test_held_deletions_are_listed_with_a_sample(visitor: Visitor, catalog: SqliteUnderTest) -> None:
    urls = _pages(visitor, *"abcdefg")
    for url in urls:
        visitor.hold(url)
    [hold] = catalog.writer.deletions.holds()
    assert (hold.source, hold.reason, hold.opened_s, hold.urls) == ("web", GONE, visitor.now_s, 7)
    assert hold.sample == tuple(urls[:5])
    assert visitor.shown(*urls) == urls
    reader = catalog.reader()
    assert reader.held(visitor.id(urls[0])) == GONE
    reader.close()


def test_a_released_hold_is_carried_out(visitor: Visitor, catalog: SqliteUnderTest) -> None:
    a, b = _pages(visitor, "a", "b")
    visitor.hold(a)
    visitor.hold(b, "robots.txt forbids it now")
    first, second = catalog.writer.deletions.holds()
    assert _close(catalog, visitor, first.id, release=True) == 1
    assert _close(catalog, visitor, second.id, release=True) == 1
    assert (visitor.record(a).state, visitor.record(b).state) == (State.GONE, State.DONE)
    assert visitor.shown(a, b) == []
    assert catalog.writer.deletions.holds() == []


def test_a_discarded_hold_leaves_documents_as_they_are_and_asks_for_two_looks_again(
    visitor: Visitor, catalog: SqliteUnderTest
) -> None:
    [url] = _pages(visitor, "a")
    visitor.answer(url, Outcome.NOT_FOUND, status=404)
    visitor.hold(url, hidden=True)
    [hold] = catalog.writer.deletions.holds()
    assert _close(catalog, visitor, hold.id, release=False) == 1
    assert visitor.shown(url) == [url]
    assert visitor.claim(url).missing_s is None


def test_a_hold_can_be_closed_once(visitor: Visitor, catalog: SqliteUnderTest) -> None:
    [url] = _pages(visitor, "a")
    visitor.hold(url)
    [hold] = catalog.writer.deletions.holds()
    assert _close(catalog, visitor, hold.id, release=False) == 1
    assert _close(catalog, visitor, hold.id, release=True) is None
    assert _close(catalog, visitor, 99, release=True) is None
    visitor.hold(url)
    assert [h.id for h in catalog.writer.deletions.holds()] != [hold.id]


def test_what_is_held_is_hidden_as_the_sources_access_says_unless_told_otherwise(
    visitor: Visitor, catalog: SqliteUnderTest
) -> None:
    visitor.start("http://safe.test/", source="vault")
    visitor.visit("http://safe.test/", "x")
    [url] = _pages(visitor, "a")
    ids = [visitor.id("http://safe.test/"), visitor.id(url)]

    def work() -> None:
        for url_id, source in zip(ids, ("vault", "web"), strict=True):
            catalog.writer.transaction(
                lambda w, i=url_id, s=source: w.deletions.hold(i, w.applier.source(s), GONE, 1.0)  # type: ignore[misc]
            )

    work()
    reader = catalog.reader()
    assert reader.hidden_holds(ids) == {ids[0]}
    assert set(reader.shown_rows(ids)) == {ids[1]}
    assert list(reader.shown()) == [ids[1]]
    reader.close()


def test_withdrawing_ends_an_empty_hold(visitor: Visitor, catalog: SqliteUnderTest) -> None:
    a, b = _pages(visitor, "a", "b")
    visitor.hold(a)
    visitor.hold(b)
    applied = Applied()
    catalog.writer.transaction(lambda w: w.deletions.withdraw([visitor.id(a), 999], 5.0, applied))
    assert [hold.urls for hold in catalog.writer.deletions.holds()] == [1]
    visitor.visit(b, "back")
    assert catalog.writer.deletions.holds() == []


# -- by hand ----------------------------------------------------------------------------------


def test_removing_a_url_counts_documents_and_takes_nothing_else(visitor: Visitor) -> None:
    a, ab = _pages(visitor, "a", "ab")
    assert visitor.remove(a) == 1
    assert visitor.shown(a, ab) == [ab]
    assert visitor.remove(a) == 0


def test_removing_a_prefix_takes_everything_below(visitor: Visitor) -> None:
    inside = _pages(visitor, "x/1", "x/2?q=1")
    outside = _pages(visitor, "xy", "y/x/1")
    visitor.discover(visitor.discovery(f"{SITE}/x/3"))
    assert visitor.remove(f"{SITE}/x/", exact=False) == 2
    assert visitor.shown(*inside, *outside) == outside
    assert visitor.record(f"{SITE}/x/3").state is State.GONE


def test_a_url_that_is_not_known_yet_can_be_removed(visitor: Visitor, catalog: SqliteUnderTest) -> None:
    assert visitor.remove(f"{SITE}/secret") == 0
    catalog.restart()
    visitor.start(f"{SITE}/")
    visitor.visit(f"{SITE}/", "s", [f"{SITE}/secret", f"{SITE}/secrets"])
    assert visitor.reader.find(f"{SITE}/secret") is None
    assert visitor.reader.find(f"{SITE}/secrets") is not None
    assert visitor.undelete(f"{SITE}/secret") == 0
    assert visitor.discover(visitor.discovery(f"{SITE}/secret", depth=1)) is not None


def test_undeleting_shows_what_is_kept_and_has_it_visited(visitor: Visitor, catalog: SqliteUnderTest) -> None:
    [url] = _pages(visitor, "a")
    visitor.remove(url)
    waiting = visitor.waiting
    assert visitor.undelete(url) == 1
    record = visitor.record(url)
    assert (record.state, record.described, record.config_version) == (State.WAITING, True, 1)
    assert visitor.waiting == waiting + 1
    reader = catalog.reader()
    description = reader.description(record.id)
    reader.close()
    assert description is not None
    assert description.effective()["title"] == (f"Title of {url}",)


def test_undeleting_part_of_a_removed_prefix_brings_back_that_part(visitor: Visitor) -> None:
    a, b = _pages(visitor, "x/a", "x/b")
    visitor.remove(f"{SITE}/x/", exact=False)
    assert visitor.undelete(a) == 1
    visitor.visit(a, "new")
    assert visitor.shown(a, b) == [a]
    assert visitor.start(f"{SITE}/x/c") is None


def test_undeleting_above_what_was_removed_allows_it_again(visitor: Visitor) -> None:
    _pages(visitor, "x/a")
    visitor.remove(f"{SITE}/x/", exact=False)
    visitor.remove(f"{SITE}/y")
    assert visitor.undelete(f"{SITE}/", exact=False) == 1
    assert visitor.start(f"{SITE}/x/c") is not None
    assert visitor.start(f"{SITE}/y") is not None


def test_removing_twice_remembers_what_there_was(visitor: Visitor) -> None:
    [url] = _pages(visitor, "a")
    visitor.delete(url)
    visitor.remove(url)
    assert visitor.undelete(url) == 1
    assert visitor.shown(url) == [url]


def test_what_was_never_there_cannot_be_removed_or_undeleted(visitor: Visitor) -> None:
    assert visitor.remove("http://unknown.test/", exact=False) == 0
    assert visitor.undelete("http://unknown.test/", exact=False) == 0
