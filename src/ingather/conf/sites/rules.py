"""Starting points, sites and the rules that both filters share, as filterrules.conf states them (section 9)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from ingather.conf.patterns.dialects import Pattern
from ingather.model.diagnostic import Place
from ingather.model.url import canonical
from ingather.model.urlparts import split

__all__ = ["METHODS", "PROTOCOLS", "SITE_PROTOCOLS", "SOURCES", "Match", "Rule", "Rules", "Site", "Start"]

SOURCES = ("url", "protocol", "host", "path", "type")
METHODS = ("is", "contains", "begins-with", "ends-with", "regex")
PROTOCOLS = frozenset({"http", "https"})
"""What a site without a Protocol line allows."""
SITE_PROTOCOLS = ("http", "https", "ftp", "ftps", "sftp", "file", "smb")
"""What a Protocol line may allow."""


@dataclass(frozen=True, slots=True)
class Match:
    """One test of a rule: *source* by *method* against *value*; several of a rule are OR-ed."""

    source: str
    method: str
    value: str
    place: Place
    pattern: Pattern | None = None
    ignore_case: bool = False


@dataclass(frozen=True, slots=True)
class Rule:
    """A named rule; ``new_sites`` rules are what sites added at run time use."""

    name: str
    matches: tuple[Match, ...]
    place: Place
    include: bool = False
    enabled: bool = True
    new_sites: bool = True


@dataclass(frozen=True, slots=True)
class Start:
    """A starting point; *depth* ``None`` = the site's, else the robot's."""

    url: str
    depth: int | None = None
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class Site:
    """A host, or a domain with its subdomains.

    Attributes:
        name: for messages.
        host: lower case, brackets around IPv6; ``""`` = the files of this machine.
        domain: whether subdomains belong to it.
        depth: depth limit, ``None`` = the robot's, -1 = none.
        source: name of the source that owns its URLs.
        database: where its descriptions are put whenever a visit makes one; ``""`` = they stay where they are.
        starts: starting points.
        protocols: allowed ones.
        ports: allowed ones; empty = any.
        use: rule names in order; ``None`` = all enabled rules with ``new-sites``.
        delay_s: between the starts of two visits to a host of it, ``None`` = the source's, else the robot's.
        connections: at a time to a host of it, ``None`` = the robot's.
        credentials: name of what it is fetched with, ``""`` = nothing of its own. Never a secret.
        places: header parameter -> where its value stands.
    """

    name: str
    host: str
    domain: bool = False
    enabled: bool = True
    depth: int | None = None
    source: str = "web"
    database: str = ""
    starts: tuple[Start, ...] = ()
    protocols: frozenset[str] = PROTOCOLS
    ports: frozenset[int] = frozenset()
    use: tuple[str, ...] | None = None
    place: Place | None = None
    delay_s: float | None = None
    connections: int | None = None
    credentials: str = ""
    places: Mapping[str, Place] = field(default_factory=dict, repr=False, compare=False)

    @property
    def where(self) -> str:
        """``file:line``, or ``""`` for a site that no file states."""
        return f"{self.place.file}:{self.place.line}" if self.place else ""

    @classmethod
    def for_run(cls, url: str, *, source: str = "web", depth: int | None = None) -> "Site":
        """Return a site for the host of *url*, any port, that begins there and uses the new-sites rules.

        Raises:
            UrlError: *url* cannot be gathered.
        """
        key = canonical(url)
        host = split(key).host
        return cls(host, host, depth=depth, source=source, starts=(Start(key, depth),))

    def covers(self, url: str) -> bool:
        """Tell whether canonical *url* is on this host, or below this domain."""
        host = split(url).host
        return host == self.host or (self.domain and host.endswith("." + self.host))


@dataclass(frozen=True, slots=True)
class Rules:
    """A whole filterrules.conf, names resolved; disabled rules and sites are kept and marked."""

    sites: tuple[Site, ...] = ()
    rules: tuple[Rule, ...] = ()
    file: str = ""
    added: tuple[Site, ...] = field(default=())

    def rules_of(self, site: Site) -> tuple[Rule, ...]:
        """Return the enabled rules of *site* in the order in which they are tried."""
        if site.use is None:
            return tuple(r for r in self.rules if r.enabled and r.new_sites)
        by_name = {rule.name: rule for rule in self.rules}
        found = (by_name.get(name) for name in site.use)
        return tuple(rule for rule in found if rule is not None and rule.enabled)

    def with_sites(self, sites: Iterable[Site]) -> "Rules":
        """Return these rules with *sites* added for a run.

        A site for a host that an enabled site of the same kind has already only adds its
        starting points and ports to it; rules, depth and source stay those of the file.
        """
        result = list(self.sites)
        added: list[Site] = []
        for site in sites:
            key = (site.host, site.domain)
            at = next((i for i, s in enumerate(result) if s.enabled and (s.host, s.domain) == key), None)
            if at is None:
                result.append(site)
                added.append(site)
                continue
            old = result[at]
            ports = old.ports | site.ports if old.ports and site.ports else frozenset[int]()
            result[at] = replace(old, starts=old.starts + site.starts, ports=ports)
        return replace(self, sites=tuple(result), added=self.added + tuple(added))
