import pytest

from ingather.catalog.sqlite_changes import Applied
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.model.lifecycle import Outcome, State
from ingather.model.report import Discovery
from ingather.model.verdict import Exclusion
from ingather.testing.contracts_catalog import SqliteUnderTest, Visitor

SITE = "http://a.test"


def test_a_new_url_waits_and_its_host_gets_work(visitor: Visitor) -> None:
    row = visitor.start(f"{SITE}/")
    assert row is not None
    assert visitor.waiting == 1
    record = visitor.record(f"{SITE}/")
    assert (record.state, record.depth, record.source, record.referrer) == (State.WAITING, 0, "web", "")


def test_a_denied_url_is_kept_with_its_verdict_and_does_not_wait(visitor: Visitor) -> None:
    visitor.discover(visitor.discovery(f"{SITE}/x", depth=1, denied=Exclusion.FILTER_RULES))
    record = visitor.record(f"{SITE}/x")
    assert (record.state, record.outcome) == (State.EXCLUDED, Outcome.EXCLUDED)
    assert (record.where, record.detail, record.config_version) == ("filter.conf:3", "no: filter rules", 1)
    assert visitor.waiting == 0


def test_a_url_that_is_met_again_is_neither_new_nor_woken(visitor: Visitor) -> None:
    first = visitor.start(f"{SITE}/")
    again = visitor.discover(visitor.discovery(f"{SITE}/", depth=3))
    assert first == again
    assert visitor.waiting == 1
    assert visitor.record(f"{SITE}/").depth == 0


def test_an_excluded_url_that_is_no_longer_denied_waits(visitor: Visitor) -> None:
    visitor.discover(visitor.discovery(f"{SITE}/x", depth=1, denied=Exclusion.FILTER_RULES))
    visitor.discover(visitor.discovery(f"{SITE}/x", depth=2))
    record = visitor.record(f"{SITE}/x")
    assert (record.state, record.outcome, record.where, record.depth) == (State.WAITING, None, "", 1)


def test_a_nearer_denial_is_the_one_that_is_told(visitor: Visitor) -> None:
    visitor.discover(visitor.discovery(f"{SITE}/x", depth=9, denied=Exclusion.DEPTH))
    visitor.discover(visitor.discovery(f"{SITE}/x", depth=2, denied=Exclusion.FILTER_RULES))
    assert visitor.record(f"{SITE}/x").detail == "no: filter rules"


def test_two_urls_with_one_key_are_told_apart_and_the_second_is_noted(
    visitor: Visitor, catalog: SqliteUnderTest
) -> None:
    visitor.start(f"{SITE}/")
    twin = visitor.discovery("http://b.test/other")
    twin.key = visitor.discovery(f"{SITE}/").key
    assert visitor.discover(twin) is None
    reader = catalog.reader()
    [(at_s, kind, subject, _)] = reader.events()
    reader.close()
    assert (at_s, kind, subject) == (visitor.now_s, "key-collision", "http://b.test/other")


def test_a_link_to_itself_and_loops_do_no_harm(visitor: Visitor) -> None:
    visitor.start(f"{SITE}/", max_depth=5)
    visitor.visit(f"{SITE}/", "s", [f"{SITE}/", f"{SITE}/a"])
    visitor.visit(f"{SITE}/a", "a", [f"{SITE}/", f"{SITE}/a"])
    assert [visitor.record(f"{SITE}/{name}").depth for name in ("", "a")] == [0, 1]


# -- depth ------------------------------------------------------------------------------------


