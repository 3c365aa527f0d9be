"""A source of kind ``rss`` or ``sitemap`` as the desk works with it: its settings, its clocks, what its links may be."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from ingather.conf.sources.source import SourceConf
from ingather.fetch.egress import Beforehand
from ingather.model.urlparts import split
from ingather.robot.visit.listed import honoured
from ingather.syndication.source_limits import SourceLimits

__all__ = ["FedSource", "fed_sources", "limits_of"]

_SITEMAP_ITEMS: Final = 50_000
_FEED_BYTES: Final = 10 << 20


@dataclass(frozen=True, slots=True)
class FedSource:
    """A source with its settings and limits; ``canonical`` makes the crawler's form of a URL, ``fold`` replaces aliases of hosts in it."""

    name: str
    conf: SourceConf
    limits: SourceLimits
    canonical: Callable[[str], str]
    beforehand: Beforehand
    fold: Callable[[str], str] = str

    @property
    def code(self) -> str:
        """What stands on its documents as ``system_source_code``."""
        return self.conf.syndication.code or self.name

    def key_of(self, link: str) -> str:
        """Return the canonical URL that is the key of an item's document.

        Raises:
            UrlError: nothing that is gathered.
        """
        return self.fold(honoured(self.canonical(link), self._kept))

    @property
    def _kept(self) -> frozenset[str] | None:
        kept = self.conf.syndication.honoured_query_parameters
        return None if kept is None else frozenset(kept)

    def refusal(self, url: str, feed: str) -> str:
        """Say why an item's canonical *url* is not asked for, ``""`` if it may be; *feed* is where it was listed.

        Only what can be told without asking anybody: the filters and the egress gate judge at the visit.
        """
        parts, refused = split(url), self.beforehand_refuses(url)
        if not refused and self.conf.syndication.link_scope == "same-host":
            own = split(self.fold(feed))
            if (parts.scheme, parts.host) != (own.scheme, own.host):
                refused = "another scheme or host than its feed's (link-scope)"
        return refused

    def beforehand_refuses(self, url: str) -> str:
        """Say why canonical *url* is out of the source's reach, ``""`` if nothing that stands in it tells so."""
        parts = split(url)
        if parts.scheme not in {"http", "https"}:
            return f"{parts.scheme}: is not gathered"
        return self.beforehand.refusal(parts.scheme, parts.host, parts.port)


def limits_of(conf: SourceConf) -> SourceLimits:
    """Return the clocks and limits of a source as the decider has them."""
    c = conf.syndication
    sitemap = conf.kind == "sitemap"
    return SourceLimits(
        discovery_interval_s=c.discovery_interval,
        min_interval_s=c.min_poll_interval,
        hint_cap_s=c.max_poll_interval,
        anew_s=c.unconditional_after,
        pages=c.max_pages,
        max_unseen_age_s=c.max_unseen_age,
        refresh_age_s=c.refresh_age,
        refresh_undated_s=c.undated_refresh_age,
        new_retry_s=c.new_retry,
        error_backoff_s=c.error_backoff,
        error_backoff_cap_s=c.error_backoff_max,
        auth_checks=c.auth_grace_checks,
        auth_grace_s=c.auth_grace,
        auth_delete_s=c.auth_delete_after,
        robots_checks=c.robots_grace_checks,
        robots_grace_s=c.robots_grace,
        unreachable_alert_s=c.unreachable_alert,
        delete_floor=20 if conf.deletion_documents is None else conf.deletion_documents,
        delete_share=0.10 if conf.deletion_share is None else conf.deletion_share,
        max_checks_per_cycle=c.max_checks_per_cycle,
        volatile_after=c.volatile_after,
        tombstone_s=c.tombstone_age,
        max_index_age_s=c.max_index_age,
        on_max_index_age=c.on_max_index_age,
        on_feed_removed=c.on_feed_removed,
        soft_404="delete" if c.soft404 == "delete" else "report",
        complete=c.complete,
        redirects=c.max_redirects,
        feed_bytes=c.max_feed_size or _FEED_BYTES,
        items=c.max_feed_items or (_SITEMAP_ITEMS if sitemap else 10_000),
        link_scope=c.link_scope,
    )


def fed_sources(
    sources: Mapping[str, SourceConf], canonical: Callable[[str], str], *, fold: Callable[[str], str] = str
) -> dict[str, FedSource]:
    """Return the sources of kind ``rss`` and ``sitemap`` among *sources*."""
    return {
        name: FedSource(name, conf, limits_of(conf), canonical, Beforehand(conf.scope()), fold)
        for name, conf in sources.items()
        if conf.syndicates
    }
