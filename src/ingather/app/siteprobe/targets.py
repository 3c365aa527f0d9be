"""Which hosts a probe looks at: names of sites, hosts and URLs; without any, the sites of filterrules.conf."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ingather.conf import Site
from ingather.errors import UrlError
from ingather.model.url import canonical
from ingather.model.urlparts import split

__all__ = ["Target", "target_of_text", "targets_of"]

_TLS_PORTS: Final = frozenset({443, 8443})


@dataclass(frozen=True, slots=True)
class Target:
    """One host to look at.

    Attributes:
        asked: as it was named.
        host: lower case, with brackets around IPv6.
        roots: URLs of the roots that are asked for, in order.
        starts: starting points, canonical.
        ports: that the site allows or begins at.
        source: who owns its URLs.
        site: its name in filterrules.conf, ``""`` = it is in none.
        domain: whether subdomains belong to it.
        enabled: whether it is crawled.
        trouble: why nothing can be looked at.
    """

    asked: str
    host: str = ""
    roots: tuple[str, ...] = ()
    starts: tuple[str, ...] = ()
    ports: frozenset[int] = frozenset()
    source: str = "web"
    site: str = ""
    domain: bool = False
    enabled: bool = True
    trouble: str = ""


def targets_of(names: Sequence[str], sites: Sequence[Site], *, domains: bool = False) -> list[Target]:
    """Return what is to be looked at.

    Args:
        names: hosts, ``host:port``, URLs, or names of sites; none = all sites.
        sites: of filterrules.conf.
        domains: without names, sites of type domain as well.
    """
    if not names:
        return [_of_site(site.name, site) for site in sites if domains or not site.domain]
    return [_named(name, sites) for name in names]


def _named(name: str, sites: Sequence[Site]) -> Target:
    known = next((site for site in sites if site.name == name), None)
    if known is not None:
        return _of_site(name, known)
    target = target_of_text(name)
    if target.trouble:
        return target
    serving = [site for site in sites if site.covers(f"http://{target.host}/")]
    best = max(serving, key=lambda site: (not site.domain, len(site.host), site.enabled), default=None)
    if best is None:
        return target
    return Target(
        name, target.host, target.roots, target.starts or tuple(s.url for s in best.starts if split(s.url).host == target.host),
        target.ports | best.ports, best.source, best.name, best.domain, best.enabled,
    )  # fmt: skip


def target_of_text(text: str, *, source: str = "web") -> Target:
    """Return the host that *text* names: ``host``, ``host:port`` or a URL of http or https."""
    whole = "://" in text
    try:
        url = canonical(text if whole else f"http://{text}/")
        parts = split(url)
    except UrlError:
        return Target(text, trouble="it is no host, no URL, and no site of filterrules.conf has this name")
    if parts.scheme not in {"http", "https"} or not parts.host:
        return Target(text, trouble="only http and https are looked at")
    if whole:
        starts = () if parts.path == "/" else (url,)
        return Target(text, parts.host, (f"{parts.origin}/",), starts, frozenset({parts.port}), source)
    if parts.port == 80:  # noqa: PLR2004 - both usual ports are looked at
        return Target(text, parts.host, (f"http://{parts.host}/", f"https://{parts.host}/"), source=source)
    scheme = "https" if parts.port in _TLS_PORTS else "http"
    authority = parts.host if parts.port == 443 else f"{parts.host}:{parts.port}"  # noqa: PLR2004 - https's own
    return Target(
        text, parts.host, (f"{scheme}://{authority}/",), ports=frozenset({parts.port}), source=source
    )


def _of_site(asked: str, site: Site) -> Target:
    starts = tuple(start.url for start in site.starts if start.url.startswith(("http://", "https://")))
    roots = tuple(dict.fromkeys(f"{split(url).origin}/" for url in starts if split(url).host == site.host))
    if not roots:
        odd = sorted(site.ports - {80, 443})
        roots = target_of_text(
            site.host if site.ports & {80, 443} or not odd else f"{site.host}:{odd[0]}"
        ).roots
    ports = site.ports | {split(url).port for url in roots}
    return Target(
        asked, site.host, roots, starts, ports, site.source, site.name, site.domain, site.enabled,
        "" if roots else f"its host {site.host!r} is none that can be asked",
    )  # fmt: skip
