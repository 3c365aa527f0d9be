"""The numbered cases of the specification that the decider decides: cycles hourly, defaults, a web in memory.

Those about reading alone (30 to 38) are in ``test_reading.py``; here is what follows from them.
"""

import math
from itertools import pairwise

import pytest

from ingather.model.intent import Intent
from ingather.model.polled import Hop, PollKind
from ingather.syndication.facts import DocState, Due, FeedState, Want
from ingather.syndication.rulings import Answer, Visit
from ingather.syndication.source_limits import SourceLimits
from ingather.testing.syndicated import Reply, Served, SimulatedSource, reply

HOUR, DAY = 3600.0, 86400.0
FEED, A, B = "https://n.test/feed", "https://n.test/a", "https://n.test/b"
NOON = "Tue, 20 Mar 2018 08:33:00 GMT"
LATER = "Tue, 20 Mar 2018 09:33:00 GMT"


def rss(*items: tuple[str, str] | str, head: str = "", tail: str = "") -> bytes:
    """Return a feed of (link, date) items, or of items as they are to stand."""
    inner = "".join(
        item
        if isinstance(item, str)
        else f"<item><link>{item[0]}</link>"
        + (f"<pubDate>{item[1]}</pubDate>" if item[1] else "")
        + "</item>"
        for item in items
    )
    return f'<rss version="2.0"><channel><title>N</title>{head}{inner}{tail}</channel></rss>'.encode()


def source(
    *items: tuple[str, str] | str, limits: SourceLimits | None = None, head: str = ""
) -> SimulatedSource:
    """Return a source after its first cycle."""
    s = SimulatedSource(limits)
    s.add(FEED, rss(*items, head=head))
    s.cycle()
    return s


def hours(s: SimulatedSource, count: float = 1.0) -> None:
    """Let cycles run for so long."""
    s.run(s.now + count * HOUR)


def unseen(*items: tuple[str, str] | str, seen_s: float = 48 * HOUR + 60) -> SimulatedSource:
    """Return a source whose A was last seen so long ago; its feed lists other things since."""
    s = source((A, NOON), *items)
    last = s.now
    s.serve(FEED, rss((B, NOON)))
    s.run(last + 47 * HOUR)
    s.requests.clear()
    s.now = last + seen_s
    return s


def test_rss_case_01_a_new_link_is_a_document() -> None:
    s = source((A, NOON))
    r = s.of(A)
    assert s.documents == {r.key: A}
    assert (r.state, r.link, r.indexed_s, r.checked_s) == (DocState.LIVE, A, s.now, s.now)
    (dates,) = s.book.listings_of(r.key)
    assert (dates.published, dates.waiting) == ("2018-03-20T08:33:00Z", None)
    assert [x.intent for x in s.asked(A)] == [Intent.NEW]


def test_rss_case_02_the_same_list_asks_for_nothing() -> None:
    s = source((A, NOON))
    hours(s)
    assert len(s.asked(FEED)) == 2
    assert len(s.asked(A)) == 1
    assert s.feeds[1].good_s == s.now  # that is when what it lists was seen


@pytest.mark.parametrize(
    "date",
    [pytest.param(LATER, id="03_later"), pytest.param("Tue, 20 Mar 2018 07:33:00 GMT", id="04_earlier")],
)
def test_rss_case_03_and_04_another_date_reindexes(date: str) -> None:
    s = source((A, NOON))
    s.serve(FEED, rss((A, date)))
    s.web[A] = reply(200, "new")
    hours(s)
    assert [x.intent for x in s.asked(A)] == [Intent.NEW, Intent.REINDEX]
    assert not s.asked(A)[1].etag
    assert s.documents[s.of(A).key] == "new"
    hours(s, 5)
    assert len(s.asked(A)) == 2


def test_rss_case_04_a_date_driven_reindexing_counts_though_nothing_changed() -> None:
    s = source((A, NOON))
    s.serve(FEED, rss((A, "Tue, 20 Mar 2018 07:33:00 GMT")))
    hours(s)
    assert s.of(A).indexed_s == s.now


