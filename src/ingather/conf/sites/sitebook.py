"""Which site a host belongs to (DEC-32): the one search for it."""

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from ingather.conf.sites.rules import Site
from ingather.model.urlparts import split

__all__ = ["SiteBook", "most_specific"]

_MEMO_HOSTS = 16_384
_T = TypeVar("_T")


def most_specific(
    host: str, servers: Mapping[str, _T], domains: Mapping[str, _T], enabled: Callable[[_T], bool]
) -> _T | None:
    """Return what covers *host*: a server before a domain, a longer name before a shorter one.

    One that is not enabled is returned only if no enabled one covers it.
    """
    disabled: _T | None = None
    covering = [servers.get(host)]
    name = host
    while name:
        covering.append(domains.get(name))
        name = name.partition(".")[2] if not name.startswith("[") else ""
    for found in covering:
        if found is None:
            continue
        if enabled(found):
            return found
        disabled = disabled or found
    return disabled


class SiteBook:
    """The sites of a configuration by host, for what a site says beside its rules: pace, credentials."""

    def __init__(self, sites: Iterable[Site]) -> None:
        self._servers: dict[str, Site] = {}
        self._domains: dict[str, Site] = {}
        self._memo: dict[str, Site | None] = {}
        for site in sorted(sites, key=lambda site: not site.enabled):
            (self._domains if site.domain else self._servers).setdefault(site.host, site)

    def of_host(self, host: str) -> Site | None:
        """Return the enabled site of *host* (as URLs carry it), ``None`` if no enabled one covers it."""
        try:
            return self._memo[host]
        except KeyError:
            found = most_specific(host, self._servers, self._domains, lambda site: site.enabled)
            if found is not None and not found.enabled:
                found = None
            if len(self._memo) >= _MEMO_HOSTS:
                self._memo.clear()
            self._memo[host] = found
            return found

    def covering(self, host: str) -> Site | None:
        """Return the site of *host*, a disabled one if no enabled one covers it."""
        return most_specific(host, self._servers, self._domains, lambda site: site.enabled)

    def site_of(self, url: str) -> Site | None:
        """Return the enabled site of canonical *url*."""
        return self.of_host(split(url).host)

    def credentials_of(self, url: str) -> str:
        """Return the name of what canonical *url* is fetched with, ``""`` = nothing of its site's own."""
        site = self.site_of(url)
        return "" if site is None else site.credentials
