"""The sites of filterrules.conf, compiled: which site a host belongs to, which rule speaks first.

Decision order DEC-32 of the robot specification.
"""

from collections.abc import Sequence

from ingather.conf.sites.rules import Match, Rule, Rules, Site
from ingather.conf.sites.sitebook import most_specific
from ingather.filters.matching import NONE, FirstMatch
from ingather.model.candidate import Pushed

__all__ = ["CompiledSite", "SiteTable"]

_MEMO_HOSTS = 16_384
_MEMO_TYPES = 1_024
_ANY_HOST = "*"


class CompiledSite:
    """A site with its rules as lookup tables; rule numbers follow the order of its Use lines."""

    __slots__ = (
        "_types",
        "_url_tables",
        "depth",
        "ports",
        "protocols",
        "rules",
        "site",
        "type_includes",
        "url_includes",
    )

    def __init__(self, site: Site, rules: Sequence[Rule], depth: int) -> None:
        self.site = site
        self.rules = tuple(rules)
        self.protocols = site.protocols
        self.ports = site.ports
        self.depth = depth if site.depth is None else site.depth
        by_source: dict[str, list[tuple[int, Match]]] = {}
        for number, rule in enumerate(self.rules):
            for match in rule.matches:
                by_source.setdefault(match.source, []).append((number, match))
        typed = by_source.pop("type", [])
        self._url_tables = tuple((source, FirstMatch(pairs)) for source, pairs in by_source.items())
        self._types = _TypeTable(typed) if typed else None
        includes = [rule for rule in self.rules if rule.include and rule.matches]
        # An include rule that needs the type is only "evaluated" once the type is known.
        self.url_includes = any(all(m.source != "type" for m in rule.matches) for rule in includes)
        self.type_includes = bool(includes)

    @property
    def url_sources(self) -> tuple[tuple[str, FirstMatch], ...]:
        """Sources that are known before the fetch, with their tables."""
        return self._url_tables

    def type_rule(self, media_type: str) -> int:
        """Return the first rule that matches by type."""
        return self._types.first(media_type) if self._types is not None else NONE


class _TypeTable:
    """Type rules with a memo: there are few types."""

    __slots__ = ("_memo", "_table")

    def __init__(self, pairs: list[tuple[int, Match]]) -> None:
        self._table = FirstMatch(pairs)
        self._memo: dict[str, int] = {}

    def first(self, media_type: str) -> int:
        number = self._memo.get(media_type)
        if number is None:
            number = self._table.first(media_type)
            if len(self._memo) >= _MEMO_TYPES:
                self._memo.clear()
            self._memo[media_type] = number
        return number


class SiteTable:
    """Hosts to sites: the most specific enabled match, server before domain, longer before shorter."""

    def __init__(self, rules: Rules, *, depth: int) -> None:
        self.rules = rules
        self._servers: dict[str, CompiledSite] = {}
        self._domains: dict[str, CompiledSite] = {}
        self._memo: dict[str, CompiledSite | None] = {}
        self.pushed = CompiledSite(Site("pushed by feeds", _ANY_HOST, source=""), (), depth)
        """The site of hosts that no site covers, for URLs that trusted senders pushed."""
        self.listed = CompiledSite(Site("listed by a web feed", _ANY_HOST, source=""), (), depth)
        """The same for URLs that web feeds list."""
        self.named = {Pushed.URL: self.pushed, Pushed.LISTED: self.listed}
        """The site of hosts that no site covers, by how the URL was named; others have none."""
        for site in sorted(rules.sites, key=lambda s: not s.enabled):
            compiled = CompiledSite(site, rules.rules_of(site), depth)
            (self._domains if site.domain else self._servers).setdefault(site.host, compiled)

    def site_of(self, host: str) -> CompiledSite | None:
        """Return the site of *host*; a disabled one only if no enabled one covers it."""
        try:
            return self._memo[host]
        except KeyError:
            found = self._search(host)
            if len(self._memo) >= _MEMO_HOSTS:
                self._memo.clear()
            self._memo[host] = found
            return found

    def _search(self, host: str) -> CompiledSite | None:
        return most_specific(host, self._servers, self._domains, lambda compiled: compiled.site.enabled)
