"""Parts of the decider that no numbered case reaches: other answers, limits that are off by default, words."""

import msgspec
import pytest

from ingather.model.intent import Intent
from ingather.model.lifecycle import Outcome
from ingather.model.polled import PollKind
from ingather.syndication import Hints, Listing, ListingItem
from ingather.syndication.answers import answer_of, leads_to_root
from ingather.syndication.deciding import Decider
from ingather.syndication.explaining import seen_s
from ingather.syndication.facts import (
    CycleFacts,
    DocState,
    Due,
    FeedFacts,
    FeedState,
    ListedDates,
    Registration,
    SourceFacts,
    Want,
)
from ingather.syndication.joining import joined
from ingather.syndication.rulings import Answer, Listed, Poll, Visit
from ingather.syndication.source_limits import SourceLimits
from ingather.testing.syndicated import Reply, Served, SimulatedSource, reply

HOUR, DAY = 3600.0, 86400.0
FEED, A, B = "https://n.test/feed", "https://n.test/a", "https://n.test/b"
NOON, LATER = "2018-03-20T12:00:00Z", "2018-03-20T13:00:00Z"


def items(*pairs: tuple[str, str], hints: Hints | None = None, kind: str = "rss") -> Listing:
    found = tuple(ListingItem(url, modified=date, modified_text=date, guid=url) for url, date in pairs)
    return Listing(kind, items=found, hints=hints or Hints())


def source(*pairs: tuple[str, str], limits: SourceLimits | None = None) -> SimulatedSource:
    s = SimulatedSource(limits)
    s.add(FEED, items(*pairs))
    s.cycle()
    return s


def unlisted(limits: SourceLimits | None = None) -> SimulatedSource:
    """Return a source whose A is under the existence check, 49 hours later."""
    s = source((A, NOON), (B, NOON), limits=limits)
    last = s.now
    s.serve(FEED, items((B, NOON)))
    s.run(last + 47 * HOUR)
    s.now = last + 49 * HOUR
    return s


@pytest.mark.parametrize(
    "facts",
    [
        Registration(3, A, DocState.HIDDEN, Intent.CHECK, 1.0, dated=2, digest=b"\x00\xff", want=Want.AUTH, due=Due.AUTH, due_s=2.5),
        ListedDates(1, 2, NOON, waiting=(LATER, "", "x", ""), noticed_s=1.0, listed=False),
        FeedFacts(1, FEED, FeedState.GONE, skip_hours=(1, 2), etag='W/"1"', ttl_s=60.0),
        SourceFacts(CycleFacts(1.0, 2, 3, exhausted=True), 4.0, 5.0, ((6.0, 7),), 8.0, 9),
        SourceLimits(discovery_interval_s=60.0),
    ],
    ids=lambda facts: type(facts).__name__,
)  # fmt: skip
def test_facts_survive_their_encoding(facts: msgspec.Struct) -> None:
    for module in (msgspec.msgpack, msgspec.json):
        assert module.decode(module.encode(facts), type=type(facts)) == facts
    assert (
        msgspec.msgpack.decode(msgspec.msgpack.encode({"key": 1, "unknown": 2}), type=Registration).key == 1
    )


@pytest.mark.parametrize(
    ("outcome", "status", "flags", "answer"),
    [
        (Outcome.INDEXED, 200, {}, Answer.OK),
        (Outcome.UNCHANGED, 304, {}, Answer.UNCHANGED),
        (Outcome.UNCHANGED, 200, {}, Answer.OK),
        (Outcome.INDEXED, 200, {"empty": True}, Answer.EMPTY),
        (Outcome.INDEXED, 204, {}, Answer.EMPTY),
        (Outcome.NOT_FOUND, 404, {}, Answer.NOT_FOUND),
        (Outcome.NOT_FOUND, 410, {}, Answer.GONE),
        (Outcome.REFUSED, 451, {}, Answer.GONE),
        (Outcome.REFUSED, 403, {}, Answer.REFUSED),
        (Outcome.REFUSED, 408, {}, Answer.BACK_OFF),
        (Outcome.REFUSED, 418, {}, Answer.OTHER),
        (Outcome.BACK_OFF, 429, {}, Answer.BACK_OFF),
        (Outcome.SERVER_ERROR, 500, {}, Answer.BACK_OFF),
        (Outcome.FAILED, 0, {}, Answer.FAILED),
        (Outcome.REDIRECTED, 301, {}, Answer.FAILED),
        (Outcome.ROBOTS, 0, {}, Answer.ROBOTS),
        (Outcome.ROBOTS_UNREACHABLE, 503, {}, Answer.ROBOTS_UNREACHABLE),
        (Outcome.NOINDEX, 200, {}, Answer.NOINDEX),
        (Outcome.EXCLUDED, 200, {}, Answer.FILTER),
        (Outcome.ENUMERATED, 200, {}, Answer.FILTER),
        (Outcome.QUARANTINED, 0, {}, Answer.NONE),
        (Outcome.FAILED, 200, {"unusable": True}, Answer.UNUSABLE),
        (Outcome.EXCLUDED, 302, {"scope": True}, Answer.SCOPE),
    ],
)
def test_what_an_outcome_means(outcome: Outcome, status: int, flags: dict[str, bool], answer: Answer) -> None:
    assert answer_of(outcome, status, **flags) is answer


