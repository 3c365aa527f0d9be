import msgspec
import pytest

from ingather.catalog.packing import pack_attributes
from ingather.catalog.sqlite_changes import Applied
from ingather.catalog.sqlite_writer import CatalogWriter
from ingather.model.change import ChangeKind
from ingather.model.lifecycle import Outcome, State
from ingather.model.report import Denial, HostReport, Report, Settled
from ingather.testing.contracts_catalog import SqliteUnderTest, Visitor

SITE = "http://a.test"
PAGE = f"{SITE}/p"


def _described(visitor: Visitor, body: str = "one") -> None:
    visitor.start(PAGE)
    visitor.visit(PAGE, body)


def test_a_batch_of_visits_is_one_transaction_with_ascending_changes(
    visitor: Visitor, catalog: SqliteUnderTest
) -> None:
    visits = []
    for n in range(5):
        url = f"{SITE}/{n}"
        visitor.start(url)
        row = visitor.claim(url)
        report = visitor.report(row, url, f"body {n}")
        visits.append(
            Settled(report, row, 2, 1e10, 3600.0, 0, None, 0, put=True, propose="", keep_description=False)
        )
    applied = catalog.settle(visits, visitor.now_s)
    assert [(sequence, kind) for sequence, _, kind, _ in applied.changes] == [
        (n, ChangeKind.PUT) for n in range(1, 6)
    ]
    assert [report for *_, report in applied.changes] == [visit.report for visit in visits]


def test_validators_are_kept_as_they_came_and_renewed_by_an_unchanged_visit(visitor: Visitor) -> None:
    _described(visitor)
    row = visitor.claim(PAGE)
    assert row.etag == '"one"'
    report = Report(row.id, int(Outcome.UNCHANGED), 304, visitor.now_s, 1, etag='W/"two"', last_modified="")
    visitor.settle(report, row)
    assert visitor.claim(PAGE).etag == 'W/"two"'


def test_an_unchanged_visit_forgets_that_the_page_was_missing(visitor: Visitor) -> None:
    _described(visitor)
    visitor.answer(PAGE, Outcome.NOT_FOUND, status=404)
    assert visitor.claim(PAGE).missing_s == visitor.now_s
    visitor.answer(PAGE, Outcome.UNCHANGED, status=304)
    assert visitor.claim(PAGE).missing_s is None


def test_an_unchanged_visit_withdraws_the_proposed_deletion(
    visitor: Visitor, catalog: SqliteUnderTest
) -> None:
    _described(visitor)
    visitor.hold(PAGE)
    visitor.answer(PAGE, Outcome.UNCHANGED, status=304)
    assert catalog.writer.deletions.holds() == []
    assert catalog.writer.deletions.held_among([visitor.id(PAGE)]) == set()


def test_a_described_visit_withdraws_the_proposed_deletion(
    visitor: Visitor, catalog: SqliteUnderTest
) -> None:
    _described(visitor)
    visitor.hold(PAGE, hidden=True)
    assert visitor.shown(PAGE) == []
    visitor.visit(PAGE, "two")
    assert catalog.writer.deletions.holds() == []
    assert visitor.shown(PAGE) == [PAGE]


def test_a_hidden_document_that_is_unchanged_is_shown_again(visitor: Visitor) -> None:
    _described(visitor)
    visitor.hold(PAGE, hidden=True)
    visitor.answer(PAGE, Outcome.UNCHANGED, status=304)
    assert visitor.shown(PAGE) == [PAGE]


def test_a_failed_visit_keeps_the_description_and_the_hold(
    visitor: Visitor, catalog: SqliteUnderTest
) -> None:
    _described(visitor)
    visitor.hold(PAGE)
    visitor.answer(PAGE, Outcome.SERVER_ERROR, status=500)
    record = visitor.record(PAGE)
    assert (record.outcome, record.described, record.digest != "") == (Outcome.SERVER_ERROR, True, True)
    assert len(catalog.writer.deletions.holds()) == 1


