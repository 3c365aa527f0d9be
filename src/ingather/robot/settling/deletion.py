"""The one place that decides about deletions: facts in, a ruling out. Pure.

Nothing in Ingather deletes a document because of what it observed; it *proposes*, and the
policy rules (architecture, section 4). Who is the operator needs no ruling: ``ingather
remove`` acts at once and can be undone.

* **Ignore**: the observation says nothing about the document (an error, a host that cannot
  be reached, a parent that lost its link, a visit that is not due). It never deletes.
* **Wait**: it may be gone; look again at ``again_s`` (404 and 410 want a second look at least
  an hour after the first), or when the clock is believed again.
* **Hold**: too much of its source would go within a day. The document stays as it is,
  the hold is listed, and an operator releases or discards it.
* **Delete**: a tombstone with the reason; can be undone.

One by one, a wave of deletions is seen too late. So the ledger of a source counts what *would*
go: deleted in the last 24 hours, held, waiting for a second look, and the batch at hand.

What a person kept (a hold that was discarded, deletions that were undone) is not deleted again for the same reason
within the cool-down: whoever saw an accident has that long to end it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

__all__ = [
    "Decision",
    "DeletionLimits",
    "DeletionPolicy",
    "DeletionReason",
    "Ledger",
    "Proposal",
    "Ruling",
]

_HOUR_S = 3_600.0
_DAY_S = 86_400.0


class DeletionReason(StrEnum):
    """What was observed; the text is kept in the tombstone and shown."""

    NOT_FOUND = "not found (404)"
    GONE = "gone (410)"
    NOINDEX = "the page asks not to be indexed"
    RULES = "the rules exclude it now"
    ROBOTS = "robots.txt forbids it now"
    DUPLICATE = "it is a duplicate now"
    ALIAS = "its host is an alias now"
    EXPIRED = "its description expired"
    FEED = "missing from a full feed"
    SITEMAP = "missing from a complete sitemap"
    OPERATOR = "removed by the operator"
    REFUSED = "access refused"
    SERVER_ERROR = "server error"
    UNREACHABLE = "no answer"
    ROBOTS_UNREACHABLE = "robots.txt cannot be had"
    LOST_LINK = "no page links to it any more"
    UNREACHABLE_PARENT = "the page that links to it cannot be reached"
    NOT_DUE = "not due"


CONFIRMED = frozenset({DeletionReason.NOT_FOUND, DeletionReason.GONE})
"""Reasons that want a second look."""

HARMLESS = frozenset(
    {
        DeletionReason.REFUSED,
        DeletionReason.SERVER_ERROR,
        DeletionReason.UNREACHABLE,
        DeletionReason.ROBOTS_UNREACHABLE,
        DeletionReason.LOST_LINK,
        DeletionReason.UNREACHABLE_PARENT,
        DeletionReason.NOT_DUE,
    }
)
"""Reasons that never delete."""

BY_DATE = frozenset({DeletionReason.EXPIRED})
"""Reasons that are nothing but a comparison with the wall clock."""


class Decision(StrEnum):
    """What becomes of a proposal; see the module's docstring."""

    DELETE = "delete"
    HOLD = "hold"
    WAIT = "wait"
    IGNORE = "ignore"


@dataclass(frozen=True, slots=True)
class DeletionLimits:
    """Thresholds; settings, also per source.

    Attributes:
        share: held when more than this share of a source would go in 24 hours ...
        documents: ... and more than this many documents; both must be passed.
        half_share: held when more than this share of a source would go ...
        half_floor: ... of at least this many documents.
        confirm_s: least time between the first and the last look at a 404 or 410.
        confirm_looks: looks in a row that must find it so, the first included; at least 1.
        cool_down_s: time after a person kept documents for which nothing of that source goes for that reason.
        hide_held_public: whether held documents of public sources are hidden meanwhile.
        hide_held_secure: the same for sources with access rights.
    """

    share: float = 0.10
    documents: int = 100
    half_share: float = 0.5
    half_floor: int = 10
    confirm_s: float = _HOUR_S
    confirm_looks: int = 2
    cool_down_s: float = _DAY_S
    hide_held_public: bool = False
    hide_held_secure: bool = True


@dataclass(frozen=True, slots=True)
class Proposal:
    """One document that may have to go.

    Attributes:
        url_id: catalog row.
        reason: what was observed.
        missing_since_s: wall time of the first look that found it missing, ``None`` if this
            is the first; a look that finds it again starts anew.
        held: it is on hold already; it stays there until released, discarded or found again.
        looks: looks in a row that found it missing, the one at hand included.
    """

    url_id: int
    reason: DeletionReason
    missing_since_s: float | None = None
    held: bool = False
    looks: int = 2


@dataclass(frozen=True, slots=True)
class Ledger:
    """A source's account at the moment of ruling, as the catalog counts it.

    Attributes:
        documents: documents that the source has now; the proposed, waiting and held ones are among them.
        deleted_24h: documents deleted within the last 24 hours by this policy (released holds and
            the operator's removals were decided by a person and do not count).
        held: documents on hold.
        waiting: documents that were missing at a first look, those among the proposals included.
        secure: the source has access rights.
        kept: (reason, when) for which people kept documents of the source; ``""`` = whatever the reason.
    """

    documents: int
    deleted_24h: int = 0
    held: int = 0
    waiting: int = 0
    secure: bool = False
    kept: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Ruling:
    """The decision on one proposal.

    Attributes:
        url_id: catalog row.
        decision: what to do.
        why: fit for people.
        again_s: wall time before which another look says nothing new; ``None`` = at the next regular visit.
        hidden: only with ``HOLD``: whether searchers no longer see the document while it is held.
    """

    url_id: int
    decision: Decision
    why: str
    again_s: float | None = None
    hidden: bool = False


