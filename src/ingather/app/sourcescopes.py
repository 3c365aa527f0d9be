"""Where each source may go: as its section says; sources that feeds push reach the senders that the operator trusts, too."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from ingather.app.feeds.senders import trust_list
from ingather.app.home import Home
from ingather.app.homeparts import load_checked
from ingather.app.runsites import remembered_sites
from ingather.conf import Loaded
from ingather.conf.settings.values import Settings
from ingather.conf.sources.source import SourceConf
from ingather.errors import IngatherError
from ingather.feeds.trust import TrustList, TrustRight
from ingather.model.scope import Scope
from ingather.model.source_name import BySource, source_key

__all__ = ["SourceScopes", "crawled_sources", "own_addresses", "own_addresses_at", "pushed_scope"]


def crawled_sources(loaded: Loaded) -> frozenset[str]:
    """Return the keys of the sources that a site or a starting point names, and of ``web``: they are crawled, whoever pushes for them."""
    named = {site.source for site in loaded.rules.sites} | {start.source for start in loaded.starting_points}
    return frozenset(map(source_key, named | {"web"}))


def pushed_scope(conf: SourceConf, trusted: TrustList, ports: frozenset[int] = frozenset()) -> Scope:
    """Return where a source may go that feeds push, whether ``ingather.toml`` has a section of it or not.

    Public addresses, and those that the operator has named for it: an adaptor serves what it lists. Naming everybody
    admits nobody to be fetched from. Where its section names addresses those count alone.

    Args:
        conf: the source.
        trusted: addresses that pushed URLs may be fetched from.
        ports: of those addresses; empty = any, or those of the section.
    """
    scope = conf.scope()
    if "addresses" in conf.origins or conf.addresses:
        return scope
    addresses = tuple(str(network) for network in trusted.networks(TrustRight.FETCH) if network.prefixlen)
    return replace(scope, addresses=addresses, address_ports=frozenset() if scope.ports else ports)


def own_addresses(sources: Mapping[str, SourceConf], crawled: frozenset[str]) -> BySource[bool]:
    """Return the sources whose sections alone say at which private addresses they may ask, whoever is trusted."""
    return BySource(
        (name, True)
        for name, conf in sources.items()
        if conf.addresses or conf.syndicates or "addresses" in conf.origins or source_key(name) in crawled
    )


def own_addresses_at(home: Home, sources: Mapping[str, SourceConf]) -> BySource[bool]:
    """Return :func:`own_addresses` by what stands in *home*; of a configuration with errors: all that have a section."""
    try:
        loaded = load_checked(home).with_sites(remembered_sites(home))
    except IngatherError:
        return BySource(dict.fromkeys(sources, True))
    return own_addresses(sources, crawled_sources(loaded))


class SourceScopes:
    """The reach of every source; asked again before each request, so that what the operator admits counts at once.

    Args:
        feeds: folder with the list of senders.
        settings: ports of senders.
        sources: of ``ingather.toml``.
        crawled: keys of the sources that sites or starting points name (:func:`crawled_sources`): they go where their sections say, and
            nowhere else.
    """

    def __init__(
        self, feeds: Path, settings: Settings, sources: Mapping[str, SourceConf], crawled: frozenset[str]
    ) -> None:
        self._sources, self._crawled = sources, crawled
        self._trusted = trust_list(feeds, settings)
        self._ports = frozenset(int(word) for word in settings.words("feeds.fetch-ports"))
        self._own = {name: conf.scope() for name, conf in sources.items()}

    def admitted(self) -> tuple[object, ...]:
        """Return what counts by now: another value where something is admitted that was not, or no longer. Cheap: one look at a date."""
        own = [
            (name, conf.schemes, conf.hosts, conf.ports, conf.addresses)
            for name, conf in self._sources.items()
            if not conf.own_page  # a listener of ours, at another port each time
        ]
        told = sorted(
            (name, sorted(schemes), hosts, sorted(ports), addresses)
            for name, schemes, hosts, ports, addresses in own
        )
        return self._trusted.networks(TrustRight.FETCH), sorted(self._ports), told, sorted(self._crawled)

    def of(self, source: str) -> Scope:
        """Return where *source* may go."""
        conf = self._sources.get(source)
        if conf is not None and (conf.syndicates or conf.own_page or source_key(source) in self._crawled):
            return self._own[conf.name] if conf.name in self._own else conf.scope()
        return pushed_scope(conf or SourceConf(name=source), self._trusted, self._ports)