def _chain(visitor: Visitor, length: int, *, max_depth: int | None = None) -> list[str]:
    """Crawl a long path: S > p1 > p2 > ...; what lies beyond *max_depth* is denied."""
    pages = [f"{SITE}/", *(f"{SITE}/p{n}" for n in range(1, length))]
    visitor.start(pages[0], max_depth=max_depth)
    for depth, page in enumerate(pages):
        if max_depth is not None and depth > max_depth:
            break
        links: list[Discovery] = []
        if depth + 1 < len(pages):
            too_deep = max_depth is not None and depth + 1 > max_depth
            links = [
                visitor.discovery(
                    pages[depth + 1],
                    depth=depth + 1,
                    max_depth=max_depth,
                    denied=Exclusion.DEPTH if too_deep else "",
                )
            ]
        visitor.visit(page, page, links)
    return pages


def test_a_shorter_path_is_carried_down_every_link_that_is_kept(visitor: Visitor) -> None:
    pages = _chain(visitor, 8)
    visitor.discover(visitor.discovery(pages[5], depth=1), parent=pages[0])
    assert [visitor.record(page).depth for page in pages] == [0, 1, 2, 3, 4, 1, 2, 3]
    assert visitor.record(pages[5]).referrer == pages[0]
    assert visitor.record(pages[6]).referrer == pages[5]


def test_what_only_depth_excluded_waits_when_it_comes_into_reach(visitor: Visitor) -> None:
    pages = _chain(visitor, 5, max_depth=3)
    assert visitor.record(pages[4]).state is State.EXCLUDED
    before = visitor.waiting
    visitor.discover(visitor.discovery(pages[3], depth=1, max_depth=3), parent=pages[0])
    assert visitor.record(pages[4]).state is State.WAITING
    assert visitor.record(pages[4]).depth == 2
    assert visitor.waiting == before + 1


def test_what_is_still_out_of_reach_stays_excluded(visitor: Visitor) -> None:
    pages = _chain(visitor, 6, max_depth=4)
    visitor.discover(visitor.discovery(pages[4], depth=3, max_depth=2), parent=pages[0])
    assert visitor.record(pages[5]).depth == 4
    visitor.discover(visitor.discovery(f"{SITE}/q", depth=1, max_depth=0, denied=Exclusion.DEPTH))
    assert visitor.record(f"{SITE}/q").state is State.EXCLUDED


def test_what_a_rule_excluded_stays_excluded_whatever_its_depth(visitor: Visitor) -> None:
    visitor.start(f"{SITE}/")
    visitor.visit(f"{SITE}/", "s", [f"{SITE}/a"])
    visitor.visit(f"{SITE}/a", "a", [visitor.discovery(f"{SITE}/b", depth=2)])
    visitor.visit(f"{SITE}/b", "b", [visitor.discovery(f"{SITE}/c", depth=3, denied=Exclusion.FILTER_RULES)])
    visitor.discover(visitor.discovery(f"{SITE}/b", depth=1))
    assert (visitor.record(f"{SITE}/c").depth, visitor.record(f"{SITE}/c").state) == (2, State.EXCLUDED)


def test_a_redirect_hands_its_depth_on(visitor: Visitor) -> None:
    visitor.start(f"{SITE}/")
    visitor.discover(visitor.discovery(f"{SITE}/old", depth=4))
    target = visitor.discovery(f"{SITE}/new", depth=4, hops=1)
    visitor.answer(f"{SITE}/old", Outcome.REDIRECTED, status=301, redirect=target)
    assert visitor.record(f"{SITE}/old").redirects_to == f"{SITE}/new"
    visitor.visit(f"{SITE}/new", "n", [f"{SITE}/below"])
    visitor.discover(visitor.discovery(f"{SITE}/old", depth=1), parent=f"{SITE}/")
    assert [visitor.record(f"{SITE}/{name}").depth for name in ("new", "below")] == [1, 2]