@pytest.mark.parametrize(
    ("link", "final", "root"),
    [(A, "https://n.test/", True), (A, "https://n.test", True), (A, "https://other.test/", True), ("https://n.test/?id=7", "https://n.test/", True),
     (A, B, False), ("https://n.test/", "https://www.n.test/", False), (A, "", False), (A, "https://n.test/?a", False)],
)  # fmt: skip
def test_a_redirect_to_the_root(link: str, final: str, root: bool) -> None:  # noqa: FBT001 - a parameter
    assert leads_to_root(link, final) is root


def test_of_one_key_the_newest_date_wins() -> None:
    one, two, odd = ListingItem("1", NOON), ListingItem("2", "", LATER), ListingItem("3", "zzz")
    found, rejected = joined([one, two, odd, ListingItem("no")], lambda link: None if link == "no" else "key")
    assert (found, rejected) == ({"key": two}, 1)
    assert joined([odd, one], lambda _: "key")[0] == {"key": one}


@pytest.mark.parametrize("status", [400, 418, 499])
def test_other_refusals_keep_the_document(status: int) -> None:
    s = unlisted()
    s.web[A] = reply(status)
    s.cycle()
    r = s.of(A)
    assert (r.state, r.checked_s, s.has(A)) == (DocState.LIVE, s.now, True)
    assert r.due_s == pytest.approx(s.now + 48 * HOUR, abs=1)


@pytest.mark.parametrize(
    ("answer", "want"), [(Answer.NOINDEX, "asks not to be"), (Answer.FILTER, "the rules exclude")]
)
def test_what_may_not_be_indexed_goes_with_its_reason(answer: Answer, want: str) -> None:
    s = unlisted()
    s.web[A] = Reply(answer, 200)
    s.cycle()
    assert (s.of(A).state, s.has(A)) == (DocState.EXCLUDED, False)
    assert want in s.of(A).reason


def test_what_is_too_large_now_is_kept_and_reported() -> None:
    s = unlisted()
    s.web[A] = Reply(Answer.UNUSABLE, 200)
    s.cycle()
    assert (s.of(A).state, s.has(A)) == (DocState.LIVE, True)
    assert s.notices() == ["unusable"]
    fresh = "https://n.test/new"
    s.web[fresh] = Reply(Answer.UNUSABLE, 200)
    s.serve(FEED, items((B, NOON), (fresh, NOON)))
    s.run(s.now + HOUR)
    assert (s.of(fresh).state, s.has(fresh)) == (DocState.EXCLUDED, False)
    s.web[fresh] = reply(200, "smaller")
    s.serve(FEED, items((B, NOON), (fresh, LATER)))
    s.run(s.now + HOUR)
    assert s.has(fresh)


def test_a_visit_that_did_not_take_place_is_asked_for_again() -> None:
    s = source((A, NOON))
    s.serve(FEED, items((A, LATER)))
    s.web[A] = Reply(Answer.NONE)
    s.run(s.now + HOUR)
    r = s.of(A)
    assert (r.state, r.due, r.due_s) == (DocState.LIVE, Due.REINDEX, s.now + HOUR / 4)
    s.web[A] = reply(200, "new")
    s.run(s.now + HOUR)
    assert s.documents[r.key] == "new"


def test_a_date_that_is_met_while_a_visit_is_under_way_is_not_lost() -> None:
    s = source((A, NOON))
    r = s.of(A)
    s.now += HOUR
    s.serve(FEED, items((A, LATER)))
    s.begin()  # the reindexing is wanted
    started = s.now
    s.finish()
    s.now += HOUR
    s.serve(FEED, items((A, "2018-03-20T14:00:00Z")))
    s.begin()
    assert s.of(A).intent is Intent.REINDEX
    visit = Visit(Answer.OK, Intent.REINDEX, started + 1, 200, digest=b"x")
    ruling = s.decider.visited(s.of(A), visit, s.book, s.now)
    assert not ruling.listings
    assert (ruling.registration.due, ruling.registration.due_s) == (Due.REINDEX, s.now)
    assert r.key == ruling.registration.key


