"""The cases of the RSS provider specification, section 10, with catalog, desk and decider: what is in the index afterwards."""

from collections.abc import Callable

import pytest

from ingather.model.intent import Intent
from ingather.testing.fedhome import FedHome, Said, fed, rss

FEED = "https://n.test/feed.xml"
A, B, A2 = "https://n.test/a", "https://n.test/b", "https://n.test/a2"
D = "Tue, 20 Mar 2018 08:33:00 GMT"
LATER, EARLIER = "Tue, 20 Mar 2018 09:33:00 GMT", "Tue, 20 Mar 2018 07:33:00 GMT"
HomeOf = Callable[..., FedHome]


def begin(home: FedHome, *items: str | tuple[str, str]) -> None:
    """Run the first cycle: the feed lists *items*, A answers."""
    home.web.setdefault(A, Said(body="Alpha", etag='"1"'))
    home.web[FEED] = Said(body=rss(*(items or ((A, D),))))
    home.cycle()


def unseen(home: FedHome, answer: Said) -> None:
    """Let A be unseen for more than 48 hours, and answer its check so."""
    begin(home)
    home.web[FEED] = Said(body=rss((B, D)))
    home.web[B] = Said(body="Beta")
    home.cycle()
    home.web[A] = answer
    home.asked.clear()
    home.asked.append(home.of(A)[0]) if home.of(A) else None
    home.until(48.2)


def test_rss_case_01_a_listed_link_is_a_document(home: FedHome) -> None:
    begin(home)
    assert home.documents() == {A}
    assert home.state(A) == "live"
    listed = home.writer.syndication.listings_of([home.id_of(A)])[home.id_of(A)]
    assert len(listed) == 1
    assert b"2018-03-20T08:33:00Z" in listed[0].facts
    assert home.rows("select due from url where id = ?", home.id_of(A)) == [(None,)]


def test_rss_case_02_nothing_new_asks_for_nothing(home: FedHome) -> None:
    begin(home)
    before = home.feed().good_s
    assert [one.url for one in home.cycle()] == [FEED]
    assert (home.feed().good_s or 0) > (before or 0)
    assert not home.changes[1:]


@pytest.mark.parametrize("date", [LATER, EARLIER])
def test_rss_case_03_04_another_date_reindexes_unconditionally(home: FedHome, date: str) -> None:
    begin(home)
    home.web[A] = Said(body="Alpha anew", etag='"1"')
    home.web[FEED] = Said(body=rss((A, date)))
    asked = home.cycle()
    assert [(one.url, one.intent, one.status) for one in asked[1:]] == [(A, Intent.REINDEX, 200)]
    assert home.rows("select title from page where id = ?", home.id_of(A)) == [("Alpha anew",)]


def test_rss_case_07_08_09_the_check_comes_after_48_hours_and_not_before(home: FedHome) -> None:
    begin(home)
    home.web[FEED] = Said(body=rss((B, D)))
    home.web[B] = Said(body="Beta")
    home.cycle()
    seen_s = home.registration(A).seen_s or 0.0
    home.asked.clear()
    home.now_s = seen_s + 48 * 3600.0
    home.rest()
    assert home.of(A) == []
    home.now_s += 60
    home.now_s += 3600 - (home.now_s - home.now_s)  # the next cycle
    home.rest()
    (check,) = home.of(A)
    assert (check.intent, check.status) == (Intent.CHECK, 304)
    assert home.documents() == {A, B}
    home.until(47)
    assert len(home.of(A)) == 1
    home.until(3)
    assert len(home.of(A)) == 2


def test_rss_case_10_other_content_is_reindexed(home: FedHome) -> None:
    unseen(home, Said(body="Alpha anew", etag='"2"'))
    assert home.rows("select title from page where id = ?", home.id_of(A)) == [("Alpha anew",)]


@pytest.mark.parametrize("status", [404, 410])
def test_rss_case_11_12_gone_is_deleted_on_one_check(home: FedHome, status: int) -> None:
    unseen(home, Said(status))
    assert home.documents() == {B}
    assert str(status) in home.tombstone(A)
    assert home.state(A) == "deleted"
    assert home.removed(A) == 1


@pytest.mark.parametrize(
    ("answer", "least_s"), [(Said(500), 3200), (Said(503, retry_s=7200), 7200), (Said(0, kind="dns"), 3200)]
)
def test_rss_case_13_errors_keep_the_document(home: FedHome, answer: Said, least_s: float) -> None:
    unseen(home, answer)
    checks = home.of(A)
    assert checks
    home.until(6)
    assert home.of(A)[len(checks)].at_s - checks[-1].at_s >= least_s
    home.until(24 * 31, every=12)
    assert A in home.documents()
    assert home.state(A) == "retry"
    assert any("cannot be reached" in notice for notice in home.notices())