@pytest.mark.parametrize("date", ["Tue, 20 Mar 2018 08:33:00 +0000", "2018-03-20T09:33:00+01:00"])
def test_rss_case_05_a_date_spelt_otherwise_asks_for_nothing(date: str) -> None:
    s = source((A, NOON))
    element = (
        f"<item><link>{A}</link><dc:date>{date}</dc:date></item>"
        if "T" in date[:11] and "-" in date[:5]
        else (A, date)
    )
    s.serve(FEED, rss(element))
    hours(s, 3)
    assert len(s.asked(A)) == 1


def test_rss_case_06_another_title_asks_for_nothing() -> None:
    s = source(f"<item><link>{A}</link><title>one</title><pubDate>{NOON}</pubDate></item>")
    s.serve(FEED, rss(f"<item><link>{A}</link><title>two</title><pubDate>{NOON}</pubDate></item>"))
    hours(s, 3)
    assert len(s.asked(A)) == 1
    assert [d.title for d in s.book.listings_of(s.of(A).key)] == ["two"]


@pytest.mark.parametrize(
    "seen_s", [pytest.param(48 * HOUR - 60, id="07_below"), pytest.param(48 * HOUR, id="08_exactly")]
)
def test_rss_case_07_and_08_nothing_before_48_hours_are_exceeded(seen_s: float) -> None:
    s = unseen(seen_s=seen_s)
    s.cycle()
    assert not s.asked(A)
    assert s.has(A)


def test_rss_case_09_a_304_keeps_it_for_another_48_hours() -> None:
    s = SimulatedSource()
    s.web[A] = reply(200, "a", etag='"1"')
    s.add(FEED, rss((A, NOON)))
    s.cycle()
    last = s.now
    s.serve(FEED, rss((B, NOON)))
    s.run(last + 47.5 * HOUR)
    assert len(s.asked(A)) == 1
    s.now = last + 48 * HOUR + 60
    s.cycle()
    assert [(x.intent, x.etag) for x in s.asked(A)[1:]] == [(Intent.CHECK, '"1"')]
    checked = s.now
    r = s.of(A)
    assert (r.state, r.checked_s) == (DocState.LIVE, checked)
    s.run(checked + 47.9 * HOUR)
    assert len(s.asked(A)) == 2
    s.run(checked + 50 * HOUR)
    assert len(s.asked(A)) == 3


def test_rss_case_10_other_content_is_indexed() -> None:
    s = unseen()
    s.web[A] = reply(200, "other")
    s.cycle()
    assert s.documents[s.of(A).key] == "other"


@pytest.mark.parametrize(
    ("status", "cause"), [pytest.param(404, "404", id="11_404"), pytest.param(410, "410", id="12_410")]
)
def test_rss_case_11_and_12_gone_on_a_check_is_deleted(status: int, cause: str) -> None:
    s = unseen()
    s.web[A] = reply(status)
    s.cycle()
    r = s.of(A)
    assert (r.state, r.reason, r.status) == (DocState.DELETED, cause, status)
    assert not s.has(A)
    last = [e for e in s.events if e.document == r.key][-1]
    assert (last.before, last.after, last.cause, last.status) == ("gone_held", "deleted", cause, status)


@pytest.mark.parametrize(
    ("answer", "least", "most"),
    [
        (reply(500), 0.9, 1.1),
        (reply(503, retry_s=7200), 2, 2.2),
        (Reply(Answer.FAILED), 0.9, 1.1),
        (reply(429), 0.9, 1.1),
    ],
    ids=["500", "503_retry_after", "timeout_or_dns", "429"],
)
def test_rss_case_13_errors_keep_it_for_ever(answer: Reply, least: float, most: float) -> None:
    s = unseen()
    s.web[A] = answer
    s.cycle()
    r = s.of(A)
    assert (r.state, r.due, s.has(A)) == (DocState.RETRY, Due.RETRY, True)
    assert r.due_s is not None
    assert least * HOUR <= r.due_s - s.now <= most * HOUR
    first = s.now
    s.run(first + 32 * DAY)
    assert s.has(A)
    assert s.of(A).state is DocState.RETRY
    assert 30 <= len(s.asked(A)) <= 45  # at least once a day, never more often than the back-off allows
    alerts = [cause for cause in s.notices() if cause.startswith("cannot be reached")]
    assert len(alerts) == 1
    s.web[A] = reply(200, "back")
    s.run(s.now + 27 * HOUR)
    assert (s.of(A).state, s.of(A).fails) == (DocState.LIVE, 0)