def test_a_dead_link_whose_date_moves_for_ever_is_volatile_too() -> None:
    s = SimulatedSource()
    s.web[A] = reply(404)
    s.add(FEED)
    for hour in range(96):
        s.serve(FEED, items((A, f"2018-03-{20 + hour // 24:02}T{hour % 24:02}:00:00Z")))
        s.cycle()
        s.now += HOUR
    assert len([x for x in s.asked(A) if x.at_s > s.now - 2 * DAY]) <= 3


def test_max_index_age() -> None:
    for action, requests, documents in (("reindex", 3, 2), ("keep", 0, 2), ("remove", 0, 0)):
        s = source(
            (A, NOON), (B, NOON), limits=SourceLimits(max_index_age_s=2 * DAY, on_max_index_age=action)
        )
        s.requests.clear()
        s.run(s.now + 6.5 * DAY)
        assert len(s.asked(A)) >= requests
        assert len(s.documents) == documents or action == "remove"
        if action == "remove":  # and a tombstone that is still listed is asked for once a day
            assert {e.cause for e in s.events if e.after == "deleted"} == {"older than max_index_age"}


def test_a_feed_that_is_taken_out() -> None:
    for choice, state in (("check", DocState.LIVE), ("delete", DocState.GONE_HELD)):
        s = source((A, NOON), (B, NOON), limits=SourceLimits(on_feed_removed=choice))
        s.add("https://n.test/other", items((B, NOON)))
        s.run(s.now + HOUR)
        ruling = s.decider.removed(s.feeds[1], s.book, s.now)
        assert {r.key: (r.state, r.listed) for r in ruling.registrations} == {
            s.of(A).key: (state, 0),
            s.of(B).key: (DocState.LIVE, 1),
        }
        assert all(not dates.listed for dates in ruling.listings)
        assert ruling.feed.due_s is None


def test_what_is_missing_from_a_complete_list_is_checked_at_once() -> None:
    for limits, hints in ((SourceLimits(complete=True), Hints()), (SourceLimits(), Hints(complete=True))):
        s = source((A, NOON), (B, NOON), limits=limits)
        s.web[A] = reply(404)
        s.serve(FEED, items((B, NOON), hints=hints))
        s.run(s.now + HOUR)
        assert s.of(A).state is DocState.DELETED


def test_the_sitemaps_of_an_index_are_feeds() -> None:
    s = SimulatedSource()
    s.add(FEED, items(("https://n.test/s1", ""), ("https://n.test/s2", ""), kind="sitemap-index"))
    s.serve("https://n.test/s1", items((A, NOON), kind="sitemap"))
    s.serve("https://n.test/s2", items((B, NOON), kind="sitemap"))
    s.cycle()
    s.run(s.now + HOUR)
    assert [feed.parent for feed in s.feeds.values()] == [0, 1, 1]
    assert len(s.documents) == 2


def test_validators_are_kept_exactly() -> None:
    s = SimulatedSource()
    s.add(FEED, Served(items((A, NOON)), etag=' W/"x" ', last_modified="yesterday"))
    s.cycle()
    assert (s.feeds[1].etag, s.feeds[1].last_modified) == (' W/"x" ', "yesterday")
    s.serve(FEED, Served(b"<html></html>", etag='"maintenance"'))
    s.run(s.now + HOUR)
    assert s.feeds[1].etag == ' W/"x" '  # an answer that is no list replaces none
    s.serve(FEED, Served(items((A, NOON), (B, NOON)), etag=""))
    s.run(s.now + DAY)
    assert (s.feeds[1].etag, s.feeds[1].last_modified) == ("", "")


def test_a_304_without_a_list_tells_nothing() -> None:
    s = SimulatedSource()
    s.add(FEED, Served(kind=PollKind.UNCHANGED, status=304))
    s.cycle()
    assert (s.feeds[1].state, s.feeds[1].good_s) == (FeedState.FAILING, None)


def test_what_nothing_lists_is_forgotten() -> None:
    s = source((A, NOON), (B, NOON))
    s.web[A] = reply(410)
    s.serve(FEED, items((B, NOON)))
    s.run(s.now + 92 * DAY)
    assert s.of(A).state is DocState.DELETED
    s.run(s.now + 3 * DAY)
    assert s.book.keys[A] not in s.book.regs


