"""What follows from a visit to a listed document: section 9.2, row by row.

One :class:`Case` is made for each visit. It begins with the facts as they were, minus the wish that the visit fulfilled; the
answer's method changes them; ``ruling`` plans what is next. Nothing here deletes: what is to go becomes ``GONE_HELD``
with a reason, and ``deletions`` decides.
"""

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from ingather.model.intent import Intent
from ingather.syndication.casework import Casework
from ingather.syndication.clocks import backoff
from ingather.syndication.facts import DocState, Want
from ingather.syndication.rulings import Answer, DocumentRuling

__all__ = ["Case"]


class Case(Casework):
    """One visit and what follows."""

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
