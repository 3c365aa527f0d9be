"""A source as its section states it: whose hosts, how far it may go, who sees what is gathered for it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal
from urllib.parse import urljoin, urlsplit

from ingather.conf.settings.kinds import Value
from ingather.conf.sources.reach import ReachConf, reach_field
from ingather.conf.sources.revisits import RevisitConf, revisit_field
from ingather.conf.sources.syndication import SyndicationConf, field_of
from ingather.conf.sources.values import address_range, host, own_host
from ingather.model.scope import Scope

__all__ = ["DEFAULT_SOURCE", "SourceConf", "common_field", "is_source_name"]

DEFAULT_SOURCE = "web"
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,199}\Z")
"""Whatever a data source may be called (GSA feeds specification, section 4.1), and names that begin with a digit."""


@dataclass(frozen=True, slots=True)
class SourceConf:
    """One source. ``None`` = the value of the section that is named.

    Attributes:
        name: of the table; ``<Site source=...>`` of filterrules.conf refers to it.
        kind: ``site``: crawled from starting points; ``rss``, ``sitemap``: what its feeds or sitemaps list.
        hosts: exact names, ``.example`` with all subdomains, or ``*``.
        ports: allowed ports; empty = any.
        addresses: CIDR ranges that are reachable although they are not public.
        access: of documents without an ACL; ``public``: everybody may find them; ``secure``: nobody.
        acl: who sees documents that have no ACL of their own and that no policy rule names; empty = as ``access`` says.
        own_hosts: ``host`` or ``host:port`` without delay between requests.
        delay_s: delay between two requests to a host; robot.conf's ``server-delay``.
        schemes: of URLs.
        verify_tls: whether certificates are checked.
        user_agent: sent to its hosts; ``""`` = robot.conf's.
        deletion_share, deletion_documents, deletion_half_share, deletion_half_floor: thresholds; section ``deletion``.
        deletion_confirm_after, deletion_confirm_looks, deletion_cool_down, deletion_rd_lifetime: section ``deletion``.
        held_shown: whether held documents stay in search; section ``deletion``.
        host_urls, prefix_urls, path_queries: budgets, 0 = none; section ``limits``.
        acl_empty_is_none: an explicit empty ACL is taken for none, as an appliance did, and not for "nobody".
        acl_one_value_per_meta: a comma in a permit of an ACL meta is part of the name.
        takes_over: its feeds may take, change and delete documents that belong to other sources; not written: those of trusted senders.
        taken_over: feeds of other sources may take, change and delete its documents; not written: those of trusted senders.
        acls_inherited: ACLs of other sources may inherit from its ACLs as from their own, though a token brought one of both.
        follow_fed_links: links in contents that are pushed for it are followed.
        follow_patterns: follow.txt binds contents that are pushed for it, too; section ``feeds``.
        crawl_time_headers: hosts may say of their documents what adaptors say in response headers.
        overlay_on_error, overlay_schemeless, time_zone: of its external metadata; section ``overlay``.
        acl_overlay: ``restrict``: external metadata may narrow who sees its documents.
        schedule: cron expressions: when everything of it is visited again.
        windows: parts of the week in which it may be fetched from, none = always.
        delays: parts of the week with the delay that holds then, if it is longer.
        syndication: feeds, clocks and limits; of kinds ``rss`` and ``sitemap``.
        reach: protocols beside http, credentials, proxies.
        revisits: when its pages are looked at again, and its sitemaps.
        own_page: URL of a page of our own that it may ask for, and no other; no key, the canary's source has it.
        origins: ``FILE:LINE`` of each key that was written.
    """

    name: str = DEFAULT_SOURCE
    kind: Literal["site", "rss", "sitemap"] = "site"
    hosts: tuple[str, ...] = ("*",)
    ports: frozenset[int] = frozenset()
    addresses: tuple[str, ...] = ()
    access: Literal["public", "secure"] = "public"
    acl: tuple[str, ...] = ()
    own_hosts: tuple[str, ...] = ()
    delay_s: float | None = None
    schemes: frozenset[str] = frozenset({"http", "https"})
    verify_tls: bool = True
    user_agent: str = ""
    deletion_share: float | None = None
    deletion_documents: int | None = None
    deletion_half_share: float | None = None
    deletion_half_floor: int | None = None
    deletion_confirm_after: float | None = None
    deletion_confirm_looks: int | None = None
    deletion_cool_down: float | None = None
    deletion_rd_lifetime: float | None = None
    held_shown: bool | None = None
    host_urls: int | None = None
    prefix_urls: int | None = None
    path_queries: int | None = None
    acl_empty_is_none: bool = False
    acl_one_value_per_meta: bool = False
    takes_over: bool | None = None
    taken_over: bool | None = None
    acls_inherited: bool = False
    follow_fed_links: bool = True
    follow_patterns: bool | None = None
    crawl_time_headers: bool = False
    overlay_on_error: Literal["ignore_file", "keep_last_good", "skip_line", "fail"] | None = None
    overlay_schemeless: Literal["http", "any"] | None = None
    time_zone: str | None = None
    acl_overlay: Literal["none", "restrict"] = "none"
    schedule: tuple[str, ...] = ()
    windows: tuple[str, ...] = ()
    delays: tuple[str, ...] = ()
    syndication: SyndicationConf = field(default_factory=SyndicationConf)
    reach: ReachConf = field(default_factory=ReachConf)
    revisits: RevisitConf = field(default_factory=RevisitConf)
    own_page: str = ""
    origins: Mapping[str, str] = field(default_factory=dict, compare=False)

    def scope(self) -> Scope:
        """Return where this source may go, as the egress gate takes it."""
        own = urlsplit(self.own_page) if self.own_page else None
        return Scope(
            source=self.name,
            schemes=self.schemes,
            hosts=self.hosts,
            ports=self.ports,
            addresses=self.addresses,
            verify_tls=self.verify_tls,
            user_agent=self.user_agent,
            own_listener=None if own is None else (own.hostname or "", own.port or 0),
            only_urls=frozenset()
            if own is None
            else frozenset({self.own_page, urljoin(self.own_page, "/robots.txt")}),
        )

    def value(self, key: str) -> Value | None:
        """Return the value of *key* (as in the file) in the form of its setting; ``None`` = not written."""
        if own := field_of(key):
            found = getattr(self.syndication, own)
        elif own := reach_field(key):
            found = getattr(self.reach, own)
        elif own := revisit_field(key):
            found = getattr(self.revisits, own)
        else:
            found = getattr(self, common_field(key))
        if isinstance(found, frozenset):
            return tuple(str(item) for item in sorted(found))
        value: Value | None = found
        return value

    def heeds(self, *, pushed: bool) -> bool:
        """Whether hosts may say of its documents what crawl-time headers can say; those of what is *pushed* may unless that is switched off."""
        return self.crawl_time_headers or (pushed and "crawl-time-headers" not in self.origins)

    @property
    def syndicates(self) -> bool:
        """Whether its documents are what feeds or sitemaps list."""
        return self.kind != "site"

    @property
    def polls(self) -> bool:
        """Whether it has feeds or sitemaps that are polled."""
        return self.syndicates and bool(self.syndication.feeds) and self.syndication.enable_indexer

    def is_own(self, host: str, port: int) -> bool:
        """Return whether *host* (lower case, as URLs carry it) at *port* has no delay; files of this machine have none."""
        if not host:
            return True
        if ":" in host and not host.startswith("["):
            host = f"[{host}]"
        return host in self.own_hosts or f"{host}:{port}" in self.own_hosts

    def reaching(
        self, *, hosts: tuple[str, ...] = (), addresses: tuple[str, ...] = (), own_hosts: tuple[str, ...] = ()
    ) -> "SourceConf":
        """Return this source with more hosts, address ranges and own hosts: what ``crawl`` adds for one run.

        Raises:
            UnitError: an entry cannot be read.
        """
        more_hosts = () if "*" in self.hosts else tuple(host(text) for text in hosts)
        return replace(
            self,
            hosts=_joined(self.hosts, more_hosts),
            addresses=_joined(self.addresses, tuple(address_range(text) for text in addresses)),
            own_hosts=_joined(self.own_hosts, tuple(own_host(text) for text in own_hosts)),
        )


def common_field(key: str) -> str:
    """Return the attribute that holds a key which sources of every kind have."""
    return "delay_s" if key == "delay" else key.replace("-", "_")


def is_source_name(text: str) -> bool:
    """Whether *text* may name a source."""
    return _NAME.match(text) is not None


def _joined(one: tuple[str, ...], two: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one + two))