def test_next_cycles() -> None:
    s = source((A, NOON))
    at, why = s.decider.next_cycle(s.source, s.feeds.values(), s.now)
    assert (at, why) == (s.now + HOUR, "discovery interval after the last cycle")
    feed = s.decider.resumed(s.feeds[1], s.now + 60)
    assert s.decider.next_cycle(s.source, [feed], s.now + 60) == (s.now + 60, "feed 1: asked for by a person")
    early = msgspec.structs.replace(s.feeds[1], due_s=s.now + 30 * 60)
    assert s.decider.next_cycle(s.source, [early], s.now)[0] == s.now + 30 * 60
    early = msgspec.structs.replace(s.feeds[1], due_s=s.now + 60)
    assert s.decider.next_cycle(s.source, [early], s.now)[0] == s.now + 15 * 60
    assert s.decider.next_cycle(s.source, [early], s.now - DAY)[0] == s.now - DAY  # the clock was put back


def test_a_cycle_that_runs_is_not_begun_again() -> None:
    s = source((A, NOON))
    s.now += HOUR
    s.begin()
    assert not s.decider.begin_cycle(s.source, s.feeds.values(), s.now).asks


def test_the_budget_is_of_a_cycle() -> None:
    s = source(*[(f"https://n.test/{n}", "") for n in range(30)], limits=SourceLimits(max_checks_per_cycle=7))
    s.run(s.now + 48 * HOUR)
    s.requests.clear()
    hours = [0, 0, 0, 0, 0]
    for n in range(5):
        s.run(s.now + HOUR)
        hours[n] = len([x for x in s.requests if x.url != FEED])
    assert max(b - a for a, b in zip([0, *hours], hours, strict=False)) == 7
    assert hours[-1] == 30


def test_explanations() -> None:
    s = source((A, NOON))
    feeds = s.feeds

    def told() -> tuple[str, str, str]:
        found = s.decider.explain(s.of(A), s.book.listings_of(s.of(A).key), feeds, s.now)
        return found.state, found.next, " | ".join((*found.why, found.because))

    state, following, text = told()
    assert (state, following) == ("live", "it is refreshed")
    assert FEED in text
    assert f"dated {NOON}" in text
    assert "not looked at for 7 d" in text
    assert seen_s(s.of(A), s.book.listings_of(s.of(A).key), feeds) == s.now
    s.web[A] = reply(500)
    s.serve(FEED, items((A, LATER)))
    s.run(s.now + HOUR)
    state, following, text = told()
    assert (state, following) == ("retry", "it is tried again")
    assert f"it now says {LATER}" in text
    assert "1 failed visit since" in text
    s.serve(FEED, items((B, NOON)))
    s.web[A] = reply(410)
    s.run(s.now + 10 * HOUR)
    assert told()[0] == "deleted"
    assert "not listed since" in told()[2]


@pytest.mark.parametrize("state", list(DocState))
@pytest.mark.parametrize("due", list(Due))
def test_everything_has_words(state: DocState, due: Due) -> None:
    limits = SourceLimits(max_index_age_s=DAY)
    for intent in Intent:
        r = Registration(
            1, A, state, intent, 5.0, None if intent or due is Due.NOTHING else 9.0, due, want=Want.GONE, want_s=1.0, breaker=True,
            refusals=1, refused_s=1.0, disallows=1, disallowed_s=1.0, fails=1, failing_s=1.0, suspect="x", looked_s=1.0, final=B,
        )  # fmt: skip
        found = Decider(limits).explain(r, [ListedDates(7, 1, listed=False)], {}, 10.0)
        assert found.meaning
        assert found.next
        assert found.because


def test_a_url_that_another_source_gives_up_is_registered() -> None:
    s = SimulatedSource()
    feed = s.add(FEED)
    key = s.book.key(A)
    for foreign, digest in ((True, b"1"), (True, b"2"), (False, b"3")):
        poll = Poll(PollKind.LISTED, items=(Listed(key, A, NOON, foreign=foreign),), listed=1, digest=digest)
        ruling = s.decider.polled(feed, poll, s.book, s.now)
        s.book.put_listings(ruling.listings)
        feed = ruling.feed
        assert [r.intent for r in ruling.registrations] == ([] if foreign else [Intent.NEW])
    assert [dates.foreign for dates in s.book.listings_of(key)] == [False]
