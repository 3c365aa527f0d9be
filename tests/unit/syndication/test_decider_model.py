"""The decider against a plain model of what may be asked and what may go, over long simulated times.

The model knows what each server answered and what each feed listed, nothing of states: no document is lost, none goes without
proof, and no URL is asked for within its clocks.
"""

import random
from dataclasses import dataclass, field
from typing import Final

from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from ingather.model.intent import Intent
from ingather.model.polled import PollKind
from ingather.syndication import Listing, ListingItem
from ingather.syndication.facts import DocState, FeedFacts, FeedState, Registration, SourceFacts
from ingather.syndication.rulings import Answer
from ingather.syndication.source_limits import SourceLimits
from ingather.testing.syndicated import Reply, Served, SimulatedSource

HOUR, DAY = 3600.0, 86400.0
FEEDS: Final = ("https://n.test/feed/1", "https://n.test/feed/2")
URLS: Final = tuple(f"https://n.test/{n}" for n in range(8))
LIMITS: Final = SourceLimits(delete_floor=3, max_checks_per_cycle=3)

ERRORS: Final = frozenset({Answer.BACK_OFF, Answer.FAILED, Answer.ROBOTS_UNREACHABLE, Answer.EMPTY})
WELL: Final = frozenset({Answer.OK, Answer.UNCHANGED})


@dataclass
class Past:
    """What the model remembers of one URL."""

    answers: list[tuple[float, Answer, bool]] = field(default_factory=list)  # when, what, listed then
    fails: int = 0
    well_s: float = 0.0
    seen_s: float = 0.0
    body: str = ""
    in_vain: dict[str, int] = field(default_factory=dict)  # by feed
    registered: dict[str, str] = field(default_factory=dict)
    dates: dict[str, str] = field(default_factory=dict)
    owed: set[str] = field(
        default_factory=set
    )  # feeds whose last date for it differs from the registered one


