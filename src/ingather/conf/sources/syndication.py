"""Keys of ``[source.NAME]`` that only sources of kind ``rss`` and ``sitemap`` have: feeds, clocks, limits."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Final, Literal

from ingather.conf.settings.kinds import Kind, Setting
from ingather.errors import UnitError, UrlError
from ingather.model.url import Canonicaliser
from ingather.model.urlparts import split

__all__ = [
    "SOURCE_CODE",
    "SOURCE_CODE_CLASS",
    "SYNDICATION_KEYS",
    "SyndicationConf",
    "check",
    "converted",
    "field_of",
]

SOURCE_CODE: Final = "system_source_code"
"""Attribute that carries a source's code."""
SOURCE_CODE_CLASS: Final = "sourcecode"
"""Metadata class that is made of it when any such source is configured."""
_H: Final = 3600.0
_D: Final = 86400.0
_MIB: Final = 1 << 20
_FEED_BYTES: Final = 10 * _MIB
_FEED_ITEMS: Final = 10_000


@dataclass(frozen=True, slots=True)
class SyndicationConf:
    """What a source of kind ``rss`` or ``sitemap`` obeys; the settings of the same names tell more. Times in seconds.

    ``None``: as the kind has it (``max_feed_size``, ``max_feed_items``), or not bounded by this source (``max_file_size``,
    ``honoured_query_parameters``: all of a query is kept).
    """

    feeds: tuple[str, ...] = ()
    code: str = ""
    enable_indexer: bool = True
    discovery_interval: float = _H
    min_poll_interval: float = 900.0
    max_poll_interval: float = _D
    unconditional_after: float = 7 * _D
    max_unseen_age: float = 2 * _D
    refresh_age: float = 7 * _D
    undated_refresh_age: float = 2 * _D
    max_index_age: float = 0.0
    on_max_index_age: Literal["reindex", "keep", "remove"] = "reindex"
    new_retry: float = _D
    error_backoff: float = _H
    error_backoff_max: float = _D
    auth_grace: float = _D
    auth_grace_checks: int = 3
    auth_delete_after: float = 14 * _D
    robots_grace: float = _D
    robots_grace_checks: int = 2
    unreachable_alert: float = 30 * _D
    max_checks_per_cycle: int = 500
    volatile_after: int = 3
    max_redirects: int = 10
    max_pages: int = 10
    max_feed_size: int | None = None
    max_feed_items: int | None = None
    max_file_size: int | None = None
    tombstone_age: float = 90 * _D
    honoured_query_parameters: tuple[str, ...] | None = None
    link_scope: Literal["source-filters", "same-host"] = "source-filters"
    discover_urls: bool = False
    item_metadata: Literal["never", "fallback"] = "never"
    on_feed_removed: Literal["check", "delete"] = "check"
    soft404: Literal["flag", "delete"] = "flag"
    robots_for_feeds: bool = True
    complete: bool = False


_S, _B, _I = Kind.SECONDS, Kind.BYTES, Kind.INT