def test_rss_case_14_refused_for_a_day_is_hidden_and_comes_back(home: FedHome) -> None:
    unseen(home, Said(403))
    assert A in home.documents()
    home.until(30)
    assert home.state(A) == "hidden"
    assert home.documents() == {B}
    assert home.tombstone(A) == ""
    assert home.holds() == []
    home.web[A] = Said(body="Alpha again", etag='"3"')
    home.until(30)
    assert home.state(A) == "live"
    assert home.documents() == {A, B}


def test_rss_case_14_hidden_for_two_weeks_goes(home: FedHome) -> None:
    unseen(home, Said(403))
    home.until(24 * 18, every=6)
    assert home.state(A) == "deleted"
    assert home.documents() == {B}


def test_rss_case_15_listed_and_gone_twice(home: FedHome) -> None:
    begin(home)
    home.web[A] = Said(404)
    home.web[FEED] = Said(body=rss((A, LATER)))
    home.cycle()
    assert (home.state(A), home.documents()) == ("gone_held", {A})
    home.cycle()
    assert (home.state(A), home.documents()) == ("deleted", set())


def test_rss_case_16_a_new_link_that_comes_up_later(home: FedHome) -> None:
    begin(home, (A, D), (B, D))
    assert (home.state(B), home.documents()) == ("pending", {A})
    home.web[B] = Said(body="Beta")
    home.cycle()
    assert home.documents() == {A, B}


def test_rss_case_17_18_redirects_keep_the_links_key_and_make_one_document(home: FedHome) -> None:
    home.web[A] = Said(301, to=A2)
    home.web[A2] = Said(body="Alpha")
    begin(home)
    assert home.documents() == {A}
    assert home.registration(A).final == A2
    home.web[FEED] = Said(body=rss((A, D), (A2, D)))
    home.cycle()
    home.cycle()
    assert len(home.documents()) == 1
    assert sorted([home.state(A), home.state(A2)]) == ["alias", "live"]


def test_rss_case_19_a_redirect_to_the_root_is_suspect_and_kept(home: FedHome) -> None:
    home.web["https://n.test/"] = Said(body="Home")
    unseen(home, Said(302, to="https://n.test/"))
    assert A in home.documents()
    assert home.registration(A).suspect
    assert any("soft 404" in notice for notice in home.notices())


def test_rss_case_19_a_source_may_delete_soft_404(home_of: HomeOf) -> None:
    home = home_of(soft404="delete")
    home.web["https://n.test/"] = Said(body="Home")
    unseen(home, Said(302, to="https://n.test/"))
    assert home.documents() == {B}


def test_rss_case_20_304_is_seen_and_a_week_refreshes(home: FedHome) -> None:
    home.web[A] = Said(body="Alpha", etag='"1"')
    home.web[FEED] = Said(body=rss((A, D)), etag='"f"')
    home.cycle()
    home.asked.clear()
    home.until(72)
    assert {one.status for one in home.of(FEED)} == {304}
    assert home.of(A) == []
    home.until(24 * 5)
    assert [(one.intent, one.status) for one in home.of(A)] == [(Intent.REFRESH, 304)]


def test_rss_case_21_a_feed_that_fails_deletes_nothing(home: FedHome) -> None:
    begin(home)
    home.web[FEED] = Said(500)
    home.asked.clear()
    home.until(24 * 5)
    assert home.documents() == {A}
    assert {one.intent for one in home.of(A)} == {Intent.CHECK}
    polls = home.of(FEED)
    assert polls[-1].at_s - polls[-2].at_s >= 23 * 3600
    assert home.feed().error


def test_rss_case_22_a_feed_that_is_gone_is_polled_no_more(home: FedHome) -> None:
    begin(home)
    home.web[FEED] = Said(410)
    home.cycle()
    home.asked.clear()
    home.until(60)
    assert home.of(FEED) == []
    assert len(home.of(A)) >= 1
    assert home.documents() == {A}
    assert any("410" in notice for notice in home.notices())


def test_rss_case_23_a_feed_moves_for_good(home: FedHome) -> None:
    moved = "https://n.test/new.xml"
    begin(home)
    home.web[moved] = Said(body=rss((A, D)))
    home.web[FEED] = Said(301, to=moved)
    home.until(28)
    home.asked.clear()
    home.cycle()
    assert home.feed().url == moved
    assert [one.url for one in home.asked] == [moved]
    home.crash()
    assert home.feed(FEED).url == moved