def test_a_proposal_is_passed_on_only_for_what_is_described(visitor: Visitor) -> None:
    visitor.start(PAGE)
    assert visitor.answer(PAGE, Outcome.NOT_FOUND, status=404).proposals == []
    visitor.visit(PAGE, "one")
    applied = visitor.answer(PAGE, Outcome.NOT_FOUND, status=404)
    assert [(url_id, reason) for url_id, _, reason in applied.proposals] == [
        (visitor.id(PAGE), "not found (404)")
    ]


def test_a_visit_of_what_was_removed_meanwhile_changes_nothing_but_brings_its_links(visitor: Visitor) -> None:
    _described(visitor)
    row = visitor.claim(PAGE)
    report = visitor.report(row, PAGE, "two", [f"{SITE}/elsewhere"])
    visitor.remove(PAGE)
    before = list(visitor.changes)
    visitor.settle(report, row)
    assert visitor.changes == before
    record = visitor.record(PAGE)
    assert (record.state, record.described, record.due_s) == (State.GONE, False, None)
    assert visitor.record(f"{SITE}/elsewhere").state is State.WAITING


@pytest.mark.parametrize(("elapsed_s", "state"), [(3.0, State.GONE), (0.5, State.DONE)])
def test_a_visit_that_was_under_way_when_its_source_was_deleted_brings_nothing_back(
    visitor: Visitor, catalog: SqliteUnderTest, elapsed_s: float, state: State
) -> None:
    """The same visit, begun after that, is somebody's who lists the page anew."""
    _described(visitor)
    row = visitor.claim(PAGE)
    applied = Applied()

    def delete(w: CatalogWriter) -> None:
        w.deletions.delete(
            row.id, "the data source was deleted", visitor.now_s, applied, gone=True, decided=1
        )
        w.feeds.rest(row.id)

    catalog.writer.transaction(delete)
    visitor.now_s += 1.0
    report = msgspec.structs.replace(visitor.report(row, PAGE, "two"), elapsed_s=elapsed_s)
    visitor.settle(report, row)
    record = visitor.record(PAGE)
    assert (record.state, record.described) == (state, state is State.DONE)


def test_a_page_that_answers_while_its_hold_is_released_is_back_at_once(
    visitor: Visitor, catalog: SqliteUnderTest
) -> None:
    _described(visitor)
    visitor.hold(PAGE)
    row = visitor.claim(PAGE)
    applied = Applied()
    [hold] = catalog.writer.deletions.holds()
    catalog.writer.transaction(
        lambda w: w.deletions.close_hold(hold.id, release=True, now_s=visitor.now_s, applied=applied)
    )
    visitor.settle(Report(row.id, int(Outcome.UNCHANGED), 304, visitor.now_s, 1), row)
    record = visitor.record(PAGE)
    assert (record.state, record.described) == (State.DONE, True)


def test_an_undelete_during_a_visit_is_not_undone_by_it(visitor: Visitor) -> None:
    _described(visitor)
    visitor.delete(PAGE, gone=False)
    row = visitor.claim(PAGE)
    visitor.undelete(PAGE)
    visitor.settle(Report(row.id, int(Outcome.ENUMERATED), 200, visitor.now_s, 1), row)
    assert visitor.record(PAGE).described


def test_pages_that_only_lead_on_keep_their_links(visitor: Visitor, catalog: SqliteUnderTest) -> None:
    visitor.start(PAGE, max_depth=None)
    row = visitor.claim(PAGE)
    full = visitor.report(row, PAGE, "one", [f"{SITE}/x"])
    denial = Denial("filter rules", "filter.conf:9", "not for search", 1)
    visitor.settle(
        Report(row.id, int(Outcome.ENUMERATED), 200, visitor.now_s, 1, links=full.links, anchors=full.anchors,
               found=full.found, digest=full.digest, denial=denial),
        row,
    )  # fmt: skip
    record = visitor.record(PAGE)
    assert (record.described, record.outcome, record.where) == (False, Outcome.ENUMERATED, "filter.conf:9")
    reader = catalog.reader()
    assert reader.description(record.id) is None
    assert [(page, keys) for page, keys, *_ in reader.links_pass()] == [(record.id, full.links)]
    reader.close()
    row = visitor.claim(PAGE)
    visitor.settle(Report(row.id, int(Outcome.ENUMERATED), 200, visitor.now_s, 1, anchors=b"\x90"), row)
    reader = catalog.reader()
    assert list(reader.links_pass()) == []
    reader.close()