SYNDICATION_KEYS: tuple[Setting, ...] = (
    Setting("source", "feeds", Kind.WORDS, (), "URLs of its feeds or sitemaps."),
    Setting("source", "code", Kind.TEXT, "",
            "Short name, put on its documents as system_source_code: the facet sourcecode. Empty: the source's name."),
    Setting("source", "enable-indexer", Kind.FLAG, default=True,
            help="Whether it is polled and its documents are checked. false: what there is stays searchable."),
    Setting("source", "discovery-interval", _S, _H,
            "From the end of one cycle of polls to the start of the next.", low=1.0, high=30 * _D),
    Setting("source", "min-poll-interval", _S, 900.0, "Least time between two polls of a feed.", low=1.0, high=_D),
    Setting("source", "max-poll-interval", _S, _D,
            "Longest time between two polls that hints (ttl, Cache-Control, Expires) and errors of a feed lead to.",
            low=1.0, high=30 * _D),
    Setting("source", "unconditional-after", _S, 7 * _D,
            "Age of a feed's last whole answer after which it is asked without If-None-Match and "
            "If-Modified-Since.", low=1.0),
    Setting("source", "max-unseen-age", _S, 2 * _D,
            "A document that was neither indexed, listed nor checked for longer is asked for; 404 or 410 deletes it.",
            low=1.0),
    Setting("source", "refresh-age", _S, 7 * _D,
            "A listed document whose dates do not change is asked for conditionally when its last check is older.",
            low=1.0),
    Setting("source", "undated-refresh-age", _S, 2 * _D, "The same for items without a date.", low=1.0),
    Setting("source", "max-index-age", _S, 0.0,
            "Age since the last indexing at which on-max-index-age acts. 0: never."),
    Setting("source", "on-max-index-age", Kind.CHOICE, "reindex",
            "What happens then. remove: the document goes, by the deletion policy.",
            choices=("reindex", "keep", "remove")),
    Setting("source", "new-retry", _S, _D,
            "How long a new link that does not answer is tried again in each cycle; then daily while it is listed."),
    Setting("source", "error-backoff", _S, _H,
            "Wait of a document or feed after an error, doubled by each further one.", low=1.0),
    Setting("source", "error-backoff-max", _S, _D, "Longest such wait.", low=1.0),
    Setting("source", "auth-grace", _S, _D,
            "A document that is refused (401, 403, 407) is hidden when the refusals span this time ..."),
    Setting("source", "auth-grace-checks", _I, 3, "... and are this many.", low=1, high=1000),
    Setting("source", "auth-delete-after", _S, 14 * _D, "Time after which a hidden document is deleted.", low=1.0),
    Setting("source", "robots-grace", _S, _D,
            "A document that robots.txt forbids goes when the refusals span this time ..."),
    Setting("source", "robots-grace-checks", _I, 2, "... and are this many.", low=1, high=1000),
    Setting("source", "unreachable-alert", _S, 30 * _D,
            "Time after which a document that only gave errors is reported. It is kept."),
    Setting("source", "max-checks-per-cycle", _I, 500,
            "Checks and refreshes in one cycle, longest due first.", low=1, high=1_000_000),
    Setting("source", "volatile-after", _I, 3,
            "Cycles in which a feed's dates moved without a change of content, after which its items are fetched "
            "at most daily by date.", low=1, high=1000),
    Setting("source", "max-redirects", _I, 10, "Redirects that a visit follows.", low=0, high=50),
    Setting("source", "max-pages", _I, 10, "Older pages of a feed that are fetched when its window was overrun.", high=1000),
    Setting("source", "max-feed-size", _B, _FEED_BYTES,
            "Decoded size of a feed. Not written: 10MiB for feeds, limits.sitemap-size for sitemaps.", low=1024),
    Setting("source", "max-feed-items", _I, _FEED_ITEMS,
            "Items of one feed. Not written: 10000 for feeds, 50000 for sitemaps.", low=1, high=1_000_000),
    Setting("source", "max-file-size", _B, _MIB,
            "Size of a document beyond which it is left out. Not written: robot.conf's.", low=1),
    Setting("source", "tombstone-age", _S, 90 * _D,
            "Age at which a deleted document's registration is forgotten.", low=1.0),
    Setting("source", "honoured-query-parameters", Kind.WORDS, (),
            "Query parameters that item links keep; others are dropped. Not written: all are kept."),
    Setting("source", "link-scope", Kind.CHOICE, "source-filters",
            "Which item links are fetched. source-filters: those that hosts, ports, addresses and schemes of the "
            "source allow; same-host: of those, the ones with scheme and host of their feed.",
            choices=("source-filters", "same-host")),
    Setting("source", "discover-urls", Kind.FLAG, default=False,
            help="Whether links of the documents are followed, within scheme and host."),
    Setting("source", "item-metadata", Kind.CHOICE, "never",
            "Fallback: an empty title or date of a document is that of its item.", choices=("never", "fallback")),
    Setting("source", "on-feed-removed", Kind.CHOICE, "check",
            "What becomes of documents whose feed the configuration names no more. check: they are looked after as "
            "if it were silent.", choices=("check", "delete")),
    Setting("source", "soft404", Kind.CHOICE, "flag",
            'What a page that seems to say "not found" with status 200 does to its document.',
            choices=("flag", "delete")),
    Setting("source", "robots-for-feeds", Kind.FLAG, default=True, help="Whether robots.txt holds for polls, too."),
    Setting("source", "complete", Kind.FLAG, default=False,
            help="Kind sitemap: its sitemaps list everything: what is not listed any more is checked at once."),
)  # fmt: skip

_FIELDS: Final = {field.name for field in fields(SyndicationConf)}


def field_of(key: str) -> str:
    """Return the field of :class:`SyndicationConf` that *key* sets, ``""`` if it is none of them."""
    name = key.replace("-", "_")
    return name if name in _FIELDS else ""


def converted(key: str, value: object) -> object:
    """Return the value of *key* as :class:`SyndicationConf` has it.

    Raises:
        UnitError: it is none.
    """
    if key == "feeds" and isinstance(value, tuple):
        return tuple(dict.fromkeys(_feed(str(text)) for text in value))
    if key == "code" and (not str(value).isprintable() or len(str(value)) > 100):  # noqa: PLR2004 - enough for a facet
        raise UnitError(f"{value!r} is no code", hint="one line, at most 100 characters")
    return value


def check(values: Mapping[str, object]) -> dict[str, str]:
    """Say what is wrong with values together: field to text; empty if nothing is."""
    conf = SyndicationConf(**values)  # type: ignore[arg-type]
    wrong = {}
    if conf.min_poll_interval > conf.max_poll_interval:
        wrong["min_poll_interval"] = "min-poll-interval is longer than max-poll-interval"
    if conf.error_backoff > conf.error_backoff_max:
        wrong["error_backoff"] = "error-backoff is longer than error-backoff-max"
    return wrong


def _feed(text: str) -> str:
    """Return a feed's URL as it is polled: its parameters are its own, none is dropped."""
    try:
        url = Canonicaliser(()).canonical(text.strip())
    except UrlError as error:
        raise UnitError(
            f"{text!r} cannot be a feed: {error.text}", hint='write it like "https://example.com/feed.xml"'
        ) from error
    if split(url).origin.partition("://")[0] not in {"http", "https"}:
        raise UnitError(f"{text!r} cannot be a feed", hint="feeds are polled over http and https")
    return url
