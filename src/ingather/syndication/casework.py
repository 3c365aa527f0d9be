"""A visit's case as it is worked on: the facts, and the steps that answers have in common.

:class:`ingather.syndication.outcomes.Case` says which of them an answer takes.
"""

from typing import Any, Final

from msgspec.structs import replace

from ingather.model.intent import Intent
from ingather.syndication.answers import leads_to_root
from ingather.syndication.clocks import believed, planned, sooner
from ingather.syndication.facts import DocState, Event, ListedDates, Registration, Want
from ingather.syndication.rulings import Book, DocumentRuling, Visit
from ingather.syndication.source_limits import SourceLimits

__all__ = ["Casework", "again_s", "committed"]

_CLEAN: Final[dict[str, Any]] = {
    "not_before_s": 0.0, "fails": 0, "failing_s": None, "alerted": False, "gone": 0, "gone_s": None, "refusals": 0,
    "refused_s": None, "hidden_s": None, "disallows": 0, "disallowed_s": None, "want": Want.NOTHING, "want_s": None,
    "confirmations": 0, "breaker": False, "absent_s": None, "deleted_s": None, "alias": 0,
}  # fmt: skip
"""What an answer that brings a document to life wipes out."""


def committed(dates: ListedDates, *, same: bool) -> ListedDates:
    """Return *dates* with the waiting ones registered; *same*: the content was found as it was."""
    if dates.waiting is None:
        return dates
    published, modified, published_text, modified_text = dates.waiting
    return replace(
        dates, published=published, modified=modified, published_text=published_text, modified_text=modified_text,
        waiting=None, noticed_s=None, idle=dates.idle + 1 if same else 0,
    )  # fmt: skip


def again_s(dates: ListedDates, registration: Registration, limits: SourceLimits, now: float) -> float:
    """Return from when on the document may be visited because of the waiting *dates*; volatile ones wait."""
    if dates.idle < limits.volatile_after or registration.looked_s is None:
        return now
    return max(now, min(registration.looked_s, now) + limits.volatile_refetch_s)