def test_the_last_twelve_visits_are_remembered(visitor: Visitor, catalog: SqliteUnderTest) -> None:
    _described(visitor)
    for _ in range(20):
        visitor.now_s += 60
        visitor.answer(PAGE, Outcome.UNCHANGED, status=304)
    reader = catalog.reader()
    visits = reader.visits(visitor.id(PAGE))
    reader.close()
    assert [visit.at_s for visit in visits] == [visitor.now_s - 60 * n for n in range(12)]


def test_a_refused_visit_remembers_the_line_that_refused_it(
    visitor: Visitor, catalog: SqliteUnderTest
) -> None:
    visitor.start(PAGE)
    row = visitor.claim(PAGE)
    denial = Denial("robots", "robots.txt:7", "Disallow: /p", 3)
    visitor.settle(Report(row.id, int(Outcome.ROBOTS), 0, visitor.now_s, 3, denial=denial), row)
    reader = catalog.reader()
    [visit] = reader.visits(row.id)
    reader.close()
    assert (visit.outcome, visit.where, visit.detail) == (Outcome.ROBOTS, "robots.txt:7", "Disallow: /p")
    assert visitor.record(PAGE).config_version == 3


def test_dates_of_a_description_are_renewed_by_unchanged_visits_alone(
    visitor: Visitor, catalog: SqliteUnderTest
) -> None:
    visitor.now_s = 1_763_719_200.0  # 2025-11-21T10:00:00Z
    visitor.start(PAGE)
    row = visitor.claim(PAGE)
    report = visitor.report(row, PAGE, "one")
    report.attributes = pack_attributes(
        {
            "rd-last-modified": ("2025-11-21T10:00:00Z",),
            "rd-expires": ("2026-02-19T10:00:00Z",),
            "title": ("T",),
        },
        "",
    )
    visitor.settle(report, row)
    changes = len(visitor.changes)

    def dates() -> tuple[str, str]:
        reader = catalog.reader()
        found = reader.description(row.id)
        _, attributes, _ = reader.page_layers([row.id])[row.id]
        reader.close()
        assert found is not None
        effective = found.effective()
        assert attributes["rd-expires"] == effective["rd-expires"]
        return effective["rd-last-modified"][0], effective["rd-expires"][0]

    assert dates() == ("2025-11-21T10:00:00Z", "2026-02-19T10:00:00Z")
    visitor.now_s += 86_400
    visitor.answer(PAGE, Outcome.UNCHANGED, status=304)
    assert dates() == ("2025-11-22T10:00:00Z", "2026-02-20T10:00:00Z")
    visitor.now_s += 86_400
    visitor.answer(PAGE, Outcome.SERVER_ERROR, status=500)
    assert dates() == ("2025-11-22T10:00:00Z", "2026-02-20T10:00:00Z")
    assert len(visitor.changes) == changes


def test_dates_that_are_none_stay_as_they_are(visitor: Visitor, catalog: SqliteUnderTest) -> None:
    visitor.start(PAGE)
    row = visitor.claim(PAGE)
    report = visitor.report(row, PAGE, "one")
    report.attributes = pack_attributes(
        {"rd-last-modified": ("soon", "2025-11-21"), "rd-expires": ("9999-12-31T23:59:59Z",)}, ""
    )
    visitor.settle(report, row)
    visitor.now_s += 86_400
    visitor.answer(PAGE, Outcome.UNCHANGED, status=304)
    reader = catalog.reader()
    found = reader.description(row.id)
    reader.close()
    assert found is not None
    assert found.effective() == {
        "rd-last-modified": ("soon", "2025-11-21"),
        "rd-expires": ("9999-12-31T23:59:59Z",),
    }