def test_a_shorter_path_that_is_found_during_a_visit_counts_for_its_links(visitor: Visitor) -> None:
    visitor.start(f"{SITE}/")
    visitor.discover(visitor.discovery(f"{SITE}/a", depth=3, max_depth=3))
    row = visitor.claim(f"{SITE}/a")
    report = visitor.report(
        row, f"{SITE}/a", "a", [visitor.discovery(f"{SITE}/b", depth=4, max_depth=3, denied=Exclusion.DEPTH)]
    )
    visitor.discover(visitor.discovery(f"{SITE}/a", depth=1, max_depth=3), parent=f"{SITE}/")
    visitor.settle(report, row)
    assert (visitor.record(f"{SITE}/b").depth, visitor.record(f"{SITE}/b").state) == (2, State.WAITING)


def test_the_most_generous_limit_of_all_paths_counts(visitor: Visitor) -> None:
    visitor.start(f"{SITE}/", max_depth=1)
    visitor.start("http://far.test/", max_depth=9)
    visitor.visit(f"{SITE}/", "s", [f"{SITE}/a"])
    visitor.visit(
        f"{SITE}/a", "a", [visitor.discovery(f"{SITE}/b", depth=2, max_depth=1, denied=Exclusion.DEPTH)]
    )
    assert visitor.record(f"{SITE}/b").state is State.EXCLUDED
    visitor.discover(visitor.discovery(f"{SITE}/a", depth=4, max_depth=9), parent="http://far.test/")
    assert (visitor.record(f"{SITE}/a").depth, visitor.record(f"{SITE}/a").referrer) == (1, f"{SITE}/")
    assert (visitor.record(f"{SITE}/b").depth, visitor.record(f"{SITE}/b").state) == (2, State.WAITING)
    row = visitor.claim(f"{SITE}/b")
    assert row.max_depth is not None
    assert row.max_depth - row.depth == 9 - 5


@pytest.mark.parametrize(
    ("first", "second", "depth", "limit"),
    [
        ((2, 5), (3, 9), 2, 8),
        ((3, 9), (2, 5), 2, 8),
        ((2, None), (1, None), 1, None),
        ((2, 4), (1, None), 1, None),
        ((1, None), (2, 4), 1, None),
        ((2, 4), (5, -1), 2, -1),
        ((5, -1), (2, 4), 2, -1),
        ((2, 4), (2, 4), 2, 4),
    ],
)
def test_two_paths_join(
    visitor: Visitor,
    first: tuple[int, int | None],
    second: tuple[int, int | None],
    depth: int,
    limit: int | None,
) -> None:
    for at, most in (first, second):
        visitor.discover(visitor.discovery(f"{SITE}/x", depth=at, max_depth=most))
    row = visitor.claim(f"{SITE}/x")
    assert (row.depth, row.max_depth) == (depth, limit)


def test_a_direct_link_forgets_the_redirects_of_another_way(visitor: Visitor) -> None:
    visitor.discover(visitor.discovery(f"{SITE}/x", depth=1, hops=5))
    visitor.discover(visitor.discovery(f"{SITE}/x", depth=2))
    row = visitor.claim(f"{SITE}/x")
    assert (row.hops, row.depth) == (0, 1)


# -- cascades in pieces -----------------------------------------------------------------------


def _carry_on(catalog: SqliteUnderTest, applied: Applied | None = None) -> bool:
    return catalog.writer.transaction(
        lambda w: w.applier.discoveries.carry_on(Applied() if applied is None else applied)
    )


def _bound(catalog: SqliteUnderTest, links: int) -> None:
    catalog.writer.applier.discoveries.carry_links = links


def test_a_large_cascade_takes_several_transactions_and_ends_as_one_would(
    visitor: Visitor, catalog: SqliteUnderTest
) -> None:
    pages = _chain(visitor, 30, max_depth=28)
    assert visitor.record(pages[29]).state is State.EXCLUDED
    _bound(catalog, 10)
    visitor.discover(visitor.discovery(pages[5], depth=1, max_depth=28), parent=pages[0])
    assert visitor.record(pages[7]).depth == 3
    assert visitor.record(pages[28]).depth == 28, "the rest was put off"
    pieces = 0
    while True:
        applied = Applied()
        more = _carry_on(catalog, applied)
        pieces += 1
        assert applied.carried <= 12
        if not more:
            break
    assert pieces > 3
    assert [visitor.record(page).depth for page in pages] == [*range(5), *range(1, 26)]
    assert visitor.record(pages[29]).state is State.WAITING