def test_rss_case_23_not_to_a_page_that_is_no_feed(home: FedHome) -> None:
    begin(home)
    home.web["https://n.test/sorry"] = Said(body="<html><body>down</body></html>")
    home.web[FEED] = Said(301, to="https://n.test/sorry")
    home.until(60)
    assert home.feed().url == FEED


def test_rss_case_26_two_feeds_with_two_dates_do_not_argue(home_of: HomeOf) -> None:
    other = "https://n.test/other.xml"
    home = home_of(fed(feeds=(FEED, other)))
    home.web |= {A: Said(body="Alpha"), FEED: Said(body=rss((A, D))), other: Said(body=rss((A, LATER)))}
    home.until(48)
    assert len(home.of(A)) == 1
    assert home.documents() == {A}


def test_rss_case_28_without_a_date_one_look_after_48_hours(home: FedHome) -> None:
    home.web[A] = Said(body="Alpha", etag='"1"')
    begin(home, A)
    written = len(home.changes)
    home.asked.clear()
    home.until(50)
    assert [(one.intent, one.status) for one in home.of(A)] == [(Intent.REFRESH, 304)]
    assert len(home.changes) == written


def test_rss_case_29_volatile_dates(home: FedHome) -> None:
    home.web[A] = Said(body="Alpha")

    def feed(asked: int) -> Said:
        return Said(body=rss((A, f"Tue, 20 Mar 2018 08:{asked % 60:02d}:00 GMT")))

    home.web[FEED] = feed
    home.until(6)
    assert 4 <= len(home.of(A)) <= 5
    assert any("volatile" in notice for notice in home.notices())
    assert home.feed().volatile
    before = len(home.of(A))
    home.until(24)
    assert len(home.of(A)) - before <= 2


def test_rss_case_38_links_to_where_nobody_goes_are_rejected(home: FedHome) -> None:
    wrong = ["http://169.254.169.254/x", "http://127.0.0.1/", "http://[::1]/y", "http://10.1.2.3/"]
    begin(home, (A, D), *((link, D) for link in wrong))
    assert {one.url for one in home.asked} == {FEED, A}
    assert home.feed().rejected == len(wrong)


def test_rss_case_40_many_deletions_are_held_until_released(home_of: HomeOf) -> None:
    home = home_of(max_feed_items=10_000)
    links = [f"https://n.test/d{n}" for n in range(400)]
    for link in links:
        home.web[link] = Said(body=f"Document {link}", etag='"1"')
    home.web[FEED] = Said(body=rss(*((link, D) for link in links)))
    home.cycle()
    home.web[FEED] = Said(body=rss((A, D)))
    home.web[A] = Said(body="Alpha")
    home.cycle()
    for link in links[:60]:
        home.web[link] = Said(404)
    home.until(49)
    assert len(home.documents()) == 401
    assert home.holds() == [("web feed: not found (404)", 60)]
    assert {home.state(link) for link in links[:60]} == {"gone_held"}
    assert any("would go" in notice for notice in home.notices())
    (hold,) = home.writer.deletions.holds()
    home.job(
        lambda writer, applied: writer.deletions.close_hold(
            hold.id, release=True, now_s=home.now_s, applied=applied
        )
    )
    home.cycle()
    assert len(home.documents()) == 341
    assert {home.state(link) for link in links[:60]} == {"deleted"}
    asked = len(home.asked)
    home.until(24)
    assert not {one.url for one in home.asked[asked:]} & set(links[:60])


def test_rss_case_40_a_person_keeps_what_was_held(home_of: HomeOf) -> None:
    home = home_of(fed(feeds=(FEED,), source_deletion_documents=1))
    links = [f"https://n.test/d{n}" for n in range(10)]
    for link in links:
        home.web[link] = Said(body=f"Document {link}", etag='"1"')
    home.web[FEED] = Said(body=rss(*((link, D) for link in links)))
    home.cycle()
    home.web[FEED] = Said(body=rss((A, D)))
    home.web[A] = Said(body="Alpha")
    home.cycle()
    for link in links[:3]:
        home.web[link] = Said(404)
    home.until(49)
    (hold,) = home.writer.deletions.holds()
    home.job(
        lambda writer, applied: writer.deletions.close_hold(
            hold.id, release=False, now_s=home.now_s, applied=applied
        )
    )
    home.cycle()
    assert {home.state(link) for link in links[:3]} == {"live"}
    assert len(home.documents()) == 11


