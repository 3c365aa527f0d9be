"""What sites of filterrules.conf say that only ``ingather.toml`` can tell right from wrong."""

from collections.abc import Collection, Mapping

from ingather.conf.names import suggestion
from ingather.conf.report import Report
from ingather.conf.sites.rules import Rules, Site
from ingather.conf.sources.sections import check_references
from ingather.conf.sources.source import SourceConf
from ingather.model.diagnostic import Place

__all__ = ["check_sites"]


def check_sites(
    rules: Rules,
    sources: Mapping[str, SourceConf],
    report: Report,
    *,
    credentials: Collection[str] | None = None,
) -> None:
    """Report sources and credentials that there are not, starting points that no source may ask for, delays that will not hold.

    Args:
        rules: the rules file.
        sources: of ``ingather.toml``.
        report: takes the findings.
        credentials: the names that there are; ``None`` = nobody knows, they are not looked at.
    """
    check_references(((site.source, site.place) for site in rules.sites), sources, report)
    for site in rules.sites:
        if credentials is not None and site.credentials and site.credentials not in credentials:
            report.add(
                "E-CREDENTIAL",
                _place(site, "credentials"),
                f"there are no credentials {site.credentials!r}",
                hint=suggestion(site.credentials, credentials)
                or f"write [credential.{site.credentials}] in ingather.toml",
            )
        _check_starts(site, sources, report)
        if site.delay_s == 0 and site.enabled and not _has_own(site, sources):
            report.add(
                "W-NO-EFFECT",
                _place(site, "delay"),
                "delay=0 is for hosts of your own: others are visited once a second",
                hint="name them in own-hosts of the source",
            )


def _check_starts(site: Site, sources: Mapping[str, SourceConf], report: Report) -> None:
    """Report the first starting point of each protocol that the site's source does not ask for."""
    source = sources.get(site.source)
    if source is None or not site.enabled:
        return
    said = set(source.schemes)
    for start in site.starts:
        scheme = start.url.partition(":")[0]
        if scheme not in said:
            said.add(scheme)
            roots = ' and roots = ["/..."]' if scheme == "file" else ""
            report.add(
                "W-NO-EFFECT",
                start.place or _place(site, "source"),
                f"nothing begins at {start.url}: source {site.source} does not ask by {scheme}",
                hint=f"write {scheme} into schemes{roots} of [source.{site.source}] in ingather.toml",
            )


def _has_own(site: Site, sources: Mapping[str, SourceConf]) -> bool:
    """Tell whether a host of *site* is one of ours."""
    names = (_bare(own) for source in sources.values() for own in source.own_hosts)
    return any(name == site.host or (site.domain and name.endswith("." + site.host)) for name in names)


def _bare(own: str) -> str:
    return own if own.endswith("]") else own.rpartition(":")[0] or own


def _place(site: Site, name: str) -> Place:
    return site.places.get(name) or site.place or Place("filterrules.conf", 1)