def test_a_cascade_that_was_cut_off_goes_on_after_a_restart(
    visitor: Visitor, catalog: SqliteUnderTest
) -> None:
    pages = _chain(visitor, 20)
    _bound(catalog, 4)
    visitor.discover(visitor.discovery(pages[5], depth=1), parent=pages[0])
    for _ in range(20):  # each process dies after its first piece
        if not _carry_on(catalog):
            break
        catalog.restart()
        _bound(catalog, 4)
    assert [visitor.record(page).depth for page in pages] == [*range(5), *range(1, 16)]
    assert not _carry_on(catalog)


def test_a_piece_that_is_rolled_back_is_done_again(visitor: Visitor, catalog: SqliteUnderTest) -> None:
    pages = _chain(visitor, 20)
    _bound(catalog, 4)
    visitor.discover(visitor.discovery(pages[5], depth=1), parent=pages[0])

    def broken(w: CatalogWriter) -> None:
        w.applier.discoveries.carry_links = 1000
        w.applier.discoveries.carry_on(Applied())
        raise ArithmeticError

    with pytest.raises(ArithmeticError):
        catalog.writer.transaction(broken)
    assert visitor.record(pages[19]).depth == 19
    assert not _carry_on(catalog)
    assert visitor.record(pages[19]).depth == 15


def test_a_nearer_path_that_comes_while_another_waits_counts(
    visitor: Visitor, catalog: SqliteUnderTest
) -> None:
    pages = _chain(visitor, 20)
    _bound(catalog, 3)
    visitor.discover(visitor.discovery(pages[10], depth=4), parent=pages[3])
    visitor.discover(visitor.discovery(pages[5], depth=1), parent=pages[0])
    while _carry_on(catalog):
        pass
    assert [visitor.record(page).depth for page in pages[:12]] == [0, 1, 2, 3, 4, 1, 2, 3, 4, 5, 4, 5]
    assert visitor.record(pages[19]).depth == 13


# -- tombstones, runs -------------------------------------------------------------------------


def test_a_tombstone_is_looked_at_again_when_it_is_linked_a_day_later(visitor: Visitor) -> None:
    visitor.start(f"{SITE}/x")
    visitor.visit(f"{SITE}/x", "x")
    visitor.delete(f"{SITE}/x")
    visitor.start(f"{SITE}/")
    visitor.now_s += 3600
    visitor.discover(visitor.discovery(f"{SITE}/x", depth=1), parent=f"{SITE}/")
    assert visitor.record(f"{SITE}/x").state is State.GONE
    visitor.now_s += 86_400
    visitor.discover(visitor.discovery(f"{SITE}/x", depth=1), parent=f"{SITE}/")
    assert visitor.record(f"{SITE}/x").state is State.WAITING
    visitor.answer(f"{SITE}/x", Outcome.NOT_FOUND, status=404)
    assert visitor.record(f"{SITE}/x").state is State.GONE
    visitor.discover(visitor.discovery(f"{SITE}/x", depth=1), parent=f"{SITE}/")
    assert visitor.record(f"{SITE}/x").state is State.GONE, (
        "each page that links to it would have it visited once more"
    )


def test_a_starting_point_is_looked_at_although_it_was_gone(visitor: Visitor) -> None:
    visitor.start(f"{SITE}/")
    visitor.visit(f"{SITE}/", "s")
    visitor.delete(f"{SITE}/")
    visitor.start(f"{SITE}/")
    assert visitor.record(f"{SITE}/").state is State.WAITING