class DeletionPolicy:
    """Rules on proposals; holds no state, may be shared by threads."""

    def __init__(self, limits: DeletionLimits | None = None) -> None:
        self.limits = limits or DeletionLimits()

    def judge(
        self,
        proposals: Iterable[Proposal],
        ledger: Ledger,
        *,
        now_s: float,
        one_shot: bool = False,
        clock_trusted: bool = True,
    ) -> list[Ruling]:
        """Rule on a batch of proposals of one source, in their order.

        The batch is held or deleted as a whole, so that its order decides nothing.

        Args:
            proposals: documents of one source.
            ledger: the source's account.
            now_s: wall time.
            one_shot: this is a single ``crawl``: a 404 or 410 is left to a later run.
            clock_trusted: :meth:`ingather.robot.timeguard.TimeGuard.check`.
        """
        batch = list(proposals)
        obstacles = [
            self._obstacle(p, ledger, now_s, one_shot=one_shot, clock_trusted=clock_trusted) for p in batch
        ]
        limits = self.limits
        hidden = limits.hide_held_secure if ledger.secure else limits.hide_held_public
        why = self.too_much(batch, ledger)
        rulings: list[Ruling] = []
        for proposal, obstacle in zip(batch, obstacles, strict=True):
            url_id, reason = proposal.url_id, proposal.reason
            if obstacle is not None:
                rulings.append(obstacle)
            elif proposal.held or (why and reason is not DeletionReason.OPERATOR):
                text = f"{reason}; held: {why or 'it is on hold already'}"
                rulings.append(
                    Ruling(
                        url_id, Decision.HOLD, text, again_s=now_s + max(self._pace_s, _DAY_S), hidden=hidden
                    )
                )
            else:
                rulings.append(Ruling(url_id, Decision.DELETE, str(reason)))
        return rulings

    def too_much(self, proposals: Iterable[Proposal], ledger: Ledger) -> str:
        """Say why *proposals* may not go on top of what *ledger* counts, ``""`` if they may."""
        counted = [
            p
            for p in proposals
            if p.reason not in HARMLESS and p.reason is not DeletionReason.OPERATOR and not p.held
        ]
        # What was missing before was waiting until now: the ledger knows it already.
        known = sum(1 for p in counted if p.missing_since_s is not None)
        total = ledger.deleted_24h + ledger.held + max(ledger.waiting, known) + len(counted) - known
        # The shares are of what the source had 24 hours ago.
        return self.brake(total, max(ledger.documents + ledger.deleted_24h, total))

    def brake(self, total: int, before: int) -> str:
        """Say why *total* of the *before* documents of a source are too many to go at once, ``""`` if they are not."""
        limits = self.limits
        text = f"{total} of {before} documents of the source would go within 24 hours"
        if total > limits.documents and total > limits.share * before:
            return f"{text}, more than {limits.share:.0%} and more than {limits.documents}"
        if before >= limits.half_floor and total > limits.half_share * before:
            return f"{text}, more than {limits.half_share:.0%} of at least {limits.half_floor}"
        return ""

    def cooling(self, reason: DeletionReason, ledger: Ledger, now_s: float) -> str:
        """Say why nothing of a source goes for *reason* now, because a person kept such documents; ``""`` = it may."""
        for kept, at_s in ledger.kept:
            # Dated in the future: another clock wrote it, and what a person wanted is not shortened for that.
            if kept in {"", str(reason)} and now_s < at_s + self.limits.cool_down_s:
                hours = self.limits.cool_down_s / _HOUR_S
                return f"a person kept such documents less than {hours:g} hours ago"
        return ""

    def _obstacle(
        self, proposal: Proposal, ledger: Ledger, now_s: float, *, one_shot: bool, clock_trusted: bool
    ) -> Ruling | None:
        # What stands in the way before any threshold is asked; None = nothing.
        reason, url_id = proposal.reason, proposal.url_id
        if reason in HARMLESS:
            return Ruling(url_id, Decision.IGNORE, f"{reason}: never deletes")
        if not clock_trusted and (reason in BY_DATE or (reason in CONFIRMED and proposal.missing_since_s)):
            text = f"{reason}; the clock jumped and is not yet believed"
            return Ruling(url_id, Decision.WAIT, text, again_s=now_s + _HOUR_S)
        if reason in CONFIRMED and (unconfirmed := self._unconfirmed(proposal, now_s, one_shot=one_shot)):
            return unconfirmed
        if (
            reason is not DeletionReason.OPERATOR
            and not proposal.held
            and (kept := self.cooling(reason, ledger, now_s))
        ):
            return Ruling(url_id, Decision.WAIT, f"{reason}; {kept}", again_s=now_s + self._pace_s)
        return None

    @property
    def _pace_s(self) -> float:
        """How long the policy waits between two looks that it asks for itself."""
        return max(self.limits.confirm_s, _HOUR_S)

    def _unconfirmed(self, proposal: Proposal, now_s: float, *, one_shot: bool) -> Ruling | None:
        reason, url_id = proposal.reason, proposal.url_id
        since, confirm_s, looks = proposal.missing_since_s, self.limits.confirm_s, self.limits.confirm_looks
        # A first look "in the future" was dated by another clock: this one is the first.
        if since is None or since > now_s:
            since = now_s
        if now_s < since + confirm_s:
            return Ruling(
                url_id, Decision.WAIT, f"{reason}; a second look confirms", again_s=since + confirm_s
            )
        if proposal.looks < looks:
            text = f"{reason}; {proposal.looks} of {looks} looks found it so"
            return Ruling(url_id, Decision.WAIT, text, again_s=now_s + confirm_s)
        if one_shot:
            return Ruling(url_id, Decision.WAIT, f"{reason}; left to a later run")
        return None
