"""What a list changes: which documents are new, changed, back or gone from it (section 9.1)."""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from ingather.model.intent import Intent
from ingather.syndication.casework import again_s
from ingather.syndication.clocks import planned, sooner
from ingather.syndication.facts import DocState, Event, FeedFacts, ListedDates, Registration, Want
from ingather.syndication.listing import Tombstone
from ingather.syndication.rulings import Book, FeedRuling, Listed
from ingather.syndication.source_limits import SourceLimits

__all__ = ["Relisting", "lapsed", "removed"]


class Relisting:
    """Collects what one list changes; facts are read once and written once.

    Args:
        feed: as it was before the poll.
        book: what the catalog knows.
        limits: of the source.
        now: when the poll ended.
    """

    def __init__(self, feed: FeedFacts, book: Book, limits: SourceLimits, now: float) -> None:
        self._feed = feed
        self._book = book
        self._limits = limits
        self._now = now
        self._known: dict[int, Registration] = {}
        self._regs: dict[int, Registration] = {}
        self._dates: dict[int, ListedDates] = {}
        self.events: list[Event] = []
        self.new = 0
        self.changed = 0
        self.dropped = 0
        self.overrun = False
        self.volatile = False
        self.met = False

    def registrations(self) -> tuple[Registration, ...]:
        """Return registrations that are new or changed, planned."""
        return tuple(planned(r, self._limits) for r in self._regs.values())

    def listings(self) -> tuple[ListedDates, ...]:
        """Return listings that are new or changed."""
        return tuple(self._dates.values())

    # -- a whole list -------------------------------------------------------------------------

    def take(self, items: Sequence[Listed], *, complete: bool) -> None:
        """Take the list that replaces the one before."""
        listed = {item.key: item for item in items}
        before = {dates.key: dates for dates in self._book.listings(self._feed.id)}
        fresh = [key for key in listed if key not in before]
        once = self._book.listings_among(self._feed.id, fresh) if fresh else {}
        dropped = [dates for key, dates in before.items() if key not in listed]
        self.overrun = bool(before) and bool(listed) and len(dropped) == len(before)
        self.volatile = any(d.idle >= self._limits.volatile_after for k, d in before.items() if k in listed)
        touched = [k for k, item in listed.items() if k not in before or _differs(before[k], item)]
        touched += [dates.key for dates in dropped]
        if self._feed.lapsed:
            touched = [*listed, *(dates.key for dates in dropped)]
        self._know(touched)
        for dates in dropped:
            self._drop(dates, complete=complete)
        for key, item in listed.items():
            known = before.get(key)
            if known is None:
                self._list(item, once.get(key))
            else:
                self._again(item, known)

    def back(self) -> None:
        """Count the list of before again, after the feed had lapsed."""
        dates = self._book.listings(self._feed.id)
        self._know([d.key for d in dates])
        for d in dates:
            self._count(d, +1)

    def lapse(self) -> None:
        """Count the list no more: the feed failed for too long."""
        dates = self._book.listings(self._feed.id)
        self._know([d.key for d in dates])
        for d in dates:
            self._count(d, -1)

    def remove(self, *, delete: bool) -> None:
        """Take everything from the list: the feed is no longer configured."""
        dates = self._book.listings(self._feed.id)
        self._know([d.key for d in dates])
        for d in dates:
            self._drop(d, complete=False)
            r = self._regs.get(d.key) or self._known.get(d.key)
            if delete and r is not None and not r.listed and r.state.holds and r.want is Want.NOTHING:
                self._event(r, DocState.GONE_HELD, "its feed was removed")
                self._regs[d.key] = replace(
                    r,
                    state=DocState.GONE_HELD,
                    want=Want.FEED,
                    want_s=self._now,
                    intent=Intent.NONE,
                    asked_s=None,
                )

    # -- a further page -----------------------------------------------------------------------

    def page(self, items: Sequence[Listed]) -> None:
        """Take a further page: what is on it was seen, but is not in the list. ``met``: something on it was known."""
        keys = [item.key for item in items]
        once = self._book.listings_among(self._feed.id, keys)
        self._know(keys)
        for item in items:
            dates = once.get(item.key)
            if dates is not None and dates.listed:
                continue
            known = self._known.get(item.key)
            if dates is None:
                row = replace(self._row(item), listed=False)
            else:
                self.met = True
                row = replace(self._dated(item, dates), last_s=self._now)
            self._dates[item.key] = row
            if item.foreign:
                continue
            if known is None:
                self._regs[item.key] = replace(
                    self._register(item), listed=0, dated=0, seen_s=self._now, unlisted_s=self._now
                )
                continue
            self._regs[item.key] = replace(known, seen_s=self._now)
            if dates is not None and row.waiting != dates.waiting:
                self._wish(row)

    # -- deleted entries ----------------------------------------------------------------------

    def bury(self, tombstones: Iterable[Tombstone], items: Sequence[Listed]) -> None:
        """Have what the feed declares deleted checked at once, once."""
        stones = list(tombstones)
        if not stones:
            return
        feed = self._feed.id
        keys = set(self._book.named(feed, [stone.ref for stone in stones]).values())
        links = [link for stone in stones for link in (stone.ref, stone.link) if link.startswith("http")]
        keys |= set(self._book.linked(links).values())
        keys -= {item.key for item in items}
        rows = self._book.listings_among(feed, sorted(keys))
        self._know([key for key in rows if key not in self._regs])
        for key, stored in rows.items():
            dates = self._dates.get(key, stored)
            if dates.buried or dates.listed:
                continue
            self._dates[key] = replace(dates, buried=True)
            r = self._regs.get(key) or self._known.get(key)
            if r is not None and not r.listed and r.state.holds:
                self._regs[key] = replace(r, absent_s=self._now)

    # -- parts --------------------------------------------------------------------------------

    def _know(self, keys: Sequence[int]) -> None:
        missing = [key for key in keys if key not in self._known]
        if missing:
            self._known.update(self._book.registrations(missing))

    def _row(self, item: Listed) -> ListedDates:
        return ListedDates(
            self._feed.id, item.key, item.published, item.modified, item.published_text, item.modified_text,
            first_s=self._now, last_s=self._now, guid=item.guid, title=item.title, foreign=item.foreign,
        )  # fmt: skip

    def _register(self, item: Listed) -> Registration:
        self.new += 1
        self.events.append(Event(self._now, "", "pending", "listed", 0, item.key, self._feed.id))
        return Registration(
            item.key, item.link, intent=Intent.NEW, asked_s=self._now, listed=1, dated=int(bool(item.published or item.modified)),
            known_s=self._now, guid=item.guid,
        )  # fmt: skip

    def _list(self, item: Listed, once: ListedDates | None) -> None:
        # Not in the list before: unknown, known by other feeds, or listed here once.
        known = self._known.get(item.key)
        if once is None or known is None:
            self._dates[item.key] = self._row(item)
        else:
            self._dates[item.key] = replace(
                self._dated(item, once), listed=True, buried=False, last_s=self._now
            )
        if item.foreign:
            return
        if known is None:
            self._regs[item.key] = self._register(item)
            return
        dates = self._dates[item.key]
        self._regs[item.key] = replace(
            known, listed=known.listed + 1, dated=known.dated + dates.dated, unlisted_s=None, absent_s=None
        )
        if once is not None and dates.waiting != once.waiting:
            self._wish(dates)

    def _again(self, item: Listed, dates: ListedDates) -> None:
        # In the list before, too.
        row = self._dated(item, dates)
        known = self._known.get(item.key)
        changed = row is not dates
        if changed:
            self._dates[item.key] = row
        if known is None:
            if changed and not item.foreign:  # nothing was known of it: it is as new
                self._regs[item.key] = self._register(item)
            return
        if not changed and not self._feed.lapsed:
            return
        back = int(self._feed.lapsed)
        dated = known.dated + row.dated - (0 if back else dates.dated)
        r = replace(known, listed=known.listed + back, dated=dated, unlisted_s=None)
        self._regs[item.key] = r
        if row.waiting is None and dates.waiting is not None:
            self._forgo(item.key)
        elif row.waiting != dates.waiting:
            self._wish(row)

    def _dated(self, item: Listed, dates: ListedDates) -> ListedDates:
        row = dates
        if (item.guid, item.title, item.foreign) != (dates.guid, dates.title, dates.foreign):
            row = replace(row, guid=item.guid, title=item.title, foreign=item.foreign)
        if (item.published, item.modified) == (dates.published, dates.modified):
            return row if dates.waiting is None else replace(row, waiting=None, noticed_s=None)
        waiting = (item.published, item.modified, item.published_text, item.modified_text)
        if dates.waiting is not None and dates.waiting[:2] == waiting[:2]:
            return row
        return replace(row, waiting=waiting, noticed_s=self._now)

    def _wish(self, dates: ListedDates) -> None:
        # Dates differ: an unconditional visit, now or when its clocks allow it.
        self.changed += 1
        r = self._regs[dates.key]
        at = again_s(dates, r, self._limits, self._now)
        if r.state is DocState.DELETED:
            self._event(r, DocState.PENDING, "listed with another date")
            until = max(at, r.not_before_s) if r.fails else at
            r = replace(
                r, state=DocState.PENDING, deleted_s=None, not_before_s=until, gone=0, gone_s=None, refused_s=None
            )  # fmt: skip
        elif r.state is DocState.PENDING and not r.fails:
            r = replace(r, not_before_s=at)
        kept = r.state.holds or r.state is DocState.ALIAS
        r = replace(r, reindex_s=sooner(r.reindex_s, at))
        busy = r.intent in {Intent.NEW, Intent.REINDEX}
        if not busy and max(at, r.not_before_s) <= self._now:
            r = replace(r, intent=Intent.REINDEX if kept else Intent.NEW, asked_s=self._now)
        self._regs[dates.key] = r

    def _forgo(self, key: int) -> None:
        # The registered date is back before anybody looked; another feed may still wait for its own.
        waits = [d for d in self._book.listings_of(key) if d.feed != self._feed.id and d.waiting is not None]
        r = self._regs[key]
        at: float | None = None
        for dates in waits:
            at = sooner(at, again_s(dates, r, self._limits, self._now))
        self._regs[key] = replace(r, reindex_s=at)

    def _drop(self, dates: ListedDates, *, complete: bool) -> None:
        self.dropped += 1
        seen = self._feed.good_s if self._feed.good_s is not None else dates.last_s
        self._dates[dates.key] = replace(dates, listed=False, last_s=seen)
        if self._feed.lapsed:  # it was taken out of the count already
            r = self._known.get(dates.key)
        else:
            self._count(dates, -1)
            r = self._regs.get(dates.key)
        if r is not None and complete and not r.listed and r.state.holds:
            self._regs[dates.key] = replace(r, absent_s=self._now)

    def _count(self, dates: ListedDates, by: int) -> None:
        r = self._known.get(dates.key)
        if r is None:
            return
        listed, dated = max(r.listed + by, 0), max(r.dated + by * dates.dated, 0)
        seen = self._feed.good_s
        if by < 0 and seen is not None:
            r = replace(r, seen_s=max(r.seen_s or seen, seen))
        since = None if listed else (r.unlisted_s or self._now)
        self._regs[dates.key] = replace(r, listed=listed, dated=dated, unlisted_s=since)

    def _event(self, r: Registration, state: DocState, cause: str) -> None:
        self.events.append(
            Event(self._now, r.state.name.lower(), state.name.lower(), cause, 0, r.key, self._feed.id)
        )