class Casework:
    """The facts of one visit, and what is done to them."""

    def __init__(
        self, registration: Registration, visit: Visit, book: Book, limits: SourceLimits, now: float
    ) -> None:
        registration = self.before = believed(registration, now)
        self.visit = visit
        self.book = book
        self.limits = limits
        self.now = now
        self.status = visit.status
        self.r = replace(
            registration, intent=Intent.NONE, asked_s=None, looked_s=now, status=visit.status,
            reason=visit.detail or visit.answer.name.lower().replace("_", " "),
        )  # fmt: skip
        self.listings: list[ListedDates] = []
        self.others: list[Registration] = []
        self.events: list[Event] = []
        self.duplicates: list[int] = []
        self.volatile: list[int] = []
        self.index = False
        self.hide: bool | None = None
        self.host_until_s: float | None = None

    # -- steps --------------------------------------------------------------------------------

    def _not_found(self, want: Want) -> None:
        limits, now, before = self.limits, self.now, self.before
        if before.state in {DocState.PENDING, DocState.DELETED}:
            self._ask_new("gone")
            return
        self._definite()
        if not before.state.holds:  # an alias whose link is dead, what was excluded
            self._to(DocState.DELETED, deleted_s=now, alias=0)
            self._commit(same=True)
            return
        since = before.gone_s if before.gone_s is not None and before.gone_s <= now else now
        self.r = replace(self.r, gone=before.gone + 1, gone_s=since)
        first = before.gone == 0 or now - since < limits.discovery_interval_s / 2
        if before.want is Want.NOTHING and before.listed and first:
            self.r = replace(self.r, not_before_s=now + limits.discovery_interval_s / 2)
            if before.state is not DocState.GONE_HELD:
                self._to(DocState.GONE_HELD)
            return
        self._want(want)

    def _excluded(self, want: Want) -> None:
        if self.before.state.holds:
            self._definite()
            self._want(want)
        else:
            self._exclude()

    def _exclude(self) -> None:
        self._definite()
        self.r = replace(self.r, alias=0, deleted_s=None, gone=0, gone_s=None, refused_s=None)
        if self.r.state is not DocState.EXCLUDED:
            self._to(DocState.EXCLUDED)
        self._commit(same=True)

    def _forbidden(self, want: Want) -> None:
        limits, now, before = self.limits, self.now, self.before
        if not before.state.holds:
            self._exclude()
            return
        if before.want.excludes:
            self._want(want)
            return
        since = before.disallowed_s if before.disallowed_s is not None and before.disallowed_s <= now else now
        wait = limits.robots_grace_s / max(limits.robots_checks - 1, 1)
        self.r = replace(
            self.r, disallows=before.disallows + 1, disallowed_s=since, fails=0, failing_s=None, absent_s=None,
            not_before_s=now + wait,
        )  # fmt: skip
        if before.want is not Want.NOTHING:
            return
        if self.r.disallows >= limits.robots_checks and now - since >= limits.robots_grace_s:
            self._want(want)
        elif before.state in {DocState.RETRY, DocState.GONE_HELD}:
            self._back()

    def _want(self, want: Want) -> None:
        r = self.r
        clean: dict[str, Any] = {"not_before_s": 0.0, "fails": 0, "failing_s": None, "absent_s": None}
        if r.want is not Want.NOTHING:
            self.r = replace(r, want=want, confirmations=r.confirmations + 1, **clean)
            return
        self.r = replace(r, want=want, want_s=self.now, confirmations=0, breaker=False, **clean)
        self._to(DocState.GONE_HELD)

    def _definite(self) -> None:
        self.r = replace(
            self.r, checked_s=self.now, fails=0, failing_s=None, alerted=False, not_before_s=0.0, absent_s=None, refusals=0,
            refused_s=None, disallows=0, disallowed_s=None,
        )  # fmt: skip

    def _back(self) -> None:
        hidden = self.r.hidden_s is not None
        self._to(DocState.HIDDEN if hidden else DocState.LIVE, gone=0, gone_s=None)

    def _ask_new(self, kind: str) -> None:
        # Of what nothing is kept: in the next cycles, later once a day; a tombstone once a day.
        limits, now, r = self.limits, self.now, self.r
        first = min(at for at in (r.gone_s, r.refused_s, now) if at is not None)
        early = r.state is DocState.PENDING and now - first < limits.new_retry_s
        wait = limits.discovery_interval_s / 2 if early else limits.new_daily_s
        r = replace(r, fails=0, failing_s=None, alerted=False, not_before_s=now + wait)
        self._in_vain()
        if kind == "gone":
            self.r = replace(r, checked_s=now, gone=r.gone + 1, gone_s=first)
        else:
            self.r = replace(r, refusals=r.refusals + 1, refused_s=first)

    def _live(self, cause: str, *, notice: bool = False, **facts: Any) -> None:
        if self.before.hidden_s is not None:
            self.hide = False
        self.r = replace(self.r, **_CLEAN)
        self.r = replace(self.r, checked_s=self.now, **facts)
        suspect = self._suspicious()
        flagged = bool(suspect) and not self.r.suspect
        self.r = replace(self.r, suspect=suspect, reason=cause)
        if self.before.state is not DocState.LIVE or self.index or notice:
            self._to(DocState.LIVE, cause=cause, notice=notice)
        if flagged:
            self._event(f"soft 404 suspected: {suspect}", notice=True)

    def _alias(self, target: Registration) -> None:
        before = self.before
        if before.state.holds:
            self.duplicates.append(before.key)
        if before.hidden_s is not None:
            self.hide = False
        self.r = replace(self.r, **_CLEAN)
        self.r = replace(
            self.r,
            alias=target.key,
            checked_s=self.now,
            indexed_s=None,
            digest=self.visit.digest,
            etag="",
            last_modified="",
            suspect="",
        )
        self._commit(same=before.digest == self.visit.digest)
        if before.state is not DocState.ALIAS or before.alias != target.key:
            self._to(DocState.ALIAS, cause=f"leads to {self.r.final}")
        for other in self.book.leading_to(before.key):
            if other.alias == before.key and other.key != target.key:
                self.others.append(replace(other, alias=target.key))
        stale = target.digest != self.visit.digest and target.state is DocState.LIVE
        if (
            stale
            and target.intent in {Intent.NONE, Intent.CHECK, Intent.REFRESH}
            and target.not_before_s <= self.now
        ):
            asked = replace(target, intent=Intent.REINDEX, asked_s=self.now)
            self.others.append(planned(asked, self.limits))

    def _adopt(self) -> None:
        # What leads here, and has a document of its own, is the same document twice.
        for other in self.book.leading_to(self.r.key):
            if other.key == self.r.key or not other.state.holds or other.state is DocState.HIDDEN:
                continue
            was = other.state
            gone = replace(other, **_CLEAN)
            gone = replace(
                gone,
                state=DocState.ALIAS,
                alias=self.r.key,
                indexed_s=None,
                digest=b"",
                etag="",
                last_modified="",
                suspect="",
            )
            self.others.append(planned(gone, self.limits))
            self.duplicates.append(other.key)
            self.events.append(
                Event(self.now, was.name.lower(), "alias", f"leads to {self.r.link}", 0, other.key)
            )

    def _commit(self, *, same: bool) -> None:
        waits: float | None = None
        for dates in self.book.listings_of(self.r.key):
            if dates.waiting is None:
                continue
            if (dates.noticed_s or 0.0) > self.visit.started_s:
                waits = sooner(waits, again_s(dates, self.r, self.limits, self.now))
                continue
            done = committed(dates, same=same)
            self.listings.append(done)
            if done.idle == self.limits.volatile_after:
                self.volatile.append(done.feed)
                self._event("volatile dates: they move, the content does not", feed=done.feed, notice=True)
        self.r = replace(self.r, reindex_s=waits)

    def _in_vain(self) -> None:
        # Nothing is there whatever its date says: a date that moves for ever is volatile, too.
        for dates in self.book.listings_of(self.r.key):
            if dates.waiting is not None and (dates.noticed_s or 0.0) <= self.visit.started_s:
                if dates.idle + 1 == self.limits.volatile_after:
                    self.volatile.append(dates.feed)
                self.listings.append(replace(dates, idle=dates.idle + 1, noticed_s=self.now))

    def _suspicious(self) -> str:
        if leads_to_root(self.r.link, self.visit.final):
            return "redirected to the root of the site"
        return self.visit.soft_404

    def _to(self, state: DocState, *, cause: str = "", notice: bool = False, **facts: Any) -> None:
        self.r = replace(self.r, state=state, **facts)
        self._event(cause or self.r.reason, notice=notice)

    def _event(self, cause: str, *, feed: int = 0, notice: bool = False) -> None:
        before, after = self.before.state.name.lower(), self.r.state.name.lower()
        self.events.append(Event(self.now, before, after, cause, self.status, self.r.key, feed, notice))

    def _ruled(self) -> DocumentRuling:
        lost = (
            self.before.state.holds and self.r.state is DocState.GONE_HELD and self.r.want is not Want.NOTHING
        )
        return DocumentRuling(
            planned(self.r, self.limits), tuple(self.listings), tuple(self.others), tuple(self.events), index=self.index,
            cause=self.r.reason, hide=self.hide, duplicates=tuple(self.duplicates), host_until_s=self.host_until_s,
            volatile=tuple(self.volatile), want=lost,
        )  # fmt: skip