def test_rss_case_40_confirmed_by_more_cycles_over_a_day_they_go(home_of: HomeOf) -> None:
    home = home_of(fed(feeds=(FEED,), source_deletion_documents=2))
    links = [f"https://n.test/d{n}" for n in range(10)]
    for link in links:
        home.web[link] = Said(body=f"Document {link}")
    home.web[FEED] = Said(body=rss(*((link, D) for link in links)))
    home.cycle()
    home.web[FEED] = Said(body=rss((A, D)))
    home.web[A] = Said(body="Alpha")
    home.cycle()
    for link in links[:5]:
        home.web[link] = Said(404)
    home.until(50)
    assert len(home.documents()) == 11
    home.until(24 * 4)
    assert home.documents() == {A, *links[5:]}
    assert home.holds() == []


def test_rss_case_40_few_deletions_are_not_held(home_of: HomeOf) -> None:
    home = home_of()
    links = [f"https://n.test/d{n}" for n in range(25)]
    for link in links:
        home.web[link] = Said(body=f"Document {link}")
    home.web[FEED] = Said(body=rss(*((link, D) for link in links)))
    home.cycle()
    home.web[FEED] = Said(body=rss((A, D)))
    home.web[A] = Said(body="Alpha")
    home.cycle()
    for link in links[:20]:
        home.web[link] = Said(404)
    home.until(50)
    assert home.documents() == {A, *links[20:]}
    assert home.holds() == []


def test_rss_case_41_robots_disallows_for_good_or_cannot_be_had(home: FedHome) -> None:
    unseen(home, Said(robots="disallow"))
    assert A in home.documents()
    home.until(30)
    assert (home.state(A), A in home.documents()) == ("excluded", False)
    assert "robots" in home.tombstone(A)


def test_rss_case_41_robots_unreachable_keeps(home: FedHome) -> None:
    unseen(home, Said(robots="unreachable"))
    home.until(24 * 10, every=6)
    assert A in home.documents()


def test_rss_case_42_deleted_and_listed_unchanged_is_asked_once_a_day(home: FedHome) -> None:
    begin(home)
    home.web[A] = Said(404)
    home.web[FEED] = Said(body=rss((A, LATER)))
    home.cycle()
    home.cycle()
    assert home.state(A) == "deleted"
    home.asked.clear()
    home.until(72)
    assert 2 <= len(home.of(A)) <= 3
    home.web[A] = Said(body="Alpha is back")
    home.until(25)
    assert (home.state(A), home.documents()) == ("live", {A})
    assert home.tombstone(A) == ""


def test_rss_case_43_the_delete_reaches_the_index_once(home: FedHome) -> None:
    unseen(home, Said(404))
    assert home.removed(A) == 1
    home.crash()
    home.until(24)
    assert home.removed(A) == 1
    removals = home.rows("select count(*) from change where id = ? and kind = 2", home.id_of(A))
    assert removals == [(1,)]


def test_rss_case_44_an_overrun_reads_older_pages(home: FedHome) -> None:
    begin(home)
    links = [f"https://n.test/n{n}" for n in range(6)]
    for link in links:
        home.web[link] = Said(body=f"Document {link}")
    more = '<atom:link xmlns:atom="http://www.w3.org/2005/Atom" rel="next" href="https://n.test/feed.xml?page={}"/>'
    home.web[FEED] = Said(body=rss(*((x, D) for x in links[:2]), channel=more.format(2)))
    home.web[f"{FEED}?page=2"] = Said(body=rss(*((x, D) for x in links[2:4]), channel=more.format(3)))
    home.web[f"{FEED}?page=3"] = Said(body=rss(*((x, D) for x in links[4:]), (A, D)))
    home.cycle()
    assert home.documents() == {A, *links}
    assert any("overrun" in notice for notice in home.notices())
    assert f"{FEED}?page=2" not in home.documents()


def test_rss_case_45_a_deleted_entry_is_checked_at_once(home: FedHome) -> None:
    atom = (
        '<feed xmlns="http://www.w3.org/2005/Atom" xmlns:at="http://purl.org/atompub/tombstones/1.0"><id>urn:f</id><title>N</title>'
        "<updated>2018-03-20T08:33:00Z</updated>{}</feed>"
    )
    entry = '<entry><id>urn:{0}</id><title>{0}</title><link href="https://n.test/{0}"/><updated>2018-03-20T08:33:00Z</updated></entry>'
    home.web |= {A: Said(body="Alpha"), B: Said(body="Beta")}
    home.web[FEED] = Said(body=atom.format(entry.format("a") + entry.format("b")))
    home.cycle()
    home.web[A] = Said(404)
    gone = "".join(f'<at:deleted-entry ref="urn:{x}" when="2018-03-20T09:00:00Z"/>' for x in "ab")
    home.web[FEED] = Said(body=atom.format(entry.format("c") + gone))
    home.web["https://n.test/c"] = Said(body="Gamma")
    home.cycle()
    assert home.documents() == {B, "https://n.test/c"}
