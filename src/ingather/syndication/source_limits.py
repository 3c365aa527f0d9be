"""All clocks and limits of a source (section 8 of the specification), in seconds; each is a setting with a unit."""

import msgspec

__all__ = ["SourceLimits"]

_HOUR = 3600.0
_DAY = 86400.0


class SourceLimits(msgspec.Struct, frozen=True):
    """Clocks, limits and choices of a source.

    Attributes:
        discovery_interval_s: end of a cycle to the begin of the next.
        min_interval_s: no feed is polled more often.
        hint_cap_s: longest wait that a feed's hints and its errors bring about.
        anew_s: one unconditional poll each.
        redirect_times: identical permanent redirects after which a feed's URL is rewritten ...
        redirect_span_s: ... if the first of them was at least this long ago.
        feed_alert_s: a feed that fails for so long is told to a person.
        pages: further pages read after an overrun.
        max_unseen_age_s: existence check when neither indexed, seen nor checked for longer than this.
        refresh_age_s: conditional visit to what is still listed and was not looked at for longer than this.
        refresh_undated_s: the same for items without a date.
        new_retry_s: a new link that answers 404 is asked again in each cycle for so long, ...
        new_daily_s: ... then at this interval while it is listed; also the interval for tombstones that are still listed.
        error_backoff_s: first wait after an error; doubled with each.
        error_backoff_cap_s: longest.
        jitter: share by which that wait varies.
        retry_after_cap_s: longest ``Retry-After`` of a document that is obeyed.
        auth_checks: refusals after which a document is hidden ...
        auth_grace_s: ... if the first was at least this long ago.
        auth_delete_s: what was hidden for so long, and is refused still, goes.
        robots_checks: looks that find a document forbidden, after which it goes ...
        robots_grace_s: ... if they are at least so far apart.
        unreachable_alert_s: a document that fails for so long is told to a person.
        delete_floor: more deletions than this ...
        delete_share: ... and than this share of the source are held ...
        confirm_cycles: ... until so many further looks ...
        confirm_s: ... over at least this time confirm them, or a person does.
        account_s: deletions executed within this time count with those that are wanted.
        max_checks_per_cycle: existence checks, refreshes and repeated looks; oldest first.
        volatile_after: reindexings that a date asked for in vain, after which its item is looked at no more often than ...
        volatile_refetch_s: ... this.
        tombstone_s: tombstones, and links that never were indexed, are kept so long after nothing lists them.
        max_index_age_s: age since the last indexing at which ``on_max_index_age`` happens; 0 = off.
        on_max_index_age: ``reindex``, ``keep`` or ``remove``.
        on_feed_removed: ``check`` (documents stay under the existence check) or ``delete``.
        soft_404: ``report`` or ``delete``.
        complete: the lists of this source are complete (sitemaps): what is missing is checked at once.
        redirects: hops of one visit.
        feed_bytes: decoded size of a feed.
        items: items of a feed.
        link_scope: ``source-filters`` or ``same-host``.
    """

    discovery_interval_s: float = _HOUR
    min_interval_s: float = _HOUR / 4
    hint_cap_s: float = _DAY
    anew_s: float = 7 * _DAY
    redirect_times: int = 3
    redirect_span_s: float = _DAY
    feed_alert_s: float = _DAY
    pages: int = 10
    max_unseen_age_s: float = 2 * _DAY
    refresh_age_s: float = 7 * _DAY
    refresh_undated_s: float = 2 * _DAY
    new_retry_s: float = _DAY
    new_daily_s: float = _DAY
    error_backoff_s: float = _HOUR
    error_backoff_cap_s: float = _DAY
    jitter: float = 0.1
    retry_after_cap_s: float = 7 * _DAY
    auth_checks: int = 3
    auth_grace_s: float = _DAY
    auth_delete_s: float = 14 * _DAY
    robots_checks: int = 2
    robots_grace_s: float = _DAY
    unreachable_alert_s: float = 30 * _DAY
    delete_floor: int = 20
    delete_share: float = 0.10
    confirm_cycles: int = 2
    confirm_s: float = _DAY
    account_s: float = _DAY
    max_checks_per_cycle: int = 500
    volatile_after: int = 3
    volatile_refetch_s: float = _DAY
    tombstone_s: float = 90 * _DAY
    max_index_age_s: float = 0.0
    on_max_index_age: str = "reindex"
    on_feed_removed: str = "check"
    soft_404: str = "report"
    complete: bool = False
    redirects: int = 10
    feed_bytes: int = 10 << 20
    items: int = 10_000
    link_scope: str = "source-filters"