class Watched(SimulatedSource):
    """A source whose every visit and deletion the model judges."""

    def __init__(self, limits: SourceLimits = LIMITS) -> None:
        super().__init__(limits)
        self.past: dict[str, Past] = {}
        self.lists: dict[str, dict[str, str]] = {}
        self.told_s: dict[str, float] = {}
        self.strict = True
        self.unproven: list[tuple[float, str]] = []

    def poll(self, number: int, intent: Intent) -> None:
        """Poll, and note what was seen."""
        super().poll(number, intent)
        feed = self.feeds[number]
        if feed.good_s != self.now:
            return
        served = self.served.get(feed.url)
        if served is not None and isinstance(served.listing, Listing):
            self.lists[feed.url] = {item.link: item.modified for item in served.listing.items}
        self.told_s[feed.url] = self.now
        for url, date in self.lists[feed.url].items():
            past = self.past.setdefault(url, Past())
            past.seen_s = self.now
            past.dates[feed.url] = date
            if past.registered.setdefault(feed.url, date) == date:
                past.owed.discard(feed.url)
            else:
                past.owed.add(feed.url)

    def listed(self, url: str) -> list[str]:
        """Return the feeds that list *url* by what they told within ``max_unseen_age``."""
        return [
            feed
            for feed, items in self.lists.items()
            if url in items and self.now - self.told_s[feed] <= 48 * HOUR
        ]

    def _visit(self, r: Registration) -> None:
        past = self.past[r.link]
        if self.strict:
            self.may_ask(r, past)
        listed = bool(self.listed(r.link))
        held = set(self.documents)
        count = len(self.requests)
        super()._visit(r)
        assert len(self.requests) == count + 1
        answer = self.web.get(r.link)
        assert answer is None or isinstance(answer, Reply)
        self.note(past, r, answer or Reply(Answer.OK, 200, r.link), listed=listed)
        for key in held - set(self.documents):  # only what has become an alias goes with a visit
            other = self.book.regs[key]
            assert other.state is DocState.ALIAS
            assert other.alias in self.documents

    def note(self, past: Past, r: Registration, answer: Reply, *, listed: bool) -> None:
        """Remember what was answered, and which dates that committed."""
        kind = answer.answer
        past.answers.append((self.now, kind, listed))
        past.fails = past.fails + 1 if kind in ERRORS else 0
        if kind in WELL:
            for feed in past.owed:
                past.in_vain[feed] = past.in_vain.get(feed, 0) + 1 if answer.body == past.body else 0
            past.well_s, past.body = self.now, answer.body
            past.registered.update(past.dates)
            past.owed.clear()

    def may_ask(self, r: Registration, past: Past) -> None:
        """Judge whether *r* may be visited now for the reason it is visited."""
        if not past.answers:
            assert r.intent is Intent.NEW
            return
        at, answer, _ = past.answers[-1]
        gap = self.now - at
        changed = past.owed
        assert gap >= HOUR / 2 or (changed and gap >= HOUR / 4)
        if answer in ERRORS:
            assert gap >= 0.9 * min(HOUR * 2 ** (past.fails - 1), DAY)
        elif answer is Answer.REFUSED and r.state.holds:
            assert gap >= 12 * HOUR
        elif answer is Answer.ROBOTS and r.state.holds:
            assert gap >= (12 * HOUR if r.breaker else DAY)
        elif answer in WELL and r.state.holds:
            if r.intent is Intent.CHECK:
                assert not self.listed(r.link)
                assert self.now - max(past.well_s, past.seen_s) > 48 * HOUR
            elif r.intent is Intent.REFRESH:
                dated = any(self.lists[feed][r.link] for feed in self.listed(r.link))
                assert self.now - past.well_s > (7 * DAY if dated else 48 * HOUR)
            else:
                assert r.intent is Intent.REINDEX
                assert changed
                assert gap >= DAY or any(past.in_vain.get(feed, 0) < 3 for feed in changed)
        elif r.state in {DocState.DELETED, DocState.EXCLUDED, DocState.ALIAS}:
            assert changed or gap >= DAY
        elif r.state is DocState.PENDING and answer in {Answer.NOT_FOUND, Answer.REFUSED}:
            first = next(t for t, a, _ in past.answers if a is not Answer.OK)
            assert changed or gap >= DAY or self.now - first <= 2 * DAY or past.well_s

    def judge(self) -> None:
        """Decide about deletions, and judge each."""
        before = set(self.documents)
        held = {key for key in before if self.book.regs[key].breaker}
        super().judge()
        gone = before - set(self.documents)
        for key in gone:
            self.proven(self.past[self.book.urls[key]], confirmed=key in held)
        fresh = [key for key in gone if key not in held]
        self.unproven = [(at, url) for at, url in self.unproven if self.strict and at > self.now - DAY]
        self.unproven += [(self.now, self.book.urls[key]) for key in fresh]
        assert len(self.unproven) <= max(
            LIMITS.delete_floor, LIMITS.delete_share * (len(before) + len(self.unproven))
        )

    def proven(self, past: Past, *, confirmed: bool) -> None:
        """Assert that what was answered is proof."""
        answers = [entry for entry in past.answers if entry[1] not in ERRORS]
        last = answers[-1]
        run = []
        for entry in reversed(answers):
            if entry[1] is not last[1]:
                break
            run.append(entry)
        if last[1] is Answer.NOT_FOUND:
            assert len(run) >= 2 or not last[2] or answers[-2][1] is Answer.GONE
        elif last[1] is Answer.REFUSED:
            assert last[0] - run[-1][0] >= 14 * DAY
        elif last[1] is Answer.ROBOTS:
            assert last[0] - run[-1][0] >= DAY
        else:
            assert last[1] in {Answer.GONE, Answer.NOINDEX}
        if confirmed and self.strict:
            proofs = {Answer.NOT_FOUND, Answer.GONE, Answer.NOINDEX, Answer.REFUSED, Answer.ROBOTS}
            assert len([entry for entry in answers if entry[1] in proofs]) >= 3

    def consistent(self) -> None:
        """Assert that states tell the truth about documents."""
        for key, r in self.book.regs.items():
            assert r.state.holds == (key in self.documents), r
            assert (r.intent is Intent.NONE) or r.due_s is None
            assert r.listed == sum(
                d.listed and not self.feeds[d.feed].lapsed for d in self.book.listings_of(key)
            )
            assert r.dated == sum(
                d.listed and d.dated and not self.feeds[d.feed].lapsed for d in self.book.listings_of(key)
            )
            assert (r.state is DocState.HIDDEN) <= (key in self.hidden)
            assert not self.wanted
        for url, past in self.past.items():
            if past.answers and past.answers[-1][1] in WELL and url in self.book.keys:
                r = self.book.regs[self.book.keys[url]]
                assert r.state.holds or r.state is DocState.ALIAS, r


def listing(dates: dict[str, str]) -> Listing:
    """Return a list of URLs with their dates."""
    return Listing(
        "rss", items=tuple(ListingItem(url, modified=date, guid=url) for url, date in dates.items())
    )


def moved(number: int) -> str:
    return f"2018-03-20T08:{number // 60 % 60:02}:{number % 60:02}Z"