def test_a_visit_that_killed_its_reader_is_left_alone_until_released(visitor: Visitor) -> None:
    _described(visitor)
    for _ in range(2):
        visitor.answer(PAGE, Outcome.QUARANTINED)
    assert visitor.record(PAGE).state is State.QUARANTINED
    visitor.discover(visitor.discovery(PAGE))
    assert visitor.record(PAGE).state is State.QUARANTINED
    assert visitor.undelete(PAGE) == 1
    row = visitor.claim(PAGE)
    assert (visitor.record(PAGE).state, row.strikes) == (State.WAITING, 0)


def test_what_was_excluded_when_judged_again_gives_its_budget_back(
    visitor: Visitor, catalog: SqliteUnderTest
) -> None:
    visitor.start(PAGE)
    row = visitor.claim(PAGE)
    report = Report(row.id, int(Outcome.EXCLUDED), 0, visitor.now_s, 1)
    settled = Settled(
        report, row, int(State.EXCLUDED), None, None, 0, None, 0, put=False, propose="", keep_description=True
    )
    catalog.settle([settled], visitor.now_s)
    budgets = catalog.writer.applier.budgets
    assert budgets._counts[1, "host", ""] == 0
    assert visitor.record(PAGE).state is State.EXCLUDED


def test_host_states_survive_a_restart(visitor: Visitor, catalog: SqliteUnderTest) -> None:
    visitor.start(PAGE)
    report = HostReport(
        id=1, not_before_s=visitor.now_s + 90, back_offs=2, robots_kind="rules", robots_body=b"User-agent: *\n",
        robots_at_s=visitor.now_s, robots_since_s=1.0, robots_detail="200", delay_s=2.5,
    )  # fmt: skip
    catalog.writer.transaction(lambda w: w.applier.hosts([report]))
    catalog.restart()
    grant = catalog.writer.frontier.grants([1])[1]
    assert (grant.origin, grant.key, grant.not_before_s, grant.back_offs) == (
        SITE,
        "a.test",
        visitor.now_s + 90,
        2,
    )
    assert (grant.robots_kind, grant.robots_body, grant.robots_at_s) == (
        "rules",
        b"User-agent: *\n",
        visitor.now_s,
    )
    assert catalog.writer.frontier.known_hosts() == [(1, SITE, "a.test", visitor.now_s + 90)]


def test_runs_go_on_until_they_are_ended(catalog: SqliteUnderTest) -> None:
    def begin() -> tuple[int, bool]:
        return catalog.writer.transaction(lambda w: w.registry.begin_run("crawl", 10.0))

    assert begin() == (1, False)
    catalog.restart()
    assert begin() == (1, True)
    catalog.writer.transaction(lambda w: w.registry.end_run(1, 20.0, "3 visits"))
    assert begin() == (2, False)
    assert catalog.writer.memory.last_run_s() == 20.0


def test_configurations_are_numbered_once(catalog: SqliteUnderTest) -> None:
    def publish(digest: str) -> int:
        return catalog.writer.transaction(lambda w: w.registry.publish(digest, {"robot.conf": digest}, 1.0))

    assert [publish(digest) for digest in ("a", "b", "a")] == [1, 2, 1]
    assert catalog.writer.registry.newest_version() == 2


def test_small_values_are_remembered(catalog: SqliteUnderTest) -> None:
    packed = msgspec.msgpack.encode([1, 2])
    assert catalog.writer.memory.recall("addresses") == b""
    catalog.writer.transaction(lambda w: w.memory.remember("addresses", packed))
    catalog.restart()
    assert catalog.writer.memory.recall("addresses") == packed
    assert catalog.writer.memory.recall("seed") == b""
