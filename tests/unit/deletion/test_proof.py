"""What proves a deletion, who decided, the cool-down, undoing, and that no older record revives what is deleted."""

from pathlib import Path

import msgspec
import pytest

from ingather.app.feeds.home import deletion_guard
from ingather.catalog.deletion.sqlite_deletion import SourceFacts
from ingather.catalog.deletion.sqlite_tombstones import Observation, Stone, TombstoneReader
from ingather.model.decided import By, Undo
from ingather.model.lifecycle import Outcome, State
from ingather.robot.settling.committing import Batch
from ingather.robot.settling.deletion import DeletionLimits, DeletionPolicy
from ingather.testing.fedhome import FedHome, Said, fed, rss
from ingather.testing.revisiting import GONE, Page, Revisits

HOUR_S = 3_600.0
ANN, JOE = By("ann", "the server was moved"), By("joe", "checked by hand")
NOINDEX = Page(outcome=Outcome.NOINDEX, rule="filter.conf:7", detail="robots meta: noindex")


def evidence(robot: Revisits, url: str) -> list[Observation]:
    reader = TombstoneReader(robot.catalog.writer.path)
    try:
        return reader.evidence(robot.visitor.id(url))
    finally:
        reader.close()


def stone(robot: Revisits, url: str) -> Stone | None:
    reader = TombstoneReader(robot.catalog.writer.path)
    try:
        return reader.stone(robot.visitor.id(url))
    finally:
        reader.close()


def close(robot: Revisits, *, release: bool, by: By) -> int:
    [hold] = robot.catalog.writer.deletions.holds()
    now_s = robot.visitor.now_s
    robot.job(lambda w, a: w.deletions.close_hold(hold.id, release=release, now_s=now_s, applied=a, by=by))
    return hold.id


def undo(robot: Revisits, wanted: Undo, *, limit: int = 3) -> int:
    back = after = 0
    now_s = robot.visitor.now_s
    while True:
        count, after = robot.answer(
            lambda a, behind: robot.catalog.writer.deletions.undo(
                wanted, behind, limit, a, by=JOE, at_s=now_s
            ),
            after,
        )
        back += count
        if not after:
            return back


def wave(robot: Revisits, count: int = 15) -> list[str]:
    """Let the first *count* of 20 pages go at once, so that they are held."""
    pages = robot.site(20)
    for url in pages[:count]:
        robot.web[url] = GONE
    robot.run("serve")
    robot.pass_time(2)
    return pages


def test_a_404_proves_itself_by_both_looks(robot: Revisits) -> None:
    pages = robot.site(20)
    robot.web[pages[0]] = GONE
    first = robot.visitor.now_s
    robot.run("serve")
    robot.pass_time(3)
    seen = evidence(robot, pages[0])
    assert [(one.decision, one.outcome, one.status) for one in seen] == [
        ("wait", Outcome.NOT_FOUND, 404),
        ("delete", Outcome.NOT_FOUND, 404),
    ]
    assert seen[0].at_s == first
    assert seen[1].at_s >= first + HOUR_S
    found = stone(robot, pages[0])
    assert found is not None
    assert (found.by, found.reason, found.observations, found.kept) == ("policy", "not found (404)", 2, True)


def test_a_rule_proves_itself_by_its_line(robot: Revisits) -> None:
    pages = robot.site(20)
    robot.web[pages[0]] = NOINDEX
    number = robot.run("serve")
    [seen] = evidence(robot, pages[0])
    assert (seen.where, seen.rule, seen.decision, seen.run) == (
        "filter.conf:7",
        NOINDEX.detail,
        "delete",
        number,
    )
    found = stone(robot, pages[0])
    assert found is not None
    assert found.run == number


def test_what_is_found_again_has_nothing_against_it(robot: Revisits) -> None:
    pages = robot.site(20)
    text = robot.web[pages[0]]
    robot.web[pages[0]] = GONE
    robot.run("serve")
    assert len(evidence(robot, pages[0])) == 1
    robot.web[pages[0]] = text
    robot.pass_time(2)
    assert robot.visitor.record(pages[0]).outcome is Outcome.UNCHANGED
    assert evidence(robot, pages[0]) == []


def test_of_many_looks_the_first_and_the_newest_are_kept(robot: Revisits) -> None:
    pages = robot.site(20)
    robot.web[pages[0]] = GONE
    robot.limits = {"web": DeletionLimits(confirm_s=30 * HOUR_S, confirm_looks=8)}
    first = robot.visitor.now_s
    for _ in range(12):
        robot.look([pages[0]])
        robot.visitor.now_s += 60.0
    seen = evidence(robot, pages[0])
    assert len(seen) == 8
    assert (seen[0].at_s, seen[-1].at_s) == (first, first + 11 * 60.0)