class Provider(RuleBasedStateMachine):
    """Servers and feeds that do what they like, for months."""

    @initialize()
    def begin(self) -> None:
        self.s = Watched()
        self.bodies = 0
        self.dates = 0
        for feed, urls in zip(FEEDS, (URLS[:4], URLS[3:6]), strict=True):
            self.s.add(feed, Served(listing(dict.fromkeys(urls, moved(0)))))
        self.s.cycle()

    @rule(
        feed=st.sampled_from(FEEDS),
        urls=st.sets(st.sampled_from(URLS), min_size=1),
        undated=st.booleans(),
        etag=st.booleans(),
    )
    def lists(self, feed: str, urls: set[str], undated: bool, etag: bool) -> None:  # noqa: FBT001 - drawn
        old = self.s.lists.get(feed, {})
        dates = {url: "" if undated else old.get(url, moved(self.dates)) for url in sorted(urls)}
        self.dates += 1
        self.s.serve(feed, Served(listing(dates), etag=f'"{self.dates}"' if etag else ""))

    @rule(feed=st.sampled_from(FEEDS), urls=st.sets(st.sampled_from(URLS), min_size=1))
    def dates_move(self, feed: str, urls: set[str]) -> None:
        self.dates += 1
        self.s.serve(feed, Served(listing(dict.fromkeys(sorted(urls), moved(self.dates)))))

    @rule(
        feed=st.sampled_from(FEEDS),
        kind=st.sampled_from(
            [PollKind.SERVER_ERROR, PollKind.NOT_A_FEED, PollKind.FAILED, PollKind.GONE, PollKind.MISSING]
        ),
    )
    def feed_fails(self, feed: str, kind: PollKind) -> None:
        self.s.serve(feed, Served(kind=kind, status=500))

    @rule(
        url=st.sampled_from(URLS),
        answer=st.sampled_from(
            [Answer.NOT_FOUND, Answer.NOT_FOUND, Answer.GONE, Answer.REFUSED, Answer.BACK_OFF, Answer.FAILED, Answer.ROBOTS,
             Answer.ROBOTS_UNREACHABLE, Answer.NOINDEX, Answer.EMPTY]
        ),
    )  # fmt: skip
    def page_fails(self, url: str, answer: Answer) -> None:
        self.s.web[url] = Reply(answer)

    @rule(
        urls=st.sets(st.sampled_from(URLS), min_size=4),
        answer=st.sampled_from([Answer.NOT_FOUND, Answer.GONE]),
    )
    def site_fails(self, urls: set[str], answer: Answer) -> None:
        for url in urls:
            self.s.web[url] = Reply(answer)

    @rule(url=st.sampled_from(URLS), etag=st.booleans())
    def page_is_well(self, url: str, etag: bool) -> None:  # noqa: FBT001 - drawn
        self.bodies += 1
        self.s.web[url] = Reply(Answer.OK, 200, f"body {self.bodies}", f'"{self.bodies}"' if etag else "")

    @rule(hours=st.sampled_from([1, 2, 13, 26, 50, 100]))
    def time_passes(self, hours: int) -> None:
        self.s.run(self.s.now + hours * HOUR)
        self.s.consistent()

    def teardown(self) -> None:
        """Whatever happened: when all is well again, everything listed is there again."""
        if not hasattr(self, "s"):
            return
        s = self.s
        s.now += HOUR / 2
        s.web.clear()
        for number, feed in enumerate(FEEDS, start=1):
            self.dates += 1
            s.serve(feed, Served(listing(dict.fromkeys(URLS, moved(self.dates)))))
            if s.feeds[number].state is FeedState.GONE:
                s.feeds[number] = s.decider.resumed(s.feeds[number], s.now)
        s.run(s.now + 4 * DAY)
        s.consistent()
        assert {s.of(url).state for url in URLS} == {DocState.LIVE}
        assert s.documents == {s.book.keys[url]: url for url in URLS}


TestProvider = Provider.TestCase
TestProvider.settings = settings(
    max_examples=25,
    stateful_step_count=25,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),  # making months shorter takes minutes
)


