"""What becomes of documents that are to go: counted together, executed together or not at all.

One by one, a wave of deletions is seen too late. So nothing goes before the checks that were due are worked off, and what is
wanted by then, with what went within the account's time, is compared with the source: more than both limits, and the
breaker holds all of it until a person releases it or further looks confirm each document.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from msgspec.structs import replace

from ingather.model.intent import Intent
from ingather.syndication.casework import committed
from ingather.syndication.clocks import planned
from ingather.syndication.facts import DocState, Event, Registration, SourceFacts, Want
from ingather.syndication.rulings import Account, Book, DeletionRuling, DocumentRuling
from ingather.syndication.source_limits import SourceLimits

__all__ = ["Deletions", "confirmed"]

_CAUSES: Final = {
    Want.NOT_FOUND: "404",
    Want.GONE: "410",
    Want.AUTH: "access refused for too long",
    Want.ROBOTS: "robots.txt forbids it",
    Want.SCOPE: "its link leads out of scope",
    Want.NOINDEX: "the page asks not to be indexed",
    Want.FILTER: "the rules exclude it",
    Want.SOFT_404: "soft 404",
    Want.AGE: "older than max_index_age",
    Want.FEED: "its feed was removed",
}
_UNWANTED: Final[dict[str, Any]] = {
    "want": Want.NOTHING, "want_s": None, "confirmations": 0, "breaker": False, "gone": 0, "gone_s": None, "disallows": 0,
    "disallowed_s": None, "not_before_s": 0.0, "absent_s": None,
}  # fmt: skip


def confirmed(registration: Registration, limits: SourceLimits, now: float) -> bool:
    """Say whether further looks have confirmed what the breaker holds."""
    since = registration.want_s
    return (
        registration.breaker
        and registration.confirmations >= limits.confirm_cycles
        and since is not None
        and now - since >= limits.confirm_s
    )


class Deletions:
    """Decisions at one moment, with what the catalog knows then."""

    def __init__(self, book: Book, limits: SourceLimits, now: float) -> None:
        self._book = book
        self._limits = limits
        self._now = now

    def judge(self, source: SourceFacts, held: Iterable[Registration], account: Account) -> DeletionRuling:
        """Decide about all documents of a source that are ``GONE_HELD``; see the module's docstring."""
        limits, now = self._limits, self._now
        wanted = [r for r in held if r.state is DocState.GONE_HELD and r.want is not Want.NOTHING]
        ready = [r for r in wanted if r.intent is Intent.NONE]  # a visit that is wanted may yet find it
        rulings = [self.execute(r) for r in ready if confirmed(r, limits, now)]
        fresh = [r for r in ready if not r.breaker]
        source = _pruned(source, limits, now)
        if why := _unfinished(source, account, now, limits):
            return DeletionRuling(source, tuple(rulings), source.held, why)
        gone = sum(n for _, n in source.gone)
        total = len(wanted) - len(rulings) + gone
        before = max(account.documents + gone, total)
        still = len(wanted) - len(rulings) - len(fresh)
        if fresh and total > max(limits.delete_floor, limits.delete_share * before):
            why = f"{total} of {before} documents would go, more than {limits.delete_floor} and {limits.delete_share:.0%}"
            return self._hold(source, fresh, rulings, why, still + len(fresh))
        rulings += [self.execute(r) for r in fresh]
        counted = (*source.gone, (now, len(fresh))) if fresh else source.gone
        since = source.held_s if still else None
        events = () if since == source.held_s else (Event(now, "held", "", "nothing is held any more"),)
        return DeletionRuling(
            replace(source, gone=counted, round_s=None, held_s=since, held=still),
            tuple(rulings),
            still,
            events=events,
        )

    def execute(self, registration: Registration, *, cause: str = "") -> DocumentRuling:
        """Return the deletion of a document that is to go: a tombstone, or excluded; its aliases are looked at anew.

        Also what a person does who releases a hold.
        """
        limits, now = self._limits, self._now
        want = registration.want
        cause = cause or _CAUSES.get(want, "removed")
        state = DocState.EXCLUDED if want.excludes else DocState.DELETED
        after = replace(
            registration, state=state, deleted_s=None if want.excludes else now, etag="", last_modified="", digest=b"",
            indexed_s=None, hidden_s=None, suspect="", refusals=0, refused_s=None, fails=0, failing_s=None, alerted=False,
            reindex_s=None, intent=Intent.NONE, asked_s=None, reason=cause, **_UNWANTED,
        )  # fmt: skip
        listings = tuple(
            committed(dates, same=True)
            for dates in self._book.listings_of(after.key)
            if dates.waiting is not None
        )
        others = tuple(
            planned(replace(other, state=DocState.PENDING, alias=0, intent=Intent.NEW, asked_s=now), limits)
            for other in self._book.leading_to(after.key)
            if other.alias == after.key and other.state is DocState.ALIAS
        )
        before = registration.state.name.lower()
        event = Event(now, before, state.name.lower(), cause, registration.status, after.key)
        return DocumentRuling(planned(after, limits), listings, others, (event,), remove=True, cause=cause)

    def discard(self, registration: Registration) -> DocumentRuling:
        """Return what follows when a person decides that a document that is held stays."""
        now = self._now
        hidden = registration.hidden_s is not None
        state = DocState.HIDDEN if hidden else DocState.LIVE
        since = now if hidden else None
        after = replace(registration, state=state, checked_s=now, hidden_s=since, **_UNWANTED)
        before = registration.state.name.lower()
        event = Event(now, before, state.name.lower(), "kept by a person", 0, after.key)
        return DocumentRuling(planned(after, self._limits), events=(event,), cause="kept by a person")

    def _hold(
        self,
        source: SourceFacts,
        fresh: Sequence[Registration],
        rulings: list[DocumentRuling],
        why: str,
        held: int,
    ) -> DeletionRuling:
        # What is held stays held until a person releases it or further looks confirm it, however few others are left.
        now = self._now
        for r in fresh:
            event = Event(now, "gone_held", "gone_held", f"held: {why}", r.status, r.key)
            after = planned(replace(r, breaker=True, confirmations=0), self._limits)
            rulings.append(DocumentRuling(after, events=(event,), cause=why, want=True))
        since = source.held_s if source.held_s is not None else now
        source = replace(source, round_s=None, held_s=since, held=held)
        return DeletionRuling(source, tuple(rulings), held, why, (Event(now, "", "held", why, notice=True),))


def _unfinished(source: SourceFacts, account: Account, now: float, limits: SourceLimits) -> str:
    if (
        source.round_s is not None
        and account.oldest_due_s is not None
        and account.oldest_due_s <= source.round_s
    ):
        return "checks that were due are not worked off"
    since = account.asked_since_s
    if account.asked and since is not None and since <= now < since + limits.account_s:
        return f"{account.asked} checks have not ended"
    return ""


def _pruned(source: SourceFacts, limits: SourceLimits, now: float) -> SourceFacts:
    # What went within the account's time, or since the round began, whichever is longer ago.
    since = now - limits.account_s
    if source.round_s is not None:
        since = min(since, source.round_s)
    return replace(source, gone=tuple((at, n) for at, n in source.gone if since < at <= now))
