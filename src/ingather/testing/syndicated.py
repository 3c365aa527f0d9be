"""A source of feeds without catalog, robot or network: the decider's rulings carried out in memory, at any speed.

For tests of the rules, of what reports on them, and for rehearsals of long times: a year takes seconds.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import md5
from typing import Final

from ingather.errors import UrlError
from ingather.model.intent import Intent
from ingather.model.lifecycle import Outcome
from ingather.model.polled import Hop, Polled, PollKind
from ingather.model.url import canonical
from ingather.syndication import Listing, read_listing
from ingather.syndication.answers import answer_of
from ingather.syndication.clocks import horizon
from ingather.syndication.deciding import Decider
from ingather.syndication.facts import DocState, Event, FeedFacts, ListedDates, Registration, SourceFacts
from ingather.syndication.joining import joined, keyed, poll_of
from ingather.syndication.rulings import Account, Answer, DocumentRuling, FeedRuling, Poll, Visit
from ingather.syndication.source_limits import SourceLimits

__all__ = ["MemoryBook", "Reply", "Request", "Served", "SimulatedSource", "reply"]

_OK: Final = 200
_SUCCESS: Final = frozenset({200, 203})


@dataclass(frozen=True, slots=True)
class Reply:
    """How a document's server answers; *final*: URL to which it redirects. ``etag`` makes conditional visits 304."""

    answer: Answer
    status: int = 0
    body: str = ""
    etag: str = ""
    final: str = ""
    retry_s: float | None = None
    soft_404: str = ""


def reply(
    status: int, body: str = "", *, etag: str = "", final: str = "", retry_s: float | None = None
) -> Reply:
    """Return the answer with HTTP *status*; a 200 without a body is an error."""
    if status in _SUCCESS:
        answer = Answer.OK if body else Answer.EMPTY
    else:
        answer = answer_of(Outcome.FAILED if not status else Outcome.REFUSED, status)
    return Reply(answer, status, body, etag, final, retry_s)


@dataclass(frozen=True, slots=True)
class Served:
    """How a feed's server answers: a list, or a failure of some kind. ``etag`` makes conditional polls 304."""

    listing: Listing | bytes | None = None
    kind: PollKind = PollKind.LISTED
    status: int = _OK
    etag: str = ""
    last_modified: str = ""
    max_age_s: float | None = None
    retry_s: float | None = None
    hops: tuple[Hop, ...] = ()


@dataclass(frozen=True, slots=True)
class Request:
    """One visit that took place."""

    at_s: float
    url: str
    intent: Intent
    etag: str = ""


@dataclass(slots=True)
class MemoryBook:
    """Registrations and listings in memory (:class:`ingather.syndication.rulings.Book`), with the keys of URLs."""

    regs: dict[int, Registration] = field(default_factory=dict)
    rows: dict[int, dict[int, ListedDates]] = field(default_factory=dict)
    feeds_of: dict[int, set[int]] = field(default_factory=dict)
    keys: dict[str, int] = field(default_factory=dict)
    urls: dict[int, str] = field(default_factory=dict)
    leading: dict[int | str, set[int]] = field(default_factory=dict)

    def key(self, url: str) -> int:
        """Return the key of canonical *url*, which it has from now on."""
        number = self.keys.setdefault(url, len(self.keys) + 1)
        self.urls[number] = url
        return number

    def put(self, registrations: Iterable[Registration]) -> None:
        """Keep *registrations*."""
        for r in registrations:
            self.regs[r.key] = r
            for target in (r.alias, r.final):
                if target:
                    self.leading.setdefault(target, set()).add(r.key)

    def put_listings(self, listings: Iterable[ListedDates]) -> None:
        """Keep *listings*."""
        for dates in listings:
            self.rows.setdefault(dates.feed, {})[dates.key] = dates
            self.feeds_of.setdefault(dates.key, set()).add(dates.feed)

    def forget(self, key: int) -> None:
        """Forget a registration and what feeds said of it."""
        self.regs.pop(key, None)
        for feed in self.feeds_of.pop(key, set()):
            self.rows[feed].pop(key, None)

    def listings(self, feed: int) -> Collection[ListedDates]:
        """Return what *feed* lists now."""
        return [dates for dates in self.rows.get(feed, {}).values() if dates.listed]

    def listings_among(self, feed: int, keys: Sequence[int]) -> Mapping[int, ListedDates]:
        """Return what *feed* says or said of *keys*."""
        rows = self.rows.get(feed, {})
        return {key: rows[key] for key in keys if key in rows}

    def registrations(self, keys: Sequence[int]) -> Mapping[int, Registration]:
        """Return the registrations of *keys*."""
        return {key: self.regs[key] for key in keys if key in self.regs}

    def listings_of(self, key: int) -> Collection[ListedDates]:
        """Return what all feeds say or said of *key*."""
        return [self.rows[feed][key] for feed in sorted(self.feeds_of.get(key, ()))]

    def named(self, feed: int, guids: Sequence[str]) -> Mapping[str, int]:
        """Return the keys of items that *feed* calls *guids*."""
        wanted = set(guids)
        return {d.guid: d.key for d in self.rows.get(feed, {}).values() if d.guid in wanted}

    def linked(self, links: Sequence[str]) -> Mapping[str, int]:
        """Return the keys of *links*, as far as they are registered."""
        found = {link: self.keys.get(link, 0) for link in links}
        return {link: key for link, key in found.items() if key in self.regs}

    def leading_to(self, key: int) -> Collection[Registration]:
        """Return the other registrations whose ``final`` is the URL of *key*, or whose ``alias`` is *key*."""
        url = self.urls.get(key)
        near = self.leading.get(key, set()) | self.leading.get(url or "", set())
        found = (self.regs.get(other) for other in sorted(near))
        return [r for r in found if r is not None and r.key != key and (r.alias == key or r.final == url)]


