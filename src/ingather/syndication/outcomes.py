"""What follows from a visit to a listed document: section 9.2, row by row.

One :class:`Case` is made for each visit. It begins with the facts as they were, minus the wish that the visit fulfilled; the
answer's method changes them; ``ruling`` plans what is next. Nothing here deletes: what is to go becomes ``GONE_HELD``
with a reason, and :mod:`ingather.syndication.deletions` decides.
"""

from collections.abc import Callable
from typing import Any, Final

from msgspec.structs import replace

from ingather.model.intent import Intent
from ingather.syndication.answers import leads_to_root
from ingather.syndication.clocks import backoff, believed, planned, sooner
from ingather.syndication.facts import DocState, Event, ListedDates, Registration, Want
from ingather.syndication.rulings import Answer, Book, DocumentRuling, Visit
from ingather.syndication.source_limits import SourceLimits

__all__ = ["Case", "again_s", "committed"]

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


class Case:
    """One visit and what follows."""

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

    def ruling(self) -> DocumentRuling:
        """Return what follows."""
        answer = self.visit.answer
        if answer is Answer.NONE:
            # It did not take place: facts stay, the wish comes back a while later.
            self.r = replace(
                self.before, intent=Intent.NONE, asked_s=None,
                not_before_s=max(self.before.not_before_s, self.now + self.limits.min_interval_s),
            )  # fmt: skip
            return self._ruled()
        if answer is Answer.UNCHANGED and not self.before.state.holds:
            answer = Answer.EMPTY
        if (
            answer in {Answer.OK, Answer.UNCHANGED}
            and self._suspicious()
            and self.limits.soft_404 == "delete"
        ):
            self.r = replace(self.r, suspect=self._suspicious())
            self._not_found(Want.SOFT_404)
        else:
            _METHODS[answer](self)
        return self._ruled()

    # -- answers ------------------------------------------------------------------------------

    def ok(self) -> None:
        """Index under the link's key, unless the link leads to another document; keep what is the same."""
        visit, before = self.visit, self.before
        final = visit.final if visit.final != self.r.link and visit.final_key != before.key else ""
        self.r = replace(self.r, final=final, etag=visit.etag, last_modified=visit.last_modified)
        if final and visit.final_key:
            target = self.book.registrations([visit.final_key]).get(visit.final_key)
            if target is not None and target.state in {DocState.LIVE, DocState.RETRY}:
                self._alias(target)
                return
        same = before.state.holds and bool(before.digest) and before.digest == visit.digest
        self.index = not same
        indexed = self.now if self.index or visit.intent is Intent.REINDEX else before.indexed_s
        self._live("unchanged" if same else "indexed", indexed_s=indexed, digest=visit.digest)
        self._commit(same=same)
        if not final:
            self._adopt()

    def unchanged(self) -> None:
        """304: what is kept is the document."""
        visit = self.visit
        if visit.etag or visit.last_modified:
            self.r = replace(
                self.r,
                etag=visit.etag or self.r.etag,
                last_modified=visit.last_modified or self.r.last_modified,
            )
        indexed = self.now if visit.intent is Intent.REINDEX else self.before.indexed_s
        self._live("not modified", indexed_s=indexed)
        self._commit(same=True)

    def error(self) -> None:
        """No answer about the document: what is kept stays, the wait doubles."""
        visit, limits, now = self.visit, self.limits, self.now
        r = self.r
        fails = r.fails + 1
        since = r.failing_s if r.failing_s is not None and r.failing_s <= now else now
        asked = min(visit.retry_s or 0.0, limits.retry_after_cap_s)
        wait = max(backoff(limits, r.key, fails), asked)
        state = DocState.RETRY if r.state is DocState.LIVE else r.state
        self.r = replace(r, state=state, fails=fails, failing_s=since, not_before_s=now + wait, absent_s=None)
        if visit.status in {429, 503}:
            self.host_until_s = now + max(asked, limits.min_interval_s)
        if not r.alerted and now - since >= limits.unreachable_alert_s:
            self.r = replace(self.r, alerted=True)
            self._event(
                f"cannot be reached for {int((now - since) // 86400)} days: {self.r.reason}", notice=True
            )
        elif state is not r.state:
            self._event(self.r.reason)

    def not_found(self) -> None:
        """404."""
        self._not_found(Want.NOT_FOUND)

    def gone(self) -> None:
        """410, 451: at once, also when it is listed."""
        self._definite()
        if self.before.state.holds:
            self._want(Want.GONE)
        elif self.before.state is not DocState.DELETED:
            self._to(DocState.DELETED, deleted_s=self.now, alias=0)
            self._commit(same=True)

    def refused(self) -> None:
        """401, 403, 407."""
        limits, now, before = self.limits, self.now, self.before
        if not before.state.holds:
            self._ask_new("refused")
            return
        if before.want is Want.AUTH:
            self.r = replace(
                self.r, confirmations=self.r.confirmations + 1, fails=0, failing_s=None, not_before_s=0.0
            )
            return
        since = before.refused_s if before.refused_s is not None and before.refused_s <= now else now
        r = self.r = replace(
            self.r, refusals=before.refusals + 1, refused_s=since, fails=0, failing_s=None, absent_s=None,
            not_before_s=now + limits.auth_grace_s / max(limits.auth_checks - 1, 1),
        )  # fmt: skip
        if before.want is not Want.NOTHING:
            return  # neither confirmed nor refuted
        if before.state is DocState.HIDDEN:
            if before.hidden_s is not None and now - before.hidden_s >= limits.auth_delete_s:
                self._want(Want.AUTH)
        elif r.refusals >= limits.auth_checks and now - since >= limits.auth_grace_s:
            self.hide = True
            self._to(DocState.HIDDEN, hidden_s=now)
        elif before.state is not DocState.LIVE:
            self._back()

    def other(self) -> None:
        """Any other 4xx: keep and report; a date that waits is tried once a day."""
        if not self.before.state.holds:
            self.r = replace(
                self.r,
                fails=0,
                failing_s=None,
                refused_s=self.r.refused_s or self.now,
                not_before_s=self.now + self.limits.new_daily_s,
            )
            return
        self._definite()
        if self.r.reindex_s is not None:
            self.r = replace(self.r, not_before_s=self.now + self.limits.new_daily_s)
        if self.before.state is DocState.RETRY or (
            self.before.state is DocState.GONE_HELD and self.before.want is Want.NOTHING
        ):
            self._back()
        else:
            self._event(self.r.reason, notice=True)

    def robots(self) -> None:
        """robots.txt disallows it."""
        self._forbidden(Want.ROBOTS)

    def scope(self) -> None:
        """The link leads out of scope."""
        self._forbidden(Want.SCOPE)

    def noindex(self) -> None:
        """The page asks not to be indexed."""
        self._excluded(Want.NOINDEX)

    def filtered(self) -> None:
        """Our rules say no."""
        self._excluded(Want.FILTER)

    def unusable(self) -> None:
        """Too large, or a type that is not handled: an old copy is kept and reported."""
        if not self.before.state.holds:
            self._exclude()
            return
        self._live(self.r.reason, notice=True)
        self._commit(same=True)

    # -- parts --------------------------------------------------------------------------------

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


_METHODS: Final[dict[Answer, Callable[[Case], None]]] = {
    Answer.OK: Case.ok,
    Answer.UNCHANGED: Case.unchanged,
    Answer.EMPTY: Case.error,
    Answer.NOT_FOUND: Case.not_found,
    Answer.GONE: Case.gone,
    Answer.REFUSED: Case.refused,
    Answer.BACK_OFF: Case.error,
    Answer.OTHER: Case.other,
    Answer.FAILED: Case.error,
    Answer.SCOPE: Case.scope,
    Answer.ROBOTS: Case.robots,
    Answer.ROBOTS_UNREACHABLE: Case.error,
    Answer.NOINDEX: Case.noindex,
    Answer.FILTER: Case.filtered,
    Answer.UNUSABLE: Case.unusable,
}
