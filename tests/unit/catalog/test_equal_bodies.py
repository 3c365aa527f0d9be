from ingather.catalog.sqlite_changes import Applied
from ingather.model.change import ChangeKind
from ingather.model.lifecycle import Outcome
from ingather.testing.contracts_catalog import SqliteUnderTest, Visitor

A, B, C = (f"http://a.test/{name}" for name in "abc")
SAFE = "http://safe.test/"


def _copies(visitor: Visitor, *urls: str, body: str = "same") -> None:
    for url in urls:
        visitor.start(url)
        visitor.visit(url, body)


def test_depth_comes_before_the_url(visitor: Visitor) -> None:
    visitor.discover(visitor.discovery(A, depth=2))
    visitor.discover(visitor.discovery(B, depth=1))
    visitor.visit(A, "same")
    visitor.visit(B, "same")
    assert visitor.shown(A, B) == [B]
    assert visitor.record(A).outcome is Outcome.DUPLICATE


def test_a_shorter_path_settles_the_group_anew(visitor: Visitor) -> None:
    visitor.discover(visitor.discovery(A, depth=2))
    visitor.discover(visitor.discovery(B, depth=1))
    visitor.visit(A, "same")
    visitor.visit(B, "same")
    visitor.discover(visitor.discovery(A, depth=0))
    assert visitor.shown(A, B) == [A]
    assert (visitor.record(A).outcome, visitor.record(B).outcome) == (Outcome.INDEXED, Outcome.DUPLICATE)
    assert visitor.record(B).duplicate_of == A


def test_a_page_is_never_a_duplicate_of_itself(visitor: Visitor) -> None:
    _copies(visitor, A)
    for _ in range(3):
        visitor.visit(A, "same")
    assert visitor.record(A).duplicate_of == ""
    assert visitor.shown(A) == [A]


def test_a_head_that_changes_promotes_the_next(visitor: Visitor) -> None:
    _copies(visitor, A, B, C)
    visitor.visit(A, "other")
    assert visitor.shown(A, B, C) == [A, B]
    assert visitor.record(C).duplicate_of == B


def test_a_duplicate_that_changes_is_shown(visitor: Visitor) -> None:
    _copies(visitor, A, B)
    visitor.visit(B, "other")
    assert visitor.shown(A, B) == [A, B]
    assert visitor.record(B).outcome is Outcome.INDEXED


def test_a_duplicate_that_is_unchanged_stays_one_and_says_so(visitor: Visitor) -> None:
    _copies(visitor, A, B)
    visitor.answer(B, Outcome.UNCHANGED, status=304)
    record = visitor.record(B)
    assert (record.outcome, record.duplicate_of) == (Outcome.DUPLICATE, A)
    assert visitor.shown(A, B) == [A]


def test_without_the_filter_equal_bodies_stand_side_by_side(visitor: Visitor) -> None:
    for url in (A, B):
        visitor.start(url)
        visitor.visit(url, "same", dedupe=False)
    assert visitor.shown(A, B) == [A, B]


def test_a_filter_that_was_switched_off_lets_groups_dissolve(visitor: Visitor) -> None:
    _copies(visitor, A, B)
    visitor.visit(A, "same", dedupe=False)
    assert visitor.shown(A, B) == [A, B]
    visitor.visit(B, "same", dedupe=False)
    assert visitor.record(B).duplicate_of == ""


def test_an_overtaken_head_leaves_the_index_in_the_same_batch(visitor: Visitor) -> None:
    visitor.start(B)
    visitor.visit(B, "same")
    visitor.start(A)
    applied = visitor.visit(A, "same")
    assert [(url_id, kind) for _, url_id, kind, _ in applied.changes] == [
        (visitor.id(B), ChangeKind.REMOVE),
        (visitor.id(A), ChangeKind.PUT),
    ]


def test_a_first_visit_that_finds_a_duplicate_tells_the_index_nothing(visitor: Visitor) -> None:
    _copies(visitor, A)
    visitor.start(B)
    assert visitor.visit(B, "same").changes == []


