"""A source's own settings become what binds its visits and its deletions; the common ones count where it says nothing."""

from collections.abc import Callable, Mapping
from typing import TypeVar

from ingather.app.sitemaps.limits import SitemapLimits
from ingather.conf.settings.values import Settings
from ingather.conf.sources.source import SourceConf
from ingather.feeds.desk import WEB_ROW
from ingather.model.source_name import BySource, source_key
from ingather.robot.settling.deletion import DeletionLimits, DeletionPolicy
from ingather.robot.visit.listed import ListedRules

__all__ = [
    "deletion_limits",
    "listed_rules",
    "policies_of",
    "rules_of",
    "sitemap_limits",
    "sitemap_rules",
]

_T = TypeVar("_T")
_CONNECTOR_S = 60.0
"""A connector's 404 or 410 is its own word, which an appliance took at once: one more look confirms it, after this time."""
_FED_SHARE, _FED_DOCUMENTS = 0.10, 20
"""Of kinds rss and sitemap: more than the larger of the two are held (RSS provider specification, section 8)."""


def _thresholds(settings: Settings) -> tuple[float, int]:
    return settings.share("deletion.share"), settings.count("deletion.documents")


def listed_rules(source: SourceConf) -> ListedRules:
    """What a source of kind ``rss`` or ``sitemap`` says of visits."""
    own = source.syndication
    query = own.honoured_query_parameters
    return ListedRules(
        kind="sitemap" if source.kind == "sitemap" else "rss",
        discover=own.discover_urls,
        same_host=own.link_scope == "same-host",
        document_bytes=own.max_file_size or 0,
        honoured_query=None if query is None else frozenset(query),
        feed_bytes=own.max_feed_size or 0,
        feed_items=own.max_feed_items or 0,
        redirects=own.max_redirects,
        obey_robots=own.robots_for_feeds,
    )


def sitemap_rules(settings: Settings) -> ListedRules:
    """What binds polls of sitemaps of sites."""
    return ListedRules(kind="sitemap", feed_bytes=settings.size("limits.sitemap-size"))


def sitemap_limits(settings: Settings) -> SitemapLimits:
    """Bounds of one host's sitemaps."""
    return SitemapLimits(
        files=settings.count("limits.sitemap-files"), urls=settings.count("limits.sitemap-urls")
    )


def rules_of(sources: Mapping[str, SourceConf]) -> Mapping[str, ListedRules]:
    """Return :func:`listed_rules` of each source of kind ``rss`` or ``sitemap``."""
    return BySource((name, listed_rules(source)) for name, source in sources.items() if source.syndicates)


def _confirm_s(settings: Settings, *, pushed: bool) -> float:
    if pushed and settings.origin("deletion.confirm-after") == "default":
        return _CONNECTOR_S
    return settings.seconds("deletion.confirm-after")


def deletion_limits(settings: Settings, source: SourceConf, *, pushed: bool = False) -> DeletionLimits:
    """Thresholds of a source's deletions; web feeds and sitemaps have their own. The rest binds what the policy rules on alone.

    *pushed*: trusted senders name its URLs, and what serves them is a connector.
    """
    share, documents = (_FED_SHARE, _FED_DOCUMENTS) if source.syndicates else _thresholds(settings)

    def own(value: _T | None, common: _T) -> _T:
        return common if value is None else value

    return DeletionLimits(
        share=own(source.deletion_share, share),
        documents=own(source.deletion_documents, documents),
        half_share=own(source.deletion_half_share, settings.share("deletion.half-share")),
        half_floor=own(source.deletion_half_floor, settings.count("deletion.half-floor")),
        confirm_s=own(source.deletion_confirm_after, _confirm_s(settings, pushed=pushed)),
        confirm_looks=own(source.deletion_confirm_looks, settings.count("deletion.confirm-looks")),
        cool_down_s=own(source.deletion_cool_down, settings.seconds("deletion.cool-down")),
        hide_held_public=not own(source.held_shown, settings.flag("deletion.held-shown")),
        hide_held_secure=not own(source.held_shown, settings.flag("deletion.held-shown-secure")),
    )


def policies_of(
    settings: Settings, sources: Mapping[str, SourceConf], crawled: frozenset[str]
) -> Callable[[str], DeletionPolicy]:
    """Return the deletion policy of a source by its name.

    Args:
        settings: what is common to all.
        sources: with their own limits.
        crawled: keys of the sources that sites or starting points name; all others but those of web feeds are pushed.
    """

    def pushed(name: str, source: SourceConf | None = None) -> bool:
        # The data source "web" has lists of whatever hosts: nobody there answers for the sender.
        syndicates = source is not None and source.syndicates
        return not (syndicates or source_key(name) in crawled | {"web", WEB_ROW})

    own = BySource(
        (name, DeletionPolicy(deletion_limits(settings, source, pushed=pushed(name, source))))
        for name, source in sources.items()
    )
    default, of_senders = (
        DeletionPolicy(deletion_limits(settings, SourceConf(), pushed=known)) for known in (False, True)
    )
    return lambda name: own.get(name) or (of_senders if pushed(name) else default)