def _differs(dates: ListedDates, item: Listed) -> bool:
    if (item.guid, item.title, item.foreign) != (dates.guid, dates.title, dates.foreign):
        return True
    now = (item.published, item.modified)
    if dates.waiting is not None:
        return dates.waiting[:2] != now
    return now != (dates.published, dates.modified)


def lapsed(feed: FeedFacts, book: Book, limits: SourceLimits, now: float) -> FeedRuling:
    """Return what follows when *feed* has told nothing for ``max_unseen_age``."""
    if feed.lapsed:
        return FeedRuling(feed)
    taken = Relisting(feed, book, limits, now)
    taken.lapse()
    state = feed.state.name.lower()
    event = Event(
        now, state, state, "told nothing for too long: its documents are checked", feed.status, 0, feed.id
    )
    return FeedRuling(replace(feed, lapsed=True), taken.registrations(), (), (event,))


def removed(feed: FeedFacts, book: Book, limits: SourceLimits, now: float) -> FeedRuling:
    """Return what follows when *feed* is taken out of the configuration."""
    taken = Relisting(feed, book, limits, now)
    taken.remove(delete=limits.on_feed_removed == "delete")
    after = replace(
        feed, items=0, digest=b"", etag="", last_modified="", lapsed=False, due_s=None, why="not configured"
    )
    return FeedRuling(after, taken.registrations(), taken.listings(), tuple(taken.events))