@pytest.mark.parametrize(("looks", "shown"), [(2, False), (3, True)])
def test_a_source_may_want_more_looks(robot: Revisits, looks: int, shown: bool) -> None:  # noqa: FBT001
    robot.limits = {"web": DeletionLimits(confirm_looks=looks)}
    pages = robot.site(20)
    robot.web[pages[0]] = GONE
    for _ in range(2):
        robot.look([pages[0]])
        robot.visitor.now_s += 2 * HOUR_S
    assert bool(robot.found(pages[:1])) is shown
    robot.look([pages[0]])
    assert robot.found(pages[:1]) == []


def test_a_wave_is_held_and_says_why(robot: Revisits) -> None:
    pages = wave(robot)
    [hold] = robot.catalog.writer.deletions.holds()
    assert "15 of 21 documents" in hold.why
    assert [one.decision for one in evidence(robot, pages[0])] == ["wait", "hold"]


def test_who_released_a_hold_is_kept_with_why(robot: Revisits) -> None:
    pages = wave(robot)
    hold = close(robot, release=True, by=ANN)
    robot.catalog.restart()
    found = stone(robot, pages[0])
    assert found is not None
    assert (found.by, found.who, found.note, found.hold) == ("person", "ann", ANN.note, hold)
    reader = TombstoneReader(robot.catalog.writer.path)
    [closed] = reader.holds()
    assert (closed.verdict, closed.who, closed.note) == ("released", "ann", ANN.note)
    [decided] = reader.decisions()
    assert (decided.verb, decided.target, decided.documents) == ("release", f"hold {hold}", 15)
    reader.close()


def test_after_a_discard_nothing_goes_for_that_reason_while_it_cools_down(robot: Revisits) -> None:
    robot.limits = {"web": DeletionLimits(half_floor=1000, documents=5, share=0.1, cool_down_s=72 * HOUR_S)}
    pages = wave(robot, 6)
    close(robot, release=False, by=ANN)
    robot.web = {url: page for url, page in robot.web.items() if url not in pages[2:6]}
    for url in pages[2:6]:  # most are there again; two are really gone, which is no wave
        robot.web[url] = Page(f"text of {url}")
    robot.pass_time(60)
    assert robot.found(pages) == pages
    assert "a person kept" in evidence(robot, pages[0])[-1].why
    robot.pass_time(30)
    assert robot.found(pages) == pages[2:]


def test_the_cool_down_is_for_that_reason_alone(robot: Revisits) -> None:
    pages = wave(robot)
    close(robot, release=False, by=ANN)
    robot.web[pages[19]] = NOINDEX
    robot.look([pages[19]])
    assert robot.found(pages) == pages[:19]


def test_while_it_cools_down_a_page_is_asked_for_whole_and_goes_afterwards(robot: Revisits) -> None:
    pages = robot.site(20)
    for url in pages[:15]:
        robot.web[url] = NOINDEX
    robot.run("serve")
    close(robot, release=False, by=ANN)
    for url in pages[1:15]:
        robot.web[url] = Page(f"text of {url}")
    robot.pass_time(20)
    assert robot.found(pages) == pages
    robot.pass_time(48)
    assert robot.found(pages) == pages[1:]


def test_undoing_by_reason_and_by_run_brings_back_what_they_mean(robot: Revisits) -> None:
    robot.limits = {"web": DeletionLimits(half_floor=1000)}
    pages = robot.site(20)
    for url in pages[:4]:
        robot.web[url] = NOINDEX
    first = robot.run("serve")
    for url in pages[4:8]:
        robot.web[url] = Page(outcome=Outcome.ROBOTS, status=0, rule="robots.txt:3", detail="Disallow: /")
    second = robot.run("serve")
    assert robot.found(pages) == pages[8:]
    assert undo(robot, Undo(reason="nothing like it")) == 0
    assert undo(robot, Undo(reason="NOINDEX")) == 0  # the reason is in plain words
    assert undo(robot, Undo(run=first, source="vault")) == 0
    assert undo(robot, Undo(reason="ROBOTS.TXT"), limit=3) == 4
    assert robot.found(pages) == pages[4:]
    assert undo(robot, Undo(run=second)) == 0
    assert undo(robot, Undo(run=first)) == 4
    assert robot.found(pages) == pages
    reader = TombstoneReader(robot.catalog.writer.path)
    assert [(one.verb, one.documents, one.who) for one in reader.decisions()] == [
        ("undo", 4, "joe"),
        ("undo", 4, "joe"),
    ]
    reader.close()


def test_what_was_undone_does_not_go_again_at_once(robot: Revisits) -> None:
    pages = robot.site(20)
    robot.web[pages[0]] = NOINDEX
    number = robot.run("serve")
    assert undo(robot, Undo(run=number)) == 1
    robot.rest()
    assert robot.found(pages) == pages
    robot.pass_time(72)
    assert robot.found(pages) == pages[1:]