class NewsSite:
    """Three sliding windows of ten articles; pages that fail for a while, change, or vanish; feeds that fail at times."""

    def __init__(self, s: Watched, seed: int) -> None:
        self.dice = random.Random(seed)  # noqa: S311 - no secret
        self.s = s
        self.windows: list[list[str]] = [[], [], []]
        self.gone: set[str] = set()
        self.failing: list[str] = []
        self.made = 0
        for n in range(3):
            s.add(f"https://n.test/feed/{n}")

    def publish(self, hour: int) -> None:
        """Add articles and serve the feeds."""
        for n, window in enumerate(self.windows):
            if self.dice.random() < 0.15 or not window:
                window.insert(0, f"https://n.test/article/{self.made}")
                self.made += 1
                del window[10:]
            dates = dict.fromkeys(window, "2018-03-20T08:00:00Z")
            dates.update((url, moved(hour)) for url in window if self.dice.random() < 0.01)
            served = Served(listing(dates), etag=str(sorted(dates.items())))
            failing = self.dice.random() < 0.03
            self.s.serve(
                f"https://n.test/feed/{n}",
                Served(kind=PollKind.SERVER_ERROR, status=500) if failing else served,
            )

    def disturb(self, hour: int) -> None:
        """Let something happen to a page."""
        while len(self.failing) > 5:
            del self.s.web[self.failing.pop(0)]
        url = f"https://n.test/article/{self.dice.randrange(self.made)}"
        if url in self.gone or url in self.failing:
            return
        what = self.dice.random()
        if what < 0.3:
            self.gone.add(url)
            self.s.web[url] = Reply(Answer.NOT_FOUND, 404)
        elif what < 0.6:
            self.failing.append(url)
            self.s.web[url] = Reply(self.dice.choice([Answer.BACK_OFF, Answer.FAILED]), 500)
        else:
            self.s.web[url] = Reply(Answer.OK, 200, str(hour))


def test_a_year_of_a_news_site() -> None:
    s = Watched(SourceLimits(discovery_interval_s=4 * HOUR, max_checks_per_cycle=60))
    site = NewsSite(s, 7)
    start = s.now
    for hour in range(6, 366 * 24, 6):
        site.publish(hour)
        if site.dice.random() < 0.1:
            site.disturb(hour)
        s.run(start + hour * HOUR)
    s.consistent()
    for url in site.failing:
        del s.web[url]
    s.run(s.now + 8 * DAY)
    s.consistent()
    states = {url: s.of(url).state for url in s.past if url not in site.gone}
    assert len(states) > 400
    assert set(states.values()) == {DocState.LIVE}  # none was lost, none deleted without proof
    assert sum(not s.has(url) for url in site.gone) > len(site.gone) / 2
    assert len(s.requests) < 400_000


def test_a_clock_that_jumps_back_does_not_stop_polling() -> None:
    for years in (0.001, 0.01, 0.3, 10):
        s = Watched()
        s.strict = False
        s.add(FEEDS[0], Served(listing(dict.fromkeys(URLS, moved(1)))))
        s.cycle()
        s.web[URLS[0]] = Reply(Answer.FAILED)
        s.serve(FEEDS[0], Served(listing(dict.fromkeys(URLS[:4], moved(2)))))
        s.run(s.now + 3 * DAY)
        s.now -= years * 365 * DAY
        polls = len(s.requests)
        jumped = s.now
        s.run(jumped + 6 * HOUR)
        assert len([x for x in s.requests[polls:] if x.url == FEEDS[0]]) >= 5
        s.web.clear()
        s.run(jumped + 200 * DAY)
        s.consistent()
        assert s.of(URLS[0]).state is DocState.LIVE
        assert len(s.documents) == len(URLS)
        checks = [x for x in s.requests[polls:] if x.url == URLS[7]]
        assert (
            20 <= len(checks) <= 105
        )  # every 48 hours, once the clock has caught up with itself or was found out


def test_a_hundred_thousand_feeds() -> None:
    """Each with a ``ttl`` of a day and a time of its own: an hour's cycle polls those whose time came, and no others."""
    s = SimulatedSource()
    count, start = 100_000, s.now
    for n in range(1, count + 1):
        url = f"https://h{n % 5000}.test/feed/{n}"
        s.feeds[n] = FeedFacts(
            n, url=url, polled_s=start - 1, good_s=start - 1, anew_s=start - 1, due_s=start + n * DAY / count, etag='"1"', ttl_s=DAY
        )  # fmt: skip
        s.served[url] = Served(Listing("rss"), etag='"1"')
    s.source = SourceFacts(ended_s=start)
    for hour in (1, 2, 3):
        s.now = start + hour * HOUR
        s.cycle()
        assert len(s.requests) == hour * count // 24
    assert len({x.url for x in s.requests}) == len(s.requests)
    assert all(x.intent is Intent.FEED for x in s.requests)
    at, _ = s.decider.next_cycle(s.source, s.feeds.values(), s.now)
    assert s.now < at <= s.now + HOUR