def test_a_starting_point_that_was_removed_by_hand_is_refused_and_said_so(visitor: Visitor) -> None:
    visitor.remove(f"{SITE}/", exact=False)
    assert visitor.start(f"{SITE}/x") is None
    assert visitor.refused == [(f"{SITE}/x", "removed")]


def test_a_new_run_visits_everything_again_but_what_is_gone(
    visitor: Visitor, catalog: SqliteUnderTest
) -> None:
    for name in "abc":
        visitor.start(f"{SITE}/{name}")
        visitor.visit(f"{SITE}/{name}", name)
    visitor.start("http://b.test/")
    visitor.visit("http://b.test/", "other host")
    visitor.delete(f"{SITE}/b")
    visitor.remove(f"{SITE}/c")

    def revisit(origins: list[str] | None) -> tuple[int, dict[int, int]]:
        catalog.writer.applier.now_s = visitor.now_s
        applied = Applied()
        return catalog.writer.transaction(lambda w: w.registry.revisit(origins, applied)), applied.waiting

    count, woken = revisit([SITE])
    assert count == sum(woken.values()) == 1
    assert visitor.record(f"{SITE}/a").state is State.WAITING
    assert visitor.record("http://b.test/").state is State.DONE
    visitor.now_s += 31 * 86_400
    assert revisit(None)[0] == 2
    assert visitor.record(f"{SITE}/b").state is State.WAITING, "its own time has come"
    assert visitor.record(f"{SITE}/c").state is State.GONE


def test_due_urls_are_promoted_oldest_first_and_within_the_limit(
    visitor: Visitor, catalog: SqliteUnderTest
) -> None:
    for name in "abc":
        visitor.start(f"{SITE}/{name}")
        visitor.visit(f"{SITE}/{name}", name)
        visitor.now_s += 60
    due = visitor.record(f"{SITE}/b").due_s
    assert due is not None
    assert catalog.writer.transaction(lambda w: w.registry.promote_due(due, 10)) == {1: 2}
    assert [visitor.record(f"{SITE}/{name}").state for name in "abc"] == [
        State.WAITING,
        State.WAITING,
        State.DONE,
    ]
    assert catalog.writer.transaction(lambda w: w.registry.promote_due(due + 1e9, 0)) == {}


def test_after_a_change_of_configuration_the_excluded_are_judged_anew(
    visitor: Visitor, catalog: SqliteUnderTest
) -> None:
    for name in "ab":
        visitor.discover(visitor.discovery(f"{SITE}/{name}", depth=1, denied=Exclusion.FILTER_RULES))
    applied = Applied()
    assert catalog.writer.transaction(lambda w: w.registry.rejudge_excluded(applied)) == 2
    assert applied.waiting == {1: 2}
    assert visitor.record(f"{SITE}/a").state is State.WAITING


def test_the_frontier_gives_urls_by_priority_and_discovery_and_goes_on_behind_its_cursor(
    visitor: Visitor, catalog: SqliteUnderTest
) -> None:
    for name in "cab":
        visitor.discover(visitor.discovery(f"{SITE}/{name}"))
    visitor.start(f"{SITE}/start")
    queries = catalog.writer.frontier
    assert queries.waiting_hosts() == {1: 4}
    first = queries.refill(1, (-1, 0), 2)
    assert [row.path for _, row in first] == ["/start", "/c"]
    priority, row = first[-1]
    assert [row.path for _, row in queries.refill(1, (priority, row.id), 9)] == ["/a", "/b"]
    assert queries.names([1]) == {1: (SITE, "a.test")}
    assert queries.sources()[row.source] == "web"


def test_a_page_without_a_description_is_asked_for_whole(visitor: Visitor) -> None:
    visitor.start(f"{SITE}/")
    visitor.visit(f"{SITE}/", "one")
    assert visitor.claim(f"{SITE}/").etag == '"one"'
    visitor.delete(f"{SITE}/", "the page asks not to be indexed", gone=False)
    assert visitor.claim(f"{SITE}/").etag == ""