def test_undoing_a_released_hold_spares_what_was_removed_by_hand(robot: Revisits) -> None:
    pages = wave(robot)
    hold = close(robot, release=True, by=ANN)
    robot.visitor.remove(pages[0])
    assert undo(robot, Undo(hold=hold)) == 14
    assert robot.found(pages) == pages[1:]


def test_what_was_removed_keeps_who_and_why(robot: Revisits) -> None:
    pages = robot.site(5)
    now_s = robot.visitor.now_s
    robot.job(lambda w, a: w.deletions.remove(pages[0], now_s, a, exact=True, by=ANN))
    found = stone(robot, pages[0])
    assert found is not None
    assert (found.by, found.who, found.note) == ("hand", "ann", ANN.note)


@pytest.mark.parametrize("gone", [True, False])
def test_a_visit_that_ended_before_the_deletion_revives_nothing(robot: Revisits, gone: bool) -> None:  # noqa: FBT001
    pages = robot.site(5)
    row = robot.visitor.claim(pages[0])
    late = robot.visitor.report(row, pages[0], "an older text")
    robot.visitor.now_s += 60.0
    robot.visitor.delete(pages[0], gone=gone)
    robot.commit(Batch(visits=[(late, row)]))
    assert robot.found(pages) == pages[1:]
    assert robot.visitor.record(pages[0]).state is (State.GONE if gone else State.DONE)
    robot.pass_time(1)  # the page is looked at again: it is there, so it comes back by what it says now
    assert robot.found(pages) == pages


def test_an_older_unchanged_revives_nothing_a_newer_one_does(robot: Revisits) -> None:
    pages = robot.site(5)
    row = robot.visitor.claim(pages[0])
    same = robot.report(row)
    assert same.outcome == Outcome.UNCHANGED
    robot.visitor.now_s += 60.0
    robot.visitor.delete(pages[0])
    robot.commit(Batch(visits=[(same, row)]))
    assert robot.found(pages) == pages[1:]
    newer = msgspec.structs.replace(same, at_s=robot.visitor.now_s + 1.0)
    robot.commit(Batch(visits=[(newer, row)]))
    assert robot.found(pages) == pages


def test_names_and_reasons_are_one_line() -> None:
    assert By.of("  ann\n\x1b[31m", "a\tb\r\n c" + "x" * 900) == By("ann [31m", ("a b c" + "x" * 900)[:500])
    assert Undo().empty
    assert str(Undo(run=3, reason="404")) == "run 3, reason 404"


@pytest.mark.parametrize("status", [404, 410])
def test_web_feeds_leave_the_same_evidence(tmp_path: Path, status: int) -> None:
    a, b, feed = "https://n.test/a", "https://n.test/b", "https://n.test/feed.xml"
    home = FedHome(tmp_path / "c.db", {"news": fed(feeds=(feed,))})
    try:
        home.web |= {a: Said(body="Alpha"), b: Said(body="Beta"), feed: Said(body=rss(a, b))}
        home.cycle()
        home.web |= {a: Said(status), feed: Said(body=rss(b))}
        home.until(72)
        assert home.documents() == {b}
        reader = TombstoneReader(home.path)
        row = reader.row_of(a)
        assert row is not None
        seen = reader.evidence(row)[-1]
        assert (seen.status, seen.decision) == (status, "delete")
        assert seen.detail.startswith("checked 2018-03-2")
        reader.close()
    finally:
        home.close()


def test_what_a_full_feed_leaves_out_is_held_while_it_cools_down() -> None:
    guard = deletion_guard(lambda _: DeletionPolicy())
    facts = SourceFacts("drive", "public", 1000, 0, 0, 0, kept=(("missing from a full feed", 1_000.0),))
    told = guard("missing from a full feed", 3, 0, facts, 1_000.0 + 23 * HOUR_S)
    assert "a person kept such documents" in told.why
    assert not guard("missing from a full feed", 3, 0, facts, 1_000.0 + 25 * HOUR_S).why
    assert not guard("the rules exclude it now", 3, 0, facts, 2_000.0).why


def test_what_is_old_is_pruned_but_not_what_proves_a_tombstone(robot: Revisits) -> None:
    pages = robot.site(20)
    text = robot.web[pages[0]]
    robot.web[pages[0]] = robot.web[pages[1]] = GONE
    robot.look(pages[:2])
    robot.web[pages[0]] = text
    robot.pass_time(3)
    later_s = robot.visitor.now_s + HOUR_S
    pruned = robot.job(lambda w, _a: w.pruning.evidence(later_s, limit=1000))
    assert pruned == 1
    assert len(evidence(robot, pages[1])) == 2