def test_rss_case_13_a_host_that_is_over_loaded_is_left_alone() -> None:
    s = unseen()
    r = s.of(A)
    for status, wish in ((429, True), (503, True), (500, False)):
        visit = Visit(Answer.BACK_OFF, Intent.CHECK, s.now, status, retry_s=5000.0)
        until = s.decider.visited(r, visit, s.book, s.now).host_until_s
        assert (until == s.now + 5000) if wish else (until is None)


def test_rss_case_14_403_three_times_over_24_hours_hides() -> None:
    s = unseen()
    s.web[A] = reply(403)
    s.cycle()
    first = s.now
    s.run(first + 23.5 * HOUR)
    assert s.of(A).key not in s.hidden
    s.run(first + 27 * HOUR)
    assert s.of(A).state is DocState.HIDDEN
    assert s.hidden == {s.of(A).key}
    assert len(s.asked(A)) == 3
    s.web[A] = reply(200, "again")
    s.run(first + 60 * HOUR)
    assert (s.of(A).state, s.hidden, s.has(A)) == (DocState.LIVE, set(), True)


def test_rss_case_14_what_stays_hidden_for_14_days_goes() -> None:
    s = unseen()
    s.web[A] = reply(401)
    s.cycle()
    s.run(s.now + 14.9 * DAY)
    assert s.has(A)
    s.run(s.now + 2 * DAY)
    assert (s.of(A).state, s.has(A)) == (DocState.DELETED, False)


def test_rss_case_15_a_listed_document_is_confirmed_gone() -> None:
    s = source((A, NOON))
    s.serve(FEED, rss((A, LATER)))
    s.web[A] = reply(404)
    hours(s)
    r = s.of(A)
    assert (r.state, r.want, r.due, s.has(A)) == (DocState.GONE_HELD, Want.NOTHING, Due.CONFIRM, True)
    assert next(iter(s.book.listings_of(r.key))).waiting is not None  # the new date is not registered yet
    hours(s)
    assert (s.of(A).state, s.has(A)) == (DocState.DELETED, False)


def test_rss_case_15_a_second_look_that_finds_it_keeps_it() -> None:
    s = source((A, NOON))
    s.serve(FEED, rss((A, LATER)))
    s.web[A] = reply(404)
    hours(s)
    s.web[A] = reply(200, "back")
    hours(s)
    (dates,) = s.book.listings_of(s.of(A).key)
    assert (s.of(A).state, s.of(A).gone, dates.waiting) == (DocState.LIVE, 0, None)
    assert dates.published == "2018-03-20T09:33:00Z"


def test_rss_case_16_a_new_link_that_answers_404_is_asked_again() -> None:
    s = SimulatedSource()
    s.add(FEED, rss((B, NOON)))
    s.web[B] = reply(404)
    s.cycle()
    assert (s.of(B).state, s.documents) == (DocState.PENDING, {})
    s.web[B] = reply(200, "b")
    hours(s)
    assert (s.of(B).state, len(s.documents)) == (DocState.LIVE, 1)


def test_rss_case_16_in_each_cycle_for_24_hours_then_daily_while_listed() -> None:
    s = SimulatedSource()
    s.add(FEED, rss((B, NOON)))
    s.web[B] = reply(404)
    s.cycle()
    hours(s, 24.5)
    assert 24 <= len(s.asked(B)) <= 26
    s.requests.clear()
    hours(s, 10 * 24)
    assert 9 <= len(s.asked(B)) <= 11
    s.serve(FEED, rss((A, NOON)))
    hours(s, 24)
    s.requests.clear()
    hours(s, 5 * 24)
    assert not s.asked(B)  # nobody lists it any more


def test_rss_case_17_and_18_a_redirect_and_its_alias() -> None:
    a2 = "https://n.test/a2"
    s = SimulatedSource()
    s.web[A] = reply(200, "a", final=a2)
    s.web[a2] = reply(200, "a")
    s.add(FEED, rss((A, NOON)))
    s.cycle()
    assert s.documents == {s.of(A).key: "a"}
    assert s.of(A).final == a2
    s.serve(FEED, rss((A, NOON), (a2, NOON)))
    hours(s)
    assert s.documents == {s.of(a2).key: "a"}
    assert (s.of(A).state, s.of(A).alias) == (DocState.ALIAS, s.of(a2).key)
    s.requests.clear()
    hours(s, 6 * 24)
    assert not s.asked(A)
    assert len(s.documents) == 1


