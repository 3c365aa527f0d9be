from collections.abc import Callable

from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.model.lifecycle import Outcome, State
from ingather.testing.contracts_catalog import DAY_S, HOUR_S, SqliteUnderTest, Visitor

SITE = "http://a.test"


def _do(catalog: SqliteUnderTest, now_s: float, job: Callable[[CatalogWriter], int]) -> int:
    catalog.writer.applier.now_s = now_s
    return catalog.writer.transaction(job)


def _log(catalog: SqliteUnderTest) -> list[int]:
    reader = catalog.reader()
    try:
        return [change.sequence for change in reader.changes(0, 1000)]
    finally:
        reader.close()


def _grow(visitor: Visitor, first: int, last: int) -> None:
    for number in range(first, last + 1):
        visitor.start(f"{SITE}/{number}")
        visitor.visit(f"{SITE}/{number}", f"body {number}")


def _mark(visitor: Visitor, catalog: SqliteUnderTest, *, keep_s: float = DAY_S) -> None:
    catalog.writer.transaction(lambda w: w.pruning.mark(visitor.now_s, keep_s=keep_s))


# -- the change log ---------------------------------------------------------------------------


def test_changes_go_by_age_and_only_what_the_index_has_applied(
    visitor: Visitor, catalog: SqliteUnderTest
) -> None:
    _grow(visitor, 1, 5)
    _mark(visitor, catalog)
    visitor.now_s += DAY_S
    _grow(visitor, 6, 8)
    _mark(visitor, catalog)
    before = visitor.now_s - HOUR_S
    assert _do(catalog, visitor.now_s, lambda w: w.pruning.changes(before, applied=3, limit=100)) == 3
    assert _log(catalog) == [4, 5, 6, 7, 8]
    assert _do(catalog, visitor.now_s, lambda w: w.pruning.changes(before, applied=8, limit=1)) == 1
    assert _do(catalog, visitor.now_s, lambda w: w.pruning.changes(before, applied=8, limit=100)) == 1
    assert _log(catalog) == [6, 7, 8]


def test_numbers_go_on_where_they_were_after_everything_was_pruned(
    visitor: Visitor, catalog: SqliteUnderTest
) -> None:
    _grow(visitor, 1, 4)
    _mark(visitor, catalog)
    later = visitor.now_s + DAY_S
    assert _do(catalog, later, lambda w: w.pruning.changes(later, applied=99, limit=100)) == 3
    assert _log(catalog) == [4]
    catalog.restart()
    _grow(visitor, 5, 5)
    assert _log(catalog) == [4, 5]


def test_without_a_mark_nothing_is_known_to_be_old(visitor: Visitor, catalog: SqliteUnderTest) -> None:
    _grow(visitor, 1, 3)
    later = visitor.now_s + 1000 * DAY_S
    assert _do(catalog, later, lambda w: w.pruning.changes(later, applied=3, limit=100)) == 0


def test_marks_stay_few_and_a_clock_that_was_set_back_starts_them_anew(
    visitor: Visitor, catalog: SqliteUnderTest
) -> None:
    for number in range(1, 200):
        _grow(visitor, number, number)
        _mark(visitor, catalog)
        visitor.now_s += HOUR_S
    newest = visitor.now_s
    assert _do(catalog, newest, lambda w: w.pruning.changes(newest - DAY_S, applied=10**6, limit=10**6)) > 170
    visitor.now_s -= 1000 * HOUR_S
    _mark(visitor, catalog)
    assert _do(catalog, newest, lambda w: w.pruning.changes(visitor.now_s, applied=10**6, limit=10**6)) == 0


# -- tombstones -------------------------------------------------------------------------------


def _prune_tombstones(visitor: Visitor, catalog: SqliteUnderTest) -> int:
    before = visitor.now_s
    return _do(catalog, before, lambda w: w.pruning.tombstones(before, limit=100))


def test_an_old_tombstone_goes_with_what_it_kept(visitor: Visitor, catalog: SqliteUnderTest) -> None:
    _grow(visitor, 1, 2)
    visitor.delete(f"{SITE}/1")
    assert _prune_tombstones(visitor, catalog) == 0
    visitor.now_s += DAY_S
    assert _prune_tombstones(visitor, catalog) == 1
    assert _prune_tombstones(visitor, catalog) == 0
    record = visitor.record(f"{SITE}/1")
    assert (record.state, record.described, record.digest, record.etag) == (State.DONE, False, "", "")
    reader = catalog.reader()
    assert reader.description(record.id) is None
    assert reader.tombstone(record.id) is None
    assert reader.integrity() == []
    reader.close()
    assert visitor.undelete(f"{SITE}/1") == 0
    assert visitor.shown(f"{SITE}/1", f"{SITE}/2") == [f"{SITE}/2"]


def test_a_page_that_comes_back_after_its_tombstone_was_pruned_is_described_anew(
    visitor: Visitor, catalog: SqliteUnderTest
) -> None:
    _grow(visitor, 1, 1)
    visitor.delete(f"{SITE}/1")
    visitor.now_s += DAY_S
    _prune_tombstones(visitor, catalog)
    visitor.answer(f"{SITE}/1", Outcome.NOT_FOUND, status=404)
    assert visitor.shown(f"{SITE}/1") == []
    visitor.visit(f"{SITE}/1", "body 1")
    assert visitor.shown(f"{SITE}/1") == [f"{SITE}/1"]
    reader = catalog.reader()
    assert reader.stats().sources == {"web": 1}
    reader.close()


def test_what_was_removed_by_hand_stays_removed_but_its_content_goes(
    visitor: Visitor, catalog: SqliteUnderTest
) -> None:
    _grow(visitor, 1, 1)
    visitor.remove(f"{SITE}/1", exact=True)
    visitor.now_s += DAY_S
    assert _prune_tombstones(visitor, catalog) == 1
    assert _prune_tombstones(visitor, catalog) == 0
    record = visitor.record(f"{SITE}/1")
    assert (record.state, record.described) == (State.GONE, False)
    assert visitor.start(f"{SITE}/1") is None
    assert visitor.undelete(f"{SITE}/1", exact=True) == 1
    assert visitor.shown(f"{SITE}/1") == []
    assert visitor.record(f"{SITE}/1").state is State.WAITING
    visitor.visit(f"{SITE}/1", "body 1")
    assert visitor.shown(f"{SITE}/1") == [f"{SITE}/1"]


def test_a_page_whose_description_alone_went_keeps_its_links(
    visitor: Visitor, catalog: SqliteUnderTest
) -> None:
    visitor.start(f"{SITE}/")
    visitor.visit(f"{SITE}/", "start", [f"{SITE}/x"])
    catalog.delete(visitor.id(f"{SITE}/"), "noindex", visitor.now_s, gone=False)
    visitor.now_s += DAY_S
    assert _prune_tombstones(visitor, catalog) == 1
    reader = catalog.reader()
    [(page, *_)] = list(reader.links_pass())
    assert page == visitor.id(f"{SITE}/")
    reader.close()