def test_one_settles_in_a_group_of_hundreds_at_the_price_of_one(
    visitor: Visitor, catalog: SqliteUnderTest
) -> None:
    urls = [f"http://a.test/{n:03}" for n in range(300)]
    _copies(visitor, *reversed(urls[1:]))
    steps = 0

    def count() -> bool:
        nonlocal steps
        steps += 1
        return False

    visitor.start(urls[0])
    row = visitor.claim(urls[0])
    report = visitor.report(row, urls[0], "same")
    catalog.writer._db.set_progress_handler(count, 100)
    visitor.settle(report, row)
    catalog.writer._db.set_progress_handler(None)
    assert steps < 30
    assert visitor.shown(*urls) == [urls[0]]


def test_a_held_head_that_is_hidden_lets_the_next_be_shown_until_it_is_discarded(
    visitor: Visitor, catalog: SqliteUnderTest
) -> None:
    _copies(visitor, A, B)
    visitor.hold(A, hidden=True)
    assert visitor.shown(A, B) == [B]
    [hold] = catalog.writer.deletions.holds()
    applied = Applied()
    catalog.writer.transaction(
        lambda w: w.deletions.close_hold(hold.id, release=False, now_s=0.0, applied=applied)
    )
    visitor._heard(applied)
    assert visitor.shown(A, B) == [A]
    assert visitor.record(B).duplicate_of == A


def test_a_held_head_that_stays_shown_stays_the_head(visitor: Visitor) -> None:
    _copies(visitor, A, B)
    visitor.hold(A, hidden=False)
    assert visitor.shown(A, B) == [A]


def test_copies_in_one_secure_source_hide_behind_each_other_but_not_across_sources(
    visitor: Visitor, catalog: SqliteUnderTest
) -> None:
    catalog.put_source("cellar", "secure")
    for url, source in ((f"{SAFE}1", "vault"), (f"{SAFE}2", "vault"), ("http://deep.test/", "cellar")):
        visitor.start(url, source=source)
        visitor.visit(url, "same")
    assert visitor.record(f"{SAFE}2").duplicate_of == f"{SAFE}1"
    assert visitor.record("http://deep.test/").duplicate_of == ""


def test_a_source_that_becomes_secure_frees_the_public_copies_and_tells_the_index_of_all(
    visitor: Visitor, catalog: SqliteUnderTest
) -> None:
    _copies(visitor, A)
    visitor.start(SAFE, source="shop")
    catalog.put_source("shop", "public")
    visitor.visit(SAFE, "same")
    assert visitor.record(SAFE).duplicate_of == A
    sequence = catalog.writer.applier.sequence
    catalog.put_source("web", "secure")
    reader = catalog.reader()
    told = {change.url_id: change.kind for change in reader.changes(sequence, 100)}
    assert told == {visitor.id(A): ChangeKind.PUT, visitor.id(SAFE): ChangeKind.PUT}
    assert reader.shown_rows([visitor.id(A)])[visitor.id(A)].chain == 0
    assert reader.access(visitor.id(SAFE)) == "public"
    reader.close()
    assert visitor.record(SAFE).duplicate_of == ""


def test_what_the_settings_repeat_changes_nothing(visitor: Visitor, catalog: SqliteUnderTest) -> None:
    _copies(visitor, A)
    sequence = catalog.writer.applier.sequence
    catalog.put_source("web", "public")
    assert catalog.writer.applier.sequence == sequence


def test_a_source_that_nobody_declared_is_shown_to_nobody(visitor: Visitor, catalog: SqliteUnderTest) -> None:
    visitor.start(SAFE, source="mystery")
    reader = catalog.reader()
    assert reader.access(visitor.id(SAFE)) == "secure"
    assert reader.access(999) == "secure"
    reader.close()


def test_a_public_url_that_now_belongs_to_a_secure_source_moves_there_and_never_back(
    visitor: Visitor, catalog: SqliteUnderTest
) -> None:
    _copies(visitor, A, B)
    visitor.discover(visitor.discovery(A, source="vault"))
    assert visitor.record(A).source == "vault"
    assert visitor.shown(B) == [B]
    reader = catalog.reader()
    assert reader.shown_rows([visitor.id(A)])[visitor.id(A)].chain == 0
    assert reader.stats().sources == {"vault": 1, "web": 1}
    reader.close()
    visitor.discover(visitor.discovery(A, source="web"))
    assert visitor.record(A).source == "vault"