def test_rss_case_18_an_alias_comes_back_when_its_document_goes() -> None:
    a2 = "https://n.test/a2"
    s = SimulatedSource()
    s.web[A] = reply(200, "a", final=a2)
    s.web[a2] = reply(200, "a")
    s.add(FEED, rss((A, NOON), (a2, NOON)))
    s.cycle()
    hours(s)
    s.web[a2] = reply(410)
    s.web[A] = reply(200, "a", final="https://n.test/a3")
    s.serve(FEED, rss((A, NOON), (a2, LATER)))
    hours(s, 2)
    assert (s.of(a2).state, s.of(A).state) == (DocState.DELETED, DocState.LIVE)
    assert s.documents == {s.of(A).key: "a"}


def test_rss_case_19_a_redirect_to_the_root_is_suspected() -> None:
    s = unseen()
    s.web[A] = reply(200, "home", final="https://n.test/")
    s.cycle()
    assert (s.of(A).state, s.of(A).suspect) == (DocState.LIVE, "redirected to the root of the site")
    assert any("soft 404" in cause for cause in s.notices())
    assert s.has(A)


def test_rss_case_19_and_goes_where_the_source_says_so() -> None:
    s = source((A, NOON), limits=SourceLimits(soft_404="delete"))
    last = s.now
    s.serve(FEED, rss((B, NOON)))
    s.web[A] = reply(200, "home", final="https://n.test/")
    s.run(last + 52 * HOUR)
    assert (s.of(A).state, s.of(A).reason) == (DocState.DELETED, "soft 404")


def test_rss_case_20_304_is_seen_and_after_7_days_one_refresh() -> None:
    s = SimulatedSource()
    s.web[A] = reply(200, "a", etag='"a"')
    s.add(FEED, Served(rss((A, NOON)), etag='"f"'))
    s.cycle()
    start = s.now
    s.run(start + 3 * DAY)
    assert len(s.asked(A)) == 1
    assert s.feeds[1].status == 304
    s.run(start + 7 * DAY + 2 * HOUR)
    assert [(x.intent, x.etag) for x in s.asked(A)[1:]] == [(Intent.REFRESH, '"a"')]


def test_rss_case_20_one_poll_in_7_days_is_unconditional() -> None:
    s = SimulatedSource()
    s.add(FEED, Served(rss((A, NOON)), etag='"f"'))
    s.cycle()
    hours(s, 20 * 24)
    assert sum(1 for x in s.asked(FEED) if x.intent is Intent.FEED_ANEW) == 3
    assert all(x.etag == '"f"' for x in s.asked(FEED) if x.intent is Intent.FEED)


def test_rss_case_21_a_feed_that_fails_for_3_days_deletes_nothing() -> None:
    s = source((A, NOON))
    start = s.now
    s.serve(FEED, Served(kind=PollKind.SERVER_ERROR, status=500))
    s.run(start + 48 * HOUR - 60)
    assert len(s.asked(A)) == 1
    s.run(start + 3 * DAY)
    assert [x.intent for x in s.asked(A)] == [Intent.NEW, Intent.CHECK]
    assert s.has(A)
    feed = s.feeds[1]
    assert feed.state is FeedState.FAILING
    assert feed.due_s is not None
    assert feed.polled_s is not None
    assert feed.due_s - feed.polled_s == DAY
    assert "failed polls in a row: back-off" in feed.why
    s.serve(FEED, rss((A, NOON)))
    s.run(s.now + 2 * DAY)
    r = s.of(A)
    assert (s.feeds[1].state, s.feeds[1].lapsed, r.listed, r.due) == (FeedState.ACTIVE, False, 1, Due.REFRESH)


def test_rss_case_22_410_stops_polling_and_the_documents_stay() -> None:
    s = source((A, NOON))
    s.serve(FEED, Served(kind=PollKind.GONE, status=410))
    hours(s)
    s.requests.clear()
    hours(s, 10 * 24)
    assert not s.asked(FEED)
    assert any("410" in cause for cause in s.notices())
    assert 4 <= len(s.asked(A)) <= 5
    assert all(x.intent is Intent.CHECK for x in s.asked(A))
    assert s.has(A)
    s.feeds[1] = s.decider.resumed(s.feeds[1], s.now)
    s.serve(FEED, rss((A, NOON)))
    hours(s, 2)
    assert (s.feeds[1].state, s.of(A).listed) == (FeedState.ACTIVE, 1)