class SimulatedSource:
    """A source whose visits take no time; the test is the clock and the web.

    Attributes:
        now: wall time; set it, or let ``run`` move it.
        web: URL to how its document answers, or a function of the time; what is missing answers 200 with its URL as the body.
        served: URL to how a feed answers.
        documents: what is in the index: key to body.
        hidden: keys of documents that are not shown.
        requests: visits and polls that took place.
        events: what happened.
    """

    def __init__(self, limits: SourceLimits | None = None, *, now: float = 1_521_500_000.0) -> None:
        self.decider = Decider(limits)
        self.now = now
        self.book = MemoryBook()
        self.source = SourceFacts()
        self.feeds: dict[int, FeedFacts] = {}
        self.web: dict[str, Reply | Callable[[float], Reply]] = {}
        self.served: dict[str, Served] = {}
        self.documents: dict[int, str] = {}
        self.hidden: set[int] = set()
        self.requests: list[Request] = []
        self.events: list[Event] = []
        self.wanted: set[int] = set()
        self.why = ""
        self._due: dict[int, float] = {}
        self._held: set[int] = set()

    # -- what a test asks ---------------------------------------------------------------------

    def add(self, url: str, served: Served | Listing | bytes | None = None) -> FeedFacts:
        """Configure a feed."""
        feed = FeedFacts(len(self.feeds) + 1, url=url)
        self.feeds[feed.id] = feed
        if served is not None:
            self.serve(url, served)
        return feed

    def serve(self, url: str, served: Served | Listing | bytes) -> None:
        """Have the feed at *url* answer so from now on."""
        self.served[url] = served if isinstance(served, Served) else Served(served)

    def of(self, url: str) -> Registration:
        """Return the registration of *url*."""
        return self.book.regs[self.book.keys[url]]

    def has(self, url: str) -> bool:
        """Say whether *url* is in the index, hidden or not."""
        return self.book.keys.get(url, 0) in self.documents

    def asked(self, url: str) -> list[Request]:
        """Return the requests for *url*."""
        return [request for request in self.requests if request.url == url]

    def notices(self) -> list[str]:
        """Return what a person should see."""
        return [event.cause for event in self.events if event.notice]

    # -- time ---------------------------------------------------------------------------------

    def run(self, until_s: float) -> None:
        """Run cycles as they come until *until_s*; the clock stands there afterwards."""
        while True:
            at, _ = self.decider.next_cycle(self.source, self.feeds.values(), self.now)
            if at > until_s:
                break
            self.now = max(self.now, at)
            self.cycle()
        self.now = until_s

    def cycle(self) -> None:
        """Run one cycle now, with all visits that follow from it."""
        self.begin()
        self.visit()
        self.finish()
        self.visit()
        self.judge()

    def begin(self) -> None:
        """Begin a cycle and make its polls."""
        ruling = self.decider.begin_cycle(self.source, self.feeds.values(), self.now)
        self.source = ruling.source
        for asked in ruling.asks:
            self.feeds[asked.feed.id] = asked.feed
            self.poll(asked.feed.id, asked.intent)

    def poll(self, number: int, intent: Intent) -> None:
        """Poll a feed, with the pages that follow."""
        feed = self.feeds[number]
        poll = self._answered(feed.url, feed, intent)
        ruling = self.decider.polled(feed, poll, self.book, self.now)
        self._feed(ruling)
        while ruling.page:
            poll = self._answered(ruling.page, ruling.feed, Intent.PAGE)
            ruling = self.decider.paged(ruling.feed, poll, self.book, self.now)
            self._feed(ruling)
        for url in ruling.children or ():
            if all(known.url != url for known in self.feeds.values()):
                child = self.add(url)
                self.feeds[child.id] = FeedFacts(child.id, url=url, parent=number)

    def finish(self) -> None:
        """Ask for what is due and end the cycle."""
        for feed in list(self.feeds.values()):
            if self.decider.lapses(feed, self.now):
                self._feed(self.decider.lapse(feed, self.book, self.now))
        late = self.now + horizon(self.decider.limits)
        ready = sorted((at, key) for key, at in self._due.items() if at <= self.now or at > late)
        ruling = self.decider.due(self.source, [self.book.regs[key] for _, key in ready], self.now)
        self.source = ruling.source
        for one in ruling.rulings:
            self._document(one)
        end = self.decider.end_cycle(self.source, self.feeds.values(), self.now)
        self.source = end.source
        for feed in end.feeds:
            self.feeds[feed.id] = feed

    def visit(self) -> None:
        """Make all visits that are wanted, and those that follow from them, each document once."""
        done: set[int] = set()
        while todo := sorted(self.wanted - done):
            for key in todo:
                done.add(key)
                if key in self.wanted:
                    self._visit(self.book.regs[key])

    def judge(self) -> None:
        """Decide about deletions."""
        held = [self.book.regs[key] for key in sorted(self._held)]
        oldest = None
        if self.source.round_s is not None:
            oldest = min(
                (at for key, at in self._due.items() if self.book.regs[key].due.counted), default=None
            )
        account = Account(len(self.documents), oldest_due_s=oldest)
        ruling = self.decider.judge(self.source, held, account, self.book, now=self.now)
        self.source, self.why = ruling.source, ruling.why
        self.events += ruling.events
        for one in ruling.rulings:
            self._document(one)

    # -- parts --------------------------------------------------------------------------------

    def _answered(self, url: str, feed: FeedFacts, intent: Intent) -> Poll:
        self.requests.append(Request(self.now, url, intent, feed.etag if intent.conditional else ""))
        served = self.served.get(url, Served(kind=PollKind.MISSING, status=404))
        polled = Polled(
            served.kind, served.status, etag=served.etag, last_modified=served.last_modified, max_age_s=served.max_age_s,
            retry_s=served.retry_s, hops=served.hops,
        )  # fmt: skip
        if (
            intent is Intent.FEED
            and served.etag
            and served.etag == feed.etag
            and served.kind is PollKind.LISTED
        ):
            polled.kind, polled.status, polled.etag = PollKind.UNCHANGED, 304, ""
        if polled.kind is not PollKind.LISTED:
            return poll_of(polled, intent, None)
        body = served.listing
        listing = read_listing(body, url=url) if isinstance(body, bytes) else (body or Listing("rss"))
        if listing.error:
            polled.kind, polled.detail = PollKind.NOT_A_FEED, listing.error
            return poll_of(polled, intent, None)
        items, rejected = joined(listing.items, _canonical)
        keys = {item: self.book.key(item) for item in items}
        return poll_of(polled, intent, listing, keyed(items, keys, lambda _: False), rejected)

    def _visit(self, r: Registration) -> None:
        answer = self.web.get(r.link, None) or Reply(Answer.OK, _OK, r.link)
        given = answer if isinstance(answer, Reply) else answer(self.now)
        validator = r.etag if r.intent.conditional else ""
        self.requests.append(Request(self.now, r.link, r.intent, validator))
        kind, status, body = given.answer, given.status, given.body
        if kind is Answer.OK and validator and validator == given.etag:
            kind, status, body = Answer.UNCHANGED, 304, ""
        final = self.book.keys.get(given.final, 0)
        visit = Visit(
            kind, r.intent, self.now, status, "", md5(body.encode(), usedforsecurity=False).digest() if body else b"", given.etag, "",
            given.final, final if final in self.book.regs else 0, given.retry_s, given.soft_404,
        )  # fmt: skip
        self._document(self.decider.visited(r, visit, self.book, self.now), body)

    def _feed(self, ruling: FeedRuling) -> None:
        self.feeds[ruling.feed.id] = ruling.feed
        self._keep(ruling.registrations)
        self.book.put_listings(ruling.listings)
        self.events += ruling.events

    def _document(self, ruling: DocumentRuling, body: str = "") -> None:
        key = ruling.registration.key
        self.events += ruling.events
        if ruling.forget:
            self.book.forget(key)
            self.wanted.discard(key)
            self._held.discard(key)
            self._due.pop(key, None)
            return
        self._keep((ruling.registration, *ruling.others))
        self.book.put_listings(ruling.listings)
        if ruling.index:
            self.documents[key] = body
        for gone in (*ruling.duplicates, *((key,) if ruling.remove else ())):
            self.documents.pop(gone, None)
            self.hidden.discard(gone)
        if ruling.hide is not None:
            (self.hidden.add if ruling.hide else self.hidden.discard)(key)

    def _keep(self, registrations: Iterable[Registration]) -> None:
        self.book.put(registrations)
        for r in registrations:
            (self._held.add if r.state is DocState.GONE_HELD else self._held.discard)(r.key)
            (self.wanted.discard if r.intent is Intent.NONE else self.wanted.add)(r.key)
            if r.due_s is None:
                self._due.pop(r.key, None)
            else:
                self._due[r.key] = r.due_s


def _canonical(link: str) -> str | None:
    try:
        return canonical(link)
    except UrlError:
        return None