@pytest.mark.parametrize("status", [301, 308])
def test_rss_case_23_three_permanent_redirects_over_a_day_move_the_feed(status: int) -> None:
    new = "https://n.test/feed2"
    s = source((A, NOON))
    start = s.now
    s.serve(FEED, Served(rss((A, NOON)), hops=(Hop(status, new),)))
    s.serve(new, rss((A, NOON)))
    s.run(start + 23 * HOUR)
    assert s.feeds[1].url == FEED
    s.run(start + 30 * HOUR)
    assert s.feeds[1].url == new
    assert len(s.asked(new)) > 2


@pytest.mark.parametrize(
    "hops",
    [(Hop(302, "https://n.test/feed2"),), (Hop(302, "https://n.test/x"), Hop(301, "https://n.test/feed2"))],
    ids=["temporary", "first_hop_temporary"],
)
def test_rss_case_23_temporary_redirects_do_not(hops: tuple[Hop, ...]) -> None:
    s = source((A, NOON))
    s.serve(FEED, Served(rss((A, NOON)), hops=hops))
    hours(s, 72)
    assert s.feeds[1].url == FEED


def test_rss_case_23_nor_does_a_redirect_to_a_page() -> None:
    s = source((A, NOON))
    s.serve(FEED, Served(b"<html><body>closed</body></html>", hops=(Hop(301, "https://n.test/closed"),)))
    hours(s, 100)
    assert (s.feeds[1].url, s.feeds[1].state) == (FEED, FeedState.FAILING)


def test_rss_case_24_ttl_and_max_age_with_their_cap() -> None:
    s = source((A, NOON), head="<ttl>180</ttl>")
    assert s.feeds[1].due_s == s.now + 3 * HOUR
    s.run(s.now + 2.9 * HOUR)
    assert len(s.asked(FEED)) == 1
    s.serve(FEED, Served(rss((A, NOON), head="<ttl>180</ttl>"), max_age_s=604_800))
    s.run(s.now + HOUR)
    feed = s.feeds[1]
    assert feed.due_s is not None
    assert feed.polled_s is not None
    assert (feed.due_s - feed.polled_s, feed.why) == (DAY, "Cache-Control or Expires, capped")


def test_rss_case_25_hours_and_days_to_skip() -> None:
    hour = int(1_521_500_000 % DAY // HOUR)
    skipped = "".join(f"<hour>{(hour + n) % 24}</hour>" for n in (1, 2))
    s = source((A, NOON), head=f"<skipHours>{skipped}</skipHours>")
    at = s.feeds[1].due_s
    assert at is not None
    assert at % HOUR == 0
    assert int(at % DAY // HOUR) == (hour + 3) % 24
    s = source((A, NOON), head="<skipDays><day>Monday</day><day>Tuesday</day></skipDays>")
    assert s.feeds[1].due_s == (math.ceil(s.now / DAY) + 1) * DAY  # the clock stands at Monday, 22:53
    s = source(
        (A, NOON), head="<skipHours>" + "".join(f"<hour>{n}</hour>" for n in range(24)) + "</skipHours>"
    )
    assert s.feeds[1].due_s == s.now + HOUR


def test_rss_case_26_two_feeds_with_two_dates_do_not_argue() -> None:
    s = SimulatedSource()
    s.add(FEED, rss((A, NOON)))
    s.add("https://n.test/other", rss((A, LATER)))
    s.cycle()
    hours(s, 6 * 24)
    assert len(s.asked(A)) == 1
    assert s.of(A).listed == 2
    assert len(s.documents) == 1


def test_rss_case_27_of_two_dates_the_newer_is_registered() -> None:
    s = source((A, LATER), (A, NOON))
    assert [d.published for d in s.book.listings_of(s.of(A).key)] == ["2018-03-20T09:33:00Z"]
    s.serve(FEED, rss((A, NOON), (A, LATER)))
    hours(s, 3)
    assert len(s.asked(A)) == 1


def test_rss_case_28_an_undated_item_is_refreshed_after_48_hours() -> None:
    s = SimulatedSource()
    s.web[A] = reply(200, "a", etag='"a"')
    s.add(FEED, rss((A, "")))
    s.cycle()
    indexed = s.now
    hours(s, 49.5)
    assert [(x.intent, x.etag) for x in s.asked(A)[1:]] == [(Intent.REFRESH, '"a"')]
    assert s.of(A).indexed_s == indexed
    assert s.asked(A)[1].at_s > indexed + 48 * HOUR


def test_rss_case_29_volatile_dates_are_found_out() -> None:
    s = SimulatedSource()
    s.add(FEED)
    for cycle in range(1, 73):
        s.serve(FEED, rss((A, f"2018-03-{20 + cycle // 24:02}T{cycle % 24:02}:00:00Z")))
        s.cycle()
        if cycle <= 4:
            assert len(s.asked(A)) == cycle
        s.now += HOUR
    assert 4 + 2 <= len(s.asked(A)) <= 4 + 3
    assert any("volatile" in cause for cause in s.notices())
    assert s.feeds[1].volatile
    times = [x.at_s for x in s.asked(A)[3:]]
    assert all(later - earlier >= DAY for earlier, later in pairwise(times))


def test_rss_case_29_content_that_changes_with_its_date_is_no_such_thing() -> None:
    s = SimulatedSource()
    s.add(FEED)
    s.web[A] = lambda now: reply(200, f"at {now}")
    for cycle in range(20):
        s.serve(FEED, rss((A, f"2018-03-20T{cycle:02}:00:00Z")))
        s.cycle()
        s.now += HOUR
    assert len(s.asked(A)) == 20
    assert not s.notices()


def test_rss_case_30_and_33_items_without_a_link_are_counted() -> None:
    s = source(
        '<item><guid isPermaLink="false">urn:1</guid></item>', "<item><guid>https://n.test/g</guid></item>"
    )
    assert list(s.book.keys) == ["https://n.test/g"]
    assert s.feeds[1].rejected == 1
    assert {x.url for x in s.requests} == {FEED, "https://n.test/g"}


def test_rss_case_34_a_bare_ampersand_is_asked_for_whole() -> None:
    s = source(f"<item><link>{A}?x=1&y=2</link></item>", (B, NOON))
    assert len(s.asked(f"{A}?x=1&y=2")) == 1
    assert s.feeds[1].malformed
    assert any("malformed" in cause for cause in s.notices())


@pytest.mark.parametrize(("whole", "state"), [(7, FeedState.ACTIVE), (3, FeedState.FAILING)])
def test_rss_case_35_a_cut_list_counts_while_half_of_it_is_there(whole: int, state: FeedState) -> None:
    items = [(f"https://n.test/{n}", NOON) for n in range(10)]
    s = source(*items)
    body = rss(*[(f"https://n.test/new/{n}", NOON) for n in range(10)])
    cut = body.index(f"https://n.test/new/{whole}".encode()) + 20
    s.serve(FEED, body[:cut])
    hours(s)
    assert s.feeds[1].state is state
    assert sum(1 for r in s.book.regs.values() if "/new/" in r.link) == (
        whole if state is FeedState.ACTIVE else 0
    )
    assert not [x for x in s.requests if "/new/" in x.url and x.url[-1] not in "0123456789"]
    assert len([r for r in s.book.regs.values() if "/new/" not in r.link and r.listed]) == (
        0 if state is FeedState.ACTIVE else 10
    )


@pytest.mark.parametrize(
    "body",
    [b"<html><body>maintenance</body></html>", b"", rss(), b"<rss", b"\x00" * 100],
    ids=["html", "empty", "no_items", "broken", "zeros"],
)
def test_rss_case_37_what_is_no_list_any_more_proves_nothing(body: bytes) -> None:
    s = source((A, NOON), (B, NOON))
    s.serve(FEED, body)
    hours(s, 40)
    assert s.feeds[1].state is FeedState.FAILING
    assert s.feeds[1].error
    assert (s.of(A).listed, s.of(B).listed) == (1, 1)
    assert len(s.documents) == 2
    assert any("fails for" in cause for cause in s.notices())


def test_rss_case_38_foreign_schemes_are_never_asked_for() -> None:
    s = source(
        "<item><link>file:///etc/passwd</link></item>",
        "<item><link>javascript:alert(1)</link></item>",
        (A, NOON),
    )
    assert {x.url for x in s.requests} == {FEED, A}
    assert s.feeds[1].rejected == 2


def deleted(s: SimulatedSource) -> int:
    return sum(1 for r in s.book.regs.values() if r.state is DocState.DELETED)


def large(documents: int) -> tuple[SimulatedSource, float]:
    """Return a source of so many documents, none of them listed any more, and when they were last seen."""
    s = SimulatedSource()
    urls = [f"https://n.test/{n}" for n in range(documents)]
    s.add(FEED, rss(*[(url, NOON) for url in urls]))
    s.cycle()
    seen = s.now
    s.serve(FEED, rss((B, NOON)))
    return s, seen


def test_rss_case_40_a_wave_is_held_until_it_is_confirmed() -> None:
    s, seen = large(5000)
    for n in range(600):
        s.web[f"https://n.test/{n}"] = reply(404)
    s.run(seen + 48 * HOUR + 600)
    held = 0
    for _ in range(14):  # 5,000 checks at 500 a cycle; nothing goes before they are worked off
        hours(s)
        assert deleted(s) == 0
        held = sum(1 for r in s.book.regs.values() if r.state is DocState.GONE_HELD)
    assert held == 600
    assert all(s.has(f"https://n.test/{n}") for n in range(600))
    assert s.source.held == 600
    assert sum("would go" in cause for cause in s.notices()) == 1
    hours(s, 40)
    assert deleted(s) == 600
    assert len(s.documents) == 4401


def test_rss_case_40_what_comes_back_is_released() -> None:
    s, seen = large(5000)
    for n in range(600):
        s.web[f"https://n.test/{n}"] = reply(404)
    s.run(seen + 64 * HOUR)
    assert s.source.held == 600
    s.web.clear()
    hours(s, 40)
    assert deleted(s) == 0
    assert not [r for r in s.book.regs.values() if r.state is DocState.GONE_HELD]
    assert s.source.held_s is None


def test_rss_case_40_a_person_releases_or_keeps() -> None:
    s, seen = large(100)
    for n in range(30):
        s.web[f"https://n.test/{n}"] = reply(404)
    s.run(seen + 50 * HOUR)
    assert s.source.held == 30
    one, two = s.of("https://n.test/1"), s.of("https://n.test/2")
    gone = s.decider.execute(one, s.book, s.now)
    assert (gone.remove, gone.registration.state, gone.cause) == (True, DocState.DELETED, "404")
    kept = s.decider.discard(two, s.book, s.now)
    assert (kept.remove, kept.registration.state, kept.registration.want) == (
        False,
        DocState.LIVE,
        Want.NOTHING,
    )
    assert kept.registration.due_s == pytest.approx(s.now + 48 * HOUR, abs=1)


def test_rss_case_40_a_few_go_at_once() -> None:
    s, seen = large(5000)
    for n in range(30):
        s.web[f"https://n.test/{n}"] = reply(404)
    s.run(seen + 62 * HOUR)
    assert deleted(s) == 30
    assert not [cause for cause in s.notices() if "would go" in cause]


def test_rss_case_40_waves_in_slices_are_counted_over_a_day() -> None:
    s, seen = large(300)
    late = [(f"https://n.test/{n}", NOON) for n in range(25, 50)]
    s.serve(FEED, rss(*late))
    for n in range(50):
        s.web[f"https://n.test/{n}"] = reply(404)
    s.run(seen + 9.5 * HOUR)
    s.serve(FEED, rss((B, NOON)))
    s.run(seen + 52 * HOUR)
    assert deleted(s) == 25  # of 300 documents 30 may go in a day
    s.run(seen + 62 * HOUR)
    assert deleted(s) == 25
    assert s.source.held == 25


def test_rss_case_41_robots_txt() -> None:
    s = unseen()
    s.web[A] = Reply(Answer.ROBOTS)
    s.cycle()
    first = s.now
    assert (s.of(A).due, s.has(A)) == (Due.ROBOTS, True)
    s.run(first + 23 * HOUR)
    assert s.has(A)
    s.run(first + 26 * HOUR)
    assert (s.of(A).state, s.has(A)) == (DocState.EXCLUDED, False)
    assert s.of(A).reason == "robots.txt forbids it"

    s = unseen()
    s.web[A] = Reply(Answer.ROBOTS_UNREACHABLE, 503)
    s.cycle()
    s.run(s.now + 10 * DAY)
    assert (s.of(A).state, s.has(A)) == (DocState.RETRY, True)


def test_rss_case_42_a_tombstone_that_is_still_listed_is_asked_once_a_day() -> None:
    s = source((A, NOON))
    s.serve(FEED, rss((A, LATER)))
    s.web[A] = reply(404)
    hours(s, 2)
    assert s.of(A).state is DocState.DELETED
    gone = s.now
    s.requests.clear()
    s.run(gone + 49.5 * HOUR)
    assert len(s.asked(A)) == 2
    s.web[A] = reply(200, "back")
    s.run(gone + 75 * HOUR)
    assert (s.of(A).state, s.documents[s.of(A).key]) == (DocState.LIVE, "back")


def test_rss_case_42_another_date_brings_it_back_at_once() -> None:
    s = source((A, NOON))
    s.serve(FEED, rss((A, LATER)))
    s.web[A] = reply(404)
    hours(s, 2)
    s.web[A] = reply(200, "back")
    s.serve(FEED, rss((A, "Wed, 21 Mar 2018 10:00:00 GMT")))
    hours(s)
    assert s.of(A).state is DocState.LIVE


def test_rss_case_44_an_overrun_reads_older_pages() -> None:
    def page(n: int, more: str = "") -> bytes:
        link = (
            f'<atom:link xmlns:atom="http://www.w3.org/2005/Atom" rel="next" href="{more}"/>' if more else ""
        )
        return rss(*[(f"https://n.test/{n}/{i}", NOON) for i in range(3)], head=link)

    s = SimulatedSource()
    s.add(FEED, page(0))
    s.cycle()
    s.serve(FEED, page(5, f"{FEED}?page=2"))
    for n in range(2, 7):
        s.serve(f"{FEED}?page={n}", page(6 - n, f"{FEED}?page={n + 1}"))
    hours(s)
    assert [x.intent for x in s.requests if "page=" in x.url] == [Intent.PAGE] * 5
    assert len(s.documents) == 18
    assert any(cause.startswith("overrun") for cause in s.notices())
    feed = s.feeds[1]
    assert feed.due_s is not None
    assert feed.due_s - s.now == HOUR / 2
    assert feed.overrun
    hours(s, 60)
    assert s.feeds[1].halvings == 0


def test_rss_case_44_at_most_ten_pages() -> None:
    s = SimulatedSource()
    s.add(FEED, rss((A, NOON)))
    s.cycle()

    def page(n: int) -> bytes:
        link = f'<atom:link xmlns:atom="http://www.w3.org/2005/Atom" rel="next" href="{FEED}?page={n + 1}"/>'
        return rss((f"https://n.test/{n}", NOON), head=link)

    s.serve(FEED, page(1))
    for n in range(2, 30):
        s.serve(f"{FEED}?page={n}", page(n))
    hours(s)
    assert sum("page=" in x.url for x in s.requests) == 10


@pytest.mark.parametrize(("status", "stays"), [(404, False), (200, True)])
def test_rss_case_45_a_deleted_entry_is_checked_at_once(status: int, stays: bool) -> None:  # noqa: FBT001 - a parameter
    def atom(*ids: str, dead: str = "") -> bytes:
        entries = "".join(
            f'<entry><id>tag:{i}</id><link href="https://n.test/{i}"/><updated>2018-03-20T08:33:00Z</updated></entry>'
            for i in ids
        )
        stone = f'<at:deleted-entry xmlns:at="http://purl.org/atompub/tombstones/1.0" ref="tag:{dead}" when="2018-03-21T00:00:00Z"/>'
        return f'<feed xmlns="http://www.w3.org/2005/Atom">{entries}{stone if dead else ""}</feed>'.encode()

    s = SimulatedSource()
    s.add(FEED, atom("a", "b"))
    s.cycle()
    s.web[A] = reply(status, "a" if stays else "")
    s.serve(FEED, atom("b", dead="a"))
    hours(s)
    assert s.has(A) is stays
    assert s.of(A).state is (DocState.LIVE if stays else DocState.DELETED)
    hours(s, 40)
    assert len(s.asked(A)) == 2  # once, though the entry is still declared deleted
